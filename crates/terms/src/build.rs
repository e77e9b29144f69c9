//! Builds the sections of sorted ids.

use std::convert::Infallible;
use std::ops::ControlFlow;

use docvalues_format::id::DocId;
use docvalues_format::numeric::{self, Numeric, NumericOptions, Role};

use crate::bloom::{BloomFilterBuilder, DEFAULT_BITS, MAX_BITS};
use crate::exact_trie::TrieBuilder;
use crate::fst::FstBuilder;
use crate::hash::hash;
use crate::id_blocks::{Blocks, BlocksBuilder};
use crate::ids::{Form, Ids, IdsMeta, Keys, MAX_BOUND, MAX_ID_LEN};
use crate::packing::{Packed, Template, detect};

#[cfg(test)]
mod tests;

/// Options of an id index.
///
/// # Examples
///
/// ```
/// use docvalues_terms::build::{Duplicates, IdOptions};
/// use docvalues_terms::ids::Form;
///
/// let uuids = IdOptions::default(); // blocks, and a filter of 16 bits an id
/// let counters = IdOptions::new().form(Form::Fst); // such as `order-000017`
/// let upserts = IdOptions::new().duplicates(Duplicates::KeepLast).seed(0x5eed);
/// # assert_eq!((uuids.filter_bits, counters.seed, upserts.form), (16, 0, Form::Blocks));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IdOptions {
    /// The data structure that finds ids.
    pub form: Form,
    /// Bits of the Bloom filter for each id, at most [`MAX_BITS`]; 0 for no filter.
    pub filter_bits: u8,
    /// The seed of the filter's hash. Use one seed for all segments that are searched together.
    pub seed: u64,
    /// The treatment of documents with equal ids when segments are written and merged. An index has each id once.
    pub duplicates: Duplicates,
}

/// The treatment of documents with equal ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Duplicates {
    /// An error that names two of them.
    #[default]
    Refuse,
    /// Keep the one that was added last, and omit the others from the segment: an upsert.
    KeepLast,
}

impl Default for IdOptions {
    /// As [`IdOptions::new`].
    fn default() -> IdOptions {
        IdOptions::new()
    }
}

impl IdOptions {
    /// Blocks with a Bloom filter of 16 bits an id; documents with equal ids are an error.
    pub const fn new() -> IdOptions {
        IdOptions { form: Form::Blocks, filter_bits: DEFAULT_BITS, seed: 0, duplicates: Duplicates::Refuse }
    }

    /// Sets the data structure that finds ids.
    #[must_use]
    pub const fn form(self, form: Form) -> IdOptions {
        IdOptions { form, ..self }
    }

    /// Sets the bits of the Bloom filter for each id; 0 for no filter.
    #[must_use]
    pub const fn filter_bits(self, filter_bits: u8) -> IdOptions {
        IdOptions { filter_bits, ..self }
    }

    /// Sets the seed of the filter's hash.
    #[must_use]
    pub const fn seed(self, seed: u64) -> IdOptions {
        IdOptions { seed, ..self }
    }

    /// Sets the treatment of documents with equal ids.
    #[must_use]
    pub const fn duplicates(self, duplicates: Duplicates) -> IdOptions {
        IdOptions { duplicates, ..self }
    }
}

/// A source of ids and their documents, in the byte order of the ids.
///
/// # Examples
///
/// Ids that are computed, so that a list of them is never in memory:
///
/// ```
/// use std::convert::Infallible;
/// use std::ops::ControlFlow;
///
/// use docvalues_format::id::DocId;
/// use docvalues_terms::build::{IdOptions, IdsBuilder, SortedIds};
///
/// struct Orders(u32);
///
/// impl SortedIds for Orders {
///     type Error = Infallible;
///
///     fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Infallible> {
///         let _ = (0..self.0).try_for_each(|i| each(format!("order-{i:08}").as_bytes(), DocId::new(i)));
///         Ok(())
///     }
/// }
///
/// let ids = IdsBuilder::new(IdOptions::default()).build(&Orders(1_000), 1_000)?;
/// assert_eq!(ids.meta.count, 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SortedIds {
    /// The error of reading them.
    type Error;

    /// Calls `each` with each id and its document, in the order of the ids, until it breaks. Every call passes the
    /// same ids.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Self::Error>;
}

