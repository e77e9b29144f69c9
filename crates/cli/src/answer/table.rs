//! Plain text tables that fit the terminal.
//!
//! In a table that is too wide, long texts are cut, then its gaps are narrower and its texts are cut further. If that is not
//! enough, each row is printed as a block of lines. Numbers are never cut, nor any text without a terminal.

use crate::console::Console;
use crate::error::Result;
use crate::text::fit::{fit, fold, is_number, width};

/// The maximum width of a cell of text in a table that is too wide.
const MAX_TEXT: usize = 40;

/// The maximum width of a column in a table whose texts are not cut. Longer cells move the rest of their lines to the
/// right, so that one long cell does not fill all other lines with blanks.
pub(crate) const MAX_PADDED: usize = 100;

/// The width to which columns of text are cut on a narrow terminal, at the least.
const MIN_TEXT: usize = 8;

/// The same for columns that are cut before others.
const MIN_CUT_FIRST: usize = 6;

/// The least width of a column that is folded.
const MIN_FOLDED: usize = 20;

/// The alignment of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text, which may be cut.
    Left,
    /// Numbers, which are never cut.
    Right,
}

impl Align {
    /// `text` padded to `width`.
    pub(crate) fn pad(self, text: &str, width: usize) -> String {
        let blanks = " ".repeat(width.saturating_sub(self::width(text)));
        if self == Align::Left { format!("{text}{blanks}") } else { format!("{blanks}{text}") }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    align: Align,
    /// The widths to which cells are cut in a table that is too wide, and at the least.
    max: usize,
    min: usize,
    is_cut_first: bool,
    /// Long cells are folded, not cut.
    is_folded: bool,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The heading of the block, instead of the first cells.
    pub(super) title: Option<String>,
    pub(super) cells: Vec<String>,
}

/// A table with a heading. Columns are as wide as their widest cell.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<Column>,
    /// The number of first cells that are the heading of a block.
    ids: usize,
    pub(super) rows: Vec<Row>,
    /// The number of rows before a rule.
    rule: Option<usize>,
}

/// The widths of columns and of the gaps between them.
struct Layout {
    widths: Vec<usize>,
    gap: usize,
    /// Longer cells are cut.
    cuts: bool,
}

impl Layout {
    fn width(&self) -> usize {
        self.widths.iter().sum::<usize>() + self.gap * self.widths.len().saturating_sub(1)
    }
}

impl Table {
    pub(crate) fn new(heading: &[(&str, Align)]) -> Table {
        let column = |(name, align): &(&str, Align)| {
            let [max, min] =
                if *align == Align::Left { [MAX_TEXT, MIN_TEXT] } else { [usize::MAX, usize::MAX] };
            let (name, align) = ((*name).to_owned(), *align);
            Column { name, align, max, min, is_cut_first: false, is_folded: false }
        };
        Table { columns: heading.iter().map(column).collect(), ids: 1, rows: Vec::new(), rule: None }
    }

    /// A table whose first columns are text, and the others numbers.
    pub(crate) fn of(texts: &[&str], numbers: &[&str]) -> Table {
        let texts = texts.iter().map(|name| (*name, Align::Left));
        let numbers = numbers.iter().map(|name| (*name, Align::Right));
        Table::new(&texts.chain(numbers).collect::<Vec<_>>())
    }

    /// A table that is printed as blocks rather than cut further. The first `ids` cells name a row and are never cut;
    /// blocks leave them out.
    pub(super) fn of_rows(heading: &[(String, Align)], ids: usize) -> Table {
        let heading: Vec<_> = heading.iter().map(|(name, align)| (name.as_str(), *align)).collect();
        let mut table = Table::new(&heading).named_by(ids);
        for (at, column) in table.columns.iter_mut().enumerate() {
            // Blocks show more of the values than cells that are cut further.
            (column.max, column.min) = if at < ids { (usize::MAX, usize::MAX) } else { (MAX_TEXT, MAX_TEXT) };
        }
        table
    }

    /// Cuts the columns with these names to `max` in a table that is too wide, and further before all others.
    pub(crate) fn cut_first(mut self, names: &[&str], max: usize) -> Table {
        for column in self.columns.iter_mut().filter(|column| names.contains(&column.name.as_str())) {
            (column.max, column.min, column.is_cut_first) = (max, MIN_CUT_FIRST, true);
        }
        self
    }

    /// The first `count` cells name a row, not the first one alone.
    pub(crate) fn named_by(mut self, count: usize) -> Table {
        self.ids = count;
        self
    }

    /// Folds long cells of the last column to several lines.
    pub(crate) fn fold_last(mut self) -> Table {
        if let Some(last) = self.columns.last_mut() {
            (last.max, last.min, last.is_folded) = (usize::MAX, MIN_FOLDED, true);
        }
        self
    }

