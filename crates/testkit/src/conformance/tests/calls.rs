//! The suite calls every method of the read traits.

use std::path::Path;

use super::*;

/// The methods of the traits of `docvalues-column` that have a receiver, as `Trait::method`.
fn methods() -> BTreeSet<String> {
    let mut left = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../column/src")];
    let mut methods = BTreeSet::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for block in text.split("\npub trait ").skip(1) {
            let name: String = block.chars().take_while(char::is_ascii_alphanumeric).collect();
            let body = &block[..block.find("\n}").unwrap()];
            for method in body.split("\n    fn ").skip(1) {
                let (method, rest) = method.split_once('(').unwrap();
                if rest.trim_start().starts_with("&self") {
                    methods.insert(format!("{name}::{method}"));
                }
            }
        }
    }
    methods
}

/// The methods for which `faulty_sources_are_caught` has a fault.
const SOURCE: [&str; 5] = [
    "ColumnSource::docs",
    "ColumnSource::fields",
    "ColumnSource::column",
    "ColumnSource::sort",
    "ColumnSource::bytes_touched",
];

fn called(kind: Kind) -> BTreeSet<&'static str> {
    let correct = correct(kind);
    let column = Faulty::new(&correct, Fault::None);
    check_column(&column, &*correct);
    column.called()
}

#[test]
fn every_method_is_called() {
    let all = methods();
    assert!(all.len() >= 24, "{all:?}");
    for kind in Kind::ALL {
        let called = called(kind);
        let is_asked = |method: &&String| match method.split_once("::").unwrap().0 {
            "Column" | "Rows" => true,
            "Terms" => matches!(kind, Kind::Sorted | Kind::SortedSet),
            "SkipIndex" => kind == Kind::Numeric,
            "ColumnSource" => !SOURCE.contains(&method.as_str()),
            // A trait of several columns, not of one: it calls `Rows`.
            "GatherRows" => false,
            other => panic!("a trait without checks: {other}"),
        };
        let missed: Vec<&String> =
            all.iter().filter(is_asked).filter(|method| !called.contains(method.as_str())).collect();
        assert!(missed.is_empty(), "{kind:?}: never called: {missed:?}");
    }
}
