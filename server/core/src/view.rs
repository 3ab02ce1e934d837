//! Loop to `LoopStatus` and other plain data for views.
