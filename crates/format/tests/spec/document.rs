//! Finds tables and examples in prose: in `docs/format.md`, or in the comments of a module.

/// Some prose, line by line.
pub(crate) struct Document {
    lines: Vec<String>,
}

/// One row of a table that begins with the column `offset`.
#[derive(Debug)]
pub(crate) struct Row {
    /// `None` if the cell is not a plain number.
    pub(crate) offset: Option<usize>,
    pub(crate) bytes: Option<usize>,
    /// The field's name; `*end*` in the row with the total length.
    pub(crate) field: String,
}

impl Document {
    /// The chapters that this crate implements.
    pub(crate) fn spec() -> Document {
        Document::chapters(false)
    }

    /// The chapter of ids, which the crate `docvalues-terms` implements.
    pub(crate) fn ids() -> Document {
        Document::chapters(true)
    }

    /// The chapter of ids, or all others.
    fn chapters(of_ids: bool) -> Document {
        let mut document = Document::new(include_str!("../../../../docs/format.md"));
        let mut is_of_ids = false;
        document.lines.retain(|line| {
            if line.starts_with("## ") {
                is_of_ids = line == "## 16 Ids";
            }
            is_of_ids == of_ids
        });
        document
    }

    /// The comments of a source file, without comment markers.
    pub(crate) fn new(text: &str) -> Document {
        let unmarked = |line: &str| {
            let line = line.trim_start();
            let text = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"));
            text.unwrap_or(line).trim().to_owned()
        };
        Document { lines: text.lines().map(unmarked).collect() }
    }

    /// The lines under the heading that ends in `title`, up to the next heading.
    fn under(&self, title: &str) -> &[String] {
        let is_heading = |line: &&String| line.starts_with('#');
        let is_title = |line: &String| {
            let words = line.trim_start_matches('#').trim_start();
            line.starts_with('#')
                && words.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim() == title
        };
        let at = self.lines.iter().position(is_title);
        let at = at.unwrap_or_else(|| panic!("no heading {title:?}")) + 1;
        let len = self.lines[at..].iter().position(|line| is_heading(&line)).unwrap_or(self.lines.len() - at);
        &self.lines[at..at + len]
    }

    /// The rows under `title` of the table whose first column is `first`.
    pub(crate) fn table(&self, title: &str, first: &str) -> Vec<Vec<String>> {
        let tables = tables(self.under(title));
        let found = tables.into_iter().find(|table| table[0][0] == first);
        let mut table = found.unwrap_or_else(|| panic!("no table of {first:?} under {title:?}"));
        table.drain(..2);
        table
    }

    /// The layout under the heading `title`.
    pub(crate) fn layout(&self, title: &str) -> Vec<Row> {
        rows(self.table(title, "offset"))
    }

    /// The only layout in the document whose first field is `first`.
    pub(crate) fn layout_from(&self, first: &str) -> Vec<Row> {
        let layouts = tables(&self.lines).into_iter().filter(|table| table[0][0] == "offset");
        let layouts = layouts.map(|table| rows(table[2..].to_vec()));
        let mut found: Vec<Vec<Row>> = layouts.filter(|rows| rows[0].field == first).collect();
        assert_eq!(found.len(), 1, "layouts from {first:?}");
        found.remove(0)
    }

    /// The bytes of the example `name`; `None` for each byte that is left out.
    pub(crate) fn example(&self, name: &str) -> Vec<Option<u8>> {
        let mark = format!("<!-- example: {name} -->");
        let at = self.lines.iter().position(|line| *line == mark);
        let at = at.unwrap_or_else(|| panic!("no example {name:?}"));
        assert_eq!(self.lines[at + 1], "```text", "after {mark}");
        dump(self.lines[at + 2..].iter().take_while(|line| *line != "```"))
    }

    /// The names of all examples.
    pub(crate) fn examples(&self) -> Vec<&str> {
        let name = |line: &'_ str| Some(line.strip_prefix("<!-- example: ")?.strip_suffix(" -->")?.len());
        let marks = self.lines.iter().filter_map(|line| Some((line, name(line)?)));
        marks.map(|(line, len)| &line[line.len() - " -->".len() - len..][..len]).collect()
    }

    /// The prose in one line, without examples, and without tables that other tests compare.
    pub(crate) fn prose(&self) -> String {
        let (mut words, mut skip_dump, mut skip_table) = (Vec::new(), false, false);
        for line in &self.lines {
            match line.as_str() {
                "```" => skip_dump = false,
                mark if mark.starts_with("<!-- example: ") => skip_dump = true,
                row if row.starts_with('|') => {
                    let first = cells(row).remove(0);
                    skip_table |= ["offset", "tag", "constant"].contains(&first.as_str());
                    if !skip_table {
                        words.push(row);
                    }
                    continue;
                }
                line if !skip_dump => words.push(line),
                _ => {}
            }
            skip_table = false;
        }
        words.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// A number as the prose writes it: `65,536`.
pub(crate) fn number(text: &str) -> Option<u64> {
    let digits = text.replace([',', ' '], "");
    digits.parse().ok().filter(|_| !digits.is_empty())
}

fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// All tables of `lines`, each with its head and the line below it.
fn tables(lines: &[String]) -> Vec<Vec<Vec<String>>> {
    let blocks = lines.split(|line| !line.starts_with('|')).filter(|lines| lines.len() > 2);
    blocks.map(|lines| lines.iter().map(|line| cells(line)).collect()).collect()
}

fn rows(table: Vec<Vec<String>>) -> Vec<Row> {
    let size = |cell: &str| number(cell).and_then(|n| usize::try_from(n).ok());
    let row = |cells: Vec<String>| {
        let name = cells[2].trim_start_matches('`');
        let len =
            name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '*').unwrap_or(name.len());
        let (offset, bytes) = (size(&cells[0]), size(&cells[1]));
        Row { offset, bytes, field: name[..len].to_owned() }
    };
    table.into_iter().map(row).collect()
}

/// Reads lines of an offset, bytes of two digits with one space between them, and after two spaces a comment. Bytes
/// between two lines are zero, or repeat the last two if the line ends in `..`. A line `...` leaves them out.
fn dump<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<Option<u8>> {
    let (mut bytes, mut fill) = (Vec::new(), Some(vec![0]));
    for line in lines {
        if line == "..." {
            fill = None;
            continue;
        }
        let (offset, rest) = line.split_once("  ").unwrap_or_else(|| panic!("no offset in {line:?}"));
        let offset = usize::from_str_radix(offset, 16).unwrap_or_else(|_| panic!("no offset in {line:?}"));
        assert!(offset >= bytes.len(), "{line:?} steps back");
        for i in 0..offset - bytes.len() {
            bytes.push(fill.as_ref().map(|fill| fill[i % fill.len()]));
        }
        fill = Some(vec![0]);
        let shown = rest.split_once("  ").map_or(rest, |(shown, _)| shown);
        for pair in shown.split(' ') {
            if pair == ".." {
                fill = bytes[bytes.len() - 2..].iter().copied().collect();
                break;
            }
            let byte = u8::from_str_radix(pair, 16).unwrap_or_else(|_| panic!("{pair:?} in {line:?}"));
            bytes.push(Some(byte));
        }
    }
    bytes
}
