//! Known secrets and secret-shaped text out of what is stored.
