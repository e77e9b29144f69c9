//! The read traits of doc values: what a column is, whatever stores it.
