//! Data and opponents of the benchmarks.
