//! Cells that keep a column of CSV from being numbers, dates or timestamps, for a note.

use super::infer_types::Found;
use crate::text::number::{is_canonical_integer, parse_float};
use crate::text::quoting::{json_text, option, quoted_name, shell_word};
use crate::text::time::{Rfc3339, TimeFormat, parse_date};

/// The most different cells that a note names.
const MAX_ODD: usize = 3;

/// The least number of other cells for each odd one, unless these are placeholders.
const FEW: u64 = 10;

/// Cells that stand for a missing value in many files.
const PLACEHOLDERS: [&str; 12] =
    ["-", "--", "?", ".", "n/a", "#n/a", "null", "none", "nil", "nan", "unknown", "missing"];

/// The types, with what `--type` calls them.
const KINDS: [(&str, &str); 3] = [("numbers", "f64"), ("dates", "date"), ("timestamps", "timestamp")];

/// Formats of dates that are not inferred, alone and before each of these times of day.
const DAYS: [&str; 6] = ["%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y-%m-%d"];
const TIMES: [&str; 4] = ["", " %H:%M", "T%H:%M", " %H:%M:%S"];

/// The number of formats.
const FORMATS: usize = DAYS.len() * TIMES.len();

/// The cells of a sample that are in a column, without missing ones.
#[derive(Clone, Debug)]
pub(crate) struct OddCells {
    /// The cells that are not of each of [`KINDS`].
    odd: [Odd; KINDS.len()],
    /// The bits of the formats that all cells have.
    formats: u32,
    cells: u64,
    /// Cells with blanks around them.
    padded: u64,
    /// Whether all cells may be numbers of [`is_written_number`].
    are_written: bool,
}

#[derive(Clone, Debug, Default)]
struct Odd {
    count: u64,
    /// Each of them once; they are no longer counted if there are too many.
    cells: Vec<Found>,
    are_many: bool,
}

impl Default for OddCells {
    fn default() -> OddCells {
        let (odd, formats) = (Default::default(), (1 << FORMATS) - 1);
        OddCells { odd, formats, cells: 0, padded: 0, are_written: true }
    }
}

impl OddCells {
    pub(crate) fn add(&mut self, cell: &str, place: impl Fn() -> (String, u64, u64)) {
        let text = cell.trim_matches([' ', '\t']);
        self.cells += 1;
        self.padded += u64::from(text.len() < cell.len());
        self.are_written = self.are_written && (is_plain(text) || is_written_number(text));
        let fits: [fn(&str) -> bool; KINDS.len()] =
            [is_number, |text| parse_date(text).is_some(), |text| Rfc3339::parse(text).is_some()];
        for (odd, fits) in self.odd.iter_mut().zip(fits).filter(|(odd, _)| !odd.are_many) {
            if fits(text) {
                continue;
            }
            odd.count += 1;
            if odd.cells.iter().all(|known| known.text != cell) {
                odd.are_many = odd.cells.len() == MAX_ODD;
                odd.cells.push(Found { text: cell.to_owned(), place: place() });
            }
        }
        let formats = self.formats;
        for at in (0..FORMATS).filter(|at| formats >> at & 1 == 1) {
            let is_read = text.len() >= 8 && TimeFormat::new(pattern(at)).read(text).is_some();
            self.formats &= !(u32::from(!is_read) << at);
        }
    }