impl<I: AsRef<[u8]>> SortedIds for [(I, DocId)] {
    type Error = Infallible;

    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Infallible> {
        let _ = self.iter().try_for_each(|(id, doc)| each(id.as_ref(), *doc));
        Ok(())
    }
}

/// The storage of an index while it is built: memory or, for the parts that grow with the ids, a temporary file.
///
/// An error `E` ends the build with [`BuildError::Storage`].
pub trait BuildStorage<E> {
    /// The finished section. Small sections are converted from memory.
    type Section: From<Vec<u8>>;

    /// Discards everything: the build of an index of `count` ids begins.
    fn begin(&mut self, count: u32);

    /// Stores the document of the next id.
    ///
    /// # Errors
    ///
    /// When there is no room.
    fn doc(&mut self, doc: DocId) -> Result<(), E>;

    /// May take `made`, the next bytes of the section of ids, all of them, and append them to those it took before.
    ///
    /// # Errors
    ///
    /// When there is no room; then it took nothing.
    fn ids(&mut self, made: &mut Vec<u8>) -> Result<(), E>;

    /// The section of ids: the bytes taken, followed by `rest`.
    fn section(&mut self, rest: Vec<u8>) -> Self::Section;

    /// The documents stored, encoded.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or there is no room.
    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Self::Section>, E>;
}

/// Stores the documents in memory.
#[derive(Default)]
struct InMemory(Vec<u32>);

impl<E> BuildStorage<E> for InMemory {
    type Section = Vec<u8>;

    fn begin(&mut self, count: u32) {
        self.0.clear();
        self.0.reserve_exact(count as usize);
    }

    fn doc(&mut self, doc: DocId) -> Result<(), E> {
        self.0.push(doc.get());
        Ok(())
    }

    fn ids(&mut self, _: &mut Vec<u8>) -> Result<(), E> {
        Ok(())
    }

    fn section(&mut self, rest: Vec<u8>) -> Vec<u8> {
        rest
    }

    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Vec<u8>>, E> {
        Ok(numeric::encode(&self.0, options))
    }
}

/// The reason that an index cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError<E> {
    /// The ids could not be read.
    #[error("cannot read the ids: {0}")]
    Source(E),
    /// The index could not be stored.
    #[error("cannot store the index of ids: {0}")]
    Storage(E),
    /// Two documents have the same id.
    #[error("documents {} and {} have the same id: \"{}\"", docs[0], docs[1], id.escape_ascii())]
    Duplicate {
        /// The id.
        id: Vec<u8>,
        /// The documents, in the order in which they were added.
        docs: [DocId; 2],
    },
    /// An id is less than the one before it.
    #[error("the id of document {doc}, \"{}\", is less than the one before it", id.escape_ascii())]
    NotAscending {
        /// The id.
        id: Vec<u8>,
        /// Its document.
        doc: DocId,
    },
    /// An id has more than [`MAX_ID_LEN`] bytes.
    #[error("expected an id of at most {MAX_ID_LEN} bytes, found {len} bytes in document {doc}")]
    TooLong {
        /// Its document.
        doc: DocId,
        /// Bytes of the id.
        len: usize,
    },
    /// A document has two ids, or is not one of the segment.
    #[error("document {doc} has two ids, or is not one of the segment's {docs} documents")]
    Document {
        /// The document.
        doc: DocId,
        /// The number of documents of the segment.
        docs: u32,
    },
    /// A second reading returned other ids than the first.
    #[error("ids changed while they were indexed")]
    Changed,
}

/// Builds the index of a segment's ids.
///
/// ```
/// use docvalues_format::id::DocId;
/// use docvalues_format::source::Owned;
/// use docvalues_terms::build::{IdOptions, IdsBuilder};
/// use docvalues_terms::read::IdsReader;
///
/// let ids = [("ant", 2), ("bee", 0), ("cow", 1)].map(|(id, doc)| (id, DocId::new(doc)));
/// let made = IdsBuilder::new(IdOptions::default()).build(&ids[..], 3)?;
/// let opened = made.try_map(&mut |section, bytes| Ok::<_, std::convert::Infallible>(Owned::new(section, bytes)))?;
/// let reader = IdsReader::open(opened)?;
/// assert_eq!(reader.find(b"bee")?, Some(DocId::new(0)));
/// assert_eq!(reader.find(b"beetle")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IdsBuilder {
    options: IdOptions,
}

