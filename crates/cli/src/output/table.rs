//! Plain text tables.

use std::fmt;

use crate::console::Console;
use crate::error::CliError;

/// The maximum width of a cell of [`print`].
const CELL: usize = 40;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

impl Align {
    /// `text` padded to `width`.
    pub(crate) fn pad(self, text: &str, width: usize) -> String {
        let blanks = " ".repeat(width.saturating_sub(self::width(text)));
        if self == Align::Left { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
    }
}

/// A table with a heading. Columns are as wide as their widest cell.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heading: Vec<(String, Align)>,
    /// The rows; one without cells is a rule.
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heading: &[(&str, Align)]) -> Table {
        let heading = heading.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect();
        Table { heading, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Adds a rule.
    pub(crate) fn rule(&mut self) {
        self.rows.push(Vec::new());
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heading.iter().map(|(name, _)| width(name)).collect();
        for row in &self.rows {
            for (column, cell) in widths.iter_mut().zip(row) {
                *column = (*column).max(width(cell));
            }
        }
        widths
    }

    /// The width of the table.
    pub(crate) fn width(&self) -> usize {
        let widths = self.widths();
        widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let line = |f: &mut fmt::Formatter<'_>, cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::new();
            for ((_, align), width) in self.heading.iter().zip(&widths) {
                line.extend([&align.pad(cells.next().unwrap_or(""), *width), "  "]);
            }
            writeln!(f, "{}", line.trim_end())
        };
        line(f, &mut self.heading.iter().map(|(name, _)| name.as_str()))?;
        let rule = "─".repeat(self.width());
        writeln!(f, "{rule}")?;
        for row in &self.rows {
            match row.as_slice() {
                [] => writeln!(f, "{rule}")?,
                cells => line(f, &mut cells.iter().map(String::as_str))?,
            }
        }
        Ok(())
    }
}

/// A row that is printed as a block of lines if the terminal is too narrow for the table.
pub(crate) struct WideRow {
    /// The heading of the block.
    pub(crate) title: String,
    /// The first cells, which are never cut. A block leaves them out.
    pub(crate) ids: Vec<String>,
    pub(crate) cells: Vec<String>,
}

/// Prints a table if it fits the terminal, otherwise a block of lines for each row, uncut.
pub(crate) fn print(
    heading: &[(String, Align)],
    rows: &[WideRow],
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let mut table = Table { heading: heading.to_vec(), rows: Vec::new() };
    let mut is_cut = false;
    for WideRow { ids, cells, .. } in rows {
        is_cut |= cells.iter().any(|cell| width(cell) > CELL);
        table.row(ids.iter().cloned().chain(cells.iter().map(|cell| fit(cell, CELL))).collect());
    }
    if console.out_width.is_some_and(|width| table.width() > width) {
        return blocks(heading, rows, console);
    }
    write!(console.out, "{table}")?;
    if is_cut {
        console.out.flush()?;
        console.note(&cut_note(CELL));
    }
    Ok(())
}

/// Prints a line for each value, uncut.
fn blocks(heading: &[(String, Align)], rows: &[WideRow], console: &mut Console<'_>) -> Result<(), CliError> {
    for WideRow { title, ids, cells } in rows {
        let names = heading.get(ids.len()..).unwrap_or_default();
        let widest = names.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        writeln!(console.out, "── {title}")?;
        for ((name, _), cell) in names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            writeln!(console.out, "  {}  {cell}", Align::Left.pad(name, widest))?;
        }
    }
    Ok(())
}

/// The width of `text` on a terminal: characters of wide scripts take two columns, combining marks none.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// `text` cut to `limit` columns, with an ellipsis if it was longer.
pub(crate) fn fit(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += char_width(c);
        if taken > limit {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

/// The note on values that [`fit`] cut.
pub(crate) fn cut_note(limit: usize) -> String {
    format!("note: values longer than {limit} characters are cut and end with …; --json prints them whole")
}

/// The width of a character, for the common blocks of Unicode; an error only misaligns a table.
fn char_width(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => 2,
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stand_in_columns() {
        let mut table = Table::new(&[("column", Align::Left), ("bytes", Align::Right)]);
        table.row(vec!["id".into(), "2,030,080".into()]);
        table.row(vec!["日本".into(), "7".into()]);
        table.rule();
        table.row(vec!["all".into()]);
        let expected = "\
column      bytes
─────────────────
id      2,030,080
日本            7
─────────────────
all
";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn long_cells_are_cut_visibly() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("日本日本", 6), "日本…");
    }
}
