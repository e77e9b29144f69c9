//! From buffered values to the sections of a column, one column at a time.
//!
//! Everything here depends on the values alone, in document order: not on how they came in, nor on the
//! order in which byte strings were first met. That is why the same input gives the same bytes.

mod terms;

use std::convert::Infallible;

use docvalues_format::binary::{self, Binary, BinaryOffsets, BinaryOptions, Blocks, Coding, Compression};
use docvalues_format::dictionary::Dictionary;
use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::granule::{SectionRef, extent};
use docvalues_format::numeric::{self, Numeric, NumericOptions, Role};
use docvalues_format::presence::Presence;

use crate::buffer::{
    self, FieldBuffer, Fixed, Laid, Lists, Payload, PresenceBuffer, Region, TOGETHER, Tape, distinct,
};
use crate::error::ErrorKind;
use crate::intern::Interner;
use crate::order::{Moved, Order};
use crate::schema::FieldSpec;
use crate::statistics::{of_numbers, of_ords};
use terms::Sorted;

pub(crate) use terms::InOrder;

/// What every column of a segment is encoded with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoder<'o> {
    /// Documents in the segment.
    pub(crate) docs: u32,
    /// Where they go, if not where they are.
    pub(crate) order: Option<&'o Order>,
    /// Whether to bake jump tables.
    pub(crate) jump_tables: bool,
    /// Whether to add zone maps.
    pub(crate) zones: bool,
}

/// A column as it will stand in the file, wherever that is.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// The column; of its sections, only the lengths are known.
    pub(crate) column: Column<SectionRef>,
    /// What is in them, in the same order.
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

    /// Bytes that the column takes in the file: its sections and its entry in the directory.
    fn weight(&self) -> u64 {
        let mut entry = Vec::new();
        self.column.encode(0, &mut entry);
        let mut weight = entry.len() as u64;
        let Ok(_) = self.column.clone().try_map(&mut |_: Section, section: SectionRef| {
            weight += extent(section.len).unwrap_or(u64::MAX);
            Ok::<_, Infallible>(())
        });
        weight
    }
}

impl<'o> Encoder<'o> {
    /// Encodes the column of `spec`.
    ///
    /// Takes, beside the buffer, memory for what it returns; of raw byte strings that is the buffer.
    pub(crate) fn column(&self, spec: &FieldSpec, buffer: FieldBuffer) -> Result<Encoded, ErrorKind> {
        let FieldBuffer { presence, values } = buffer;
        let column = self.frame(spec, presence)?;
        let logical = spec.logical();
        Ok(match values {
            buffer::Values::Numbers(numbers) => {
                let numbers = column.numbers(numbers)?;
                let values = self.values(&numbers, logical)?;
                let known = of_numbers(&numbers, &values, logical, true)?;
                column.with(Kind::Numeric, Values::Numeric(values), known)
            }
            buffer::Values::NumberLists(mut lists) => {
                lists.tidy()?;
                let Lists { offsets, values: numbers, .. } = column.lists(lists)?;
                let offsets = self.offsets(&offsets)?;
                let values = self.values(&numbers, logical)?;
                let known = of_numbers(&numbers, &values, logical, false)?;
                column.with(Kind::SortedNumeric, Values::SortedNumeric { offsets, values }, known)
            }
            buffer::Values::Strings(strings) => {
                let (bytes, offsets) = strings.into_parts();
                let (bytes, offsets) = column.strings(bytes, offsets)?;
                self.strings(column, bytes, offsets)?
            }
            buffer::Values::Terms { ids, terms } => self.terms(column, self.in_order(ids, terms)?)?,
            buffer::Values::TermSets { ids, terms } => self.term_sets(column, ids, terms)?,
        })
    }

