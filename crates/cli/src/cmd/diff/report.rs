//! Differences for people, and as JSON.

use serde::Serialize;
use serde_json::value::RawValue;

use super::compare::{ColumnPair, ColumnSide, Comparison, Difference, Wanted};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::text::{printable, thousands};
use crate::store::Segment;

/// What stands in front of a line that only one segment has.
const SIGNS: [char; 2] = ['-', '+'];

/// Prints differences as they are found; nothing if there are none.
pub(super) fn text(
    comparison: &mut Comparison<'_>,
    limit: u32,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let mut begun = comparison.differs();
    if begun {
        heading(comparison, console)?;
    }
    comparison.documents(Wanted::All(limit), &mut |comparison, difference| {
        if !std::mem::replace(&mut begun, true) {
            heading(comparison, console)?;
        }
        document(comparison, &difference, console)
    })?;
    if comparison.differing > 0 {
        if !begun {
            heading(comparison, console)?;
        }
        writeln!(console.out, "{}", summary(comparison, limit))?;
    }
    // Before the exit code says that all was said.
    Ok(console.out.flush()?)
}

/// The segments, and the columns that are not the same.
fn heading(comparison: &Comparison<'_>, console: &mut Console<'_>) -> Result<(), Failure> {
    for (sign, segment) in SIGNS.iter().zip(comparison.segments) {
        let (docs, columns) = (thousands(segment.docs().into()), thousands(segment.column_count().into()));
        writeln!(console.out, "{0}{0}{0} {1}: {docs} documents, {columns} columns", sign, segment.file())?;
    }
    for pair in comparison.columns.iter().filter(|pair| pair.differs()) {
        let in_both = pair.sides.iter().all(Option::is_some);
        let skipped = if in_both && !pair.is_comparable() { "; values not compared" } else { "" };
        for (sign, side) in SIGNS.iter().zip(&pair.sides) {
            if let Some(side) = side {
                writeln!(console.out, "{sign} column {}: {side}{skipped}", printable(&pair.name))?;
            }
        }
    }
    Ok(())
}

fn document(
    comparison: &Comparison<'_>,
    difference: &Difference,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let only = match difference.only_in {
        None => String::new(),
        Some(side) => format!(", only in {}", comparison.segments[side].file()),
    };
    writeln!(console.out, "@ document {}{only}", difference.doc)?;
    for pair in &difference.values {
        for (sign, side) in SIGNS.iter().zip(&pair.sides) {
            if let Some(value) = side {
                writeln!(console.out, "{sign} {}: {}", printable(&pair.column), printable(value))?;
            }
        }
    }
    Ok(())
}

/// How many documents differ, in which columns, and how many of them are shown.
fn summary(comparison: &Comparison<'_>, limit: u32) -> String {
    let differing = comparison.differing;
    let verb = if differing == 1 { "differs" } else { "differ" };
    let (part, whole) = (thousands(differing.into()), thousands(comparison.docs().into()));
    let mut line = format!("{part} of {whole} documents {verb}");
    let columns = comparison.columns.iter().filter(|pair| pair.differing > 0);
    let counts: Vec<String> = columns
        .map(|pair| format!("{} in {}", printable(&pair.name), thousands(pair.differing.into())))
        .collect();
    if !counts.is_empty() {
        line += &format!(": {}", counts.join(", "));
    }
    if differing > limit {
        line += &format!("; --limit shows {}", thousands(limit.into()));
    }
    line
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    same: bool,
    a: SegmentReport<'a>,
    b: SegmentReport<'a>,
    /// Columns that are not the same in both.
    columns: Vec<ColumnReport<'a>>,
    differing_documents: u32,
    /// Documents that differ, by column.
    differing_values: Vec<Count<'a>>,
    documents: Vec<DocumentReport>,
}

#[derive(Serialize)]
struct SegmentReport<'a> {
    file: &'a str,
    documents: u32,
    columns: u32,
}

#[derive(Serialize)]
struct ColumnReport<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<SideReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<SideReport>,
    /// Whether its values were compared all the same.
    compared: bool,
}

#[derive(Serialize)]
struct SideReport {
    kind: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    spelling: String,
}

#[derive(Serialize)]
struct Count<'a> {
    column: &'a str,
    documents: u32,
}

#[derive(Serialize)]
struct DocumentReport {
    document: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_in: Option<&'static str>,
    values: Vec<ValueReport>,
}

#[derive(Serialize)]
struct ValueReport {
    column: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Box<RawValue>>,
}

/// Prints everything as one JSON object.
pub(super) fn json(
    comparison: &mut Comparison<'_>,
    limit: u32,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let mut documents = Vec::new();
    comparison.documents(Wanted::All(limit), &mut |_, difference| {
        documents.push(DocumentReport::new(difference));
        Ok(())
    })?;
    let [a, b] = comparison.segments.each_ref().map(SegmentReport::new);
    let counts = comparison.columns.iter().filter(|pair| pair.differing > 0);
    let report = Report {
        same: !comparison.differs(),
        a,
        b,
        columns: comparison.columns.iter().filter(|pair| pair.differs()).map(ColumnReport::new).collect(),
        differing_documents: comparison.differing,
        differing_values: counts
            .map(|pair| Count { column: &pair.name, documents: pair.differing })
            .collect(),
        documents,
    };
    writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
    Ok(console.out.flush()?)
}

impl<'a> SegmentReport<'a> {
    fn new(segment: &'a Segment) -> SegmentReport<'a> {
        SegmentReport { file: segment.file(), documents: segment.docs(), columns: segment.column_count() }
    }
}

impl<'a> ColumnReport<'a> {
    fn new(pair: &'a ColumnPair) -> ColumnReport<'a> {
        let side = |side: &ColumnSide| SideReport {
            kind: side.kind.name(),
            ty: side.logical.name(),
            spelling: side.spelling.to_string(),
        };
        let [a, b] = pair.sides.each_ref().map(|known| known.as_ref().map(side));
        ColumnReport { name: &pair.name, a, b, compared: pair.is_comparable() }
    }
}

impl DocumentReport {
    fn new(difference: Difference) -> DocumentReport {
        let raw = |json: Option<String>| json.and_then(|json| RawValue::from_string(json).ok());
        let values = difference.values.into_iter().map(|pair| {
            let [a, b] = pair.sides.map(raw);
            ValueReport { column: pair.column, a, b }
        });
        DocumentReport {
            document: difference.doc,
            only_in: difference.only_in.map(|side| ["a", "b"][side]),
            values: values.collect(),
        }
    }
}
