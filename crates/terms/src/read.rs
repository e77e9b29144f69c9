//! Looks ids up in one segment. In `ordered`, walks over them.

use docvalues_format::error::{Error, ErrorKind, Place, Result, Section};
use docvalues_format::id::DocId;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::NumericReader;
use docvalues_format::source::SectionBytes;
use docvalues_format::strings::leading;

use crate::Dictionary;
use crate::bloom::{BloomFilter, Lines, Probe};
use crate::dictionary::{VerifiedDictionary, VerifiedKeys};
use crate::exact_trie::ExactTrie;
use crate::fst::Fst;
use crate::hash::hash;
use crate::id_blocks::BlocksReader;
use crate::ids::{IdSizes, Ids, IdsMeta, Keys, MAX_BOUND};
use crate::in_column::InColumnReader;
use crate::packing::{Packed, Template};

mod ordered;
mod rank_docs;
#[cfg(test)]
mod tests;
mod verify;

pub(crate) use rank_docs::Docs;

/// The ids of a segment, opened.
///
/// Over many segments, an [`IdLookup`](crate::lookup::IdLookup) packs and hashes an id once.
///
/// # Checks
///
/// [`open`](Self::open) reads and checks what leads to blocks, and copies it; everything else is read, and checked, when
/// it is used. Whatever the bytes are, a look-up returns a document of the segment, none, or an error; that it is
/// the right one in a file whose checksums match is for [`verify`](Self::verify).
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Error;
/// use docvalues_format::id::DocId;
/// use docvalues_format::source::Owned;
/// use docvalues_terms::build::{IdOptions, IdsBuilder};
/// use docvalues_terms::read::IdsReader;
///
/// let ids = [("a", DocId::new(1)), ("b", DocId::new(0))]; // ascending
/// let built = IdsBuilder::new(IdOptions::default()).build(&ids[..], 2)?;
/// // A file has these sections; memory here.
/// let opened = built.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = IdsReader::open(opened)?;
/// assert_eq!(reader.find(b"a")?, Some(DocId::new(1)));
/// assert_eq!(reader.find(b"c")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IdsReader<B> {
    /// Here, beside a single pointer: a scan over the filters of many segments reads an array of these.
    filter: Option<BloomFilter<B>>,
    inner: Box<Inner<B>>,
}

/// All that is read after the filter.
#[derive(Debug)]
struct Inner<B> {
    /// The first eight bytes of the least and the greatest packed id, as numbers.
    heads: (u64, u64),
    keys: KeysReader<B>,
    docs: NumericReader<B>,
    meta: IdsMeta,
    sizes: IdSizes,
}

#[derive(Debug)]
enum KeysReader<B> {
    None,
    Blocks(BlocksReader<B>),
    Exact(ExactTrie<B>),
    Fst(Fst<B>),
    Column(InColumnReader<B>),
}

impl<B: SectionBytes> Inner<B> {
    /// Passes the dictionary to `read` as a trait object, for calls whose dispatch does not matter. Does nothing
    /// without ids.
    // Never inlined: where it is, the methods of all dictionaries are compiled again.
    #[inline(never)]
    fn with_dictionary(&self, read: &mut dyn FnMut(&dyn Dictionary) -> Result<()>) -> Result<()> {
        match &self.keys {
            KeysReader::None => Ok(()),
            KeysReader::Blocks(blocks) => read(blocks),
            KeysReader::Exact(trie) => read(trie),
            KeysReader::Fst(fst) => read(fst),
            KeysReader::Column(column) => read(&column.dictionary(&self.docs)),
        }
    }

    #[inline]
    fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        match &self.keys {
            KeysReader::None => Ok(None),
            KeysReader::Blocks(blocks) => blocks.find(key),
            KeysReader::Exact(trie) => trie.find(key),
            KeysReader::Fst(fst) => fst.find(key),
            KeysReader::Column(column) => column.find(key, &self.docs),
        }
    }
}

impl<B: SectionBytes> KeysReader<B> {
    /// The dictionary, if all of it is verified by now.
    fn checked(&self) -> Option<VerifiedDictionary<'_>> {
        Some(VerifiedDictionary(match self {
            KeysReader::None => VerifiedKeys::None,
            KeysReader::Blocks(blocks) => {
                let (section, index) = blocks.verified()?;
                VerifiedKeys::Blocks(section, index)
            }
            KeysReader::Exact(trie) => VerifiedKeys::Exact(trie.verified()?),
            KeysReader::Fst(fst) => VerifiedKeys::Fst(fst.verified()?),
            KeysReader::Column(column) => VerifiedKeys::Column(column.verified()?),
        }))
    }
}

