//! Sets of documents of several parts.

use std::ops::Range;
use std::sync::Arc;

use docvalues_column::{Bitset, DocAddress, DocId};

use super::docs::Docs;
use crate::error::{Error, Result};

/// The documents that a search covers, in each of its parts.
///
/// It is borrowed and cheap to copy. A search over one source takes [`Docs`] directly.
///
/// ```
/// use docvalues_search::{Docs, DocsByPart};
///
/// // The first hundred documents of the first part, and all of the second.
/// let parts = [Docs::Range(0, 100), Docs::All];
/// let docs = DocsByPart::from(&parts);
/// # drop(docs);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum DocsByPart<'a> {
    /// All documents of all parts.
    All,
    /// Documents of the only part.
    One(Docs<'a>),
    /// Documents of each part.
    Parts(&'a [Docs<'a>]),
    /// A set that a filter made.
    Set(&'a DocSet),
}

/// A set of documents of several parts, made by [`Search::filter`](crate::Search::filter) or
/// [`Search::doc_set`](crate::Search::doc_set).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocSet {
    parts: Vec<PartSet>,
}

/// The documents of one part that are in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartSet {
    None,
    /// All of this many documents.
    All(u32),
    Some(Arc<Bitset>),
}

impl PartSet {
    pub(crate) fn count(&self) -> u32 {
        match self {
            PartSet::None => 0,
            PartSet::All(docs) => *docs,
            PartSet::Some(bits) => bits.count(),
        }
    }
}

impl DocSet {
    pub(crate) fn new(parts: Vec<PartSet>) -> DocSet {
        DocSet { parts }
    }

    /// The number of documents.
    pub fn count(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.count())).sum()
    }

    /// Whether it has no document.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// The documents of one part.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub fn of_part(&self, part: usize) -> Docs<'_> {
        match &self.parts[part] {
            PartSet::None => Docs::Range(0, 0),
            PartSet::All(_) => Docs::All,
            PartSet::Some(bits) => Docs::Bits(bits),
        }
    }

    /// The bits of one part; `None` if the set has all of its documents, or none.
    pub(crate) fn bits_of(&self, part: usize) -> Option<&Arc<Bitset>> {
        match &self.parts[part] {
            PartSet::Some(bits) => Some(bits),
            PartSet::None | PartSet::All(_) => None,
        }
    }

    /// The documents, ascending by part and document.
    pub fn iter(&self) -> impl Iterator<Item = DocAddress> + '_ {
        (0..).zip(&self.parts).flat_map(|(part, set)| {
            let docs: Box<dyn Iterator<Item = DocId>> = match set {
                PartSet::None => Box::new(std::iter::empty()),
                PartSet::All(total) => Box::new((0..*total).map(DocId::new)),
                PartSet::Some(bits) => Box::new(bits.iter()),
            };
            docs.map(move |doc| DocAddress { part, doc })
        })
    }
}

impl<'a> DocsByPart<'a> {
    /// The documents of part `part` of `parts`.
    ///
    /// # Errors
    ///
    /// If the documents are not those of as many parts.
    pub(crate) fn of_part(self, part: usize, parts: usize) -> Result<Docs<'a>> {
        let (found, docs) = match self {
            DocsByPart::All => return Ok(Docs::All),
            DocsByPart::One(docs) => (1, Some(docs)),
            DocsByPart::Parts(docs) => (docs.len(), docs.get(part).copied()),
            DocsByPart::Set(set) => (set.parts(), (part < set.parts()).then(|| set.of_part(part))),
        };
        docs.filter(|_| found == parts).ok_or_else(|| {
            Error::Request(format!("expected documents of {parts} parts, found documents of {found}"))
        })
    }
}

impl<'a> From<Docs<'a>> for DocsByPart<'a> {
    fn from(docs: Docs<'a>) -> Self {
        if let Docs::All = docs { DocsByPart::All } else { DocsByPart::One(docs) }
    }
}

impl<'a, const N: usize> From<&'a [Docs<'a>; N]> for DocsByPart<'a> {
    fn from(parts: &'a [Docs<'a>; N]) -> Self {
        DocsByPart::Parts(parts)
    }
}

impl<'a> From<&'a Vec<Docs<'a>>> for DocsByPart<'a> {
    fn from(parts: &'a Vec<Docs<'a>>) -> Self {
        DocsByPart::Parts(parts)
    }
}

/// Conversions to the variants of an enum of documents.
macro_rules! from_docs {
    ($to:ident: $($variant:ident: $($type:ty),+;)+) => {
        $($(impl<'a> From<$type> for $to<'a> {
            fn from(docs: $type) -> Self {
                $to::$variant(docs.into())
            }
        })+)+
    };
}
pub(crate) use from_docs;

from_docs! {
    DocsByPart:
    One: &'a Bitset, Range<u32>;
    Parts: &'a [Docs<'a>];
    Set: &'a DocSet;
}
