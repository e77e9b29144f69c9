//! Names of CSV columns, from the header or from the user. A column without a name, or with that of another one, gets a
//! new name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::tokens::{Token, Tokenizer};
use crate::import::odd_cells::is_data;
use crate::text::words::quoted_list;

/// The most new names that a note lists.
const SHOWN: usize = 5;

/// The source of the names of columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Header {
    /// The first row.
    #[default]
    FirstRow,
    /// None: the columns are `c1`, `c2`, …, and the first row is data.
    Numbered,
    /// The user; the first row is data.
    Names(Arc<[String]>),
}

impl Header {
    /// Parses `no`, or names as in a CSV header.
    ///
    /// # Errors
    ///
    /// Returns a message if a name is empty or repeated.
    pub(crate) fn parse(text: &str) -> Result<Header, String> {
        if text == "no" {
            return Ok(Header::Numbered);
        }
        let names = split(text)?;
        let mut seen = HashSet::new();
        for name in &names {
            if name.is_empty() {
                return Err("expected names, found an empty one".to_owned());
            }
            if !seen.insert(name) {
                return Err(format!("expected different names, found {name:?} twice"));
            }
        }
        Ok(Header::Names(names.into()))
    }
}

/// The cells of a line of CSV.
fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let (cells, end) = Tokenizer::COMMAS.record(line).map_err(|token| match token {
        Token::AfterQuote(_) => "text after a closing quote",
        _ => "unclosed quote",
    })?;
    let has_line_end = end < line.len() || line.ends_with(['\r', '\n']);
    if has_line_end {
        return Err("expected the names of columns in one line");
    }
    Ok(cells.into_iter().map(|(_, name)| name).collect())
}

/// A column that got a new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewName {
    /// The number of the column, from 1.
    column: usize,
    name: String,
}

/// A name for each column, and those that are new: `c2` for a second column without a name, `a_2` for a second `a`.
pub(crate) fn unique_names(header: &[&str]) -> (Vec<String>, Vec<NewName>) {
    let mut taken: HashSet<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let (mut seen, mut repeats) = (HashSet::new(), HashMap::new());
    let (mut names, mut new_names) = (Vec::with_capacity(header.len()), Vec::new());
    for (column, &found) in (1..).zip(header) {
        if !found.is_empty() && seen.insert(found) {
            names.push(found.to_owned());
            continue;
        }
        let mut name = if found.is_empty() { format!("c{column}") } else { found.to_owned() };
        let base = name.clone();
        let repeat = repeats.entry(base.clone()).or_insert(1_usize);
        while !taken.insert(name.clone()) {
            *repeat += 1;
            name = format!("{base}_{repeat}");
        }
        names.push(name.clone());
        new_names.push(NewName { column, name });
    }
    (names, new_names)
}

/// Notes on a header that may be data or a title, or whose names have blanks around them.
pub(crate) fn doubts(file: &str, header: &[&str]) -> Vec<String> {
    let shown = |names: &[&str]| quoted_list(names.iter().take(SHOWN).copied());
    let is_padded = |name: &&&str| name.trim_matches([' ', '\t']) != **name;
    let padded: Vec<&str> = header.iter().filter(is_padded).copied().collect();
    let named = header.iter().filter(|name| !name.is_empty()).count();
    let notes = [
        (
            !padded.is_empty(),
            format!("names of the header have blanks around them: {} (--trim removes them)", shown(&padded)),
        ),
        (
            is_data(header),
            format!("the header looks like data: {} (--header no reads it as the first row)", shown(header)),
        ),
        (
            named == 1 && header.len() > 2,
            "the header has a single name; if it is a title, use --skip-lines 1".to_owned(),
        ),
    ];
    notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| format!("{file}: {note}")).collect()
}

/// The note about new names in a file; `None` without any.
pub(crate) fn note(file: &str, new_names: &[NewName]) -> Option<String> {
    let some = new_names.iter().take(SHOWN).map(|new| format!("column {} is {:?}", new.column, new.name));
    let more = new_names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let some = some.collect::<Vec<_>>().join(", ");
    (!new_names.is_empty()).then(|| {
        format!(
            "{file}: the header has empty or repeated names: {some}{more}; if the first row is data, use --header no"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (header, expected) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["", "a", ""], &["c1", "a", "c3"]),
            (&["a", "a", "a"], &["a", "a_2", "a_3"]),
            (&["a", "a_2", "a", "a_2"], &["a", "a_2", "a_3", "a_2_2"]),
            (&["", "c1", "c3", ""], &["c1_2", "c1", "c3", "c4"]),
        ] {
            let (names, new_names) = unique_names(header);
            assert_eq!(names, expected);
            let changed = (1..).zip(header.iter().zip(&names)).filter(|(_, (old, new))| *old != new);
            assert!(changed.map(|(column, _)| column).eq(new_names.iter().map(|new| new.column)));
        }
    }

    #[test]
    fn a_list_of_names_is_read_as_a_header() {
        let names = |text| match Header::parse(text) {
            Ok(Header::Names(names)) => names.join("|"),
            other => panic!("{other:?}"),
        };
        assert_eq!(Header::parse("no"), Ok(Header::Numbered));
        assert_eq!(names("id,name,size"), "id|name|size");
        assert_eq!(names("\"no\""), "no");
        assert_eq!(names("no,yes"), "no|yes");
        assert_eq!(names("\"last, first\",\"a \"\"b\"\"\""), "last, first|a \"b\"");
        assert_eq!(names("\"a\nb\",5\",\u{e9}"), "a\nb|5\"|\u{e9}");
        assert_eq!(names("\u{feff}a,b"), "a|b");
        for wrong in ["", "a,,b", "a,b,", "a,a", "a\nb", "a,b\r", "\na", "\"\"", "\"a", "\"a\"\"", "\"a\"b"] {
            assert!(Header::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_note_lists_some_names() {
        assert_eq!(note("a.csv", &[]), None);
        let (_, new_names) = unique_names(&["a", "", "a"]);
        let expected = "a.csv: the header has empty or repeated names: column 2 is \"c2\", column 3 is \"a_2\"; \
            if the first row is data, use --header no";
        assert_eq!(note("a.csv", &new_names).as_deref(), Some(expected));
        let (_, new_names) = unique_names(&[""; 7]);
        assert!(note("a.csv", &new_names).unwrap().contains("column 5 is \"c5\", and 2 more; "));
    }
}
