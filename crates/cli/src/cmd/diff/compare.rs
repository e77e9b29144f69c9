//! Compares two segments or stores.

use std::fmt;

use serde_json::value::RawValue;

use super::pairs::{Pair, Pairs};
use crate::api::{DocAddress, Field, Kind, LogicalType};
use crate::error::Result;
use crate::open::Segments;
use crate::open::columns::select;
use crate::open::records::{CHUNK, Record, Records};
use crate::text::text_format::TextFormat;

/// The differences between two sides found so far.
pub(super) struct Comparison<'a> {
    pub(super) sides: &'a [Segments; 2],
    pub(super) pairs: &'a Pairs<'a>,
    pub(super) columns: Vec<ColumnComparison>,
    /// The number of documents that differ, including those of one side only.
    pub(super) differing: u64,
    records: [Records; 2],
}

/// A column of one or both sides.
pub(super) struct ColumnComparison {
    pub(super) name: String,
    pub(super) sides: [Option<ColumnSide>; 2],
    /// The number of documents of both sides that differ in this column.
    pub(super) differing: u64,
}

/// A side's description of a column.
#[derive(PartialEq, Eq)]
pub(super) struct ColumnSide {
    pub(super) kind: Kind,
    pub(super) logical: LogicalType,
    /// Without the rank among the other columns.
    pub(super) text_format: TextFormat,
}

/// A document that differs.
pub(super) struct Difference {
    /// Its number, or its value as JSON.
    pub(super) name: String,
    /// The only side with this document, 0 or 1; `None` if both have it.
    pub(super) only_in: Option<usize>,
    pub(super) values: Vec<ValuePair>,
}

/// The values of a document on both sides as JSON; `None` without values.
pub(super) struct ValuePair {
    pub(super) column: String,
    pub(super) sides: [Option<Box<RawValue>>; 2],
}

impl fmt::Display for ColumnSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.name(), self.logical.name())?;
        match self.text_format.to_string().as_str() {
            "" => Ok(()),
            text_format => write!(f, ", format {text_format}"),
        }
    }
}

impl ColumnComparison {
    pub(super) fn differs(&self) -> bool {
        self.sides[0] != self.sides[1]
    }

    /// Whether stored values of both sides can be compared.
    pub(super) fn is_comparable(&self) -> bool {
        matches!(&self.sides, [Some(a), Some(b)] if a.logical == b.logical)
    }
}

impl ColumnSide {
    fn new(field: &Field) -> ColumnSide {
        let text_format = field.format.as_deref().map(TextFormat::parse).unwrap_or_default();
        let text_format = TextFormat { order: None, ..text_format };
        ColumnSide { kind: field.kind, logical: field.logical, text_format }
    }
}

impl<'a> Comparison<'a> {
    /// Compares the columns that the user named, or all.
    pub(super) fn of_columns(
        sides: &'a [Segments; 2],
        pairs: &'a Pairs<'a>,
        columns: &[String],
    ) -> Result<Comparison<'a>> {
        let names = names(sides, columns)?;
        let fields = |side: &Segments| {
            names.iter().map(|name| side.find_field(name)).collect::<Result<Vec<Option<Field>>, _>>()
        };
        let [a, b] = [fields(&sides[0])?, fields(&sides[1])?];
        let records = [
            Records::over(&sides[0], a.iter().map(Option::as_ref))?,
            Records::over(&sides[1], b.iter().map(Option::as_ref))?,
        ];
        let columns = names.into_iter().zip(a.iter().zip(&b)).map(|(name, (a, b))| {
            let sides = [a, b].map(|field| field.as_ref().map(ColumnSide::new));
            ColumnComparison { name, sides, differing: 0 }
        });
        Ok(Comparison { sides, pairs, columns: columns.collect(), differing: 0, records })
    }

    pub(super) fn differs(&self) -> bool {
        let [a, b] = self.sides;
        a.docs() != b.docs() || self.differing > 0 || self.columns.iter().any(ColumnComparison::differs)
    }

    /// Compares document by document; calls `each` for the first `limit` that differ. Without a limit, stops at the first one.
    pub(super) fn documents(
        &mut self,
        limit: Option<u32>,
        each: &mut dyn FnMut(&Comparison<'_>, Difference) -> Result<()>,
    ) -> Result<()> {
        let mut pairs = self.pairs.iter();
        loop {
            let chunk: Vec<Pair> = pairs.by_ref().take(CHUNK).collect();
            if chunk.is_empty() {
                return Ok(());
            }
            for (side, records) in self.records.iter_mut().enumerate() {
                let own: Vec<DocAddress> = chunk.iter().filter_map(|pair| pair.docs[side]).collect();
                records.load(&own)?;
            }
            // The place of the next document of each side in its chunk.
            let mut at = [0, 0];
            for Pair { name, docs } in chunk {
                let only_in = docs.iter().position(Option::is_none).map(|lacking| 1 - lacking);
                if self.count(at, only_in) {
                    let Some(limit) = limit else { return Ok(()) };
                    if self.differing <= limit.into() {
                        each(self, self.difference(name, at, only_in))?;
                    }
                }
                (0..2).for_each(|side| at[side] += usize::from(docs[side].is_some()));
            }
        }
    }

    /// Counts the document at these places of the chunks if it differs.
    fn count(&mut self, at: [usize; 2], only_in: Option<usize>) -> bool {
        let mut differs = only_in.is_some();
        if only_in.is_none() {
            let [a, b] = &self.records;
            for (pair, (a, b)) in self.columns.iter_mut().zip(a.columns().zip(b.columns())) {
                if pair.is_comparable() && !same(a, b, at) {
                    pair.differing += 1;
                    differs = true;
                }
            }
        }
        self.differing += u64::from(differs);
        differs
    }

    fn difference(&self, name: String, at: [usize; 2], only_in: Option<usize>) -> Difference {
        let [a, b] = &self.records;
        let pairs = self.columns.iter().zip(a.columns().zip(b.columns()));
        let differing = pairs.filter(|(pair, (a, b))| match only_in {
            None => pair.is_comparable() && !same(*a, *b, at),
            Some(side) => [a, b][side].values(at[side], |values| !values.is_empty()),
        });
        let values = differing.map(|(pair, (a, b))| {
            // A side without the document has loaded no values for it.
            let shown =
                |side, column| (only_in.unwrap_or(side) == side).then(|| json(column, at[side])).flatten();
            ValuePair { column: pair.name.clone(), sides: [shown(0, a), shown(1, b)] }
        });
        Difference { name, only_in, values: values.collect() }
    }
}

/// The columns that the user named, or all of both sides.
fn names(sides: &[Segments; 2], columns: &[String]) -> Result<Vec<String>> {
    let [a, b] = sides;
    let all: Vec<_> = a.all().iter().chain(b.all()).cloned().collect();
    let fields = a.in_order(select(&all, columns)?, columns);
    Ok(fields.into_iter().map(|field| field.name).collect())
}

fn same(a: Record<'_>, b: Record<'_>, at: [usize; 2]) -> bool {
    a.values(at[0], |a| b.values(at[1], |b| a == b))
}

/// The values of a document as JSON; NaN and infinity are strings, so that they differ from a missing value.
fn json(column: Record<'_>, at: usize) -> Option<Box<RawValue>> {
    column.values(at, |values| {
        let mut out = String::new();
        let _ = !values.is_empty() && column.printer.json_or_text(values, true, &mut out);
        RawValue::from_string(out).ok()
    })
}
