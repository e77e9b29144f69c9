//! The fuzz targets, as functions of a library, so that ordinary tests replay corpora and old crashes on stable.
//!
//! | target | input | checks |
//! | --- | --- | --- |
//! | [`segment`] | a file | every read returns |
//! | [`resealed`] | a file, whose checksums are then recomputed | every read returns |
//! | [`numeric`], [`presence`], [`dictionary`], [`binary`] | directory fields, then sections | every read returns, with equal answers in all modes |
//! | [`ids`] | directory fields of an id index, then sections | every lookup returns; verified indexes agree |
//! | [`directory`] | a footer, a root, a page | every read returns |
//! | [`program`] | operations of a writer, and questions | answers equal those of naive models |
//! | [`merge`] | small segments with deleted documents | the merge equals a segment built at once |
//! | [`query`] | text | it parses, or fails with a position; prints and parses back; finds the right documents |
//! | [`partial`] | a serialised partial result | it is refused, or merges and finishes; merged results can be sent on |
//! | [`delta`], [`body`] | a delta of a store, a body of a frame of its log | the store is refused, or opened, changed and merged; its changes end |
//! | [`stream`] | what a leader sends to a replica | it is taken, or refused without a change; the replica opens again |
//! | [`scan_request`] | a request for a scan | it is refused, or encodes and decodes to the same |
//! | [`log`] | two logs of a store | they are refused, or list frames that follow each other |
//! | [`lucene`] | files of an index of Lucene | they are refused, or every read returns |
//! | [`input`] | options, a schema file, CSV or NDJSON | an accepted file survives `dv build`, `dv export` and `dv build` |
//!
//! `structured` is [`segment`] with files from [`structure::mutate`].
//!
//! A target panics if it finds a bug; otherwise it returns.

mod choices;
mod decoders;
mod delta;
mod exercise;
mod feed;
mod ids;
mod input;
mod log;
mod lucene;
mod merge;
// Shared with the tests of crate `search`.
#[path = "../../crates/search/tests/it/query/naive.rs"]
pub mod naive;
mod neighbours;
mod partial;
mod program;
mod query;
mod reseal;
mod scan_request;
mod searches;
mod store;
mod stores;
mod stream;
pub mod structure;

use std::sync::Arc;

use docvalues::reader::{Access, JumpTables, Verify};
use docvalues::{OpenOptions, Segment};

pub use decoders::{binary, dictionary, directory, numeric, presence};
pub use delta::{body, body_inputs, delta, delta_inputs};
pub use exercise::{Plan, exercise};
pub use feed::{give, give_batch};
pub use ids::{exercise_ids, ids, ids_input, ids_to_ask};
pub use input::input;
pub use log::{log, log_inputs};
pub use lucene::{lucene, lucene_inputs};
pub use merge::merge;
pub use neighbours::neighbours;
pub use partial::{partial, partial_inputs};
pub use program::program;
pub use query::{query, query_texts};
pub use reseal::reseal;
pub use scan_request::{scan_request, scan_request_inputs};
pub use searches::{exercise_merge, exercise_parts, exercise_searches};
pub use store::{store, store_inputs};
pub use stream::{stream, stream_inputs};

/// The name and the function of a target.
pub type Target = (&'static str, fn(&[u8]));

/// All targets, for the replay of corpora.
pub const TARGETS: [Target; 21] = [
    ("program", program),
    ("merge", merge),
    ("query", query),
    ("input", input),
    ("structured", segment),
    ("segment", segment),
    ("resealed", resealed),
    ("numeric", numeric),
    ("presence", presence),
    ("dictionary", dictionary),
    ("binary", binary),
    ("ids", ids),
    ("directory", directory),
    ("partial", partial),
    ("store", store),
    ("log", log),
    ("delta", delta),
    ("body", body),
    ("stream", stream),
    ("scan_request", scan_request),
    ("lucene", lucene),
];

/// Any bytes as a file: opening it and every read of it must return.
pub fn segment(input: &[u8]) {
    for jump_tables in JumpTables::ALL {
        let options =
            OpenOptions::new().verify(Verify::OnFirstTouch).jump_tables(jump_tables).access(Access::Map);
        let Ok(segment) = Segment::from_bytes(input.to_vec(), options) else { return };
        let Ok(plan) = Plan::small(&segment) else { continue };
        exercise(&plan, &segment, &mut |answer| {
            std::hint::black_box(answer.is_ok());
        });
        let requested = ids_to_ask(&segment, 40).unwrap_or_default();
        exercise_ids(&requested, &segment, &mut |answer| {
            std::hint::black_box(answer.is_ok());
        });
        let mut answered = |answer: docvalues::column::Result<u64>| drop(std::hint::black_box(answer));
        exercise_searches(&segment, &mut answered);
        exercise_parts(Arc::new(segment.clone()), &mut answered);
        exercise_merge(&segment, &mut answered);
        std::hint::black_box((segment.verify().is_ok(), segment.usage().is_ok()));
    }
}

/// Any bytes as a file with correct checksums.
pub fn resealed(input: &[u8]) {
    let mut file = input.to_vec();
    reseal(&mut file);
    segment(&file);
}

/// A temporary folder, in memory if possible, because files in it are synced.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}
