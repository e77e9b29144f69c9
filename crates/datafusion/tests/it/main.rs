//! Tables of DataFusion, whose answers are those of the same rows in memory.
#![expect(clippy::unwrap_used, reason = "tests")]

mod dynamic;
mod generated;
mod objects;
mod queries;
mod scan;
