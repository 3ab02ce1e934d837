//! Journal lines: one JSON object a line, its last member a checksum chained with the line before.
