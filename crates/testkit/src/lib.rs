//! Shapes, naive models and the conformance suite that every source of columns must pass.
//!
//! | module | question |
//! | --- | --- |
//! | [`rng`] | which numbers, the same everywhere and every time? |
//! | [`model`] | what is the right answer, in the most obvious way? |
//! | [`shapes`] | which columns occur? |
//! | [`conformance`] | does a source keep every rule that the traits state? |
//! | [`searches`] | does a search over a source find what a look at each document does? |
//! | [`damage`] | what can happen to a file, and how much is allocated then? |
//! | [`real`] | where does real data lie? |
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

pub mod conformance;
pub mod damage;
pub mod model;
pub mod real;
pub mod rng;
pub mod searches;
pub mod shapes;