/// The result of the first pass over the ids.
#[derive(Default)]
struct Survey {
    count: u32,
    first: Vec<u8>,
    /// The greatest id so far.
    last: Vec<u8>,
    last_doc: DocId,
    max_len: usize,
}

impl IdsBuilder {
    /// A builder with these options.
    pub fn new(options: IdOptions) -> IdsBuilder {
        let filter_bits = options.filter_bits.min(MAX_BITS);
        IdsBuilder { options: IdOptions { filter_bits, ..options } }
    }

    /// Builds the index of `ids`, of a segment of `docs` documents, some of which may have no id.
    ///
    /// Reads the ids twice if all fit the first template, and once more for each template that they turn out not to
    /// fit. Memory: the result, four bytes an id for the documents, and a bit for each document.
    ///
    /// # Errors
    ///
    /// When ids cannot be read, do not ascend, are duplicated or too long, or when a document is duplicated or not
    /// one of the segment.
    pub fn build<T: SortedIds + ?Sized>(
        &self,
        ids: &T,
        docs: u32,
    ) -> Result<Ids<Vec<u8>>, BuildError<T::Error>> {
        self.build_in(ids, docs, &mut InMemory::default())
    }

    /// As [`build`](Self::build), with the section of ids and their documents in `storage` while they are built.
    ///
    /// Memory: the filter, which is written in random order; 16 bytes and a separator for each block; and a bit for
    /// each document. An automaton needs all of its section, because any node may be shared.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and those of `storage`.
    pub fn build_in<T: SortedIds + ?Sized, K: BuildStorage<T::Error>>(
        &self,
        ids: &T,
        docs: u32,
        storage: &mut K,
    ) -> Result<Ids<K::Section>, BuildError<T::Error>> {
        let survey = Survey::of(ids, docs)?;
        for template in detect(&survey.first, &survey.last) {
            if let Some(ids) = self.packed(ids, &template, &survey, docs, storage)? {
                return Ok(ids);
            }
        }
        self.packed(ids, &Template::raw(), &survey, docs, storage)?.ok_or(BuildError::Changed)
    }

