//! The body of a frame: a change, as it was decided.
//!
//! A frame holds decisions, not requests: which operations took place, and the versions that were assigned. So a log
//! that is replayed gives the same store, without comparing versions again.
//!
//! ```text
//! batch      documents | new values of updates | operations | ids that were deleted      encoded outside of the lock
//!            first assigned version | a bit for each operation that took place      appended in the lock
//! fields     the schema      the change is one of fields
//! other      the schema, a random number      a change that the log does not hold: a commit follows
//! ```
//!
//! # Histories
//!
//! The history of a store is a number that follows from that of the batch before and the body. It begins with a random
//! one. So two stores that have the same history at the same batch contain the same, and a replica knows whether
//! a frame goes on from what it has.
//!
//! Encoded by [`postcard`].

use docvalues_column::{Lists, PlainColumn, PlainColumns, PlainValues};
use docvalues_terms::hash::hash;
use serde::{Deserialize, Serialize};

use super::operation::{Operation, What};
use super::update::{Change, Updates};
use crate::files::random_id;

/// The first byte of [`Body::Other`].
const OTHER: u8 = 2;

/// A change in a frame.
#[derive(Serialize, Deserialize)]
pub(crate) enum Body {
    /// A batch; [`Decided`] follows.
    Batch(BatchBody),
    /// The schema of the store after the fields changed, as in a commit.
    Fields(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The same after another change, and a random number, as the change is not here.
    Other(#[serde(with = "serde_bytes")] Vec<u8>, u64),
}

/// The bytes of a body, and what they add to the history of the store.
#[derive(Debug, Default)]
pub(crate) struct FrameBody {
    bytes: Vec<u8>,
    /// The length without what was decided, and the hash of so many bytes.
    requested: usize,
    hash: u64,
}

/// A batch as it was requested.
#[derive(Serialize, Deserialize)]
pub(crate) struct BatchBody {
    docs: u32,
    columns: Vec<ColumnBody>,
    updates: UpdatesBody,
    operations: Vec<OperationBody>,
    #[serde(with = "serde_bytes")]
    deleted: Vec<u8>,
    /// Where each id that was deleted begins, and where the last one ends.
    deleted_offsets: Vec<u64>,
}

/// The updates of a batch: see [`Updates`].
#[derive(Default, Serialize, Deserialize)]
struct UpdatesBody {
    rows: u32,
    columns: Vec<ColumnBody>,
    of_rows: Vec<u32>,
    kinds: Vec<Vec<(u32, Change)>>,
}

/// What became of a batch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// The first version that was assigned.
    pub(crate) first_version: Option<u64>,
    /// A bit for each operation that took place; none if all did.
    pub(crate) took_place: Vec<u64>,
}

#[derive(Serialize, Deserialize)]
struct ColumnBody {
    docs: u32,
    present: Option<Vec<u64>>,
    lists: Option<Vec<u64>>,
    values: ValuesBody,
}

#[derive(Serialize, Deserialize)]
enum ValuesBody {
    Numbers(Vec<i64>),
    Strings {
        offsets: Vec<u64>,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
}

#[derive(Serialize, Deserialize)]
enum OperationBody {
    Write(u32),
    Delete(u32, Option<u64>),
    Update(u32),
}

impl BatchBody {
    pub(crate) fn of(
        docs: &PlainColumns,
        updates: &Updates,
        operations: &[Operation],
        deleted: &Lists<u8>,
    ) -> BatchBody {
        let operation = |operation: &Operation| match operation.what {
            What::Write(doc) => OperationBody::Write(doc),
            What::Update(row) => OperationBody::Update(row),
            What::Delete(at, version) => {
                OperationBody::Delete(u32::try_from(at).unwrap_or(u32::MAX), version)
            }
        };
        BatchBody {
            docs: docs.docs(),
            columns: docs.columns().iter().map(ColumnBody::of).collect(),
            updates: UpdatesBody::of(updates),
            operations: operations.iter().map(operation).collect(),
            deleted: deleted.slices().items().to_vec(),
            deleted_offsets: deleted.offsets().to_vec(),
        }
    }

