//! The programs that write indexes: they differ in what they note in a commit.

/// The program that wrote an index.
///
/// ```
/// use docvalues_lucene::Engine;
///
/// assert_eq!(Engine::Elastic.name(), "Elasticsearch or OpenSearch");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// Lucene itself, in a program that is not known.
    Lucene,
    /// Solr.
    Solr,
    /// Elasticsearch or OpenSearch.
    Elastic,
}

impl Engine {
    /// The engine that noted this in a commit.
    pub(crate) fn of(user_data: &[(String, String)]) -> Engine {
        let has = |key: &str| user_data.iter().any(|(noted, _)| noted == key);
        if has("translog_uuid") || has("history_uuid") {
            Engine::Elastic
        } else if has("commitTimeMSec") {
            Engine::Solr
        } else {
            Engine::Lucene
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Lucene => "Lucene",
            Engine::Solr => "Solr",
            Engine::Elastic => "Elasticsearch or OpenSearch",
        }
    }
}

/// Fields in which engines keep versions, deletes and parents of documents.
const INTERNAL: [&str; 21] = [
    "__root_doc_for_nested",
    "__soft_deletes",
    "_doc_count",
    "_field_names",
    "_id",
    "_ignored",
    "_nest_parent_",
    "_nest_path_",
    "_primary_term",
    "_recovery_source",
    "_recovery_source_size",
    "_root_",
    "_routing",
    "_seq_no",
    "_source",
    "_text_",
    "_tombstone",
    "_ts_routing_hash",
    "_tsid",
    "_version",
    "_version_",
];

/// Whether an engine keeps a field for itself.
pub(crate) fn is_internal(name: &str) -> bool {
    INTERNAL.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_are_known_by_their_notes() {
        let of = |keys: &[&str]| {
            Engine::of(&keys.iter().map(|key| ((*key).to_owned(), "1".to_owned())).collect::<Vec<_>>())
        };
        assert_eq!(of(&[]), Engine::Lucene);
        assert_eq!(of(&["commitCommandVer", "commitTimeMSec"]), Engine::Solr);
        assert_eq!(of(&["max_seq_no", "translog_uuid"]), Engine::Elastic);
    }

    #[test]
    fn internal_fields_are_known() {
        assert!(INTERNAL.is_sorted());
        assert!(is_internal("_version_") && is_internal("_seq_no") && !is_internal("version"));
        assert!(is_internal("__root_doc_for_nested"), "of Elasticsearch 8.19");
    }
}
