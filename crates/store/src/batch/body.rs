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
//! user data  bytes of the caller      of the commits from here on
//! ```
//!
//! # Histories
//!
//! The history of a store is a number that follows from that of the batch before and the body. It begins with a random
//! one. So two stores that have the same history at the same batch contain the same, and a replica knows whether
//! a frame goes on from what it has.
//!
//! Encoded by [`postcard`].

use docvalues_column::{Lists, PlainColumns};
use docvalues_terms::hash::hash;
use serde::{Deserialize, Serialize};

use super::operation::{Operation, What};
use super::plain_body::{read_columns, read_lists, write_columns, write_lists};
use super::update::Updates;
use crate::files::random_id;

/// The first byte of [`Body::Other`].
const OTHER: u8 = 2;

/// A change in a frame.
#[derive(Serialize, Deserialize)]
pub(crate) enum Body<B = BatchBody> {
    /// A batch; [`Decided`] follows.
    Batch(B),
    /// The schema of the store after the fields changed, as in a commit.
    Fields(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The same after another change, and a random number, as the change is not here.
    Other(#[serde(with = "serde_bytes")] Vec<u8>, u64),
    /// The bytes of [`Store::commit_with`](crate::Store::commit_with).
    UserData(#[serde(with = "serde_bytes")] Vec<u8>),
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
    #[serde(serialize_with = "write_columns", deserialize_with = "read_columns")]
    pub(crate) docs: PlainColumns,
    pub(crate) updates: Updates,
    pub(crate) operations: Vec<Operation>,
    #[serde(serialize_with = "write_lists", deserialize_with = "read_lists")]
    pub(crate) deleted: Lists<u8>,
}

/// As [`BatchBody`], to be encoded.
#[derive(Serialize)]
pub(crate) struct BatchRef<'a> {
    #[serde(serialize_with = "write_columns")]
    pub(crate) docs: &'a PlainColumns,
    pub(crate) updates: &'a Updates,
    pub(crate) operations: &'a [Operation],
    #[serde(serialize_with = "write_lists")]
    pub(crate) deleted: &'a Lists<u8>,
}

/// What became of a batch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// The first version that was assigned.
    pub(crate) first_version: Option<u64>,
    /// A bit for each operation that took place; none if all did.
    pub(crate) took_place: Vec<u64>,
}

impl BatchBody {
    /// Whether its parts fit each other.
    pub(crate) fn is_consistent(&self) -> bool {
        let BatchBody { docs, updates, operations, deleted } = self;
        let mut written = 0;
        updates.is_consistent()
            && operations.iter().all(|operation| match operation.what {
                // Each document is written once, so a body has at least a byte for each.
                What::Write(doc) => {
                    let is_next = doc == written && doc < docs.docs();
                    written += u32::from(is_next);
                    is_next
                }
                What::Delete(at, _) => at < deleted.len(),
                What::Update(row) => row < updates.count(),
            })
            && written == docs.docs()
    }
}

impl FrameBody {
    /// The body of a change, or of a batch before it is decided. O(bytes).
    pub(crate) fn of<B: Serialize>(body: &Body<B>) -> FrameBody {
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
        Body::Fields(_) | Body::Other(..) | Body::UserData(_) => (Decided::default(), rest),
    };
    if rest.is_empty() {
        Ok((body, decided, requested))
    } else {
        Err(format!("expected the end of a body, found {} bytes", rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use docvalues_column::{PlainColumn, PlainValues};

    use super::super::operation::Condition;
    use super::*;

    fn body(docs: u32, operations: impl IntoIterator<Item = What>) -> BatchBody {
        let values = PlainValues::Numbers(vec![7; docs.min(9) as usize]);
        let column = PlainColumn::new(docs.min(9), values, None, None).unwrap();
        let operation = |what| Operation { what, condition: Condition::Absent, is_refused: true };
        BatchBody {
            docs: PlainColumns::new(docs, vec![column]).unwrap(),
            updates: Updates::default(),
            operations: operations.into_iter().map(operation).collect(),
            deleted: Lists::from_parts(vec![0, 1, 2], b"ab".to_vec()).unwrap(),
        }
    }

    fn encoded(BatchBody { docs, updates, operations, deleted }: &BatchBody) -> FrameBody {
        FrameBody::of(&Body::Batch(BatchRef { docs, updates, operations, deleted }))
    }

    #[test]
    fn a_body_says_whether_its_change_is_elsewhere() {
        let bodies = [
            (Body::Fields(vec![1]), false),
            (Body::Other(vec![1], 2), true),
            (Body::Batch(body(0, [])), false),
        ];
        for (body, expected) in bodies {
            assert_eq!(is_elsewhere(&encode(&body)), expected);
        }
    }

    #[test]
    fn a_batch_has_these_bytes() {
        let batch = body(2, [What::Write(0), What::Write(1), What::Delete(1, Some(9)), What::Update(300)]);
        let (docs, updates) = ([2, 1, 2, 0, 0, 0, 2, 14, 14], [0, 0, 0, 0]);
        let (operations, deleted) = ([4, 0, 0, 0, 1, 1, 1, 1, 9, 2, 0xac, 2], [2, b'a', b'b', 3, 0, 1, 2]);
        let expected = [&[0][..], &docs, &updates, &operations, &deleted].concat();
        assert_eq!(encoded(&batch).into_bytes(), expected);
        assert_eq!(encode(&Body::Batch(batch)), expected);
    }

    #[test]
    fn a_history_follows_from_all_of_a_batch() {
        let requested = || encoded(&body(1, [What::Write(0)]));
        let decided = |first_version| Decided { first_version, took_place: Vec::new() };
        let (mut one, mut two) = (requested(), requested());
        one.decide(&decided(None));
        two.decide(&decided(Some(7)));
        let histories = [one.history_after(5), two.history_after(5), one.history_after(6)];
        assert!(histories[0] != histories[1] && histories[0] != histories[2]);
        // It is the same when the frame is read.
        let bytes = two.into_bytes();
        let (read, Body::Batch(batch), _) = FrameBody::read(bytes).unwrap() else { panic!("another body") };
        assert_eq!(read.history_after(5), histories[1]);
        // Conditions were decided.
        let [Operation { what, condition, is_refused }] = &batch.operations[..] else {
            panic!("{:?}", batch.operations)
        };
        assert!(matches!(what, What::Write(0)) && *condition == Condition::Always && !is_refused);
        // What is in no frame has no history that could come again.
        assert_ne!(FrameBody::default().history_after(5), FrameBody::default().history_after(5));
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let all = |docs: u32| (0..docs).map(What::Write);
        assert!(body(3, all(3)).is_consistent());
        // A few bytes that claim many documents.
        assert!(!body(u32::MAX, all(3)).is_consistent());
        assert!(!body(3, all(4)).is_consistent());
        assert!(!body(3, []).is_consistent());
        assert!(body(0, [What::Delete(1, None)]).is_consistent());
        assert!(!body(0, [What::Delete(2, None)]).is_consistent());
        assert!(!body(0, [What::Update(0)]).is_consistent());
        let row = |of_rows| Updates {
            rows: PlainColumns::new(1, Vec::new()).unwrap(),
            of_rows,
            kinds: vec![Vec::new()],
        };
        assert!(BatchBody { updates: row(vec![0]), ..body(0, [What::Update(0)]) }.is_consistent());
        for of_rows in [vec![1], vec![0, 0], Vec::new()] {
            assert!(!BatchBody { updates: row(of_rows), ..body(0, []) }.is_consistent());
        }
    }

    #[test]
    fn every_cut_of_a_body_is_refused() {
        let mut bytes = encoded(&body(2, [What::Write(0), What::Write(1)])).into_bytes();
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
