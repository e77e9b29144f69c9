//! The number of values read, as reported by explained queries over columns without skip indexes.

use std::collections::BTreeSet;

use docvalues_column::{Field, Kind, LogicalType, Pruning};

use docvalues_search::{Docs, Query, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

const DOCS: u32 = 1_000;

/// With many values, one filter call for each would take longer than reading all.
#[test]
fn every_value_of_a_scanned_column_is_counted_as_read() {
    let term = |doc: u32| format!("{:03}", doc % 200).into_bytes();
    let slots = || (0..DOCS).map(|doc| (doc % 3 > 0).then(|| term(doc))).collect::<Vec<_>>();
    let lists = (0..DOCS).map(|doc| (0..doc % 3).map(|more| i64::from(doc % 200 + more)).collect());
    let sets = (0..DOCS).map(|doc| (0..doc % 3).map(|more| term(doc + more)).collect::<BTreeSet<_>>());
    let field = Field::new;
    let source = MemSource::new(
        DOCS,
        [
            (field("bytes", Kind::Binary, LogicalType::Utf8), ModelColumn::Binary(slots())),
            (
                field("list", Kind::SortedNumeric, LogicalType::I64),
                ModelColumn::SortedNumeric(lists.collect()),
            ),
            (field("set", Kind::SortedSet, LogicalType::Utf8), ModelColumn::SortedSet(sets.collect())),
            (field("term", Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(slots())),
        ],
    );
    let (with_value, values) = (666, 333 + 2 * 333);
    for (column, read) in [("bytes", with_value), ("list", values), ("set", values), ("term", with_value)] {
        let literal = |at: u32| if column == "list" { at.to_string() } else { format!("'{at:03}'") };
        let any: Vec<String> = (1..40).map(|at| format!("{column} = {}", literal(4 * at))).collect();
        let bound = Search::new(&source).bind(&Query::parse(&any.join(" or ")).unwrap()).unwrap();
        let (found, explain) = bound.collect_explained(Docs::All).unwrap();
        assert_eq!(explain.profile.unwrap().filter, Pruning { read, ..Pruning::default() }, "{column}");
        assert!(found.count() > 0, "{column}");
    }
}
