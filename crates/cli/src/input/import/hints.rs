//! What is said of columns whose values do not fit, and which flag mends it.

use crate::input::column::Column;
use crate::input::column_type::ColumnType;
use crate::input::error::{BadRow, InputError};
use crate::input::infer_types::Conflict;
use crate::input::parse_cell::TypeMismatch;

/// The values of a sample fit no type together.
pub(super) fn conflicting(name: &str, conflict: &Conflict) -> InputError {
    let at = |(file, line, column): &(String, u64, u64)| format!("{file}:{line}:{column}");
    let (one, other) = (&conflict.one, &conflict.other);
    let flag = type_flag(name, "string");
    if one.0 == other.0 {
        return InputError::refused(
            format!("{}: column {name:?} holds numbers that no type holds together, exactly", at(&one.1)),
            format!("{flag} keeps their text, {} rounds them", type_flag(name, "f64")),
        );
    }
    InputError::refused(
        format!("{}: column {name:?} holds {} and, at {}, {}", at(&one.1), one.0, at(&other.1), other.0),
        format!("{flag} keeps the text of both; --skip-bad drops the rows with the rarer ones"),
    )
}

/// Says what contradicts a column's type, and which flag mends it.
pub(super) fn describe(column: &Column, ty: ColumnType, mismatch: &TypeMismatch, bad: BadRow) -> BadRow {
    let name = &column.name;
    let problem = format!("column {name:?} ({ty_name}): {}", mismatch.problem, ty_name = plain(ty));
    let brackets = if ty.multi { "[]" } else { "" };
    let hint = match mismatch.wider {
        "" => "a separator can be given in the schema file".to_owned(),
        "[]" => format!("{} takes arrays", type_flag(name, &format!("{}[]", ty.logical.name()))),
        wider if column.declared.is_some() && !column.explicit => {
            format!("{} takes it", type_flag(name, &format!("{wider}{brackets}")))
        }
        _ if column.explicit => {
            "mend the value, name it with --missing if it stands for none, or leave such rows out with --skip-bad"
                .to_owned()
        }
        wider => format!(
            "{} takes it; or let --sample all look at every row before it decides",
            type_flag(name, &format!("{wider}{brackets}"))
        ),
    };
    BadRow { problem, ..bad }.hint(hint)
}

pub(super) fn plain(ty: ColumnType) -> String {
    ColumnType { layout: None, ..ty }.to_string()
}

/// `--type NAME=TYPE`, quoted for a shell where it has to be.
pub(crate) fn type_flag(name: &str, ty: &str) -> String {
    format!("--type {}", quoted(&format!("{name}={ty}")))
}

/// An argument, in quotes where a shell would take it apart.
pub(super) fn quoted(argument: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "._-/:@%+,=".contains(c);
    if !argument.is_empty() && argument.chars().all(safe) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}
