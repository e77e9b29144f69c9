//! The engine: a pass over the documents of all parts, which reads columns once for all collectors.
//!
//! It has sets of documents, open columns and windows of their values, threads, and limits of memory and time. It does
//! not know what is asked: no keys, no queries, no metrics and no answers. A module above it opens a [`Request`] and runs
//! [`Collector`]s over it. Modules above also add methods to [`Search`]; the engine calls none of them.
//!
//! A file uses only files of lines above its own, or to its left:
//!
//! ```text
//! interrupt  memory  memory_budget  stopwatch  threads  limits; distribution of work, sorting and copying
//! docs  docs_by_part  dedup                            sets of documents; the different numbers of a list
//! term_ids  value  columns  skip                       columns in all parts, and what their indexes exclude
//! promoted_column  small_dictionary  parts  search     sources that are searched together
//! window  collector  candidates  pass                  documents and values that collectors see
//! open_request  constant                               a request, and what it knows without reading
//! hash_tables  row_table  multi_pass                   rows and counts within a memory budget
//! ```

mod candidates;
mod cells;
mod collector;
mod columns;
mod constant;
pub(crate) mod dedup;
mod docs;
mod docs_by_part;
pub(crate) mod hash_tables;
mod interrupt;
pub(crate) mod memory;
mod memory_budget;
mod multi_pass;
mod open_request;
mod parts;
mod pass;
mod promoted_column;
mod row_table;
mod search;
pub(crate) mod skip;
mod small_dictionary;
mod stopwatch;
mod term_ids;
pub(crate) mod threads;
pub(crate) mod value;
mod window;

pub(crate) use candidates::BLOCK;
pub(crate) use cells::Cells;
pub use cells::Numbers;
pub(crate) use collector::{Collector, Competitive, PassPart};
pub(crate) use columns::{
    ColumnSet, ColumnView, Columns, Elements, PartColumns, Slot, TermSpace, filter_numbers, value_bounds,
};
pub(crate) use constant::{ConstantColumn, is_constant};
pub(crate) use docs::len_u32;
pub use docs::{DocList, Docs};
pub use docs_by_part::{DocSet, DocsByPart};
pub(crate) use docs_by_part::{PartSet, from_docs};
pub(crate) use interrupt::Interrupt;
pub(crate) use memory_budget::MemoryBudget;
pub(crate) use multi_pass::MultiPass;
pub(crate) use open_request::Request;
pub use parts::{PartChange, Parts, TermMemory};
pub(crate) use pass::Pass;
pub use promoted_column::widened;
pub(crate) use row_table::{RowTable, ValueSpace};
pub use search::{MissingColumns, MixedTypes, Search};
pub(crate) use stopwatch::Stopwatch;
pub(crate) use term_ids::TermReader;
pub(crate) use value::{NO_ORD, Stored, ord_of};
pub(crate) use window::{SHORT_WINDOW, Window, WindowBuffers, as_run_if_whole, max_window_docs};
