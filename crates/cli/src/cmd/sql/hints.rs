//! Hints for queries that cannot be planned.

use datafusion::common::{Column, DataFusionError};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Word};

use crate::error::CliError;
use crate::open::sql_tables::SqlTable;
use crate::text::words::closest;

/// The error of a query that cannot be planned. The one for an unknown table lists the known ones.
pub(super) fn unplanned(error: DataFusionError, query: &str, tables: &[SqlTable]) -> CliError {
    let is_syntax =
        matches!(error.find_root(), DataFusionError::SQL(..) | DataFusionError::NotImplemented(_));
    let failure = CliError::from(error);
    let unknown = failure.message.strip_prefix("table '").and_then(|text| text.strip_suffix("' not found"));
    if let Some(table) = unknown {
        let table = table.strip_prefix("datafusion.public.").unwrap_or(table);
        let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
        return CliError::usage(format!("no table {table:?}"))
            .hint(format!("the tables are: {}", names.join(", ")));
    }
    let mut hints = tables.iter().filter_map(|table| spelling(query, &table.name));
    match hints.next().filter(|_| is_syntax) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The right spelling of a table that a query names as SQL does not read it.
fn spelling(query: &str, name: &str) -> Option<String> {
    let is_keyword = |word: &Word| {
        word.quote_style.is_none()
            && word.keyword != Keyword::NoKeyword
            && word.value.eq_ignore_ascii_case(name)
    };
    if words(query).iter().any(is_keyword) {
        return Some(format!(
            "{name} is a keyword of SQL: write the table's name in double quotes, \"{name}\""
        ));
    }
    let query = query.to_lowercase();
    let has_dashes = !query.contains(name) && query.replace('-', "_").contains(name);
    has_dashes.then(|| format!("write {name}: names of tables have `_` for `-`"))
}

/// The words of a query: keywords, names, and quoted names.
pub(super) fn words(query: &str) -> Vec<Word> {
    let tokens = Tokenizer::new(&GenericDialect {}, query).tokenize().unwrap_or_default();
    let word = |token| if let Token::Word(word) = token { Some(word) } else { None };
    tokens.into_iter().filter_map(word).collect()
}

/// The error for an unknown column, with the closest name as a hint.
pub(super) fn no_column(name: &str, columns: &[Column]) -> CliError {
    let names = columns.iter().map(Column::name);
    let failure = CliError::failed(format!("no column {name:?}"));
    match names.clone().find(|known| known.eq_ignore_ascii_case(name) && *known != name) {
        Some(known) => failure.hint(format!("write it in double quotes: \"{known}\"")),
        None => failure.hint(closest(name, names).map_or_else(
            || "`describe TABLE` lists all columns".to_owned(),
            |close| format!("did you mean \"{}\"?", close.replace('"', "\"\"")),
        )),
    }
}