    /// The index, if all ids fit the template.
    fn packed<T: SortedIds + ?Sized, K: BuildStorage<T::Error>>(
        &self,
        ids: &T,
        template: &Template,
        survey: &Survey,
        doc_count: u32,
        storage: &mut K,
    ) -> Result<Option<Ids<K::Section>>, BuildError<T::Error>> {
        let IdOptions { form, filter_bits, seed, .. } = self.options;
        let mut buffer = [Packed::default(), Packed::default()];
        let [first, last] = &mut buffer;
        let packed = template.pack(&survey.first, first).zip(template.pack(&survey.last, last));
        let Some((least, greatest)) = packed else { return Ok(None) };
        let [least, greatest] = [least, greatest].map(|key| key[..key.len().min(MAX_BOUND)].into());
        let mut filter = BloomFilterBuilder::new(survey.count, filter_bits);
        let mut keys = KeysBuilder::new(form);
        let (mut count, mut buffer, mut end) = (0, Packed::default(), Ok(true));
        storage.begin(survey.count);
        ids.each(&mut |id, doc| {
            let Some(key) = template.pack(id, &mut buffer) else {
                end = Ok(false);
                return ControlFlow::Break(());
            };
            if count == survey.count || !keys.push(key) {
                end = Err(BuildError::Changed);
                return ControlFlow::Break(());
            }
            count += 1;
            if filter_bits > 0 {
                filter.insert(hash(id, seed));
            }
            if let Err(error) = storage.doc(doc).and_then(|()| keys.take(|made| storage.ids(made))) {
                end = Err(BuildError::Storage(error));
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })
        .map_err(BuildError::Source)?;
        if !end? {
            return Ok(None);
        }
        if count != survey.count {
            return Err(BuildError::Changed);
        }
        let options = NumericOptions { role: Role::IdDocs, doubles: false, jump_tables: true, zones: false };
        let (template, max_len) = (template.clone(), u16::try_from(survey.max_len).unwrap_or(u16::MAX));
        Ok(Some(Ids {
            meta: IdsMeta { form, template, count, doc_count, max_len, least, greatest, seed, filter_bits },
            keys: if survey.count == 0 { Keys::None } else { keys.finish(|rest| storage.section(rest)) },
            filter: filter.finish().map(K::Section::from),
            docs: storage.docs(&options).map_err(BuildError::Storage)?,
        }))
    }
}

impl Survey {
    /// Reads all ids once, and checks their order.
    fn of<T: SortedIds + ?Sized>(ids: &T, docs: u32) -> Result<Survey, BuildError<T::Error>> {
        let mut survey = Survey::default();
        let mut seen = vec![0_u64; docs.div_ceil(64) as usize];
        let mut wrong = None;
        ids.each(&mut |id, doc| match survey.take(id, doc, docs, &mut seen) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                wrong = Some(error);
                ControlFlow::Break(())
            }
        })
        .map_err(BuildError::Source)?;
        wrong.map_or(Ok(survey), Err)
    }

    /// Adds the next id, and checks it.
    fn take<E>(&mut self, id: &[u8], doc: DocId, docs: u32, seen: &mut [u64]) -> Result<(), BuildError<E>> {
        if id.len() > MAX_ID_LEN {
            return Err(BuildError::TooLong { doc, len: id.len() });
        }
        if self.count == 0 {
            self.first.extend_from_slice(id);
        } else if id <= &self.last[..] {
            let (same, id) = (id == self.last, id.to_vec());
            return Err(match same {
                true => BuildError::Duplicate { id, docs: [self.last_doc, doc] },
                false => BuildError::NotAscending { id, doc },
            });
        }
        let bit = 1 << (doc.get() % 64);
        match seen.get_mut((doc.get() / 64) as usize).filter(|word| doc.get() < docs && **word & bit == 0) {
            Some(word) => *word |= bit,
            None => return Err(BuildError::Document { doc, docs }),
        }
        self.last.clear();
        self.last.extend_from_slice(id);
        self.last_doc = doc;
        self.max_len = self.max_len.max(id.len());
        // At most the number of documents, so this does not overflow.
        self.count += 1;
        Ok(())
    }
}

/// Builds the sections of packed ids.
enum KeysBuilder {
    Blocks(Box<BlocksBuilder>),
    Exact(TrieBuilder),
    Fst(FstBuilder),
}

impl KeysBuilder {
    fn new(form: Form) -> KeysBuilder {
        match form {
            Form::Blocks => KeysBuilder::Blocks(Box::default()),
            Form::Exact => KeysBuilder::Exact(TrieBuilder::new()),
            Form::Fst => KeysBuilder::Fst(FstBuilder::new(FstBuilder::REGISTRY)),
        }
    }

    /// Appends a key; `false` if it does not ascend.
    fn push(&mut self, key: &[u8]) -> bool {
        match self {
            KeysBuilder::Blocks(builder) => builder.push(key),
            KeysBuilder::Exact(builder) => builder.push(key).is_ok(),
            KeysBuilder::Fst(builder) => builder.push(key).is_ok(),
        }
    }

    /// Offers the next bytes of the section to `take`, unless the builder still reads them.
    fn take<E>(&mut self, take: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        match self {
            KeysBuilder::Blocks(builder) => builder.take(take),
            KeysBuilder::Exact(builder) => builder.take(take),
            KeysBuilder::Fst(_) => Ok(()),
        }
    }

    /// The sections. `whole` completes the section of ids from its last bytes.
    fn finish<S: From<Vec<u8>>>(self, whole: impl FnOnce(Vec<u8>) -> S) -> Keys<S> {
        match self {
            KeysBuilder::Blocks(builder) => builder.finish().map_or(Keys::None, |blocks| {
                let Blocks { count, ids, starts, index } = blocks;
                Keys::Blocks(Blocks {
                    count,
                    ids: whole(ids),
                    starts: starts.into(),
                    index: index.map(S::from),
                })
            }),
            KeysBuilder::Exact(builder) => Keys::Exact(whole(builder.finish())),
            KeysBuilder::Fst(builder) => Keys::Fst(whole(builder.finish())),
        }
    }
}
