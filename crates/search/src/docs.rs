//! Sets of documents: what a search found, and what the other works here are about.

use std::ops::Range;

use docvalues_column::{DocId, bits};

use crate::memory;

/// The documents that a request is about.
///
/// Borrowed and small: it is handed on by value. Documents past the last one of the source are not there, in any form.
#[derive(Clone, Copy, Debug)]
pub enum Docs<'a> {
    /// Every document.
    All,
    /// The documents from the first number up to, but without, the second.
    Range(u32, u32),
    /// These, strictly ascending: what is asked of a list in another order is answered wrongly.
    List(&'a [DocId]),
    /// Those whose bit is set.
    Bits(&'a Bitset),
}

impl Docs<'_> {
    /// How many there are in a source of `docs` documents. O(1); of a list, O(log n); of bits for more documents, O(words).
    pub fn count(&self, docs: u32) -> u32 {
        match *self {
            Docs::All => docs,
            Docs::Range(from, to) => to.min(docs).saturating_sub(from),
            Docs::List(list) => len_u32(list.partition_point(|doc| doc.get() < docs)),
            Docs::Bits(bits) if bits.docs <= docs => bits.count,
            Docs::Bits(bits) => bits.of(docs).count,
        }
    }

    /// The documents, ascending.
    pub fn iter(&self, docs: u32) -> Box<dyn Iterator<Item = DocId> + '_> {
        match *self {
            Docs::All => Box::new((0..docs).map(DocId::new)),
            Docs::Range(from, to) => Box::new((from..to.min(docs)).map(DocId::new)),
            Docs::List(list) => Box::new(list.iter().copied().take_while(move |doc| doc.get() < docs)),
            Docs::Bits(bits) => Box::new(bits.iter().take_while(move |doc| doc.get() < docs)),
        }
    }

    /// The documents, ascending, side by side.
    pub fn to_vec(&self, docs: u32) -> Vec<DocId> {
        let len = self.count(docs);
        let mut found = memory::room(len as usize);
        match *self {
            // Without a call for each.
            Docs::All => found.extend((0..docs).map(DocId::new)),
            Docs::Range(from, to) => found.extend((from..to.min(docs)).map(DocId::new)),
            Docs::List(list) => found.extend_from_slice(&list[..len as usize]),
            Docs::Bits(set) => {
                bits::docs(&set.words, 0, &mut found);
                found.truncate(len as usize);
            }
        }
        found
    }

    /// Those among `docs`, which are in the source. O(docs).
    pub(crate) fn within(&self, docs: Range<u32>) -> Vec<DocId> {
        match *self {
            Docs::All => docs.map(DocId::new).collect(),
            Docs::Range(from, to) => (docs.start.max(from)..docs.end.min(to)).map(DocId::new).collect(),
            Docs::List(list) => {
                let below = |end| list.partition_point(|doc| doc.get() < end);
                list[below(docs.start)..below(docs.end)].to_vec()
            }
            Docs::Bits(bits) => docs.map(DocId::new).filter(|doc| bits.contains(*doc)).collect(),
        }
    }

    /// Whether these are all of a source of `docs` documents: what its directory says is then true of them.
    pub fn is_all(&self, docs: u32) -> bool {
        self.count(docs) == docs
    }
}

impl From<Range<u32>> for Docs<'_> {
    fn from(docs: Range<u32>) -> Self {
        Docs::Range(docs.start, docs.end)
    }
}

impl<'a> From<&'a Bitset> for Docs<'a> {
    fn from(bits: &'a Bitset) -> Self {
        Docs::Bits(bits)
    }
}

/// Documents as bits, a bit for each document of the source, and how many of them are set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bitset {
    words: Vec<u64>,
    docs: u32,
    count: u32,
}

impl Bitset {
    /// None of `docs` documents.
    pub fn none(docs: u32) -> Bitset {
        Bitset { words: vec![0; bits::words(0..docs)], docs, count: 0 }
    }

    /// Bit `i % 64` of word `i / 64` is document `i`; bits behind the last document are cleared. O(words).
    ///
    /// # Panics
    ///
    /// If there are not just as many words as `docs` documents take.
    pub fn from_words(mut words: Vec<u64>, docs: u32) -> Bitset {
        assert_eq!(words.len(), bits::words(0..docs), "words for {docs} documents");
        if let Some(last) = words.last_mut()
            && !docs.is_multiple_of(64)
        {
            *last &= (1 << (docs % 64)) - 1;
        }
        let count = len_u32(bits::count(&words));
        Bitset { words, docs, count }
    }

    /// The same for a source of `docs` documents, without those that it does not have. O(words).
    pub(crate) fn of(&self, docs: u32) -> Bitset {
        let mut words = self.words.clone();
        words.resize(bits::words(0..docs), 0);
        Bitset::from_words(words, docs)
    }

    /// Those of `list` that are below `docs`, in any order.
    pub fn from_docs(list: impl IntoIterator<Item = DocId>, docs: u32) -> Bitset {
        let mut words = vec![0; bits::words(0..docs)];
        for doc in list.into_iter().filter(|doc| doc.get() < docs) {
            bits::set(&mut words, doc.get() as usize);
        }
        Bitset::from_words(words, docs)
    }

    /// How many documents are in it.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// How many documents there are, in it or not.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The words.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether `doc` is in it.
    pub fn contains(&self, doc: DocId) -> bool {
        bits::get(&self.words, doc.get() as usize)
    }

    /// The documents in it: [`Docs::All`] if these are all there are, for then runs are scanned, and the directory knows
    /// something of them.
    pub fn as_docs(&self) -> Docs<'_> {
        if self.count == self.docs { Docs::All } else { Docs::Bits(self) }
    }

    /// The documents in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        bits::ones(&self.words).map(|at| DocId::new(len_u32(at)))
    }
}

/// A number of documents, or of something that there is at most once for each.
pub(crate) fn len_u32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
