//! Columns and values from the fuzzer's choices.

use docvalues::writer::Compression;
use docvalues::{BytesKind, Field, FieldSpec, Kind, LogicalType};
use docvalues_testkit::model::ModelColumn;
use docvalues_testkit::shapes::{Counts, Numbers, Presence, Strings};

use crate::choices::Choices;

/// A field, and the values of all documents so far.
pub(crate) struct Column {
    pub(crate) spec: FieldSpec,
    pub(crate) values: ModelColumn,
}

/// Every compression of byte strings.
pub(crate) const COMPRESSIONS: [Compression; 4] =
    [Compression::Auto, Compression::None, Compression::Fsst, Compression::OnPair];

impl Column {
    /// The column with this number, with `docs` documents without a value. If `fixed`, its kind does not depend on the
    /// values.
    pub(crate) fn choose(choices: &mut Choices<'_>, number: usize, docs: u32, fixed: bool) -> Column {
        // Names ascend, descend, are prefixes of each other, or fill a page.
        let name = match choices.byte() % 8 {
            0..3 => format!("c{number}"),
            3 => format!("{}", 99 - number),
            4 => "n".repeat(1 + number),
            5 => format!("{}{number}", "long".repeat(500)),
            6 => format!("日本 {number}"),
            _ => format!("\0{number}"),
        };
        let logical = choices.pick(&LogicalType::ALL);
        let flags = choices.byte();
        let compression = COMPRESSIONS[usize::from(flags >> 5) % COMPRESSIONS.len()];
        let mut spec = FieldSpec::new(name, logical).compression(compression);
        if flags & 1 == 1 {
            spec = spec.multi_valued();
        } else if logical.is_bytes() {
            spec = match flags >> 1 & 3 {
                0 if !fixed => spec,
                1 => spec.kind(BytesKind::Sorted),
                _ => spec.kind(BytesKind::Binary),
            };
        }
        if flags >> 3 & 7 == 7 {
            spec = spec.format("%d.%m.%Y");
        }
        let values = piece(&spec, docs, &mut Choices::new(&[]));
        Column { spec, values }
    }

    /// The column of a segment: `kind` is the choice of the writer.
    pub(crate) fn finished(&self, kind: Kind) -> (Field, ModelColumn) {
        let values = match (self.values.clone(), kind) {
            (ModelColumn::Binary(slots), Kind::Sorted) if self.spec.bytes_kind() == BytesKind::Auto => {
                ModelColumn::Sorted(slots)
            }
            (values, _) => values,
        };
        let field = Field::new(self.spec.name(), values.kind(), self.spec.logical());
        (Field { format: self.spec.spelling().map(str::to_owned), ..field }, values)
    }

    /// Adds values of the next documents.
    pub(crate) fn append(&mut self, piece: ModelColumn) {
        match (&mut self.values, piece) {
            (ModelColumn::Numeric(all), ModelColumn::Numeric(more)) => all.extend(more),
            (ModelColumn::Binary(all), ModelColumn::Binary(more)) => all.extend(more),
            (ModelColumn::Sorted(all), ModelColumn::Sorted(more)) => all.extend(more),
            (ModelColumn::SortedNumeric(all), ModelColumn::SortedNumeric(more)) => all.extend(more),
            (ModelColumn::SortedSet(all), ModelColumn::SortedSet(more)) => all.extend(more),
            (all, piece) => panic!("{:?} for a column of {:?}", piece.kind(), all.kind()),
        }
    }
}

/// Values of a field for `docs` documents. If the choices are used up, no document has a value.
pub(crate) fn piece(spec: &FieldSpec, docs: u32, choices: &mut Choices<'_>) -> ModelColumn {
    let presence = match choices.byte() {
        0..24 => Presence::None,
        24..128 => Presence::All,
        percent @ 128..192 => Presence::Random(u32::from(percent - 128) * 16),
        stride @ 192..224 => Presence::Every(u32::from(stride - 191)),
        other => Presence::ALL[usize::from(other - 224) % Presence::ALL.len()],
    };
    let present = presence.bits(docs, choices.byte().into());
    let with_value = present.iter().filter(|present| **present).count();
    let counts = match spec.is_multi_valued() {
        true => choices.pick(Counts::SMALL).make(with_value, &mut choices.rng()),
        false => vec![1; with_value],
    };
    let total = counts.iter().sum();
    let logical = spec.logical();
    match (logical.is_bytes(), spec.is_multi_valued()) {
        (false, false) => ModelColumn::Numeric(spread(&present, numbers(logical, total, choices))),
        (false, true) => {
            let mut numbers = numbers(logical, total, choices).into_iter();
            let lists = counts.iter().map(|&count| numbers.by_ref().take(count).collect());
            let lists = spread(&present, lists.collect());
            ModelColumn::SortedNumeric(lists.into_iter().map(Option::unwrap_or_default).collect())
        }
        (true, false) => {
            let slots = spread(&present, strings(logical, total, choices));
            match spec.bytes_kind() {
                BytesKind::Sorted => ModelColumn::Sorted(slots),
                _ => ModelColumn::Binary(slots),
            }
        }
        (true, true) => {
            let mut strings = strings(logical, total, choices).into_iter();
            let sets = counts.iter().map(|&count| strings.by_ref().take(count).collect());
            let sets = spread(&present, sets.collect());
            ModelColumn::SortedSet(sets.into_iter().map(Option::unwrap_or_default).collect())
        }
    }
}

/// Assigns the next value to each document that has one.
fn spread<T>(present: &[bool], values: Vec<T>) -> Vec<Option<T>> {
    let mut values = values.into_iter();
    present.iter().map(|&present| if present { values.next() } else { None }).collect()
}

fn numbers(logical: LogicalType, count: usize, choices: &mut Choices<'_>) -> Vec<i64> {
    let mut numbers = match choices.byte() % 4 {
        0 => choices.pick(&Numbers::ALL).make(count, &mut choices.rng()),
        1 => {
            let (first, step) = (choices.number(), choices.number());
            std::iter::successors(Some(first), |last| Some(last.wrapping_add(step))).take(count).collect()
        }
        _ => {
            let few: Vec<i64> = (0..=choices.below(16)).map(|_| choices.number()).collect();
            few.into_iter().cycle().take(count).collect::<Vec<_>>()
        }
    };
    if logical == LogicalType::Bool {
        numbers.iter_mut().for_each(|number| *number &= 1);
    }
    numbers
}

fn strings(logical: LogicalType, count: usize, choices: &mut Choices<'_>) -> Vec<Vec<u8>> {
    let strings = match choices.byte() % 3 {
        0 => {
            let shape = match choices.pick(&Strings::ALL) {
                // Tests have strings of megabytes.
                Strings::SomeLong => Strings::SomeEmpty,
                Strings::Nested if count > 4_000 => Strings::FewDistinct,
                shape => shape,
            };
            shape.make(count, &mut choices.rng())
        }
        _ => {
            let few: Vec<_> = (0..=choices.below(16)).map(|_| choices.bytes().to_vec()).collect();
            few.into_iter().cycle().take(count).collect()
        }
    };
    strings.into_iter().map(|bytes| legal(logical, bytes)).collect()
}

/// The bytes, adapted to the type.
fn legal(logical: LogicalType, mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(len) = logical.fixed_len() {
        bytes.resize(len as usize, 0);
    }
    match logical {
        LogicalType::Utf8 => match String::from_utf8(bytes) {
            Ok(text) => text.into_bytes(),
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned().into_bytes(),
        },
        _ => bytes,
    }
}
