//! Builds the sections of sorted ids.

mod options;
mod storage;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use docvalues_format::id::DocId;
use docvalues_format::numeric::{NumericOptions, Role};

use crate::bloom::{BloomFilterBuilder, MAX_BITS};
use crate::exact_trie::TrieBuilder;
use crate::fst::FstBuilder;
use crate::hash::hash;
use crate::id_blocks::{Blocks, BlocksBuilder};
use crate::ids::{Form, Ids, IdsMeta, Keys, MAX_BOUND, MAX_ID_LEN};
use crate::in_column::{InColumn, InColumnBuilder, Pushed};
use crate::packing::{Packed, Template, detect};

pub use options::{Duplicates, IdOptions};
use storage::InMemory;
pub use storage::{BuildStorage, SortedIds};

/// The reason that an index cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
    in_column: bool,
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
        IdsBuilder { options: IdOptions { filter_bits, ..options }, in_column: false }
    }

    /// Whether the ids are also the values of a column that stores them uncompressed and has one for each document. Only
    /// then can an index have [`Form::Column`], if nothing suggests that a template packs the ids; otherwise it has
    /// [`Form::Blocks`]. Default: they are not.
    #[must_use]
    pub fn in_column(self, in_column: bool) -> IdsBuilder {
        IdsBuilder { in_column, ..self }
    }

    /// Builds the index of `ids`, of a segment of `docs` documents, some of which may have no id.
    ///
    /// Reads the ids twice if all fit the first template, and once more for each template that they turn out not to
    /// fit, and for [`Form::Column`] if they are not evenly distributed. Memory: the result, four bytes an id for the documents, and a bit for each document.
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
        let (mut form, raw) = (self.options.form, Template::raw());
        let mut templates = detect(&survey.first, &survey.last);
        let fits = |template: &Template, id: &[u8]| template.pack(id, &mut Packed::default()).is_some();
        templates.retain(|template| fits(template, &survey.first) && fits(template, &survey.last));
        if form == Form::Column {
            if self.in_column
                && survey.count == docs
                && templates.is_empty()
                && let Some(ids) = self.packed(ids, form, &raw, &survey, docs, storage)?
            {
                return Ok(ids);
            }
            form = Form::Blocks;
        }
        for template in templates {
            if let Some(ids) = self.packed(ids, form, &template, &survey, docs, storage)? {
                return Ok(ids);
            }
        }
        self.packed(ids, form, &raw, &survey, docs, storage)?.ok_or(BuildError::Changed)
    }

    /// The index, if all ids fit the template and the form.
    fn packed<T: SortedIds + ?Sized, K: BuildStorage<T::Error>>(
        &self,
        ids: &T,
        form: Form,
        template: &Template,
        survey: &Survey,
        doc_count: u32,
        storage: &mut K,
    ) -> Result<Option<Ids<K::Section>>, BuildError<T::Error>> {
        let IdOptions { filter_bits, seed, .. } = self.options;
        let mut buffer = [Packed::default(), Packed::default()];
        let [first, last] = &mut buffer;
        let packed = template.pack(&survey.first, first).zip(template.pack(&survey.last, last));
        let Some((least, greatest)) = packed else { return Ok(None) };
        let [least, greatest]: [Box<[u8]>; 2] =
            [least, greatest].map(|key| key[..key.len().min(MAX_BOUND)].into());
        let mut filter = BloomFilterBuilder::new(survey.count, form.filter_bits(filter_bits));
        let Some(mut keys) = KeysBuilder::new(form, (&*least, &*greatest), survey.count) else {
            return Ok(None);
        };
        let (mut count, mut buffer) = (0, Packed::default());
        storage.begin(survey.count);
        let fit = each(ids, |id, doc| {
            let Some(key) = template.pack(id, &mut buffer) else { return Ok(false) };
            match keys.push(key) {
                Pushed::Yes if count < survey.count => {}
                Pushed::Yes | Pushed::NotAscending => return Err(BuildError::Changed),
                Pushed::Uneven => return Ok(false),
            }
            count += 1;
            if form.filter_bits(filter_bits) > 0 {
                filter.insert(hash(id, seed));
            }
            let stored = storage.doc(doc).and_then(|()| keys.flush(|made| storage.ids(made)));
            stored.map(|()| true).map_err(BuildError::Storage)
        })?;
        if !fit {
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
        each(ids, |id, doc| survey.add(id, doc, docs, &mut seen).map(|()| true))?;
        Ok(survey)
    }

    /// Adds the next id, and checks it.
    fn add<E>(&mut self, id: &[u8], doc: DocId, docs: u32, seen: &mut [u64]) -> Result<(), BuildError<E>> {
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

/// Passes the ids to `accept`, until it returns false or fails. Returns whether it accepted all.
fn each<T: SortedIds + ?Sized>(
    ids: &T,
    mut accept: impl FnMut(&[u8], DocId) -> Result<bool, BuildError<T::Error>>,
) -> Result<bool, BuildError<T::Error>> {
    let mut end = Ok(true);
    ids.each(&mut |id, doc| match accept(id, doc) {
        Ok(true) => ControlFlow::Continue(()),
        stopped => {
            end = stopped;
            ControlFlow::Break(())
        }
    })
    .map_err(BuildError::Source)?;
    end
}

/// Builds the sections of packed ids.
enum KeysBuilder {
    Blocks(Box<BlocksBuilder>),
    Exact(TrieBuilder),
    Fst(FstBuilder),
    Column(Box<InColumnBuilder>),
}

impl KeysBuilder {
    /// A builder of `count` keys from the first to the second of `bounds`; `None` if the form has no place for these.
    fn new(form: Form, bounds: (&[u8], &[u8]), count: u32) -> Option<KeysBuilder> {
        Some(match form {
            Form::Blocks => KeysBuilder::Blocks(Box::default()),
            Form::Exact => KeysBuilder::Exact(TrieBuilder::new()),
            Form::Fst => KeysBuilder::Fst(FstBuilder::new(FstBuilder::REGISTRY)),
            Form::Column => KeysBuilder::Column(Box::new(InColumnBuilder::new(bounds.0, bounds.1, count)?)),
        })
    }

    /// Appends a key.
    fn push(&mut self, key: &[u8]) -> Pushed {
        let ascends = match self {
            KeysBuilder::Blocks(builder) => builder.push(key),
            KeysBuilder::Exact(builder) => builder.push(key).is_ok(),
            KeysBuilder::Fst(builder) => builder.push(key).is_ok(),
            KeysBuilder::Column(builder) => return builder.push(key),
        };
        if ascends { Pushed::Yes } else { Pushed::NotAscending }
    }

    /// Calls `write` with the next bytes of the section, unless the builder still reads them. It may remove all of them.
    fn flush<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        match self {
            KeysBuilder::Blocks(builder) => builder.ids.flush(write),
            KeysBuilder::Exact(builder) => builder.write.out.flush(write),
            KeysBuilder::Column(builder) => builder.heads.flush(write),
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
            KeysBuilder::Column(builder) => {
                let InColumn { heads, starts } = builder.finish();
                Keys::Column(InColumn { heads: whole(heads), starts: starts.into() })
            }
        }
    }
}
