//! A guide to `docvalues`: its concepts, and the way to common tasks. This module has only documentation.
//!
//! | page | about |
//! | --- | --- |
//! | [`model`] | segments, documents, kinds and types of columns |
//! | [`reading`] | one document, many documents, ranges, filters; the cost of each |
//! | [`typed_values`] | numbers, dates, timestamps, strings, and the way each is stored |
//! | [`live_documents`] | deletes, updates, merges |
//! | [`updates`] | update or upsert: two ways to change a document of a store |
//! | [`hits`] | documents and scores of an inverted index, in searches of a store |
//! | [`several_segments`] | look-ups of ids, searches and merges over many segments |
//! | [`threads_and_memory`] | sharing, parallel searches, memory budgets |
//! | [`custom_sources`] | columns of your own that searches and merges read |
//! | [`untrusted_files`] | checksums, hostile files, limits |
//!
//! The [docs of the repository](https://github.com/docvalues/docvalues/blob/main/docs/README.md) have a page for each task.

#[doc = include_str!("_guide/model.md")]
pub mod model {}

#[doc = include_str!("_guide/reading.md")]
pub mod reading {}

#[doc = include_str!("_guide/typed_values.md")]
pub mod typed_values {}

#[doc = include_str!("_guide/live_documents.md")]
pub mod live_documents {}

#[cfg(feature = "store")]
#[doc = include_str!("_guide/updates.md")]
pub mod updates {}

#[cfg(feature = "store")]
#[doc = include_str!("_guide/hits.md")]
pub mod hits {}

#[doc = include_str!("_guide/several_segments.md")]
pub mod several_segments {}

#[doc = include_str!("_guide/threads_and_memory.md")]
pub mod threads_and_memory {}

#[doc = include_str!("_guide/custom_sources.md")]
pub mod custom_sources {}

#[doc = include_str!("_guide/untrusted_files.md")]
pub mod untrusted_files {}
