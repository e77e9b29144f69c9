//! Reports differences as text and as JSON.

use serde_json::value::RawValue;

use super::compare::{ColumnComparison, Comparison, Difference};
use crate::console::Console;
use crate::error::Result;
use crate::text::{Json, counted, printable, thousands};

/// The signs of lines of the first and of the second segment.
const SIGNS: [char; 2] = ['-', '+'];

/// Prints differences as they are found.
pub(super) fn text(comparison: &mut Comparison<'_>, limit: u32, console: &mut Console<'_>) -> Result<()> {
    let mut begun = comparison.differs();
    if begun {
        heading(comparison, console)?;
    }
    comparison.documents(Some(limit), &mut |comparison, difference| {
        if !std::mem::replace(&mut begun, true) {
            heading(comparison, console)?;
        }
        document(comparison, &difference, console)
    })?;
    if comparison.differing > 0 {
        console.line(summary(comparison, limit))?;
    }
    // An error of writing must be reported before the exit code.
    Ok(console.out.flush()?)
}

/// Prints the segments and the columns that differ.
fn heading(comparison: &Comparison<'_>, console: &mut Console<'_>) -> Result<()> {
    for (sign, side) in SIGNS.iter().zip(comparison.sides) {
        let docs = counted(side.docs(), "document", "documents");
        let columns = counted(side.names()?.len() as u64, "column", "columns");
        console.line(format_args!("{sign}{sign}{sign} {}: {docs}, {columns}", side.named()))?;
    }
    for pair in comparison.columns.iter().filter(|pair| pair.differs()) {
        let in_both = pair.sides.iter().all(Option::is_some);
        let skipped = if in_both && !pair.is_comparable() { "; values not compared" } else { "" };
        for (sign, side) in SIGNS.iter().zip(&pair.sides) {
            if let Some(side) = side {
                console.line(format_args!("{sign} column {}: {side}{skipped}", printable(&pair.name)))?;
            }
        }
    }
    Ok(())
}

fn document(comparison: &Comparison<'_>, difference: &Difference, console: &mut Console<'_>) -> Result<()> {
    let only = match difference.only_in {
        None => String::new(),
        Some(side) => format!(", only in {}", comparison.sides[side].named()),
    };
    let name = printable(&difference.name);
    match &comparison.pairs.column {
        None => console.line(format_args!("@ document {name}{only}"))?,
        Some(column) => console.line(format_args!("@ {} {name}{only}", printable(column)))?,
    }
    for pair in &difference.values {
        for (sign, side) in SIGNS.iter().zip(&pair.sides) {
            if let Some(value) = side {
                console.line(format_args!(
                    "{sign} {}: {}",
                    printable(&pair.column),
                    printable(value.get())
                ))?;
            }
        }
    }
    Ok(())
}

/// The number of documents that differ, the columns, and the number of documents shown.
fn summary(comparison: &Comparison<'_>, limit: u32) -> String {
    let differing = comparison.differing;
    let verb = if differing == 1 { "differs" } else { "differ" };
    let (part, whole) = (thousands(differing), thousands(comparison.pairs.count()));
    let mut line = format!("{part} of {whole} documents {verb}");
    let columns = comparison.columns.iter().filter(|pair| pair.differing > 0);
    let counts: Vec<String> =
        columns.map(|pair| format!("{} in {}", printable(&pair.name), thousands(pair.differing))).collect();
    if !counts.is_empty() {
        line += &format!(": {}", counts.join(", "));
    }
    if differing > limit.into() {
        line += &format!("; --limit shows {}", thousands(limit.into()));
    }
    line
}

/// Prints a row for each column that differs and for each value of a document that does, as JSON or in the format of --format.
pub(super) fn rows(comparison: &mut Comparison<'_>, limit: u32, console: &mut Console<'_>) -> Result<()> {
    let key = if comparison.pairs.column.is_some() { "value" } else { "document" };
    let differing = comparison.columns.iter().filter(|pair| pair.differs());
    let mut rows: Vec<Json> = differing.map(|pair| column_row(key, pair)).collect();
    comparison.documents(Some(limit), &mut |_, difference| {
        rows.extend(document_rows(key, difference));
        Ok(())
    })?;
    if comparison.differing > limit.into() {
        console.note(&format!("note: {}", summary(comparison, limit)));
    }
    Ok(console.json(Json::List(rows))?)
}

/// A column whose kind, type or text format differs. No document is named.
fn column_row(key: &'static str, pair: &ColumnComparison) -> Json {
    let sides = pair.sides.each_ref().map(|side| side.as_ref().map(ToString::to_string).into());
    let only_in = pair.sides.iter().position(Option::is_none).map(|lacking| 1 - lacking);
    row(key, Json::NONE, only_in, pair.name.as_str().into(), sides)
}

/// The values of a document that differ; of a document of one side without values, the document alone.
fn document_rows(key: &'static str, difference: Difference) -> Vec<Json> {
    let Difference { name, only_in, values } = difference;
    let name = RawValue::from_string(name).map_or(Json::NONE, Json::Raw);
    if values.is_empty() {
        return vec![row(key, name, only_in, Json::NONE, [Json::NONE, Json::NONE])];
    }
    let rows = values.into_iter().map(|pair| {
        let sides = pair.sides.map(|side| side.map_or(Json::NONE, Json::Raw));
        row(key, name.clone(), only_in, pair.column.into(), sides)
    });
    rows.collect()
}

/// A row, which has all columns, so that they are the same whatever differs.
fn row(key: &'static str, name: Json, only_in: Option<usize>, column: Json, [a, b]: [Json; 2]) -> Json {
    let only_in = only_in.map(|side| ["a", "b"][side]).into();
    let cells = [(key, name), ("only_in", only_in), ("column", column), ("a", a), ("b", b)];
    Json::Object(cells.into_iter().map(|(key, value)| (key.into(), value)).collect())
}
