//! `docs/format.md` and the tables in the modules' heads, held to the code: every row, tag, constant,
//! example and number.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod document;
mod examples;
mod layouts;
mod parts;
mod prose;
mod rows;
mod sections;
mod tags;
