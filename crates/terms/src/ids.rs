//! The ids of a segment, in the directory or opened: the extension of the root with the tag [`IDS_TAG`].
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | ids | the packed ids: [blocks](crate::id_blocks), a [trie](crate::exact_trie) or an [automaton](mod@crate::fst); or a byte of each, if they are [values of a column](crate::in_column) |
//! | id block starts | the blocks, or the buckets of ids in a column |
//! | id index | leads to blocks |
//! | id filter | the [Bloom filter](crate::bloom) |
//! | id documents, their jump table | the document of each rank: [numbers](docvalues_format::numeric) |
//!
//! They are in the file in the order of this table: see [`Ids::try_map`].
//!
//! # Body of the extension
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 4 | `name_len` | u32: 1 to 65,536 |
//! | 4 | … | `name` | the name of the field whose values the ids are, UTF-8 |
//! | … | 4 | `count` | u32: ids |
//! | … | 4 | `doc_count` | u32: documents of the segment; some may have no id |
//! | … | 8 | `seed` | u64: seed of the filter's [hash](crate::hash) |
//! | … | 1 | `form` | 0 blocks, 1 trie, 2 automaton, 3 values of a column |
//! | … | 1 | `filter_bits` | bits of the filter for each id, or twice as many if `form` is 3: 0 to 32; no filter if that is none |
//! | … | 2 | `max_len` | u16: bytes of the longest id |
//! | … | 1 | `least_len` | at most 32 |
//! | … | 1 | `greatest_len` | at most 32 |
//! | … | 2 | `zero` | 0 |
//! | … | … | `least` | the least packed id, or its first 32 bytes |
//! | … | … | `greatest` | the greatest packed id, or its first 32 bytes |
//! | … | … | `template` | the [template](crate::packing#encoding) of the ids |
//! | … | 4 | `blocks` | u32: blocks; if `form` is 0 and `count` > 0 |
//! | … | 20 | `ids` | reference to the ids; if `count` > 0 |
//! | … | 20 | `starts` | reference to the id block starts; if there are blocks, or `form` is 3 and `count` > 0 |
//! | … | 20 | `index` | reference to the id index; if there is more than one block |
//! | … | 20 | `filter` | reference to the id filter; if there are ids, and bits for each |
//! | … | … | `docs` | the [entry](docvalues_format::numeric::Numeric) of the id documents |

use docvalues_format::cursor::{Cursor, Put};
use docvalues_format::error::{ErrorKind, Result, Section};
use docvalues_format::file::{column, frame};
use docvalues_format::granule::SectionRef;
use docvalues_format::named;
use docvalues_format::numeric::{Numeric, Role};

use crate::bloom::{self, MAX_BITS};
use crate::id_blocks::Blocks;
use crate::in_column::{InColumn, MAX_LEN};
use crate::packing::Template;

/// The tag of the directory extension.
pub const IDS_TAG: u32 = 2;

/// The most bytes of an id.
pub const MAX_ID_LEN: usize = u16::MAX as usize;

/// The most bytes that are stored of the least and the greatest id.
pub const MAX_BOUND: usize = 32;

const _: () = assert!(MAX_LEN <= MAX_BOUND, "the bounds of ids in a column are whole ids");

named! {
    /// The data structure that finds ids. The discriminants are the tags on disk.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Form {
        /// Blocks under a trie of separators.
        Blocks = 0 => "trie",
        /// A trie with all bytes of the ids.
        Exact = 1 => "exact-trie",
        /// A minimal automaton.
        Fst = 2 => "fst",
        /// Values of the column of ids, which the index does not repeat: for ids of one length, of at most 32 bytes,
        /// that are evenly distributed and fit no template. Every document needs an id, and the column must not be
        /// compressed. Otherwise, blocks are built.
        #[default]
        Column = 3 => "column",
    }
}

impl Form {
    /// The bits that the filter of this form has for each id, if [`IdOptions`](crate::build::IdOptions) ask for `bits`.
    /// Half of them suffice for values of a column, as their heads reject 97 of 100 other ids.
    pub const fn filter_bits(self, bits: u8) -> u8 {
        match self {
            Form::Blocks | Form::Exact | Form::Fst => bits,
            Form::Column => bits / 2,
        }
    }
}

/// The sections of the ids themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Keys<S> {
    /// No ids.
    None,
    /// Blocks, and the index that leads to them.
    Blocks(Blocks<S>),
    /// One section: a trie.
    Exact(S),
    /// One section: an automaton.
    Fst(S),
    /// The heads and the buckets of values of a column.
    Column(InColumn<S>),
}