impl<B: SectionBytes> IdsReader<B> {
    /// Opens the ids of a segment. For blocks, reads, verifies and copies their index: about 10 ns a block of about
    /// 40 ids. Reads nothing else.
    ///
    /// # Errors
    ///
    /// When fields contradict each other or the lengths of the sections, or the block index is damaged. When the ids are
    /// [values of a column](crate::ids::Form::Column): use [`open_in`](Self::open_in).
    pub fn open(ids: Ids<B>) -> Result<IdsReader<B>> {
        IdsReader::open_with(ids, None)
    }

    /// As [`open`](Self::open), for ids that are [values of a column](crate::ids::Form::Column). `values` are the values
    /// of all documents, end to end.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and when the values are not of one length, which the ids have.
    pub fn open_in(ids: Ids<B>, values: B) -> Result<IdsReader<B>> {
        IdsReader::open_with(ids, Some(values))
    }

    fn open_with(ids: Ids<B>, values: Option<B>) -> Result<IdsReader<B>> {
        ids.check(|section| section.len() as u64).map_err(refuse)?;
        let sizes = ids.sizes(|section| section.len() as u64);
        let Ids { meta, keys, filter, docs } = ids;
        let keys = match keys {
            Keys::None => KeysReader::None,
            Keys::Blocks(blocks) => KeysReader::Blocks(BlocksReader::open(blocks, meta.count)?),
            Keys::Exact(section) => KeysReader::Exact(ExactTrie::open(section, meta.count)?),
            Keys::Fst(section) => KeysReader::Fst(Fst::open(section, meta.count)?),
            Keys::Column(sections) => {
                let values = values.ok_or_else(|| refuse(ErrorKind::Broken(NO_COLUMN)))?;
                let bounds = (&*meta.least, &*meta.greatest);
                KeysReader::Column(InColumnReader::open(sections, values, meta.count, bounds)?)
            }
        };
        let bits = meta.form.filter_bits(meta.filter_bits);
        let open = |section| BloomFilter::open(section, meta.count, bits);
        let filter = filter.map(open).transpose()?;
        let docs = NumericReader::open(docs, JumpTables::Baked)?;
        let heads = (leading(&meta.least), leading(&meta.greatest));
        Ok(IdsReader { filter, inner: Box::new(Inner { heads, keys, docs, meta, sizes }) })
    }

    /// The number of ids.
    pub fn len(&self) -> u32 {
        self.inner.meta.count
    }

    /// Whether there are no ids.
    pub fn is_empty(&self) -> bool {
        self.inner.meta.count == 0
    }

    /// The number of documents of the segment.
    pub fn doc_count(&self) -> u32 {
        self.inner.meta.doc_count
    }

    /// The fields of the index in the directory.
    pub fn meta(&self) -> &IdsMeta {
        &self.inner.meta
    }

    /// The template that ids are packed with.
    #[inline]
    pub fn template(&self) -> &Template {
        &self.inner.meta.template
    }

    /// The seed of the filter's [`hash`].
    #[inline]
    pub fn seed(&self) -> u64 {
        self.inner.meta.seed
    }

    /// Bytes of each part in the file.
    pub fn sizes(&self) -> IdSizes {
        self.inner.sizes
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let keys = match &self.inner.keys {
            KeysReader::Blocks(blocks) => blocks.heap_bytes(),
            KeysReader::Column(column) => column.heap_bytes(),
            KeysReader::None | KeysReader::Exact(_) | KeysReader::Fst(_) => 0,
        };
        keys + self.inner.docs.heap_bytes() + self.inner.meta.least.len() + self.inner.meta.greatest.len()
    }

    /// The document with `id`, if there is one.
    ///
    /// # Errors
    ///
    /// When bytes that the look-up reads are damaged.
    pub fn find(&self, id: &[u8]) -> Result<Option<DocId>> {
        let mut buffer = Packed::default();
        let Some(key) = self.inner.meta.template.pack(id, &mut buffer) else { return Ok(None) };
        if self.filter.is_some() && !self.may_hold(&Probe::new(hash(id, self.inner.meta.seed)))? {
            return Ok(None);
        }
        self.find_packed(key)
    }

