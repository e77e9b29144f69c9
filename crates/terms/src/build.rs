//! Sorted ids in, sections out.

use std::convert::Infallible;
use std::ops::ControlFlow;

use docvalues_format::id::DocId;
use docvalues_format::numeric::{self, NumericOptions, Role};

use crate::blocks::BlocksBuilder;
use crate::exact::TrieBuilder;
use crate::filter::{DEFAULT_BITS, FilterBuilder, MAX_BITS};
use crate::fst::FstBuilder;
use crate::hash::hash;
use crate::ids::{Form, Ids, Keys, MAX_BOUND, MAX_ID_LEN};
use crate::template::{Packed, Template, detect};

#[cfg(test)]
mod tests;

/// What to make of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdOptions {
    /// How they are found.
    pub form: Form,
    /// Bits of the filter for each, at most [`MAX_BITS`]; 0 for none.
    pub filter_bits: u8,
    /// The seed of the filter's hash: one for all segments that are asked together.
    pub seed: u64,
}

impl Default for IdOptions {
    fn default() -> IdOptions {
        IdOptions { form: Form::Blocks, filter_bits: DEFAULT_BITS, seed: 0 }
    }
}

/// Ids and their documents, in the order of the ids' bytes, from wherever they are.
pub trait SortedIds {
    /// Why they cannot be read.
    type Error;

    /// Gives each id and its document to `each`, in the order of the ids, until told to stop; the same each time.
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

/// Why there can be no index of some ids.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError<E> {
    /// The ids could not be read.
    #[error("ids cannot be read: {0}")]
    Source(E),
    /// Two documents have one id.
    #[error("documents {} and {} have the same id, \"{}\"", docs[0], docs[1], id.escape_ascii())]
    Duplicate {
        /// The id.
        id: Vec<u8>,
        /// The documents, in the order in which they came.
        docs: [DocId; 2],
    },
    /// An id came behind a greater one.
    #[error("the id of document {doc}, \"{}\", is less than the one before it", id.escape_ascii())]
    NotAscending {
        /// The id.
        id: Vec<u8>,
        /// Its document.
        doc: DocId,
    },
    /// An id has more than [`MAX_ID_LEN`] bytes.
    #[error("the id of document {doc} has {len} bytes, above {MAX_ID_LEN}")]
    TooLong {
        /// Its document.
        doc: DocId,
        /// Its bytes.
        len: usize,
    },
    /// A document has two ids, or is none of the segment's.
    #[error("document {doc} has a second id, or is not among the segment's {docs}")]
    Document {
        /// The document.
        doc: DocId,
        /// How many there are.
        docs: u32,
    },
    /// Ids were not the same when they were read again.
    #[error("ids changed while they were indexed")]
    Changed,
}

/// Makes the index of a segment's ids.
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

/// What the first pass learns.
#[derive(Default)]
struct Survey {
    count: u32,
    first: Vec<u8>,
    /// The greatest so far, and its document.
    last: Vec<u8>,
    last_doc: DocId,
    max_len: usize,
}

impl IdsBuilder {
    /// With these options.
    pub fn new(options: IdOptions) -> IdsBuilder {
        let filter_bits = options.filter_bits.min(MAX_BITS);
        IdsBuilder { options: IdOptions { filter_bits, ..options } }
    }

    /// The index of `ids`, of a segment of `docs` documents, of which some may have none.
    ///
    /// Reads the ids twice if all look alike, and once more, as far as it fits, for each template that they do not fit.
    /// Holds what it makes, four bytes an id for their documents, and a bit for each document.
    ///
    /// # Errors
    ///
    /// When ids cannot be read, do not ascend, come twice or are too long, or a document comes twice or is none.
    pub fn build<T: SortedIds + ?Sized>(
        &self,
        ids: &T,
        docs: u32,
    ) -> Result<Ids<Vec<u8>>, BuildError<T::Error>> {
        let survey = Survey::of(ids, docs)?;
        for template in detect(&survey.first, &survey.last) {
            if let Some(ids) = self.packed(ids, &template, &survey, docs)? {
                return Ok(ids);
            }
        }
        self.packed(ids, &Template::raw(), &survey, docs)?.ok_or(BuildError::Changed)
    }

    /// The index, if all ids fit the template.
    fn packed<T: SortedIds + ?Sized>(
        &self,
        ids: &T,
        template: &Template,
        survey: &Survey,
        doc_count: u32,
    ) -> Result<Option<Ids<Vec<u8>>>, BuildError<T::Error>> {
        let IdOptions { form, filter_bits, seed } = self.options;
        let mut room = [Packed::default(), Packed::default()];
        let [first, last] = &mut room;
        let packed = template.pack(&survey.first, first).zip(template.pack(&survey.last, last));
        let Some((least, greatest)) = packed else { return Ok(None) };
        let [least, greatest] = [least, greatest].map(|key| key[..key.len().min(MAX_BOUND)].into());
        let mut filter = FilterBuilder::new(survey.count, filter_bits);
        let mut keys = KeysBuilder::new(form);
        let mut docs = Vec::with_capacity(survey.count as usize);
        let (mut fits, mut same, mut room) = (true, true, Packed::default());
        ids.each(&mut |id, doc| {
            let Some(key) = template.pack(id, &mut room) else {
                fits = false;
                return ControlFlow::Break(());
            };
            same &= docs.len() < survey.count as usize && keys.push(key);
            if !same {
                return ControlFlow::Break(());
            }
            if filter_bits > 0 {
                filter.insert(hash(id, seed));
            }
            docs.push(doc.get());
            ControlFlow::Continue(())
        })
        .map_err(BuildError::Source)?;
        if !fits {
            return Ok(None);
        }
        if !same || docs.len() != survey.count as usize {
            return Err(BuildError::Changed);
        }
        let options = NumericOptions { role: Role::IdDocs, doubles: false, jump_tables: true, zones: false };
        Ok(Some(Ids {
            form,
            template: template.clone(),
            count: survey.count,
            doc_count,
            max_len: u16::try_from(survey.max_len).unwrap_or(u16::MAX),
            least,
            greatest,
            seed,
            filter_bits,
            keys: if survey.count == 0 { Keys::None } else { keys.finish() },
            filter: filter.finish(),
            docs: numeric::encode(&docs, &options),
        }))
    }
}

impl Survey {
    /// Reads all ids once, and refuses those that are in no order.
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
        // As many as there are documents at most.
        self.count += 1;
        Ok(())
    }
}

/// What makes the sections of packed ids.
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

    /// Appends a key; `false` if it cannot come behind those before.
    fn push(&mut self, key: &[u8]) -> bool {
        match self {
            KeysBuilder::Blocks(builder) => builder.push(key),
            KeysBuilder::Exact(builder) => builder.push(key).is_ok(),
            KeysBuilder::Fst(builder) => builder.push(key).is_ok(),
        }
    }

    fn finish(self) -> Keys<Vec<u8>> {
        match self {
            KeysBuilder::Blocks(builder) => builder.finish().map_or(Keys::None, Keys::Blocks),
            KeysBuilder::Exact(builder) => Keys::Exact(builder.finish()),
            KeysBuilder::Fst(builder) => Keys::Fst(builder.finish()),
        }
    }
}
