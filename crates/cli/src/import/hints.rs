//! Errors on values that do not fit their column, with the option that resolves them.

use super::column::Column;
use super::column_type::{ColumnType, logical_type};
use super::error::{BadRow, InputError};
use super::infer_types::Conflict;
use super::parse_cell::TypeMismatch;
use crate::api::{LogicalType, promotion};
use crate::text::quoting::{option, shell_word};
use crate::text::time::{is_timestamp, unit_name};

/// The error for a sample whose values have no type in common.
pub(super) fn conflicting(name: &str, conflict: &Conflict) -> InputError {
    let at = |(file, line, column): &(String, u64, u64)| format!("{file}:{line}:{column}");
    let (one, other) = (&conflict.one, &conflict.other);
    let flag = type_flag(name, "string");
    InputError::refused(
        format!("{}: column {name:?} holds {} and, at {}, {}", at(&one.1), one.0, at(&other.1), other.0),
        format!("use {flag} to keep the text of both, or --skip-bad to skip the rows with the rarer kind"),
    )
}

/// Adds to `bad` the type mismatch and the option that resolves it.
pub(super) fn describe(
    column: &Column,
    ty: ColumnType,
    mismatch: &TypeMismatch,
    (bad, of_store): (BadRow, Option<&str>),
) -> BadRow {
    let name = &column.name;
    let problem = format!("column {name:?} ({ty_name}): {}", mismatch.problem, ty_name = plain(ty));
    let brackets = if ty.multi { "[]" } else { "" };
    let hint = match mismatch.wider {
        "" => "set a separator in a schema file (--schema)".to_owned(),
        "[]" => format!("use {} for arrays", type_flag(name, &format!("{}[]", ty.logical.name()))),
        wider if column.declared.is_some() && !column.explicit => {
            format!("use {}", type_flag(name, &format!("{wider}{brackets}")))
        }
        "i64" if column.explicit && is_timestamp(ty.logical) => {
            let (flag, unit) = (type_flag(name, &format!("{}:epoch", plain(ty))), unit_name(ty.logical));
            format!("use {flag} for numbers of {unit} since 1970")
        }
        // Tokens for missing values are cells of CSV.
        _ if column.explicit && column.in_header => {
            "correct the value, declare it missing with --missing, or skip bad rows with --skip-bad"
                .to_owned()
        }
        _ if column.explicit => "correct the value, or skip bad rows with --skip-bad".to_owned(),
        "f64" if ty.logical == LogicalType::F64 => format!(
            "use {} to round it, or {} to keep its text",
            type_flag(name, &format!("f64{brackets}")),
            type_flag(name, &format!("string{brackets}"))
        ),
        wider => format!(
            "use {}, or --sample all to infer the type from all rows",
            type_flag(name, &format!("{wider}{brackets}"))
        ),
    };
    let hint = match of_store.zip(wider_type(ty, mismatch)) {
        None => hint,
        Some((folder, wider)) => {
            let command = alter_command(folder, name, &wider);
            format!("{hint}; if the store has the column already, `{command}` makes it wider")
        }
    };
    let is_misfit = !column.explicit && column.declared.is_none();
    BadRow { problem, is_misfit, ..bad }.hint(hint)
}

/// The type that has all values of a column and one that does not fit, if a store's column can get it.
pub(crate) fn wider_type(ty: ColumnType, mismatch: &TypeMismatch) -> Option<String> {
    if mismatch.wider == "[]" {
        return Some(format!("{}[]", ty.logical.name()));
    }
    let (wider, _) = logical_type(mismatch.wider).ok()?;
    let has_all = wider != ty.logical && promotion::common(ty.logical, wider) == Some(wider);
    has_all.then(|| format!("{}{}", wider.name(), if ty.multi { "[]" } else { "" }))
}

pub(super) fn plain(ty: ColumnType) -> String {
    ColumnType { layout: None, ..ty }.to_string()
}

/// The command that makes a column of a store wider.
pub(crate) fn alter_command(folder: &str, name: &str, ty: &str) -> String {
    format!("dv store alter {} {}", shell_word(folder), type_flag(name, ty))
}

/// `--type NAME=TYPE`, quoted for a shell if necessary.
pub(crate) fn type_flag(name: &str, ty: &str) -> String {
    option("--type", &format!("{name}={ty}"))
}