    /// Adds a row; missing cells are empty.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(Row { title: None, cells });
    }

    /// Adds a rule, of which a table has one.
    pub(crate) fn rule(&mut self) {
        self.rule = Some(self.rows.len());
    }

    /// Whether the table fits if its long texts are cut, but no further.
    pub(crate) fn fits(&self, console: &Console<'_>) -> bool {
        console.out_width.is_none_or(|limit| self.cut().width() <= limit)
    }

    /// Prints the table, or a block of lines for each row if the terminal is too narrow.
    pub(crate) fn print(&self, console: &mut Console<'_>) -> Result<()> {
        let Some(layout) = self.layout(console.out_width) else { return self.print_blocks(console) };
        console.out.write_all(self.to_text(&layout).as_bytes())?;
        if self.is_cut(&layout) {
            console.note_cut();
        }
        Ok(())
    }

    /// The widths of the widest cells and names.
    fn widths(&self) -> Vec<usize> {
        let names = self.columns.iter().map(|column| width(&column.name));
        names.zip(self.widest(|_| true)).map(|(name, cell)| name.max(cell)).collect()
    }

    /// The widths of the widest of some cells of each column.
    fn widest(&self, counts: impl Fn(&str) -> bool) -> Vec<usize> {
        let mut widths = vec![0; self.columns.len()];
        for Row { cells, .. } in &self.rows {
            for (column, cell) in widths.iter_mut().zip(cells).filter(|(_, cell)| counts(cell)) {
                *column = (*column).max(width(cell));
            }
        }
        widths
    }

    /// The layout without cuts.
    fn uncut(&self) -> Layout {
        let widths = self.widths().into_iter().map(|width| width.min(MAX_PADDED)).collect();
        Layout { widths, gap: 2, cuts: false }
    }

    /// The layout with each column cut to its maximum.
    fn cut(&self) -> Layout {
        let widths = self.columns.iter().zip(self.widths()).zip(self.widest(is_number));
        let widths = widths.map(|((column, width), number)| width.min(column.max.max(number)));
        Layout { widths: widths.collect(), gap: 2, cuts: true }
    }

    /// The greatest excess of a line's cells over the widths of their columns.
    fn excess(&self, layout: &Layout) -> usize {
        let excess = |cells: &mut dyn Iterator<Item = &String>| -> usize {
            cells.zip(&layout.widths).map(|(cell, column)| width(cell).saturating_sub(*column)).sum()
        };
        let rows = self.rows.iter().map(|row| excess(&mut row.cells.iter()));
        let names = excess(&mut self.columns.iter().map(|column| &column.name));
        rows.max().unwrap_or(0).max(names)
    }

    /// The layout for a terminal of width `limit`; `None` if the table does not fit.
    fn layout(&self, limit: Option<usize>) -> Option<Layout> {
        let uncut = self.uncut();
        let Some(limit) = limit.filter(|limit| uncut.width() + self.excess(&uncut) > *limit) else {
            return Some(uncut);
        };
        let mut layout = self.cut();
        if layout.width() <= limit {
            return Some(layout);
        }
        layout.gap = 1;
        let numbers = self.widest(is_number);
        for first in [true, false] {
            while layout.width() > limit {
                let columns = self.columns.iter().zip(&numbers).zip(&mut layout.widths);
                let can_be_cut = |((column, number), width): &((&Column, &usize), &mut usize)| {
                    column.is_cut_first == first && **width > column.min.max(**number)
                };
                match columns.filter(can_be_cut).max_by_key(|(_, width)| **width) {
                    Some((_, width)) => *width -= 1,
                    None => break,
                }
            }
        }
        (layout.width() <= limit).then_some(layout)
    }

    /// Whether cells are cut.
    fn is_cut(&self, layout: &Layout) -> bool {
        let is_cut = |row: &Row| {
            let mut cells = row.cells.iter().zip(self.columns.iter().zip(&layout.widths));
            cells.any(|(cell, (column, limit))| !column.is_folded && width(cell) > *limit)
        };
        let mut names = self.columns.iter().zip(&layout.widths);
        layout.cuts
            && (names.any(|(column, limit)| width(&column.name) > *limit) || self.rows.iter().any(is_cut))
    }

    fn to_text(&self, layout: &Layout) -> String {
        let mut out = String::new();
        let rule = "─".repeat(layout.width());
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        self.line(&names, layout, &mut out);
        out.extend([&rule, "\n"]);
        for (at, row) in self.rows.iter().enumerate() {
            if self.rule == Some(at) {
                out.extend([&rule, "\n"]);
            }
            let cells: Vec<&str> = row.cells.iter().map(String::as_str).collect();
            self.line(&cells, layout, &mut out);
        }
        out
    }

    /// Appends a line of cells, or several if the last one is folded.
    fn line(&self, cells: &[&str], layout: &Layout, out: &mut String) {
        let mut folded = Vec::new();
        let mut line = String::new();
        for (at, (column, width)) in self.columns.iter().zip(&layout.widths).enumerate() {
            let mut cell = cells.get(at).copied().unwrap_or("");
            if column.is_folded && layout.cuts {
                folded = fold(cell, *width, *width);
                cell = folded.remove(0);
            }
            let gap = if at > 0 { layout.gap } else { 0 };
            let cell = if layout.cuts { fit(cell, *width) } else { cell.to_owned() };
            line.extend([" ".repeat(gap), column.align.pad(&cell, *width)]);
        }
        out.extend([line.trim_end(), "\n"]);
        let indent = layout.width() - layout.widths.last().copied().unwrap_or(0);
        for more in folded {
            out.extend([&" ".repeat(indent), more, "\n"]);
        }
    }

    /// Prints a line for each value, uncut; long values are folded.
    fn print_blocks(&self, console: &mut Console<'_>) -> Result<()> {
        let limit = console.out_width.unwrap_or(usize::MAX);
        for Row { title, cells } in &self.rows {
            let (names, values) = cells.split_at(self.ids.min(cells.len()));
            let title = title.clone().unwrap_or_else(|| names.join(", "));
            console.line(format!("── {title}").trim_end())?;
            let columns = self.columns.get(self.ids..).unwrap_or_default();
            let widest = columns.iter().map(|column| width(&column.name)).max().unwrap_or(0).min(limit / 3);
            let indent = widest + 4;
            for (column, cell) in columns.iter().zip(values).filter(|(_, cell)| !cell.is_empty()) {
                let room = limit.saturating_sub(indent);
                let lines = fold(cell, room, room).join(&format!("\n{}", " ".repeat(indent)));
                let name = Align::Left.pad(&fit(&column.name, widest), widest);
                writeln!(console.out, "  {name}  {lines}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(table: &Table, width: Option<usize>) -> (String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console::plain(&mut out, &mut err);
        console.out_width = width;
        table.print(&mut console).unwrap();
        console.finish().unwrap();
        (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

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
        assert_eq!(printed(&table, None), (expected.to_owned(), String::new()));
        assert_eq!(printed(&table, Some(17)).0, expected);
    }

    #[test]
    fn no_cell_is_cut_without_a_terminal() {
        let mut table = Table::new(&[("name", Align::Left), ("n", Align::Right)]).cut_first(&["name"], 24);
        let long = "x".repeat(50);
        table.row(vec![long.clone(), "1".into()]);
        table.row(vec!["y".into(), "2".into()]);
        for width in [None, Some(53)] {
            let (out, err) = printed(&table, width);
            assert!(out.contains(&format!("\n{long}  1\ny{:50} 2\n", "")) && err.is_empty(), "{out}");
        }
        assert!(printed(&table, Some(52)).0.contains(&format!("\n{}…  1\n", "x".repeat(23))));
        let huge = "z".repeat(50 * MAX_PADDED);
        table.row(vec![huge.clone(), "3".into()]);
        let (out, _) = printed(&table, None);
        assert!(out.contains(&format!("\n{huge}  3\n")) && out.len() < 60 * MAX_PADDED);
        let table = Table::new(&[(&huge, Align::Left), ("n", Align::Left)]);
        assert!(
            printed(&table, Some(1000)).0.starts_with("zzz") && printed(&table, Some(1000)).0.contains("…")
        );
    }

    #[test]
    fn a_narrow_table_is_cut_in_order_and_then_printed_as_blocks() {
        let heading = [("name", Align::Left), ("n", Align::Right), ("min", Align::Left)];
        let mut table = Table::new(&heading).cut_first(&["min"], 24);
        table.row(vec!["a long name".into(), "123".into(), "another long one".into()]);
        let (out, err) = printed(&table, Some(29));
        assert_eq!(out.lines().last(), Some("a long name 123 another long…"));
        assert_eq!(err, "note: values that end with … are cut; --json prints them whole\n");
        let (out, _) = printed(&table, Some(20));
        assert_eq!(out.lines().last(), Some("a long n… 123 anoth…"));
        let expected = "\
── a long name
  n    123
  min  another
       long one
";
        assert_eq!(printed(&table, Some(18)), (expected.to_owned(), String::new()));
    }

    #[test]
    fn numbers_are_never_cut() {
        let mut table = Table::new(&[("c", Align::Left), ("min", Align::Left), ("mean", Align::Right)])
            .cut_first(&["min"], 4);
        table.row(vec!["unit_price".into(), "-3120.90125".into(), "20.09".into()]);
        table.row(vec!["name".into(), "another long one".into(), String::new()]);
        let blocks = "\
── unit_price
  min   -3120.90125
  mean  20.09
── name
  min   another long one
";
        for limit in 1..40 {
            let (out, _) = printed(&table, Some(limit));
            assert!(limit < 19 || out.contains("-3120.90125"), "{limit}: {out}");
            assert!(!(24..26).contains(&limit) || out == blocks, "{limit}: {out}");
            assert!(limit < 26 || out.starts_with("c"), "{limit}: {out}");
        }
    }

    #[test]
    fn a_last_column_is_folded() {
        let mut table = Table::new(&[("c", Align::Left), ("encodings", Align::Left)]).fold_last();
        table.row(vec!["a".into(), "presence dense, ords packed(9), terms front-coded".into()]);
        let expected = "\
c encodings
─────────────────────────
a presence dense, ords
  packed(9), terms
  front-coded
";
        assert_eq!(printed(&table, Some(25)), (expected.to_owned(), String::new()));
    }
}
