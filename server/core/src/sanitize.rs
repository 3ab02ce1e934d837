//! Escape sequences, control and bidi characters out of what is shown.
