//! Compares two segments.

use std::fmt;

use serde_json::value::RawValue;

use crate::api::{DocId, Error, Field, Kind, LogicalType, Segment};
use crate::error::CliError;
use crate::output::text::json_text;
use crate::read::{CHUNK, Record, Records, column};
use crate::text_format::TextFormat;

/// The differences between two segments found so far.
pub(super) struct Comparison<'a> {
    pub(super) segments: &'a [Segment; 2],
    pub(super) columns: Vec<ColumnPair>,
    /// The number of documents that differ, including those of one segment only.
    pub(super) differing: u32,
    records: [Records; 2],
}

/// A column of one or both segments.
pub(super) struct ColumnPair {
    pub(super) name: String,
    pub(super) sides: [Option<ColumnSide>; 2],
    /// The number of documents of both segments that differ in this column.
    pub(super) differing: u32,
}

/// A segment's description of a column.
#[derive(PartialEq, Eq)]
pub(super) struct ColumnSide {
    pub(super) kind: Kind,
    pub(super) logical: LogicalType,
    /// Without the rank among the other columns.
    pub(super) text_format: TextFormat,
}

/// The detail of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Only whether any document differs.
    Whether,
    /// The number of documents that differ, and the values of the first ones.
    All(u32),
}

/// A document that differs.
pub(super) struct Difference {
    pub(super) doc: u32,
    /// The only segment with this document, 0 or 1; `None` if both have it.
    pub(super) only_in: Option<usize>,
    pub(super) values: Vec<ValuePair>,
}

/// The values of a document in both segments as JSON; `None` without values.
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

impl ColumnPair {
    fn new(segments: &[Segment; 2], name: &str) -> Result<ColumnPair, Error> {
        let side = |segment| -> Result<Option<ColumnSide>, Error> {
            Ok(column(segment, name)?.map(|column| ColumnSide::new(&column.info().field)))
        };
        let sides = [side(&segments[0])?, side(&segments[1])?];
        Ok(ColumnPair { name: name.to_owned(), sides, differing: 0 })
    }

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
    /// Compares the columns of the segments.
    pub(super) fn of_columns(
        segments: &'a [Segment; 2],
        fields: &[Field],
    ) -> Result<Comparison<'a>, CliError> {
        let pair = |field: &Field| ColumnPair::new(segments, &field.name);
        Ok(Comparison {
            segments,
            columns: fields.iter().map(pair).collect::<Result<_, _>>()?,
            differing: 0,
            records: [Records::open(&segments[0], fields)?, Records::open(&segments[1], fields)?],
        })
    }

    /// The number of documents of the larger segment.
    pub(super) fn docs(&self) -> u32 {
        self.segments[0].docs().max(self.segments[1].docs())
    }

    pub(super) fn differs(&self) -> bool {
        let [a, b] = self.segments;
        a.docs() != b.docs() || self.differing > 0 || self.columns.iter().any(ColumnPair::differs)
    }

    /// Compares document by document; calls `each` for those whose values are wanted.
    pub(super) fn documents(
        &mut self,
        wanted: Detail,
        each: &mut dyn FnMut(&Comparison<'_>, Difference) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let step = u32::try_from(CHUNK).unwrap_or(u32::MAX);
        let docs = self.docs();
        let mut start = 0;
        while start < docs {
            let end = docs.min(start.saturating_add(step));
            for (segment, records) in self.segments.iter().zip(&mut self.records) {
                let own: Vec<DocId> = (start..end.min(segment.docs())).map(DocId::new).collect();
                records.load(&own)?;
            }
            for (at, doc) in (start..end).enumerate() {
                let only_in = (0..2).find(|side| doc >= self.segments[1 - side].docs());
                if !self.count(at, only_in) {
                    continue;
                }
                match wanted {
                    Detail::Whether => return Ok(()),
                    Detail::All(limit) if self.differing > limit => {}
                    Detail::All(_) => each(self, self.difference(doc, at, only_in))?,
                }
            }
            start = end;
        }
        Ok(())
    }

    /// Counts the document at index `at` of the chunk if it differs.
    fn count(&mut self, at: usize, only_in: Option<usize>) -> bool {
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
        self.differing += u32::from(differs);
        differs
    }

    fn difference(&self, doc: u32, at: usize, only_in: Option<usize>) -> Difference {
        let [a, b] = &self.records;
        let pairs = self.columns.iter().zip(a.columns().zip(b.columns()));
        let differing = pairs.filter(|(pair, (a, b))| match only_in {
            None => pair.is_comparable() && !same(*a, *b, at),
            Some(side) => [a, b][side].values(at, |values| !values.is_empty()),
        });
        let values = differing.map(|(pair, (a, b))| {
            // A segment without the document has loaded no values for it.
            let shown = |side, column| (only_in.unwrap_or(side) == side).then(|| json(column, at)).flatten();
            ValuePair { column: pair.name.clone(), sides: [shown(0, a), shown(1, b)] }
        });
        Difference { doc, only_in, values: values.collect() }
    }
}

fn same(a: Record<'_>, b: Record<'_>, at: usize) -> bool {
    a.values(at, |a| b.values(at, |b| a == b))
}

/// The values of a document as JSON; NaN and infinity are strings, so that they differ from a missing value.
fn json(column: Record<'_>, at: usize) -> Option<Box<RawValue>> {
    column.values(at, |values| {
        let mut out = String::new();
        let _ = !values.is_empty() && column.printer.json(values, &mut out);
        if out == "null" {
            let mut text = String::new();
            column.printer.plain(values, &mut text);
            out = json_text(&text);
        }
        RawValue::from_string(out).ok()
    })
}
