//! What the fuzz targets do with their input.
//!
//! | target | input | question |
//! | --- | --- | --- |
//! | [`segment`] | a file | does everything that can be asked of it return? |
//! | [`resealed`] | a file, its checksums made good | the same, behind the checksums |
//! | [`numeric`], [`presence`], [`dictionary`], [`binary`] | fields of the directory, then sections | does every decoder return, alike in all modes? |
//! | [`ids`] | what the directory says of ids, then sections | does every look-up return, and what is verified agree? |
//! | [`directory`] | a footer, a root, a page | the same |
//! | [`program`] | what a writer is told to do, and questions | are all answers those of naive models? |
//! | [`merge`] | small segments of which some documents live | is the merge the segment that is made at once? |
//! | [`query`] | a text | is it a query, or refused at a place in it? does it print as what it is? does it find what it should? |
//! | [`input`] | options, a schema file, CSV or NDJSON | what `dv build` accepts, does it come out and in again? |
//!
//! `structured` asks what [`segment`] does, of files that [`structure::mutate`] made.
//!
//! They are functions of a library so that ordinary tests replay corpora and old crashes on stable.
//! A target panics where it found something; otherwise it returns.

mod choices;
mod decoders;
mod exercise;
mod feed;
mod ids;
mod input;
mod merge;
// Shared with the tests of crate `search`.
#[path = "../../crates/search/tests/query/naive.rs"]
pub mod naive;
mod program;
mod query;
mod reseal;
mod searches;
pub mod structure;

use docvalues::{Access, JumpTables, OpenOptions, Segment, Verify};

pub use decoders::{binary, dictionary, directory, numeric, presence};
pub use exercise::{Plan, exercise};
pub use feed::{give, give_batch};
pub use ids::{exercise_ids, ids, ids_input, ids_to_ask};
pub use input::input;
pub use merge::merge;
pub use program::program;
pub use query::{query, query_texts};
pub use reseal::reseal;
pub use searches::{exercise_merge, exercise_searches};

/// A target's name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target: what the replay of corpora walks.
pub const TARGETS: [Target; 13] = [
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
];

/// Any bytes as a file: opening them, and asking everything of what opened, returns.
pub fn segment(input: &[u8]) {
    for jump_tables in JumpTables::ALL {
        let options = OpenOptions {
            verify: Verify::OnFirstTouch,
            jump_tables,
            access: Access::Map,
            ..OpenOptions::new()
        };
        let Ok(segment) = Segment::from_bytes(input.to_vec(), options) else { return };
        let Ok(plan) = Plan::small(&segment) else { continue };
        exercise(&plan, &segment, &mut |answer| {
            std::hint::black_box(answer.is_ok());
        });
        let asked = ids_to_ask(&segment, 40).unwrap_or_default();
        exercise_ids(&asked, &segment, &mut |answer| {
            std::hint::black_box(answer.is_ok());
        });
        let mut answered = |answer: docvalues::column::Result<u64>| drop(std::hint::black_box(answer));
        exercise_searches(&segment, &mut answered);
        exercise_merge(&segment, &mut answered);
        std::hint::black_box((segment.verify().is_ok(), segment.usage().is_ok()));
    }
}

/// Any bytes as a file by someone who computes checksums.
pub fn resealed(input: &[u8]) {
    let mut file = input.to_vec();
    reseal(&mut file);
    segment(&file);
}

/// A folder of its own, in memory where there is such a thing: what is written there is synced.
pub(crate) fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder")
}
