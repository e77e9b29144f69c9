//! Orders of threads.
