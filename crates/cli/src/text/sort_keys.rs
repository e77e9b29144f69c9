//! Parses the sort keys of `--sort-by`, `--by` and `--sort`.

use super::quoting::quoted_name;
use super::words::{closest, quoted_list};
use crate::api::SortKey;
use crate::error::{CliError, Result};

const FIRST: &str = ":missing-first";
const LAST: &str = ":missing-last";

/// Parses the `arguments` of an `option` as sort keys over `columns`.
///
/// A name may contain commas, begin with `-`, or end in `:missing-first`. An argument that is the name of a column as
/// it stands is read as that name.
pub(crate) fn keys(option: &str, arguments: &[String], columns: &[&str]) -> Result<Vec<SortKey>> {
    let mut keys: Vec<SortKey> = Vec::new();
    for argument in arguments {
        let whole = key(argument, columns);
        let parts = if whole.is_some() { vec![argument.as_str()] } else { argument.split(',').collect() };
        for part in parts {
            let key = key(part, columns).ok_or_else(|| unknown(option, part, columns))?;
            if keys.iter().any(|known| known.column == key.column) {
                let message = format!("{option}: column {:?} is named twice", key.column);
                return Err(CliError::usage(message));
            }
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Parses one key.
fn key(text: &str, columns: &[&str]) -> Option<SortKey> {
    let named = |name: &str| columns.contains(&name).then(|| SortKey::of(name));
    let of = |text: &str| {
        let descending = || Some(named(text.strip_prefix('-')?)?.descending());
        named(text).or_else(descending)
    };
    let missing_first = || Some(of(text.strip_suffix(FIRST)?)?.missing_first());
    of(text).or_else(missing_first).or_else(|| of(text.strip_suffix(LAST)?))
}

/// Parses the keys of a segment to write; each column comes with whether documents may have several values.
pub(crate) fn keys_to_write(arguments: &[String], columns: &[(&str, bool)]) -> Result<Vec<SortKey>> {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let keys = keys("--sort-by", arguments, &names)?;
    match keys.iter().find(|key| columns.contains(&(key.column.as_str(), true))) {
        None => Ok(keys),
        Some(SortKey { column, .. }) => Err(CliError::failed(format!(
            "--sort-by: expected a column with one value a document, found several in column {column:?}"
        ))),
    }
}

fn unknown(option: &str, text: &str, columns: &[&str]) -> CliError {
    let name = text.strip_suffix(FIRST).or(text.strip_suffix(LAST)).unwrap_or(text);
    let name = name.strip_prefix('-').unwrap_or(name);
    let failure = CliError::failed(format!("{option}: no column {name:?}"));
    let close = closest(name, columns.iter().copied());
    match (name.rsplit_once(':'), close) {
        (_, Some(close)) => failure.hint(format!("did you mean {}?", quoted_name(close))),
        (Some((column, _)), None) if columns.contains(&column.trim_start_matches('-')) => failure.hint(
            format!("write NAME{FIRST} or NAME{LAST} to place documents without a value, and -NAME to sort in descending order"),
        ),
        (_, None) => failure.hint(format!("the columns are {}", quoted_list(columns.iter().copied()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> Result<Vec<SortKey>, String> {
        let columns = ["section", "size", "-size", "a,b", "x:missing-first"];
        let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        keys("--sort-by", &arguments, &columns).map_err(|failure| failure.to_string())
    }

    #[test]
    fn keys_are_named_with_their_direction_and_what_is_missing() {
        let [section, size] = ["section", "size"].map(SortKey::of);
        assert_eq!(of(&["section,size"]).unwrap(), [section.clone(), size.clone()]);
        assert_eq!(
            of(&["-section:missing-first", "size:missing-last"]).unwrap(),
            [section.missing_first().descending(), size.clone()]
        );
        // Names come first.
        assert_eq!(of(&["-size,size"]).unwrap(), [SortKey::of("-size"), size]);
        assert_eq!(of(&["a,b"]).unwrap(), [SortKey::of("a,b")]);
        assert_eq!(
            of(&["--size:missing-first,x:missing-first"]).unwrap(),
            [SortKey::of("-size").descending().missing_first(), SortKey::of("x:missing-first")]
        );
        assert_eq!(of(&[]).unwrap(), []);
    }

    #[test]
    fn what_is_no_key_is_refused_with_advice() {
        let refused = |argument| of(&[argument]).unwrap_err();
        assert_eq!(
            refused("sections"),
            "dv: --sort-by: no column \"sections\"\n    hint: did you mean \"section\"?"
        );
        assert_eq!(
            refused("size,-section:first"),
            "dv: --sort-by: no column \"section:first\"\n    hint: write NAME:missing-first or NAME:missing-last to place \
             documents without a value, and -NAME to sort in descending order"
        );
        assert!(refused("").contains("the columns are \"section\", \"size\", "));
        assert_eq!(refused("size,section,size"), "dv: --sort-by: column \"size\" is named twice");
    }
}