impl<S> Keys<S> {
    fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Keys<T>, E> {
        Ok(match self {
            Keys::None => Keys::None,
            Keys::Blocks(blocks) => Keys::Blocks(blocks.try_map(f)?),
            Keys::Exact(section) => Keys::Exact(f(Section::Ids, section)?),
            Keys::Fst(section) => Keys::Fst(f(Section::Ids, section)?),
            Keys::Column(sections) => Keys::Column(sections.try_map(f)?),
        })
    }

    /// The form, if there are any.
    fn form(&self) -> Option<Form> {
        match self {
            Keys::None => None,
            Keys::Blocks(_) => Some(Form::Blocks),
            Keys::Exact(_) => Some(Form::Exact),
            Keys::Fst(_) => Some(Form::Fst),
            Keys::Column(_) => Some(Form::Column),
        }
    }
}

/// The fields of an id index, without its sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdsMeta {
    /// The data structure that finds ids.
    pub form: Form,
    /// The template that ids are packed with.
    pub template: Template,
    /// The number of ids.
    pub count: u32,
    /// The number of documents of the segment.
    pub doc_count: u32,
    /// Bytes of the longest id.
    pub max_len: u16,
    /// The least packed id, or its first [`MAX_BOUND`] bytes; empty without ids.
    pub least: Box<[u8]>,
    /// The greatest packed id, or its first [`MAX_BOUND`] bytes; empty without ids.
    pub greatest: Box<[u8]>,
    /// The seed of the filter's hash.
    pub seed: u64,
    /// Bits of the filter for each id, or twice as many with [`Form::Column`]; there is no filter if that is none.
    pub filter_bits: u8,
}

/// The ids of a segment: just built (`Vec<u8>`), in the directory ([`SectionRef`]), or opened
/// ([`SectionBytes`](docvalues_format::source::SectionBytes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids<S> {
    /// The fields.
    pub meta: IdsMeta,
    /// The ids.
    pub keys: Keys<S>,
    /// The Bloom filter.
    pub filter: Option<S>,
    /// The document of each id, by rank.
    pub docs: Numeric<S>,
}

/// Bytes of each part, without checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdSizes {
    /// The ids, or a byte of each if they are in a column.
    pub keys: u64,
    /// The id block starts, or the ranks of buckets.
    pub starts: u64,
    /// The id index, which leads to blocks.
    pub index: u64,
    /// The Bloom filter.
    pub filter: u64,
    /// The documents and their jump table.
    pub docs: u64,
}

impl IdSizes {
    /// The sum of all parts.
    pub fn total(&self) -> u64 {
        let IdSizes { keys, starts, index, filter, docs } = *self;
        keys + starts + index + filter + docs
    }
}

impl<S> Ids<S> {
    /// Converts every section, in file order: ids, id block starts, id index, id filter, id documents and their
    /// jump table.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Ids<T>, E> {
        let keys = self.keys.try_map(f)?;
        let filter = self.filter.map(|filter| f(Section::IdFilter, filter)).transpose()?;
        let docs = self.docs.try_map(f)?;
        Ok(Ids { meta: self.meta, keys, filter, docs })
    }

    /// The features without which the index cannot be read: bits of [`Footer::required`](frame::Footer).
    pub fn required_features(&self) -> u32 {
        match &self.keys {
            Keys::None | Keys::Blocks(_) | Keys::Exact(_) | Keys::Fst(_) => 0,
            Keys::Column(_) => frame::FEATURE_IDS_IN_COLUMN,
        }
    }

    /// Bytes of each part; `len` returns those of a section.
    pub fn sizes(&self, len: impl Fn(&S) -> u64) -> IdSizes {
        let of = |section: &Option<S>| section.as_ref().map_or(0, &len);
        let (keys, starts, index) = match &self.keys {
            Keys::None => (0, 0, 0),
            Keys::Blocks(blocks) => (len(&blocks.ids), len(&blocks.starts), of(&blocks.index)),
            Keys::Exact(section) | Keys::Fst(section) => (len(section), 0, 0),
            Keys::Column(InColumn { heads, starts }) => (len(heads), len(starts), 0),
        };
        let docs = of(&self.docs.blocks).saturating_add(of(&self.docs.jump));
        IdSizes { keys, starts, index, filter: of(&self.filter), docs }
    }

    /// Compares all fields with each other; `len` returns the length of a section.
    pub(crate) fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let Ids { meta, keys, filter, docs } = self;
        let (form, most) = ((meta.count > 0).then_some(meta.form), MAX_BOUND as u64);
        ErrorKind::at_most("number of ids", meta.count.into(), meta.doc_count.into())?;
        ErrorKind::at_most("bits of the id filter", meta.filter_bits.into(), MAX_BITS.into())?;
        ErrorKind::at_most("length of the least id", meta.least.len() as u64, most)?;
        ErrorKind::at_most("length of the greatest id", meta.greatest.len() as u64, most)?;
        ErrorKind::rule(keys.form() == form, "the sections of the ids do not match their form")?;
        ErrorKind::rule(meta.least <= meta.greatest, "the least id is above the greatest")?;
        let all_raw = meta.template.is_raw() && meta.count == meta.doc_count;
        let why = "ids in a column are packed, or a document has none";
        ErrorKind::rule(form != Some(Form::Column) || all_raw, why)?;
        let lines = bloom::lines(meta.count, meta.form.filter_bits(meta.filter_bits));
        ErrorKind::rule(filter.is_some() == (lines > 0), "the id filter does not match its bits per id")?;
        let found = filter.as_ref().map_or(0, len);
        ErrorKind::equal("length of the id filter", found, lines * bloom::LINE as u64)?;
        ErrorKind::rule(docs.role == Role::IdDocs, "the documents of ids are in the wrong sections")?;
        ErrorKind::equal("number of documents of ids", docs.count, meta.count.into())?;
        let are_there = meta.count == 0 || docs.min >= 0 && docs.max < i64::from(meta.doc_count);
        ErrorKind::rule(are_there, "an id has a document that is not in the segment")
    }
}