    /// A column of `spec` that lacks its values, with documents where they go.
    pub(crate) fn frame<'a>(
        &'a self,
        spec: &'a FieldSpec,
        presence: PresenceBuffer,
    ) -> Result<Frame<'a>, ErrorKind> {
        let (presence, moved) = match self.order {
            Some(order) => {
                let (presence, moved) = order.presence(self.docs, presence)?;
                (presence, Some(moved))
            }
            None => (presence, None),
        };
        let presence = presence.encode(self.docs, self.jump_tables);
        Ok(Frame { spec, presence: in_memory(|f| presence.try_map(f)), moved })
    }

    /// A sorted column of ords into `terms`, where their documents go.
    pub(crate) fn ords(
        &self,
        column: Frame<'_>,
        ords: &Tape<u32>,
        terms: Dictionary<Payload>,
    ) -> Result<Encoded, ErrorKind> {
        let known = of_ords(ords, &terms, true)?;
        let values = Values::Sorted { ords: self.numbers(ords, Role::Values)?, terms };
        Ok(column.with(Kind::Sorted, values, known))
    }

    fn term_sets(
        &self,
        column: Frame<'_>,
        mut sets: Lists<u32>,
        terms: Interner,
    ) -> Result<Encoded, ErrorKind> {
        let Sorted { terms, mut ords, .. } = self.sort(terms, sets.values.len())?;
        sets.change_each(|set| {
            ords.replace(set)?;
            Ok(distinct(set))
        })?;
        drop(ords);
        let sets = column.lists(sets)?;
        self.ord_sets(column, sets, terms)
    }

    /// A sorted-set column of ascending ords into `terms`, where their documents go.
    pub(crate) fn ord_sets(
        &self,
        column: Frame<'_>,
        sets: Lists<u32>,
        terms: Dictionary<Payload>,
    ) -> Result<Encoded, ErrorKind> {
        let Lists { offsets, values: ords, .. } = sets;
        let offsets = self.offsets(&offsets)?;
        let known = of_ords(&ords, &terms, false)?;
        let ords = self.numbers(&ords, Role::Values)?;
        Ok(column.with(Kind::SortedSet, Values::SortedSet { offsets, ords, terms }, known))
    }

    /// The strings that lie end to end in `bytes`, between two of the `offsets` each.
    fn strings(&self, column: Frame<'_>, bytes: Payload, offsets: Tape<i64>) -> Result<Encoded, ErrorKind> {
        let options = BinaryOptions { compression: column.spec.compressed(), jump_tables: self.jump_tables };
        let count = offsets.len().saturating_sub(1) as u64;
        let with = |bytes: Payload, coding, offsets| {
            let bytes = (bytes.len() > 0).then_some(bytes);
            Values::Binary(Binary { count, bytes, coding, offsets })
        };
        let values = match coded(&bytes, &offsets, options.compression)? {
            Some((codes, coding, Some(ends))) => {
                drop((bytes, offsets));
                let offsets = encode_offsets(codes.len(), &ends, &options)?;
                with(codes, coding, offsets)
            }
            Some((codes, coding, None)) => {
                let offsets = encode_offsets(bytes.len(), &offsets, &options)?;
                with(codes, coding, offsets)
            }
            // In the file they lie as they do here.
            None => {
                let offsets = encode_offsets(bytes.len(), &offsets, &options)?;
                with(bytes, Coding::Raw, offsets)
            }
        };
        Ok(column.with(Kind::Binary, values, Statistics::default()))
    }

    fn offsets(&self, offsets: &Tape<i64>) -> Result<Numeric<Payload>, ErrorKind> {
        self.numbers(offsets, Role::Offsets)
    }

    fn values(&self, values: &Tape<i64>, logical: LogicalType) -> Result<Numeric<Payload>, ErrorKind> {
        let doubles = logical == LogicalType::F64;
        encode_numbers(values, &NumericOptions { doubles, ..self.options(Role::Values) })
    }

    fn numbers<T: Fixed>(&self, numbers: &Tape<T>, role: Role) -> Result<Numeric<Payload>, ErrorKind> {
        encode_numbers(numbers, &self.options(role))
    }

    fn options(&self, role: Role) -> NumericOptions {
        let Encoder { jump_tables, zones, .. } = *self;
        NumericOptions { role, doubles: false, jump_tables, zones: zones && role.is_values() }
    }
}

/// A column that lacks its values.
pub(crate) struct Frame<'a> {
    spec: &'a FieldSpec,
    presence: Presence<Payload>,
    /// Where values go, if not where they are.
    moved: Option<Moved<'a>>,
}

impl Frame<'_> {
    /// One number a document, where these go.
    pub(crate) fn numbers<T: Fixed>(&self, numbers: Tape<T>) -> Result<Tape<T>, ErrorKind> {
        match &self.moved {
            Some(moved) => moved.numbers(numbers),
            None => Ok(numbers),
        }
    }

    /// Lists of numbers, where their documents go.
    pub(crate) fn lists<T: Fixed + Ord>(&self, lists: Lists<T>) -> Result<Lists<T>, ErrorKind> {
        match &self.moved {
            Some(moved) => moved.lists(lists),
            None => Ok(lists),
        }
    }

    /// Byte strings, where their documents go.
    fn strings(&self, bytes: Payload, offsets: Tape<i64>) -> Result<(Payload, Tape<i64>), ErrorKind> {
        match &self.moved {
            Some(moved) => moved.strings(bytes, offsets),
            None => Ok((bytes, offsets)),
        }
    }

    fn with(self, kind: Kind, values: Values<Payload>, statistics: Statistics) -> Encoded {
        let (name, format) = (self.spec.name().to_owned(), self.spec.spelling().map(str::to_owned));
        let field = Field { name, kind, logical: self.spec.logical(), format };
        Encoded::of(Column { field, presence: self.presence, values, statistics })
    }
}

