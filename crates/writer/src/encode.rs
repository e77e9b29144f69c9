//! From buffered values to the sections of a column, one column at a time.
//!
//! The result depends only on the values in document order: not on how they were added, nor on the order in which byte
//! strings first occurred. So equal input gives equal bytes.
//!
//! An encoder knows buffers and the new order of the documents. It does not know where values come from, nor where
//! sections go.
//!
//! | module | contents |
//! | --- | --- |
//! | `sample` | decides whether byte strings are interned, by the encoder's sizes for the first values |
//! | `terms` | dictionary or binary column |
//! | `term_ords`, `unsorted_terms` | runs of terms merged into a dictionary; their terms by id |
//! | `dictionary_writer` | a dictionary of sorted terms |
//! | `numbers`, `statistics` | numbers; their statistics, from the first pass |

mod dictionary_writer;
mod numbers;
pub(crate) mod sample;
mod statistics;
mod term_ords;
mod terms;
mod unsorted_terms;

use std::convert::Infallible;

use docvalues_format::binary::{
    self, Binary, BinaryOffsets, BinaryOptions, CodeSection, Codes, Coding, Compression, Compressor,
};
use docvalues_format::dictionary::Dictionary;
use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::granule::{SectionRef, extent};
use docvalues_format::numeric::{Numeric, NumericOptions, Role};
use docvalues_format::presence::Presence;

use crate::buffer::{
    self, ByteStrings, FieldBuffer, FixedWidth, Items, Payload, PresenceBuffer, Repeats, Scratch, SpillVec,
    StringBuffer, payloads,
};
use crate::error::ErrorKind;
use crate::parallel::{self, Pool};
use crate::schema::FieldSpec;
use crate::sort::{DocMap, Permutation};

pub(crate) use dictionary_writer::DictionaryWriter;
use numbers::with_on_disk;
pub(crate) use numbers::{drain, encode_numbers};
use statistics::Observed;
pub(crate) use term_ords::Ords;
pub(crate) use terms::OrdValues;

/// The parameters of encoding, the same for all columns of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoder<'o> {
    /// The number of documents of the segment.
    pub(crate) docs: u32,
    /// The new order of the documents, if they move.
    pub(crate) doc_map: Option<&'o DocMap>,
    /// Whether to store jump tables.
    pub(crate) jump_tables: bool,
    /// Whether to store zone maps.
    pub(crate) zones: bool,
    /// The threads that may compress the strings of a column.
    pub(crate) pool: Option<&'o Pool>,
}

/// An encoded column, before its sections have offsets in the file.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// The column; its sections have only lengths.
    pub(crate) column: Column<SectionRef>,
    /// The bytes of the sections, in the same order.
    pub(crate) payloads: Vec<Payload>,
}

impl Encoded {
    fn of(column: Column<Payload>) -> Encoded {
        let mut payloads = Vec::new();
        let Ok(column) = column.try_map(&mut |_: Section, payload: Payload| {
            let section = SectionRef { offset: 0, len: payload.len(), crc: 0 };
            payloads.push(payload);
            Ok::<_, Infallible>(section)
        });
        Encoded { column, payloads }
    }

    /// The size of the column in the file, in bytes: its sections and its entry in the directory.
    fn weight(&self) -> u64 {
        let mut entry = Vec::new();
        self.column.encode(0, &mut entry);
        let sections = self.column.sections().into_iter();
        let lens = sections.map(|(_, section)| extent(section.len).unwrap_or(u64::MAX));
        entry.len() as u64 + lens.sum::<u64>()
    }
}

impl<'o> Encoder<'o> {
    /// Encodes the column of `spec` from its buffer, which is [settled](sample::settle).
    ///
    /// Takes memory for the result, in addition to the buffer. Uncompressed byte strings reuse the buffer.
    pub(crate) fn column(&self, spec: &FieldSpec, buffer: FieldBuffer) -> Result<Encoded, ErrorKind> {
        let FieldBuffer { presence, values, repeats } = buffer;
        let column = self.frame(spec, presence)?;
        match values {
            buffer::Values::Numbers(mut numbers) => {
                numbers.normalize()?;
                self.stored(column, numbers)
            }
            buffer::Values::Strings(StringBuffer { strings, .. }) => {
                let strings = column.strings(strings)?;
                self.strings(column, strings)
            }
            buffer::Values::Terms { ids, terms } => {
                self.terms(column, self.sort_terms(ids, terms, repeats != Repeats::Declared)?)
            }
        }
    }

