//! Compares `docs/format.md`, `docs/format-promise.md` and the tables of the module docs with the code: every row, tag,
//! constant, example and number.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod document;
mod examples;
mod layouts;
mod parts;
mod promise;
mod prose;
mod rows;
mod sections;
mod tags;
