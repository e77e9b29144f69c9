//! The operations of a batch, their conditions, and what becomes of them.

use serde::{Deserialize, Serialize};

/// A condition on which an operation of a [`WriteBatch`](crate::WriteBatch) takes place. [`Store::apply`](crate::Store::apply) has
/// an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// Nothing, except that the version, if there is one, is above that of the document with the same id.
    #[default]
    Always,
    /// There is no document with the id.
    Absent,
    /// The document with the id has this version.
    Version(u64),
}

/// The outcome of an operation of a [`WriteBatch`](crate::WriteBatch): [`Applied::outcomes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The document was added.
    Added,
    /// The document was added, and replaced the one with the same id.
    Replaced,
    /// The document with the id has new values.
    Updated,
    /// The document with the id was deleted.
    Deleted,
    /// There was no document with the id to update or delete.
    NotFound,
    /// Nothing was done: a document with the id, or a deletion of it, has this version, which is at least as high.
    Stale {
        /// The version that won.
        current: u64,
    },
    /// Nothing was done: the condition does not hold.
    Refused {
        /// The version of the document with the id, if there is one and it has a version.
        current: Option<u64>,
    },
    /// Nothing was done: a number that the update computes would be out of the range of its field, and the update is not
    /// [saturating](crate::Update::saturating).
    Overflow {
        /// The place of the field in the [schema](crate::StoreSchema::fields), that of its
        /// [`FieldId::index`](docvalues_writer::FieldId::index).
        field: usize,
    },
}

/// The result of [`Store::apply`](crate::Store::apply). The places of the documents are known after the next refresh:
/// [`Snapshot::find`](crate::Snapshot::find).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The sequence number of the batch; that of the last one if nothing changed.
    pub sequence: u64,
    /// The outcome of each operation, in the order of the batch.
    pub outcomes: Vec<Outcome>,
    /// The first version that was assigned to a document without one; the others follow it in the order of the batch.
    pub first_version: Option<u64>,
}

/// An operation: a document to write or to update, or an id to delete. A log has what is to be done, and says of a whole batch
/// which operations took place.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Operation {
    pub(crate) what: What,
    #[serde(skip)]
    pub(crate) condition: Condition,
    /// Whether it did not take place when it was first applied, before it was read from a log.
    #[serde(skip)]
    pub(crate) is_refused: bool,
}

/// In the order of the log.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum What {
    /// The document of this number in the batch.
    Write(u32),
    /// The id at this place in the list of ids, and the version of the deletion.
    Delete(usize, Option<u64>),
    /// The row of this number among the updates.
    Update(u32),
}