    /// A frame of the column of `spec`: its presence is encoded, in the new order of documents.
    pub(crate) fn frame<'a>(
        &'a self,
        spec: &'a FieldSpec,
        presence: PresenceBuffer,
    ) -> Result<Frame<'a>, ErrorKind> {
        let (presence, permutation) = match self.doc_map {
            Some(doc_map) => {
                let (presence, permutation) = doc_map.presence(self.docs, presence)?;
                (presence, Some(permutation))
            }
            None => (presence, None),
        };
        let presence = presence.encode(self.docs, self.jump_tables);
        let Ok(presence) = presence.try_map(&mut payloads(None));
        Ok(Frame { spec, presence, permutation })
    }

    /// A column of numbers.
    fn stored(&self, column: Frame<'_>, numbers: Items<i64>) -> Result<Encoded, ErrorKind> {
        let numbers = column.items(numbers)?;
        let (logical, offsets) = (column.spec.logical(), self.offsets(&numbers)?);
        let options = NumericOptions { doubles: logical == LogicalType::F64, ..self.options(Role::Values) };
        let numbers = Observed::new(&numbers.values, offsets.is_none(), logical != LogicalType::F64);
        let values = numbers.encode(&options)?;
        let known = numbers.number_statistics(&values);
        let kind = if offsets.is_some() { Kind::SortedNumeric } else { Kind::Numeric };
        Ok(column.with(kind, Values::Numbers { offsets, values, terms: None }, known))
    }

    /// A column of ords into `terms`, where their documents go.
    fn ords(
        &self,
        column: Frame<'_>,
        ords: &Items<u32>,
        terms: Dictionary<Payload>,
    ) -> Result<Encoded, ErrorKind> {
        let offsets = self.offsets(ords)?;
        let numbers = Observed::new(&ords.values, offsets.is_none(), false);
        let values = numbers.encode(&self.options(Role::Values))?;
        let known = numbers.ord_statistics(&terms);
        let kind = if offsets.is_some() { Kind::SortedSet } else { Kind::Sorted };
        Ok(column.with(kind, Values::Numbers { offsets, values, terms: Some(terms) }, known))
    }

    /// Where lists begin, if there are any.
    fn offsets<T: FixedWidth + Ord>(&self, items: &Items<T>) -> Result<Option<Numeric<Payload>>, ErrorKind> {
        let encode = || encode_numbers(&items.offsets, &self.options(Role::Offsets));
        items.are_lists().then(encode).transpose()
    }

    /// A column of byte strings without a dictionary, where their documents go.
    fn strings(&self, column: Frame<'_>, strings: ByteStrings) -> Result<Encoded, ErrorKind> {
        let options = BinaryOptions { compression: column.spec.compressed(), jump_tables: self.jump_tables };
        let count = strings.len() as u64;
        let (bytes, coding, offsets) = match coded(&strings, options.compression, self.pool)? {
            Some((codes, coding, ends, end)) => {
                drop(strings);
                let offsets = encode_offsets(end, &ends, &options)?;
                (codes, coding, offsets)
            }
            None => {
                let offsets = encode_offsets(strings.bytes.len(), &strings.offsets, &options)?;
                // Uncompressed strings have the same layout in the file.
                (strings.bytes, Coding::Raw, offsets)
            }
        };
        let bytes = (bytes.len() > 0).then_some(bytes);
        let values = Values::Binary(Binary { count, bytes, coding, offsets });
        Ok(column.with(Kind::Binary, values, Statistics::default()))
    }

    fn options(&self, role: Role) -> NumericOptions {
        let Encoder { jump_tables, zones, .. } = *self;
        NumericOptions { role, doubles: false, jump_tables, zones: zones && role.is_values() }
    }
}

