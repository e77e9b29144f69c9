//! From buffered values to the sections of a column, one column at a time.
//!
//! Everything here depends on the values alone, in document order: not on how they came in, nor on the
//! order in which byte strings were first met. That is why the same input gives the same bytes.

use std::convert::Infallible;

use docvalues_format::binary::{self, Binary, BinaryOptions, Coding, Compression};
use docvalues_format::dictionary::{self, Dictionary};
use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::granule::{SectionRef, extent};
use docvalues_format::numeric::{self, Number, Numeric, NumericOptions, Role, Transform};
use docvalues_format::presence::Presence;

use crate::buffer::{self, FieldBuffer, Lists, ascending, distinct};
use crate::error::ErrorKind;
use crate::intern::{Interner, Strings, index};
use crate::schema::{BytesKind, FieldSpec};

/// What every column of a segment is encoded with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoder {
    /// Documents in the segment.
    pub(crate) docs: u32,
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

/// What a section holds, in pieces that lie end to end.
#[derive(Debug)]
pub(crate) struct Payload(pub(crate) Vec<Vec<u8>>);

impl Payload {
    fn len(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }

    /// All in one piece.
    fn joined(self) -> Vec<u8> {
        let len = usize::try_from(self.len()).unwrap_or(usize::MAX);
        let mut pieces = self.0.into_iter();
        let mut all = pieces.next().unwrap_or_default();
        all.reserve_exact(len - all.len());
        // Each is freed when it was copied.
        pieces.for_each(|piece| all.extend_from_slice(&piece));
        all
    }
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

impl Encoder {
    /// Encodes the column of `spec`.
    ///
    /// Takes, beside the buffer, memory for what it returns; of raw byte strings that is the buffer.
    pub(crate) fn column(&self, spec: &FieldSpec, buffer: FieldBuffer) -> Result<Encoded, ErrorKind> {
        let FieldBuffer { presence, values } = buffer;
        let column = Frame { spec, presence: presence.encode(self.docs, self.jump_tables) };
        let logical = spec.logical();
        Ok(match values {
            buffer::Values::Numbers(numbers) => {
                let values = self.values(&numbers, logical);
                let known = of_numbers(&numbers, &values, logical, true);
                column.with(Kind::Numeric, Values::Numeric(values), known)
            }
            buffer::Values::NumberLists(mut lists) => {
                lists.tidy(ascending);
                let Lists { offsets, values: numbers } = lists;
                let offsets = self.offsets(&offsets);
                let values = self.values(&numbers, logical);
                let known = of_numbers(&numbers, &values, logical, false);
                column.with(Kind::SortedNumeric, Values::SortedNumeric { offsets, values }, known)
            }
            buffer::Values::Strings(strings) => {
                let (pieces, offsets) = strings.into_parts();
                self.strings(column, Payload(pieces), offsets)?
            }
            buffer::Values::Terms { ids, terms } => self.terms(column, ids, terms)?,
            buffer::Values::TermSets { ids, terms } => self.term_sets(column, ids, terms)?,
        })
    }

    fn terms(&self, column: Frame<'_>, mut ids: Vec<u32>, terms: Interner) -> Result<Encoded, ErrorKind> {
        let Sorted { strings, order, terms } = self.sort(terms)?;
        let ord_of = ord_of(&order);
        ids.iter_mut().for_each(|id| *id = ord_of[index(*id)]);
        drop(ord_of);
        let ords = ids;
        let choose = column.spec.bytes_kind() == BytesKind::Auto;
        let presence = choose.then(|| column.presence.clone());
        let known = of_ords(&ords, &terms, true);
        let spec = column.spec;
        let values = Values::Sorted { ords: self.numbers(&ords, Role::Values), terms };
        let sorted = column.with(Kind::Sorted, values, known);
        let value = |&ord: &u32| strings.get(index(order[index(ord)]));
        match presence {
            Some(presence) => {
                self.lighter(sorted, Frame { spec, presence }, &strings, ords.iter().map(value))
            }
            None => Ok(sorted),
        }
    }

