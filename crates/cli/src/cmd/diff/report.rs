//! Differences for people, and as JSON.

use serde::Serialize;
use serde_json::{Value, json};

use super::compare::{ColumnPair, ColumnSide, Comparison, Difference, Wanted};
use crate::console::Console;
use crate::failure::Failure;
use crate::output::text::{present, printable, thousands};
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
        Some(side) => format!(", only in {}", comparison.segments[side as usize].file()),
    };
    writeln!(console.out, "@ document {}{only}", difference.doc)?;
    for pair in &difference.values {
        for (sign, side) in SIGNS.iter().zip([&pair.a, &pair.b]) {
            if let Some(value) = side {
                writeln!(console.out, "{sign} {}: {}", printable(&pair.column), printable(value.get()))?;
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

/// Prints everything as one JSON object.
pub(super) fn json(
    comparison: &mut Comparison<'_>,
    limit: u32,
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    /// Values of documents keep every character.
    #[derive(Serialize)]
    struct Report {
        #[serde(flatten)]
        segments: Value,
        documents: Vec<Difference>,
    }
    let mut documents = Vec::new();
    comparison.documents(Wanted::All(limit), &mut |_, difference| {
        documents.push(difference);
        Ok(())
    })?;
    let segment = |segment: &Segment| json!({ "file": segment.file(), "documents": segment.docs(), "columns": segment.column_count() });
    let columns = comparison.columns.iter();
    let segments = json!({
        "same": !comparison.differs(),
        "a": segment(&comparison.segments[0]),
        "b": segment(&comparison.segments[1]),
        // Those that are not the same in both.
        "columns": columns.clone().filter(|pair| pair.differs()).map(column).collect::<Value>(),
        "differing_documents": comparison.differing,
        // Documents that differ, by column.
        "differing_values": columns
            .filter(|pair| pair.differing > 0)
            .map(|pair| json!({ "column": pair.name, "documents": pair.differing }))
            .collect::<Value>(),
    });
    console.json(&Report { segments, documents })?;
    Ok(console.out.flush()?)
}

/// A column, and whether its values were compared all the same.
fn column(pair: &ColumnPair) -> Value {
    let side = |side: &ColumnSide| {
        let (kind, ty) = (side.kind.name(), side.logical.name());
        json!({ "kind": kind, "type": ty, "spelling": side.spelling.to_string() })
    };
    let [a, b] = pair.sides.each_ref().map(|known| known.as_ref().map(side));
    present(json!({ "name": pair.name, "a": a, "b": b, "compared": pair.is_comparable() }))
}
