//! Text for people: records, criteria, progress.
