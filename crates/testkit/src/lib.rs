//! Shapes, naive models and the conformance suite that every source of columns must pass.
//!
//! | module | content |
//! | --- | --- |
//! | [`rng`] | random numbers, the same everywhere and every time |
//! | [`model`] | columns in memory, right in the most obvious way |
//! | [`shapes`] | columns as they occur |
//! | [`conformance`] | every rule that the read traits state |
//! | [`searches`] | searches, compared with a look at each document |
//! | [`overlay`] | a column with some numbers changed: what an embedder may build on the traits |
//! | [`concat`](mod@concat) | several columns end to end: the same |
//! | [`claims`] | a small file that says it has many documents |
//! | [`damage`] | what can happen to a file, and how much is allocated then |
//! | [`real`] | the place of real data |
//!
//! A test of a writer and a reader reads:
//!
//! ```
//! use docvalues_column::{Field, Kind, LogicalType};
//! use docvalues_testkit::{conformance::check_source, model::{MemSource, ModelColumn}};
//!
//! let size = Field::new("size", Kind::Numeric, LogicalType::I64);
//! let model = MemSource::new(3, [(size, ModelColumn::Numeric(vec![Some(7), None, Some(-1)]))]);
//! let segment = &model; // what was written from the same values, opened
//! check_source(segment, &model);
//! ```
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "only tests use this crate: a failing helper is a failing test"
)]

pub mod claims;
pub mod concat;
pub mod conformance;
pub mod damage;
pub mod model;
pub mod overlay;
pub mod real;
pub mod rng;
pub mod searches;
pub mod shapes;