/// What `map` makes of a structure whose sections are in memory.
fn in_memory<T>(
    map: impl FnOnce(&mut fn(Section, Vec<u8>) -> Result<Payload, Infallible>) -> Result<T, Infallible>,
) -> T {
    let mut payload: fn(Section, Vec<u8>) -> Result<Payload, Infallible> = |_, bytes| Ok(bytes.into());
    let Ok(mapped) = map(&mut payload);
    mapped
}

/// Encodes numbers; where some are in a file, so is what is made of them.
pub(crate) fn encode_numbers<T: Fixed>(
    numbers: &Tape<T>,
    options: &NumericOptions,
) -> Result<Numeric<Payload>, ErrorKind> {
    let mut far = numbers.beside();
    let encoded = numeric::encode_from(numbers, options, |blocks| drain(&mut far, blocks))?;
    Ok(with_far(encoded, far))
}

/// Encodes where strings begin; as [`encode_numbers`].
fn encode_offsets(
    len: u64,
    offsets: &Tape<i64>,
    options: &BinaryOptions,
) -> Result<BinaryOffsets<Payload>, ErrorKind> {
    let mut far = offsets.beside();
    let drain = |blocks: &mut Vec<u8>| drain(&mut far, blocks);
    Ok(match binary::encode_offsets::<_, ErrorKind>(len, offsets, options, drain)? {
        BinaryOffsets::Fixed(len) => BinaryOffsets::Fixed(len),
        BinaryOffsets::Variable(offsets) => BinaryOffsets::Variable(with_far(offsets, far)),
    })
}

/// Compressed strings: their bytes, how they became these, and where each begins in them, if it has a place of
/// its own.
type Codes = (Payload, Coding<Payload>, Option<Tape<i64>>);

/// Compresses the strings that lie in `bytes`, if that pays; as [`encode_numbers`].
fn coded(bytes: &Payload, offsets: &Tape<i64>, compression: Compression) -> Result<Option<Codes>, ErrorKind> {
    let mut far = bytes.far.as_ref().map(Region::another);
    let spill = far.as_ref().map(|far| far.spill().clone());
    let mut ends = Tape::default();
    if offsets.len() > 0 {
        ends.near.push(0);
    }
    let each = |codes: &mut Vec<u8>| {
        if compression != Compression::Block {
            let end = far.as_ref().map_or(0, Region::len) + codes.len() as u64;
            ends.push(end.cast_signed(), spill.as_ref())?;
        }
        drain(&mut far, codes)
    };
    let coded = binary::compress(&Laid { bytes, offsets }, compression, each)?;
    Ok(coded.map(|binary::Coded { bytes, coding }| {
        let bytes = Payload { far, near: vec![bytes] };
        match coding {
            Coding::Raw => (bytes, Coding::Raw, None),
            Coding::Fsst { total_len, symbols } => {
                (bytes, Coding::Fsst { total_len, symbols: symbols.into() }, Some(ends))
            }
            Coding::Deflate(Blocks { total_len, ends, preset }) => {
                let (ends, preset) = (ends.into(), preset.map(Payload::from));
                (bytes, Coding::Deflate(Blocks { total_len, ends, preset }), None)
            }
        }
    }))
}

/// Moves `blocks` to the file, if there is one and they are worth it.
pub(crate) fn drain(far: &mut Option<Region>, blocks: &mut Vec<u8>) -> Result<(), ErrorKind> {
    if let Some(far) = far
        && blocks.len() >= TOGETHER
    {
        far.append(blocks)?;
        blocks.clear();
    }
    Ok(())
}

/// `encoded`, with the first of its blocks in `far`.
fn with_far(encoded: Numeric<Vec<u8>>, mut far: Option<Region>) -> Numeric<Payload> {
    let blocks = encoded.role.blocks();
    let Ok(encoded) = encoded.try_map(&mut |section, bytes| {
        let far = if section == blocks { far.take() } else { None };
        Ok::<_, Infallible>(Payload { far, near: vec![bytes] })
    });
    encoded
}
