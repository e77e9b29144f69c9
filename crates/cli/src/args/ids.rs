//! Options of the index of ids, shared by `build` and `merge`.

use clap::{Args, ValueEnum, value_parser};

use super::build::INDEX;
use crate::api::{IdForm, IdOptions, MAX_FILTER_BITS};
use crate::error::CliError;
use crate::import::ids::{IdIndexPlan, no_field};

/// The structure of the index of ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermIndex {
    /// Blocks of ids under a trie of their first bytes
    Trie,
    /// A trie of all bytes of all ids
    ExactTrie,
    /// A minimal finite-state transducer
    Fst,
    /// The column itself, and a byte of each id; a trie if ids differ in length, have a pattern, or lie close together
    Column,
    /// No index
    None,
}

impl TermIndex {
    /// The form of the index; `None` for no index.
    pub(crate) fn form(self) -> Option<IdForm> {
        match self {
            TermIndex::Trie => Some(IdForm::Blocks),
            TermIndex::ExactTrie => Some(IdForm::Exact),
            TermIndex::Fst => Some(IdForm::Fst),
            TermIndex::Column => Some(IdForm::Column),
            TermIndex::None => None,
        }
    }
}

/// Options of the index of ids.
#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The column of ids, for `dv lookup`
    ///
    /// Its type is string, bytes, ip or uuid, with at most one value a document; no two documents have the same. It is stored without a
    /// dictionary (:binary), and the segment gets an index of its values.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = INDEX)]
    pub(crate) id_field: Option<String>,

    /// The structure of the index of ids; default: column
    #[arg(long, value_name = "FORM", value_enum, help_heading = INDEX, hide_short_help = true)]
    pub(crate) term_index: Option<TermIndex>,

    /// Filter bits per id; the filter rejects most unknown ids without a search; 0 for none; default: 16
    #[arg(long, value_name = "0..32", value_parser = value_parser!(u8).range(..=i64::from(MAX_FILTER_BITS)), help_heading = INDEX, hide_short_help = true)]
    pub(crate) filter_bits: Option<u8>,
}

impl IdArgs {
    /// Whether options of an index were given without a column.
    pub(crate) fn lacks_field(&self) -> bool {
        self.id_field.is_none() && (self.term_index.is_some() || self.filter_bits.is_some())
    }

    /// Whether the user asked for no index.
    pub(crate) fn refuses(&self) -> bool {
        self.term_index == Some(TermIndex::None)
    }

    /// The index to build, unless there is to be none.
    pub(crate) fn plan(&self) -> Result<Option<IdIndexPlan>, CliError> {
        if self.lacks_field() && !self.refuses() {
            return Err(no_field("--term-index and --filter-bits need a column of ids"));
        }
        let column = self.id_field.clone().filter(|_| !self.refuses());
        Ok(column.map(|column| IdIndexPlan { column, options: self.options(IdOptions::default()) }))
    }

    /// The given options; the rest from `base`.
    pub(crate) fn options(&self, base: IdOptions) -> IdOptions {
        base.form(self.term_index.and_then(TermIndex::form).unwrap_or(base.form))
            .filter_bits(self.filter_bits.unwrap_or(base.filter_bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_tells_the_defaults() {
        assert_eq!(IdOptions::default().form, IdForm::Column);
        assert_eq!((IdOptions::default().filter_bits, MAX_FILTER_BITS), (16, 32));
        let named = TermIndex::value_variants().iter().filter_map(|index| Some((index, index.form()?)));
        for (index, form) in named {
            assert_eq!(index.to_possible_value().unwrap().get_name(), form.name());
        }
    }
}
