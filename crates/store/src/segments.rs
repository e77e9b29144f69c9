//! Segments as a store has them: opened, with what changed in them since they were written; and the buffer, of which the next
//! one is made.
//!
//! | module | |
//! | --- | --- |
//! | `segment` | the file of a segment, begun and opened |
//! | `side_file` | a file that an observer wrote beside a segment |
//! | `segment_changes`, `new_rows` | deleted documents and new values of others |
//! | `segment_state`, `commit_state` | a segment, and all of a commit, with their changes |
//! | `delta` | changes in a file |
//! | `buffer` | documents that are in no segment yet |
//! | `part_id`, `part_record` | the identity of a segment or block, and where its documents went |
//! | `new_numbers`, `moves` | the numbers that documents get in another segment, as runs |
//! | `store_ids` | one index of ids over all segments |
//!
//! Knows nothing of the calls that change them.

mod buffer;
mod commit_state;
pub(crate) mod delta;
mod moves;
mod new_numbers;
mod new_rows;
mod part_id;
mod part_record;
pub(crate) mod segment;
mod segment_changes;
mod segment_state;
pub(crate) mod side_file;
mod store_ids;

pub(crate) use buffer::{Block, Buffer, FrozenBuffer, Id, Place, Sealed};
pub(crate) use commit_state::CommitState;
pub use moves::{Move, Moves};
pub(crate) use moves::{PartMoves, Step};
pub(crate) use new_numbers::NewNumbers;
pub(crate) use new_rows::{Dictionary, NewRows, column_or_absent, has_terms};
pub use part_id::PartId;
pub(crate) use part_record::{PartRecord, Went};
pub(crate) use segment::{StoreSegment, begin_segment};
pub(crate) use segment_changes::SegmentChanges;
pub(crate) use segment_state::{SegmentState, SegmentView, places_by_key, places_by_number};
pub(crate) use side_file::SideFile;
pub(crate) use store_ids::{SnapshotIds, StoreIds};
