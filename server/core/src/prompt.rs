//! The text an agent is given: the task, what failed, what is left of the budget. Pure.
