//! Reads docvalues segments: one file, opened.
