//! Test data, reference models and the conformance suite for sources of doc values.
//!
//! | module | content |
//! | --- | --- |
//! | [`rng`] | reproducible random numbers |
//! | [`model`] | the reference: columns in memory, simple and slow |
//! | [`shapes`] | generators of columns that occur in practice |
//! | [`conformance`] | a check of every rule that the read traits state |
//! | [`searches`] | a check of searches against a loop over all documents |
//! | [`concat`](mod@concat) | several columns end to end, likewise |
//! | [`claims`] | a small file that claims to have many documents |
//! | [`faults`] | directories whose calls fail, and one that loses power |
//! | [`kill`] | a process that is killed |
//! | [`lucene`] | a small index of Lucene |
//! | [`damage`] | damage to files, and an allocator that counts |
//! | [`real`] | paths of real data |
//!
//! # Examples
//!
//! A test of a writer and a reader:
//!
//! ```
//! use docvalues_column::{Field, Kind, LogicalType};
//! use docvalues_testkit::{conformance::check_source, model::{MemSource, ModelColumn}};
//!
//! let size = Field::new("size", Kind::Numeric, LogicalType::I64);
//! let model = MemSource::new(3, [(size, ModelColumn::Numeric(vec![Some(7), None, Some(-1)]))]);
//! let segment = &model; // in a real test: a segment written from the same values
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
pub mod faults;
pub mod kill;
pub mod lucene;
pub mod model;
pub mod real;
pub mod rng;
pub mod searches;
pub mod shapes;
