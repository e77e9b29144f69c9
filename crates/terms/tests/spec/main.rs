//! Compares chapter 16 of `docs/format.md`, and the tables in module docs, with the code: every row, tag, constant,
//! example and number.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

#[path = "../../../format/tests/spec/document.rs"]
mod document;
mod examples;
mod layouts;
mod prose;
#[path = "../../../format/tests/spec/rows.rs"]
mod rows;
mod tags;
