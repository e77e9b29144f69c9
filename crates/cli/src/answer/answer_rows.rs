//! Answers as rows: one for each item of the list in the JSON of an answer.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::groups::MISSING;
use super::rows::{RecordFormat, RowCell, RowPrinter, TABLE_ROWS};
use super::table::Align;
use crate::console::Console;
use crate::error::Result;
use crate::text::Json;
use crate::text::json_entries::{Entries, Key};
use crate::text::quoting::quote_csv_value;

/// The lists of answers whose items are rows. A facet's are in it.
const LISTS: [&str; 4] = ["facets", "ranges", "groups", "columns"];

/// The cells of a row, with their names.
type Row<'a> = Vec<(String, Cow<'a, Json>)>;

/// A cell, unless the row lacks it.
struct AnswerCell<'a>(Option<&'a Json>);

impl AnswerCell<'_> {
    fn to_json(&self) -> String {
        self.0.and_then(|value| serde_json::to_string(value).ok()).unwrap_or_default()
    }

    /// A string without quotes, or else JSON; `None` for a missing value.
    fn text(&self) -> Option<String> {
        let json = self.to_json();
        match serde_json::from_str::<Option<String>>(&json) {
            Ok(text) => text,
            // A number, a list, or nothing.
            Err(_) => Some(json).filter(|json| !json.is_empty()),
        }
    }
}

impl RowCell for AnswerCell<'_> {
    fn csv(&self, delimiter: char, line: &mut String) {
        let Some(text) = self.text() else { return };
        let start = line.len();
        line.push_str(&text);
        quote_csv_value(line, start, delimiter, None);
    }

    fn json(&self, line: &mut String) -> bool {
        line.push_str(&self.to_json());
        self.0.is_some()
    }

    fn plain(&self, cell: &mut String) {
        match (self.text(), self.0) {
            (Some(text), _) => cell.push_str(&text),
            // Of a group; a metric without a value is empty.
            (None, Some(Json::Raw(_))) => cell.push_str(MISSING),
            (None, _) => {}
        }
    }
}

/// Prints rows one by one, or lines if there is no format.
pub(crate) struct RowsOrLines(Option<RowPrinter>);

impl RowsOrLines {
    /// Rows with columns of these names.
    pub(crate) fn begin(
        names: &[&str],
        format: Option<RecordFormat>,
        console: &mut Console<'_>,
    ) -> Result<RowsOrLines> {
        let align = |name: &str| if name == "doc" { Align::Right } else { Align::Left };
        let columns: Vec<_> = names.iter().map(|name| ((*name).to_owned(), align(name))).collect();
        let rows = format.map(|format| RowPrinter::begin(&columns, 0, format, console.out));
        Ok(RowsOrLines(rows.transpose()?))
    }

    /// Prints a row or a line.
    pub(crate) fn print(
        &mut self,
        cells: impl FnOnce() -> Vec<Json>,
        line: impl FnOnce() -> String,
        console: &mut Console<'_>,
    ) -> Result<()> {
        let Some(rows) = &mut self.0 else { return Ok(writeln!(console.out, "{}", line())?) };
        rows.row(String::new, cells().iter().map(|cell| AnswerCell(Some(cell))), console.out)?;
        rows.print_table(TABLE_ROWS, console)
    }

    /// Prints the rest of a table.
    pub(crate) fn finish(self, console: &mut Console<'_>) -> Result<()> {
        self.0.map_or(Ok(()), |rows| rows.finish(console))
    }
}

/// Prints answers as rows.
pub(crate) fn print(answers: &[Json], format: RecordFormat, console: &mut Console<'_>) -> Result<()> {
    let rows: Vec<Row<'_>> = answers.iter().flat_map(rows).collect();
    let mut columns: Vec<(String, Align)> = Vec::new();
    for (name, _) in rows.iter().flatten() {
        if !columns.iter().any(|(known, _)| known == name) {
            columns.push((name.clone(), Align::Left));
        }
    }
    if columns.is_empty() {
        return Ok(());
    }
    let mut printer = RowPrinter::begin(&columns, 0, format, console.out)?;
    for row in &rows {
        let find = |name: &str| row.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
        let cells = columns.iter().map(|(name, _)| AnswerCell(find(name)));
        printer.row(String::new, cells, console.out)?;
    }
    printer.finish(console)
}

/// The rows of an answer: the items of its list, or else the answer itself.
fn rows(answer: &Json) -> Vec<Row<'_>> {
    let list = match answer {
        Json::List(items) => Some(items),
        _ => LISTS.iter().find_map(|list| items(answer, list)),
    };
    let rows = list.map_or_else(|| of_item(answer), |items| items.iter().flat_map(of_item).collect());
    rows.into_iter().map(named_once).collect()
}

/// The rows of an item: of a facet, one for each value; of a group with its best documents, one for each of these; of a file
/// with problems, one for each of them.
fn of_item(item: &Json) -> Vec<Row<'_>> {
    if let (Some(column), Some(values)) = (entry(item, "column"), items(item, "values")) {
        let with_column = |value| [vec![("column".to_owned(), Cow::Borrowed(column))], row(value)].concat();
        return values.iter().map(with_column).collect();
    }
    let of_item = row(item);
    if let Some(documents) = items(item, "documents") {
        return documents.iter().map(|doc| with_document(of_item.clone(), doc)).collect();
    }
    match items(item, "problems") {
        None => vec![of_item],
        Some(problems) if problems.is_empty() => vec![with_problem(of_item, None)],
        Some(problems) => {
            problems.iter().map(|problem| with_problem(of_item.clone(), Some(problem))).collect()
        }
    }
}