    /// A note on the column `name`, whose type is string.
    pub(crate) fn note(&self, name: &str) -> Option<String> {
        if self.cells == 0 {
            return None;
        }
        let trim = if self.padded > 0 { "--trim" } else { "" };
        if let Some(note) = self.format_note(name) {
            return Some(note);
        }
        let few = |odd: &Odd| {
            let others = self.cells - odd.count;
            let is_placeholder =
                |found: &Found| PLACEHOLDERS.contains(&found.text.trim().to_ascii_lowercase().as_str());
            // These are text because the user says so.
            let are_text = odd.cells.iter().any(|found| matches!(found.text.as_str(), "NA" | "null"));
            !odd.are_many
                && !are_text
                && others > 0
                && (others >= FEW * odd.count || odd.cells.iter().all(is_placeholder))
        };
        let Some((odd, (kind, ty))) = self.odd.iter().zip(KINDS).find(|(odd, _)| few(odd)) else {
            return self.written_note(name);
        };
        if odd.cells.is_empty() {
            return (!trim.is_empty()).then(|| {
                format!("column {name:?}: its {kind} have blanks around them, so the type is string ({trim} removes them)")
            });
        }
        let cells = odd.cells.iter().map(|Found { text, place: (file, line, at) }| {
            format!("{} ({file}:{line}:{at})", quoted_name(text))
        });
        let cells = cells.collect::<Vec<_>>().join(", ");
        // A cell without a digit is hardly a value.
        let is_missing = odd.cells.iter().all(|found| !found.text.contains(|c: char| c.is_ascii_digit()));
        let how = match is_missing {
            true => {
                let tokens = odd.cells.iter().map(|found| format!("--missing {}", shell_word(&found.text)));
                format!("{} reads them as missing values", tokens.collect::<Vec<_>>().join(" "))
            }
            false => format!("{} --skip-bad skips their rows", option("--type", &format!("{name}={ty}"))),
        };
        let how = [trim, &how].join(" ");
        let others = self.cells - odd.count;
        Some(format!(
            "column {name:?}: {others} of {} cells are {kind}, but not {cells}, so the type is string ({})",
            self.cells,
            how.trim_start()
        ))
    }

    /// A note on numbers as people write them.
    fn written_note(&self, name: &str) -> Option<String> {
        let [numbers, ..] = &self.odd;
        let written = numbers.cells.iter().find(|found| !is_plain(found.text.trim()));
        let Found { text, .. } = written.filter(|_| self.are_written)?;
        Some(format!(
            "column {name:?}: its numbers are written as {}, so the type is string (dv reads numbers such as 1234.50, \
             without commas and signs)",
            quoted_name(text)
        ))
    }

    /// A note on the format that all cells have, if there is one.
    fn format_note(&self, name: &str) -> Option<String> {
        let formats: Vec<usize> = (0..FORMATS).filter(|at| self.formats >> at & 1 == 1).collect();
        let first = formats.first()?;
        let ty = if first % TIMES.len() == 0 { "date" } else { "timestamp" };
        let patterns: Vec<String> = formats.iter().map(|at| pattern(*at)).collect();
        Some(format!(
            "column {name:?}: its {ty}s are written as {}, so the type is string (--schema reads a file with the line: \
             columns.{} = {{ type = \"{ty}\", format = \"{}\" }})",
            patterns.join(" or "),
            json_text(name),
            pattern(*first)
        ))
    }
}

/// A format of dates or timestamps.
fn pattern(at: usize) -> String {
    format!("{}{}", DAYS[at / TIMES.len()], TIMES[at % TIMES.len()])
}

fn is_number(text: &str) -> bool {
    is_canonical_integer(text) || parse_float(text).is_some()
}

/// Whether a cell has only digits, points and minus signs, as plain numbers have.
fn is_plain(cell: &str) -> bool {
    cell.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
}

/// Whether a cell is a number with a decimal comma, separators of thousands, or a sign such as € or %.
fn is_written_number(cell: &str) -> bool {
    let digits = cell.trim_matches(|c: char| c == ' ' || "+-€$£¥%".contains(c));
    let parts: Vec<&str> = digits.split([',', '.', '\'', '\u{a0}', '\u{202f}']).collect();
    let middle = parts.get(1..parts.len() - 1).unwrap_or_default();
    let is_digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    parts.iter().all(is_digits) && middle.iter().all(|part| part.len() == 3)
}

/// Whether the cells of a header look like data: all of them are numbers, dates or times, or one has a fraction, a sign, or
/// more digits than a year.
pub(crate) fn is_data(header: &[&str]) -> bool {
    let is_value =
        |cell: &&str| is_number(cell) || parse_date(cell).is_some() || Rfc3339::parse(cell).is_some();
    let is_certain = |cell: &&str| is_number(cell) && (cell.contains(['.', '-']) || cell.len() > 4);
    !header.is_empty() && (header.iter().all(is_value) || header.iter().any(is_certain))
}