    /// Whether the id may be here by the filter: true for every id that is, and for about one of a thousand others
    /// with 16 bits a key. Always true without a filter.
    ///
    /// # Errors
    ///
    /// When the filter is damaged at that line.
    #[inline]
    pub fn may_hold(&self, probe: &Probe) -> Result<bool> {
        match &self.filter {
            Some(filter) => filter.may_hold(probe),
            None => Ok(true),
        }
    }

    /// The lines of the filter, if all of it is verified by now; [`Lines::ALL`] if there is no filter.
    pub(crate) fn lines(&self) -> Option<Lines<'_>> {
        match &self.filter {
            Some(filter) => filter.verified(),
            None => Some(Lines::ALL),
        }
    }

    /// The dictionary, if all of it is verified by now.
    pub(crate) fn dictionary(&self) -> Option<VerifiedDictionary<'_>> {
        self.inner.keys.checked()
    }

    /// The documents by rank, if all of them are verified by now and their encoding allows direct access.
    pub(crate) fn docs(&self) -> Option<Docs<'_>> {
        Some(Docs::new(self.inner.docs.direct()?, self.inner.meta.doc_count))
    }

    /// The least and the greatest id, packed, or their first [`MAX_BOUND`] bytes; `None` without ids.
    pub(crate) fn bounds(&self) -> Option<(&[u8], &[u8])> {
        (self.inner.meta.count > 0).then_some((&*self.inner.meta.least, &*self.inner.meta.greatest))
    }

    /// Prefetches for [`find_packed`](Self::find_packed). For blocks, searches their index for the key; for ids in a
    /// column, prefetches the heads; does nothing for other forms.
    #[inline]
    pub fn prefetch_packed(&self, key: &[u8]) {
        match &self.inner.keys {
            KeysReader::Blocks(blocks) => blocks.prefetch(key),
            KeysReader::Column(column) => column.prefetch(key),
            KeysReader::None | KeysReader::Exact(_) | KeysReader::Fst(_) => {}
        }
    }

    /// As [`find`](Self::find), for an id that was packed with this [`template`](Self::template), without testing
    /// the filter.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    #[inline]
    pub fn find_packed(&self, key: &[u8]) -> Result<Option<DocId>> {
        let head = leading(key);
        if head < self.inner.heads.0 || head > self.inner.heads.1 || !self.is_within(head, key) {
            return Ok(None);
        }
        match self.inner.find(key)? {
            Some(rank) => self.doc(rank).map(Some),
            None => Ok(None),
        }
    }

    /// Whether a key lies between the least and the greatest id. `head` is its first eight bytes.
    #[inline]
    fn is_within(&self, head: u64, key: &[u8]) -> bool {
        if head != self.inner.heads.0 && head != self.inner.heads.1 {
            return true;
        }
        let start = &key[..key.len().min(MAX_BOUND)];
        &*self.inner.meta.least <= start && start <= &*self.inner.meta.greatest
    }

    /// The document of the id with `rank`.
    ///
    /// # Errors
    ///
    /// When there is no such rank, or bytes that the look-up reads are damaged.
    #[inline]
    pub fn doc(&self, rank: u32) -> Result<DocId> {
        let doc = self.inner.docs.get(rank.into())?;
        match u32::try_from(doc) {
            Ok(doc) if doc < self.inner.meta.doc_count => Ok(DocId::new(doc)),
            _ => Err(self.no_document()),
        }
    }

    #[cold]
    fn no_document(&self) -> Error {
        let place = self.inner.docs.meta().blocks.as_ref().map_or(NOWHERE, B::place);
        Error::at(place, 0, ErrorKind::Broken("an id has a document that is not in the segment"))
    }
}

const NOT_PACKED: &str = "a packed id does not fit the template";

const NO_COLUMN: &str = "the ids are values of a column, which is needed to open them";

/// The place of errors that concern no section in particular.
const NOWHERE: Place = Place { section: Section::Ids, offset: 0 };

#[cold]
fn refuse(kind: ErrorKind) -> Error {
    Error::at(NOWHERE, 0, kind)
}