    /// The batch again; `None` if its parts contradict each other.
    pub(crate) fn parts(self) -> Option<(PlainColumns, Updates, Vec<What>, Lists<u8>)> {
        let docs = columns(self.docs, self.columns)?;
        let updates = self.updates.parts()?;
        let deleted = Lists::from_parts(self.deleted_offsets, self.deleted)?;
        let (mut operations, mut written) = (Vec::with_capacity(self.operations.len()), 0);
        for operation in self.operations {
            operations.push(match operation {
                // Each document is written once, so a body has at least a byte for each.
                OperationBody::Write(doc) if doc == written && doc < self.docs => {
                    written += 1;
                    What::Write(doc)
                }
                OperationBody::Update(row) if row < updates.count() => What::Update(row),
                OperationBody::Delete(at, version) if (at as usize) < deleted.len() => {
                    What::Delete(at as usize, version)
                }
                _ => return None,
            });
        }
        (written == self.docs).then_some((docs, updates, operations, deleted))
    }
}

impl UpdatesBody {
    fn of(updates: &Updates) -> UpdatesBody {
        let place = |(place, change): &(usize, Change)| (u32::try_from(*place).unwrap_or(u32::MAX), *change);
        UpdatesBody {
            rows: updates.rows.docs(),
            columns: updates.rows.columns().iter().map(ColumnBody::of).collect(),
            of_rows: updates.of_rows.clone(),
            kinds: updates.kinds.iter().map(|kind| kind.iter().map(place).collect()).collect(),
        }
    }

    fn parts(self) -> Option<Updates> {
        let kinds = self.kinds.len();
        let is_known = |kind: &u32| (*kind as usize) < kinds;
        if self.of_rows.len() != self.rows as usize || !self.of_rows.iter().all(is_known) {
            return None;
        }
        let are_sorted = |kind: &Vec<(u32, Change)>| kind.is_sorted_by(|a, b| a.0 < b.0);
        if !self.kinds.iter().all(are_sorted) {
            return None;
        }
        let kind = |kind: Vec<(u32, Change)>| {
            kind.into_iter().map(|(place, change)| (place as usize, change)).collect()
        };
        Some(Updates {
            rows: columns(self.rows, self.columns)?,
            of_rows: self.of_rows,
            kinds: self.kinds.into_iter().map(kind).collect(),
        })
    }
}

impl ColumnBody {
    fn of(column: &PlainColumn) -> ColumnBody {
        ColumnBody {
            docs: column.docs(),
            present: column.present().map(<[u64]>::to_vec),
            lists: column.lists().map(<[u64]>::to_vec),
            values: match column.values() {
                PlainValues::Numbers(numbers) => ValuesBody::Numbers(numbers.clone()),
                PlainValues::Strings(strings) => ValuesBody::Strings {
                    offsets: strings.offsets().to_vec(),
                    bytes: strings.slices().items().to_vec(),
                },
            },
        }
    }

    fn column(self) -> Option<PlainColumn> {
        let values = match self.values {
            ValuesBody::Numbers(numbers) => PlainValues::Numbers(numbers),
            ValuesBody::Strings { offsets, bytes } => {
                PlainValues::Strings(Lists::from_parts(offsets, bytes)?)
            }
        };
        PlainColumn::new(self.docs, values, self.present, self.lists)
    }
}

fn columns(docs: u32, columns: Vec<ColumnBody>) -> Option<PlainColumns> {
    let mut all = Vec::with_capacity(columns.len());
    for column in columns {
        all.push(column.column()?);
    }
    PlainColumns::new(docs, all)
}

impl FrameBody {
    /// The body of a change, or of a batch before it is decided. O(bytes).
    pub(crate) fn of(body: &Body) -> FrameBody {
        FrameBody::split(encode(body), None)
    }

    /// Adds what became of a batch.
    pub(crate) fn decide(&mut self, decided: &Decided) {
        self.bytes.extend(encode(decided));
    }

    /// Decodes a body, and what was decided if it is a batch. Returns what is wrong.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<(FrameBody, Body, Decided), String> {
        let (body, decided, requested) = decode(&bytes)?;
        Ok((FrameBody::split(bytes, Some(requested)), body, decided))
    }

    fn split(bytes: Vec<u8>, requested: Option<usize>) -> FrameBody {
        let requested = requested.unwrap_or(bytes.len());
        FrameBody { hash: hash(&bytes[..requested], 0), requested, bytes }
    }

