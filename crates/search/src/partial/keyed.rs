//! Documents with the values of their sort keys.

use docvalues_column::{DocAddress, SortKey, Value};

use super::column::PartialColumn;
use crate::error::{Error, Result};
use crate::metrics::merge_sorted;
use crate::sort::{Entry, SortValue};

/// A document and its value by each sort key, in the order of documents.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct KeyedDoc {
    pub(super) values: Vec<SortValue>,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::address"))]
    pub(super) address: DocAddress,
}

impl From<Entry> for KeyedDoc {
    fn from(entry: Entry) -> KeyedDoc {
        KeyedDoc { values: entry.values.into_vec(), address: entry.address }
    }
}

impl KeyedDoc {
    /// The values by `keys`; `None` for none.
    pub(super) fn typed_values(&self, keys: &[SortKey], columns: &[PartialColumn]) -> Vec<Option<Value>> {
        let keys = keys.iter().zip(columns);
        self.values.iter().zip(keys).map(|(value, (key, column))| value.typed(key, &column.field)).collect()
    }

    /// Whether its values may be those of `keys`, and its part one of `parts`.
    #[cfg(feature = "serde")]
    pub(super) fn fits(&self, keys: &[SortKey], columns: &[PartialColumn], parts: u32) -> bool {
        let mut pairs = self.values.iter().zip(keys.iter().zip(columns));
        let fits = |(value, (key, column)): (&SortValue, (&SortKey, &PartialColumn))| {
            let is_missing = matches!(value, SortValue::First | SortValue::Last);
            value.is_of(key, &column.field) && (is_missing || !column.is_absent())
        };
        self.address.part < parts && self.values.len() == keys.len() && pairs.all(fits)
    }
}

/// The number of parts of two searches together.
pub(super) fn all_parts(column: &str, a: u32, b: u32) -> Result<u32> {
    let too_many = || Error::Request(format!("partial results of column \"{column}\": too many parts"));
    a.checked_add(b).ok_or_else(too_many)
}

/// The documents in a search with `parts` more parts before theirs. The sum was checked by [`all_parts`].
pub(super) fn shifted(mut docs: Vec<KeyedDoc>, parts: u32) -> Vec<KeyedDoc> {
    docs.iter_mut().for_each(|doc| doc.address.part = doc.address.part.saturating_add(parts));
    docs
}

/// The first `top` documents of both lists, in order.
pub(super) fn merge_docs(a: Vec<KeyedDoc>, b: Vec<KeyedDoc>, top: usize) -> Vec<KeyedDoc> {
    // No two are equal: their addresses differ.
    let mut docs = merge_sorted(a, b, |doc| doc, |doc, _| doc);
    docs.truncate(top);
    docs
}
