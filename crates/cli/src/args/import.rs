//! Arguments of `import`, and types of fields of Lucene.

use std::path::PathBuf;

use clap::Args;

use super::build::{WriteArgs, parse_size};
use crate::api::lucene::FieldType;
use crate::import::column_type::logical_type;

const EXAMPLES: &str = "\
Examples:
  dv import /var/solr/data/hits/data/index -o hits.dv
  dv import index -o hits.dv --lucene-type price=f64,client=ip --sort-by at
  dv import index -o store --id-field id

Exit codes: 0 imported, 1 the index is damaged, or two documents have the same id, 2 wrong command line, 3 a file cannot be \
read or written, or is not one that this release can read.";

/// Make a segment or a store of an index of Lucene, Solr, OpenSearch or Elasticsearch
///
/// Indexes of Lucene 7.0 to 10.6, those of Elasticsearch in standard mode. The live documents of all segments are taken,
/// in their order, with the columns that have doc values. Fields that an engine keeps for itself, such as _version_ and
/// _seq_no, are left out. A field that has several values in some segments has several in the result.
///
/// The index is only read, while it may change: its newest commit is taken. Its folder is data/index of a core of Solr,
/// and nodes/0/indices/ID/SHARD/index or indices/ID/SHARD/index below the data of OpenSearch and Elasticsearch.
/// docs/lucene.md says what is read.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ImportArgs {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The segment to write, if the name ends in .dv; otherwise the folder of a store, which is made if it is not there
    #[arg(short, long, value_name = "FILE.dv|STORE")]
    pub(crate) output: PathBuf,

    /// Columns to sort the documents by, as in dv build --help
    #[arg(long, value_name = "NAME,…", allow_hyphen_values = true)]
    pub(crate) sort_by: Vec<String>,

    /// The column of ids, as in dv build --help
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) id_field: Option<String>,

    /// Memory for the values of one column; beyond it they spill to a temporary file beside the output
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// Parses `NAME=TYPE`.
pub(super) fn parse_type(text: &str) -> Result<(String, FieldType), String> {
    let pair = text.rsplit_once('=').filter(|(name, _)| !name.is_empty());
    let (name, of_field) = pair.ok_or_else(|| format!("expected NAME=TYPE, found {text:?}"))?;
    let of_field = match of_field {
        "f32" => FieldType::Float,
        "timestamp" => {
            return Err("expected timestamp[ms], timestamp[us] or timestamp[ns], found timestamp".to_owned());
        }
        name => FieldType::Logical(logical_type(name)?.0),
    };
    Ok((name.to_owned(), of_field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::LogicalType;

    #[test]
    fn types_of_fields_are_parsed() {
        let parsed = |name: &str, of_field| Ok((name.to_owned(), of_field));
        assert_eq!(parse_type("price=f64"), parsed("price", FieldType::Logical(LogicalType::F64)));
        assert_eq!(parse_type("a=b=f32"), parsed("a=b", FieldType::Float));
        assert_eq!(
            parse_type("at=timestamp[ms]"),
            parsed("at", FieldType::Logical(LogicalType::TimestampMillis))
        );
        for wrong in ["price", "=f64", "price=", "price=double", "at=timestamp"] {
            assert!(parse_type(wrong).is_err(), "{wrong}");
        }
    }
}