impl Ids<SectionRef> {
    /// Appends the body of the extension in the [layout above](self#body-of-the-extension).
    ///
    /// `field` is the name of the field whose values the ids are.
    pub fn encode_meta(&self, field: &str, out: &mut Vec<u8>) {
        out.put_u32(u32::try_from(field.len()).unwrap_or(u32::MAX));
        out.put(field.as_bytes());
        let meta = &self.meta;
        out.put_u32(meta.count);
        out.put_u32(meta.doc_count);
        out.put_u64(meta.seed);
        out.put_u8(meta.form as u8);
        out.put_u8(meta.filter_bits);
        out.put_u16(meta.max_len);
        for bound in [&meta.least, &meta.greatest] {
            out.put_u8(u8::try_from(bound.len()).unwrap_or(u8::MAX));
        }
        out.put(&[0; 2]);
        out.put(&meta.least);
        out.put(&meta.greatest);
        meta.template.encode(out);
        match &self.keys {
            Keys::None => {}
            Keys::Blocks(blocks) => {
                out.put_u32(blocks.count);
                blocks.ids.encode(out);
                blocks.starts.encode(out);
                blocks.index.iter().for_each(|index| index.encode(out));
            }
            Keys::Exact(section) | Keys::Fst(section) => section.encode(out),
            Keys::Column(InColumn { heads, starts }) => {
                heads.encode(out);
                starts.encode(out);
            }
        }
        self.filter.iter().for_each(|filter| filter.encode(out));
        self.docs.encode_meta(out);
    }

    /// Reads the body that [`encode_meta`](Self::encode_meta) wrote, and nothing after it: the name of the field,
    /// and its ids.
    ///
    /// # Errors
    ///
    /// When a field is invalid, or two fields contradict each other.
    pub fn decode_meta<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a str, Ids<SectionRef>)> {
        let field = column::name(cursor)?;
        let (count, doc_count, seed) = (cursor.u32()?, cursor.u32()?, cursor.u64()?);
        let form = cursor.tag("form of ids", &Form::ALL)?;
        let (filter_bits, max_len) = (cursor.u8()?, cursor.u16()?);
        let (least_len, greatest_len) = (cursor.u8()?, cursor.u8()?);
        cursor.zeros(2)?;
        let least = cursor.take(least_len.into())?.into();
        let greatest = cursor.take(greatest_len.into())?.into();
        let template = Template::decode(cursor)?;
        let keys = match form {
            _ if count == 0 => Keys::None,
            Form::Blocks => {
                let count = cursor.u32()?;
                let (ids, starts) = (SectionRef::decode(cursor)?, SectionRef::decode(cursor)?);
                let index = (count > 1).then(|| SectionRef::decode(cursor)).transpose()?;
                Keys::Blocks(Blocks { count, ids, starts, index })
            }
            Form::Exact => Keys::Exact(SectionRef::decode(cursor)?),
            Form::Fst => Keys::Fst(SectionRef::decode(cursor)?),
            Form::Column => {
                let (heads, starts) = (SectionRef::decode(cursor)?, SectionRef::decode(cursor)?);
                Keys::Column(InColumn { heads, starts })
            }
        };
        let has_filter = count > 0 && form.filter_bits(filter_bits) > 0;
        let filter = has_filter.then(|| SectionRef::decode(cursor)).transpose()?;
        let docs = Numeric::decode_meta(cursor, Role::IdDocs)?;
        let meta = IdsMeta { form, template, count, doc_count, max_len, least, greatest, seed, filter_bits };
        let ids = Ids { meta, keys, filter, docs };
        ids.check(|section| section.len).map_err(|kind| cursor.refuse(kind))?;
        Ok((field, ids))
    }
}
