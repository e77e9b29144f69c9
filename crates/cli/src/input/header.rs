//! Names of CSV columns whose header has no name for them, or the name of another column.

use std::collections::{HashMap, HashSet};

/// The most new names that a note lists.
const SHOWN: usize = 5;

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

/// The note about new names in a file; `None` without any.
pub(crate) fn note(file: &str, new_names: &[NewName]) -> Option<String> {
    let some = new_names.iter().take(SHOWN).map(|new| format!("column {} is {:?}", new.column, new.name));
    let more = new_names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let some = some.collect::<Vec<_>>().join(", ");
    (!new_names.is_empty()).then(|| {
        format!(
            "{file}: the header has empty or repeated names: {some}{more}; if the first row is data, use --no-header"
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
    fn a_note_lists_some_names() {
        assert_eq!(note("a.csv", &[]), None);
        let (_, new_names) = unique_names(&["a", "", "a"]);
        let expected = "a.csv: the header has empty or repeated names: column 2 is \"c2\", column 3 is \"a_2\"; \
            if the first row is data, use --no-header";
        assert_eq!(note("a.csv", &new_names).as_deref(), Some(expected));
        let (_, new_names) = unique_names(&[""; 7]);
        assert!(note("a.csv", &new_names).unwrap().contains("column 5 is \"c5\", and 2 more; "));
    }
}
