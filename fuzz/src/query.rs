//! Query texts: parsed, printed and parsed again; and their results on a few documents, compared with a naive
//! evaluation.

mod texts;

use std::sync::OnceLock;

use docvalues::search::{Error, Query};
use docvalues_testkit::model::MemSource;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;

use crate::naive::{any_rows, check};

/// The number of documents that queries run on.
const DOCS: u32 = 150;

/// The documents, and a source of their columns.
fn documents() -> &'static (Dataset, MemSource) {
    static DOCUMENTS: OnceLock<(Dataset, MemSource)> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let rows = any_rows(DOCS, &mut SplitMix64::named("query"));
        let source = rows.source();
        (rows, source)
    })
}

/// A text as a query.
pub fn query(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let query = match Query::parse(text) {
        Ok(query) => query,
        Err(Error::Query(error)) => {
            let column = error.column().expect("the text is short enough to be read");
            assert!((1..=text.chars().count() + 1).contains(&column), "{error}");
            assert!(error.caret().is_some_and(|caret| caret.lines().count() == 2), "{error}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let printed = query.to_string();
    assert_eq!(Query::parse(&printed).as_ref().ok(), Some(&query), "printed as {printed}");
    let (rows, source) = documents();
    if query.columns().iter().all(|name| rows.columns.iter().any(|(field, _)| field.name == *name)) {
        check(rows, source, &query, &mut SplitMix64::new(input.len() as u64));
    }
}

/// Texts of queries on the documents of [`query`], `count` of them random.
pub fn query_texts(count: u32) -> Vec<String> {
    texts::texts(count)
}