    /// `sorted`, or the same `values`, which are some of the `strings`, as a binary column if that is the
    /// lighter one.
    fn lighter<'a>(
        &self,
        sorted: Encoded,
        column: Frame<'_>,
        strings: &Strings,
        values: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Encoded, ErrorKind> {
        let weight = sorted.weight();
        let len: u64 = values.clone().map(|value| value.len() as u64).sum();
        let (bytes, ends) = strings.parts();
        if weight <= binary::at_least(len, bytes, ends, column.spec.compressed()) {
            return Ok(sorted); // The bytes of a binary column alone take as much.
        }
        let mut bytes = Vec::with_capacity(usize::try_from(len).unwrap_or(usize::MAX));
        let mut offsets = Vec::with_capacity(values.len() + 1);
        offsets.push(0);
        for value in values {
            bytes.extend_from_slice(value);
            offsets.push((bytes.len() as u64).cast_signed());
        }
        let binary = self.strings(column, Payload(vec![bytes]), offsets)?;
        Ok(if binary.weight() < weight { binary } else { sorted })
    }

    fn term_sets(
        &self,
        column: Frame<'_>,
        mut sets: Lists<u32>,
        terms: Interner,
    ) -> Result<Encoded, ErrorKind> {
        let Sorted { strings, order, terms } = self.sort(terms)?;
        let ord_of = ord_of(&order);
        drop((strings, order));
        sets.tidy(|set| {
            set.iter_mut().for_each(|id| *id = ord_of[index(*id)]);
            distinct(set)
        });
        let Lists { offsets, values: ords } = sets;
        let offsets = self.offsets(&offsets);
        let known = of_ords(&ords, &terms, false);
        let ords = self.numbers(&ords, Role::Values);
        Ok(column.with(Kind::SortedSet, Values::SortedSet { offsets, ords, terms }, known))
    }

    fn sort(&self, terms: Interner) -> Result<Sorted, ErrorKind> {
        let (strings, order) = terms.into_sorted();
        let sorted = order.iter().map(|&id| strings.get(index(id)));
        let terms = dictionary::encode(sorted, self.jump_tables)?;
        Ok(Sorted { strings, order, terms })
    }

    /// The strings that lie end to end in `bytes`, between two of the `offsets` each.
    fn strings(
        &self,
        column: Frame<'_>,
        bytes: Payload,
        offsets: Vec<i64>,
    ) -> Result<Encoded, binary::Refused> {
        let options = BinaryOptions { compression: column.spec.compressed(), jump_tables: self.jump_tables };
        if options.compression != Compression::None {
            let ends: Vec<u64> = offsets.into_iter().skip(1).map(i64::cast_unsigned).collect();
            let values = binary::encode(bytes.joined(), &ends, &options)?;
            return Ok(column.with(Kind::Binary, Values::Binary(values), Statistics::default()));
        }
        // In the file they lie as they do here.
        let count = offsets.len().saturating_sub(1) as u64;
        let offsets = binary::encode_offsets(bytes.len(), &offsets, &options)?;
        let values = Binary { count, bytes: None, coding: Coding::Raw, offsets };
        let mut column = column.column(Kind::Binary, Values::Binary(values), Statistics::default());
        if let Values::Binary(values) = &mut column.values {
            values.bytes = (bytes.len() > 0).then_some(bytes);
        }
        Ok(Encoded::of(column))
    }

    fn offsets(&self, offsets: &[i64]) -> Numeric<Vec<u8>> {
        self.numbers(offsets, Role::Offsets)
    }

    fn values(&self, values: &[i64], logical: LogicalType) -> Numeric<Vec<u8>> {
        let doubles = logical == LogicalType::F64;
        numeric::encode(values, &NumericOptions { doubles, ..self.options(Role::Values) })
    }

