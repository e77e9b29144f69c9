//! Indexes that Solr, OpenSearch and Elasticsearch wrote: every value is the one that a search of the engine finds.
//! `crates/lucene/fixtures/engines/make` makes them; without them, the tests print SKIPPED.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use docvalues_column::{Column, ColumnSource as _, DocId, ErrorKind, Lists, LogicalType, Values};
use docvalues_format::file::kind::from_f64;
use docvalues_lucene::{Engine, FieldType, FsDirectory, Index, JumpTables, Options};
use serde_json::Value;

/// The values of a document.
#[derive(Debug, PartialEq)]
enum Row {
    Numbers(Vec<i64>),
    Strings(Vec<Vec<u8>>),
}

/// Each index, and the engine that wrote it.
const INDEXES: [(&str, Engine); 5] = [
    ("solr-8.11", Engine::Solr),
    ("solr-9.10", Engine::Solr),
    ("opensearch-3.9", Engine::Elastic),
    ("elasticsearch-7.17", Engine::Elastic),
    ("elasticsearch-8.19", Engine::Elastic),
];

/// The folder of an index, if it was made.
fn folder(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(format!("{}/fixtures/engines/data/{name}", env!("CARGO_MANIFEST_DIR")));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("SKIPPED: no {}", folder.display());
    None
}

/// The types of fields that no name, point or term tells.
fn options(engine: Engine) -> Options {
    let options = Options::new().field("price", LogicalType::F64).field("sold", LogicalType::TimestampMillis);
    match engine {
        Engine::Solr => options.field("rating", LogicalType::F64).field("weights", FieldType::Float),
        _ => options.field("prices", LogicalType::F64).field("weight", FieldType::Float),
    }
}

#[test]
fn values_are_those_that_engines_find() {
    for (name, engine) in INDEXES {
        let Some(folder) = folder(name) else { continue };
        let lines = fs::read_to_string(format!("{}.ndjson", folder.display())).unwrap();
        let found: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for mode in JumpTables::ALL {
            let options = options(engine).jump_tables(mode).verify_all(true);
            let index = Index::open_with(Arc::new(FsDirectory::new(&folder)), options).unwrap();
            index.verify().unwrap();
            assert_eq!(index.engine(), engine, "{name}");
            assert!(index.segments().iter().all(|segment| segment.unreadable().count() == 0), "{name}");
            // Nested documents of Elasticsearch and OpenSearch are live, and have no line.
            let are_all_listed = index.live_docs() == found.len() as u64;
            assert_eq!(are_all_listed, engine == Engine::Solr, "{name}");
            found.iter().for_each(|line| check_document(name, &index, line));
            let (field, deleted) = match engine {
                Engine::Solr => ("id", "doc-5"),
                _ => ("_id", "AAECAwQFBgcICQoLDA05"),
            };
            assert!(index.find_id(field, deleted).unwrap().is_empty(), "{name}: {deleted} is live");
        }
    }
}

/// The document that has the id of a line has its values, and no others.
fn check_document(name: &str, index: &Index, line: &Value) {
    let line = line.as_object().unwrap();
    let field = if index.engine() == Engine::Solr { "id" } else { "_id" };
    let id = line[field].as_str().unwrap();
    let found = index.find_id(field, id).unwrap();
    assert_eq!(found.len(), 1, "{name}: documents with the id {id}");
    let segment = &index.segments()[found[0].part as usize];
    let fields = segment.fields().unwrap().into_iter().chain(segment.internal_fields().cloned());
    let mut left: BTreeSet<&str> = line.keys().map(String::as_str).filter(|key| *key != "_id").collect();
    for field in fields {
        let column = segment.column(&field.name).unwrap();
        let row = row(&*column, found[0].doc);
        let is_listed = left.remove(field.name.as_str());
        // Searches of Elasticsearch and OpenSearch do not show internal columns.
        if is_listed || !field.name.starts_with('_') {
            let expected = line.get(&field.name).map(|listed| expected(listed, field.logical));
            assert_eq!(row, expected, "{name}: {} of {id}", field.name);
        }
    }
    assert!(left.is_empty(), "{name}: no columns {left:?} of {id}");
}

/// The values of a document; `None` if it has none.
fn row(column: &dyn Column, doc: DocId) -> Option<Row> {
    match column.values() {
        Values::Numbers(rows) => {
            let mut numbers = Vec::new();
            rows.get(doc, &mut numbers).unwrap().then_some(Row::Numbers(numbers))
        }
        Values::Bytes(rows) => {
            let mut bytes = Vec::new();
            rows.get(doc, &mut bytes).unwrap().then(|| Row::Strings(vec![bytes]))
        }
        Values::Ords(rows, terms) => {
            let (mut ords, mut found) = (Vec::new(), Lists::new());
            let has_value = rows.get(doc, &mut ords).unwrap();
            terms.gather_terms(&ords, &mut found).unwrap();
            has_value.then(|| Row::Strings(found.slices().iter().map(<[u8]>::to_vec).collect()))
        }
    }
}

/// The values of a line: one, or a list.
fn expected(listed: &Value, logical: LogicalType) -> Row {
    let values = listed.as_array().map_or(std::slice::from_ref(listed), Vec::as_slice);
    match logical.is_bytes() {
        true => Row::Strings(values.iter().map(|value| bytes(value.as_str().unwrap(), logical)).collect()),
        false => Row::Numbers(values.iter().map(|value| number(value, logical)).collect()),
    }
}

fn number(value: &Value, logical: LogicalType) -> i64 {
    match logical {
        LogicalType::F64 => from_f64(value.as_f64().unwrap()),
        LogicalType::Bool => value.as_bool().unwrap().into(),
        _ => value.as_i64().unwrap(),
    }
}

fn bytes(text: &str, logical: LogicalType) -> Vec<u8> {
    match logical {
        LogicalType::Ip => match text.parse::<IpAddr>().unwrap() {
            IpAddr::V4(address) => address.to_ipv6_mapped().octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        },
        _ => text.as_bytes().to_vec(),
    }
}

/// Doc values of logsdb have formats of Elasticsearch. They are refused by name, and the index is opened all the same.
#[test]
fn logsdb_is_refused_by_name() {
    let Some(folder) = folder("elasticsearch-8.19-logsdb") else { return };
    let index = Index::open(folder).unwrap();
    let mut refused = BTreeSet::new();
    for segment in index.segments() {
        for (field, error) in segment.unreadable() {
            let expected = format!("column {field:?}: unsupported doc values format \"ES819TSDB\"");
            assert!(error.to_string().contains(&expected), "{error}");
            let Err(error) = segment.column(field) else { panic!("{field} is read") };
            assert!(matches!(error.kind(), ErrorKind::Source { .. }), "{error}");
            refused.insert(field);
        }
    }
    for field in ["@timestamp", "host", "price", "size", "tags"] {
        assert!(refused.contains(field), "{field}: {refused:?}");
    }
}
