//! Writes docvalues segments: documents or column batches in, one file out.