    fn numbers<T: Number>(&self, numbers: &[T], role: Role) -> Numeric<Vec<u8>> {
        numeric::encode(numbers, &self.options(role))
    }

    fn options(&self, role: Role) -> NumericOptions {
        let Encoder { jump_tables, zones, .. } = *self;
        NumericOptions { role, doubles: false, jump_tables, zones: zones && role.is_values() }
    }
}

/// The distinct byte strings of a field, in order.
struct Sorted {
    /// The strings, by the numbers they were interned under.
    strings: Strings,
    /// The number of each ord.
    order: Vec<u32>,
    /// The strings, by ord.
    terms: Dictionary<Vec<u8>>,
}

/// The ord of each number, of which `order` has the numbers.
fn ord_of(order: &[u32]) -> Vec<u32> {
    let mut ord_of = vec![0; order.len()];
    (0..).zip(order).for_each(|(ord, &id)| ord_of[index(id)] = ord);
    ord_of
}

/// A column that lacks its values.
struct Frame<'a> {
    spec: &'a FieldSpec,
    presence: Presence<Vec<u8>>,
}

impl Frame<'_> {
    fn with(self, kind: Kind, values: Values<Vec<u8>>, statistics: Statistics) -> Encoded {
        Encoded::of(self.column(kind, values, statistics))
    }

    fn column(self, kind: Kind, values: Values<Vec<u8>>, statistics: Statistics) -> Column<Payload> {
        let (name, format) = (self.spec.name().to_owned(), self.spec.spelling().map(str::to_owned));
        let field = Field { name, kind, logical: self.spec.logical(), format };
        let column = Column { field, presence: self.presence, values, statistics };
        let payload = &mut |_: Section, bytes| Ok::<_, Infallible>(Payload(vec![bytes]));
        let Ok(column) = column.try_map(payload);
        column
    }
}

/// What is known of a column's stored numbers; `single` if documents have one each.
fn of_numbers(numbers: &[i64], encoded: &Numeric<Vec<u8>>, logical: LogicalType, single: bool) -> Statistics {
    let (ascending, descending) = order(numbers, single);
    let distinct = match &encoded.transform {
        Transform::Constant(_) => Some(encoded.count.min(1)),
        Transform::Table(table) => Some((table.len() / size_of::<i64>()) as u64),
        // Equal values are neighbours there.
        Transform::Affine { .. } | Transform::Decimal(_) if ascending || descending => {
            Some(1 + numbers.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64)
        }
        Transform::Affine { .. } | Transform::Decimal(_) => None,
    };
    let sum = (logical != LogicalType::F64).then(|| sum(numbers));
    Statistics { sum, distinct, ascending, descending }
}

/// What is known of a column's ords into `terms`.
fn of_ords(ords: &[u32], terms: &Dictionary<Vec<u8>>, single: bool) -> Statistics {
    let (ascending, descending) = order(ords, single);
    Statistics { sum: None, distinct: Some(terms.count.into()), ascending, descending }
}

/// Whether numbers ascend, and whether they descend. Of several a document, neither is claimed.
fn order<T: Ord>(numbers: &[T], single: bool) -> (bool, bool) {
    (single && numbers.is_sorted(), single && numbers.is_sorted_by(|a, b| a >= b))
}

/// The sum of numbers; of 2<sup>64</sup> there would be no overflow.
fn sum(numbers: &[i64]) -> i128 {
    /// Halves of so many numbers can be added up in 64 bits, which the compiler does side by side.
    const MANY: usize = 1 << 12;
    let of_halves = |numbers: &[i64]| {
        let low: i64 = numbers.iter().map(|&number| number & 0xFFFF_FFFF).sum();
        let high: i64 = numbers.iter().map(|&number| number >> 32).sum();
        i128::from(low) + (i128::from(high) << 32)
    };
    numbers.chunks(MANY).map(of_halves).sum()
}