    /// The history after this, which follows `before`. Random without a body: what was changed is not known then.
    pub(crate) fn history_after(&self, before: u64) -> u64 {
        match self.bytes.is_empty() {
            true => random_id(before),
            false => hash(&self.bytes[self.requested..], before ^ self.hash),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Whether the change of a body is only in the files of the next commit: see [`Body::Other`].
pub(crate) fn is_elsewhere(body: &[u8]) -> bool {
    body.first() == Some(&OTHER)
}

/// Encodes a part of a body. Nothing in one can fail to be encoded.
fn encode(part: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(part).unwrap_or_default()
}

/// Decodes a body, what was decided if it is a batch, and the length before that. Returns what is wrong.
fn decode(bytes: &[u8]) -> Result<(Body, Decided, usize), String> {
    let wrong = |error: postcard::Error| format!("expected the body of a frame, found {error}");
    let (body, rest) = postcard::take_from_bytes::<Body>(bytes).map_err(wrong)?;
    let requested = bytes.len() - rest.len();
    let (decided, rest) = match &body {
        Body::Batch(_) => postcard::take_from_bytes::<Decided>(rest).map_err(wrong)?,
        Body::Fields(_) | Body::Other(..) => (Decided::default(), rest),
    };
    if rest.is_empty() {
        Ok((body, decided, requested))
    } else {
        Err(format!("expected the end of a body, found {} bytes", rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(docs: u32, operations: Vec<OperationBody>) -> BatchBody {
        let values = ValuesBody::Numbers(vec![7; docs.min(9) as usize]);
        let columns = vec![ColumnBody { docs: docs.min(9), present: None, lists: None, values }];
        let (updates, deleted_offsets) = (UpdatesBody::default(), vec![0, 1, 2]);
        BatchBody { docs, columns, updates, operations, deleted: b"ab".to_vec(), deleted_offsets }
    }

    #[test]
    fn a_body_says_whether_its_change_is_elsewhere() {
        let bodies = [
            (Body::Fields(vec![1]), false),
            (Body::Other(vec![1], 2), true),
            (Body::Batch(body(0, vec![])), false),
        ];
        for (body, expected) in bodies {
            assert_eq!(is_elsewhere(&encode(&body)), expected);
        }
    }

    #[test]
    fn a_history_follows_from_all_of_a_batch() {
        let requested = || FrameBody::of(&Body::Batch(body(1, vec![OperationBody::Write(0)])));
        let decided = |first_version| Decided { first_version, took_place: Vec::new() };
        let (mut one, mut two) = (requested(), requested());
        one.decide(&decided(None));
        two.decide(&decided(Some(7)));
        let histories = [one.history_after(5), two.history_after(5), one.history_after(6)];
        assert!(histories[0] != histories[1] && histories[0] != histories[2]);
        // It is the same when the frame is read.
        let bytes = two.into_bytes();
        let (read, ..) = FrameBody::read(bytes).unwrap();
        assert_eq!(read.history_after(5), histories[1]);
        // What is in no frame has no history that could come again.
        assert_ne!(FrameBody::default().history_after(5), FrameBody::default().history_after(5));
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let all = |docs: u32| (0..docs).map(OperationBody::Write).collect::<Vec<_>>();
        assert!(body(3, all(3)).parts().is_some());
        // A few bytes that claim many documents.
        assert!(body(u32::MAX, all(3)).parts().is_none());
        assert!(body(3, all(4)).parts().is_none());
        assert!(body(3, Vec::new()).parts().is_none());
        assert!(body(0, vec![OperationBody::Delete(1, None)]).parts().is_some());
        assert!(body(0, vec![OperationBody::Delete(2, None)]).parts().is_none());
        let deleted_offsets = vec![0, 9];
        assert!(BatchBody { deleted_offsets, ..body(0, Vec::new()) }.parts().is_none());
        let mut longer = body(2, all(2));
        longer.columns[0].docs = 3;
        assert!(longer.parts().is_none());
    }

    #[test]
    fn every_cut_of_a_body_is_refused() {
        let mut bytes = encode(&Body::Batch(body(2, vec![OperationBody::Write(0), OperationBody::Write(1)])));
        bytes.extend(encode(&Decided { first_version: Some(300), took_place: vec![1] }));
        let (_, decided, _) = decode(&bytes).unwrap();
        assert_eq!((decided.first_version, decided.took_place), (Some(300), vec![1]));
        for len in 0..bytes.len() {
            assert!(decode(&bytes[..len]).is_err(), "{len}");
        }
        bytes.push(0);
        assert!(decode(&bytes).is_err());
    }
}