/// The row of a file, and then the columns of one of its problems. A file without problems has these columns, too.
fn with_problem<'a>(mut row: Row<'a>, problem: Option<&'a Json>) -> Row<'a> {
    let cell = |name: &str| {
        let value = problem.and_then(|problem| entry(problem, name));
        (format!("problem.{name}"), value.map_or(Cow::Owned(Json::NONE), Cow::Borrowed))
    };
    row.extend(["column", "section", "offset", "message"].map(cell));
    row
}

/// The row of a group, and then the columns of one of its documents.
fn with_document<'a>(mut row: Row<'a>, document: &'a Json) -> Row<'a> {
    if let Json::Raw(raw) = document
        && let Ok(Entries(entries)) = serde_json::from_str::<Entries<'_>>(raw.get())
    {
        let cell = |(Key(name), value): (Key<'_>, &RawValue)| {
            let value = if value.get() == "null" { Json::NONE } else { Json::Raw(value.to_owned()) };
            (format!("documents.{name}"), Cow::Owned(value))
        };
        row.extend(entries.into_iter().map(cell));
    }
    row
}

fn entry<'a>(object: &'a Json, name: &str) -> Option<&'a Json> {
    let Json::Object(entries) = object else { return None };
    entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

fn items<'a>(object: &'a Json, name: &str) -> Option<&'a Vec<Json>> {
    if let Some(Json::List(items)) = entry(object, name) { Some(items) } else { None }
}

fn row(item: &Json) -> Row<'_> {
    let mut row = Row::new();
    flatten("", item, &mut row);
    row
}

/// Adds a number to a name that is taken, such as that of a column "count".
fn named_once(cells: Row<'_>) -> Row<'_> {
    let mut row = Row::with_capacity(cells.len());
    for (name, value) in cells {
        let is_free = |name: &String| row.iter().all(|(known, _)| known != name);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let name = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or_default();
        row.push((name, value));
    }
    row
}

/// Adds the cells of an item. Objects in it become columns with dotted names; those of the values and metrics of a group have
/// names of their own.
fn flatten<'a>(prefix: &str, item: &'a Json, row: &mut Row<'a>) {
    let Json::Object(entries) = item else { return row.push((prefix.to_owned(), Cow::Borrowed(item))) };
    let has_values = matches!(entry(item, "values"), Some(Json::Object(_)));
    for (key, value) in entries {
        match (prefix, &**key, value) {
            ("", "value", _) if has_values => {}
            ("", "documents" | "problems", Json::List(_)) => {}
            ("", "values" | "metrics", Json::Object(_)) => flatten("", value, row),
            ("", name, _) => flatten(name, value, row),
            (_, name, _) => flatten(&format!("{prefix}.{name}"), value, row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(answer: &Json, format: RecordFormat) -> String {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        print(std::slice::from_ref(answer), format, &mut Console::plain(&mut out, &mut err)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn rows_are_those_of_the_list() {
        let value =
            |value: &str, count: u64| Json::object([("value", value.into()), ("count", count.into())]);
        let facet = Json::object([
            ("column", "host".into()),
            ("missing", 0_u64.into()),
            ("values", Json::List(vec![value("a|b", 7), value("say \"no\", twice", 2)])),
        ]);
        let answer = Json::object([("matching", 9_u64.into()), ("facets", Json::List(vec![facet]))]);
        let csv = "column,value,count\nhost,a|b,7\nhost,\"say \"\"no\"\", twice\",2\n";
        assert_eq!(printed(&answer, RecordFormat::Csv), csv);
        let markdown = "| column | value | count |\n| --- | --- | --- |\n| host | a\\|b | 7 |\n\
                        | host | say \"no\", twice | 2 |\n";
        assert_eq!(printed(&answer, RecordFormat::Markdown), markdown);
        let first = "{\"column\":\"host\",\"value\":\"a|b\",\"count\":7}\n";
        assert!(printed(&answer, RecordFormat::Ndjson).starts_with(first));
    }

    #[test]
    fn nested_objects_are_columns_and_rows_may_lack_some() {
        let group = |sum: Json| {
            Json::object([
                ("value", "x".into()),
                ("values", Json::object([("host", "x".into())])),
                ("metrics", Json::object([("sum", Json::object([("size", sum)]))])),
                ("facet", Json::object([("column", "a\tb".into())])),
            ])
        };
        let groups = Json::List(vec![group(Json::NONE), group(12_u64.into())]);
        let answer = Json::object([("columns", vec!["host"].into()), ("groups", groups)]);
        let tsv = "host\tfacet.column\tsum.size\nx\t\"a\tb\"\t\nx\t\"a\tb\"\t12\n";
        assert_eq!(printed(&answer, RecordFormat::Tsv), tsv);
        let first = "{\"host\":\"x\",\"facet.column\":\"a\\tb\"}\n";
        assert!(printed(&answer, RecordFormat::Ndjson).starts_with(first));
        let one = Json::object([("documents", 3_u64.into()), ("matching", 2_u64.into())]);
        assert_eq!(printed(&one, RecordFormat::Csv), "documents,matching\n3,2\n");
        assert_eq!(printed(&Json::List(Vec::new()), RecordFormat::Csv), "");
    }
}