/// A column without its values: its declaration and its encoded presence.
pub(crate) struct Frame<'a> {
    spec: &'a FieldSpec,
    presence: Presence<Payload>,
    /// The permutation of the values, if documents move.
    permutation: Option<Permutation<'a>>,
}

impl Frame<'_> {
    /// Permutes numbers, if documents move.
    fn items<T: FixedWidth + Ord>(&self, items: Items<T>) -> Result<Items<T>, ErrorKind> {
        match &self.permutation {
            Some(permutation) => permutation.items(items),
            None => Ok(items),
        }
    }

    /// Permutes byte strings, if documents move.
    fn strings(&self, strings: ByteStrings) -> Result<ByteStrings, ErrorKind> {
        match &self.permutation {
            Some(permutation) => permutation.strings(strings),
            None => Ok(strings),
        }
    }

    fn with(self, kind: Kind, values: Values<Payload>, statistics: Statistics) -> Encoded {
        let (name, format) = (self.spec.name().to_owned(), self.spec.spelling().map(str::to_owned));
        let field = Field { name, kind, logical: self.spec.logical(), format };
        Encoded::of(Column { field, presence: self.presence, values, statistics })
    }
}

/// Encodes the offsets of strings, as [`encode_numbers`].
fn encode_offsets(
    len: u64,
    offsets: &SpillVec<i64>,
    options: &BinaryOptions,
) -> Result<BinaryOffsets<Payload>, ErrorKind> {
    let mut on_disk = offsets.sibling_scratch();
    let drain = |blocks: &mut Vec<u8>| drain(&mut on_disk, blocks);
    Ok(match binary::encode_offsets::<_, ErrorKind>(len, offsets, options, drain)? {
        BinaryOffsets::Fixed(len) => BinaryOffsets::Fixed(len),
        BinaryOffsets::Variable(offsets) => BinaryOffsets::Variable(with_on_disk(offsets, on_disk)),
    })
}

/// Compressed strings: their bytes, their coding, their offsets, and the last one.
type CompressedStrings = (Payload, Coding<Payload>, SpillVec<i64>, u64);

/// The fewest bytes of strings that several threads compress.
const MANY: u64 = if cfg!(test) { 1 << 10 } else { 8 << 20 };

/// Compresses the strings, if that makes them smaller; as [`encode_numbers`].
fn coded(
    strings: &ByteStrings,
    compression: Compression,
    pool: Option<&Pool>,
) -> Result<Option<CompressedStrings>, ErrorKind> {
    let Some(compressor) = Compressor::train(strings, compression)? else { return Ok(None) };
    let mut on_disk = strings.bytes.on_disk.as_ref().map(Scratch::sibling);
    let spill = on_disk.as_ref().map(|on_disk| on_disk.spill().clone());
    let (mut ends, mut last) = (SpillVec::default(), 0);
    if strings.offsets.len() > 0 {
        ends.in_memory.push(0);
    }
    // Each thread takes memory for a group, so large ones come one by one.
    let is_alone =
        pool.is_none() || binary::Values::total_len(strings) < MANY || strings.has_large_group()?;
    let pool = if is_alone { None } else { pool };
    let (mut section, mut bytes) = (CodeSection::default(), Vec::new());
    parallel::map_in_order(
        pool,
        2,
        strings.groups().enumerate(),
        // The first one is waited for.
        |(at, _)| usize::MAX - at,
        |(_, group)| -> Result<Codes, ErrorKind> { Ok(compressor.codes(group?.iter())) },
        |codes| -> Result<(), ErrorKind> {
            let codes = codes?;
            let start = section.append(&codes, &mut bytes);
            for end in codes.ends() {
                last = start + end;
                ends.push(last.cast_signed(), spill.as_ref())?;
            }
            drain(&mut on_disk, &mut bytes)
        },
    )?;
    Ok(compressor.finish(section, bytes).map(|binary::Compressed { bytes, coding }| {
        let bytes = Payload { on_disk, in_memory: vec![bytes] };
        let Ok(coding) = coding.try_map(|table| Ok::<_, Infallible>(Payload::from(table)));
        (bytes, coding, ends, last)
    }))
}
