//! docs/store.md describes the files that are there, and every entry of a commit.

use std::collections::BTreeSet;
use std::path::Path;

use docvalues_store::{Durability, Store, StoreOptions};

use crate::fixture::{add, id, schema};
use crate::id_files::Ids;

/// The first cells of the table below `heading`, without backticks.
fn first_cells(page: &str, heading: &str) -> Vec<String> {
    let (_, rest) = page.split_once(heading).unwrap();
    let rows = rest.lines().skip(1).skip_while(|line| !line.starts_with("| `"));
    let cells = rows.take_while(|line| line.starts_with('|')).map(|line| line.split('|').nth(1).unwrap());
    cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`').to_owned()).collect()
}

/// A name with each run of hexadecimal digits that has a decimal one as a single `#`.
fn pattern(name: &str) -> String {
    let words = name.split_inclusive(['-', '.']).map(|word| {
        let digits = word.trim_end_matches(['-', '.']);
        let number = digits.strip_prefix(['g', 's']).unwrap_or(digits);
        let is_number = number.len() >= 6 && number.chars().all(|c| c.is_ascii_hexdigit());
        if is_number { word.replace(number, "#") } else { word.to_owned() }
    });
    words.collect()
}

#[test]
fn files_and_entries_are_those_of_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/store.md");
    let page = std::fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create_with(folder.path(), schema(), options, Ids::new()).unwrap();
    for part in 0..2_u32 {
        add(&store, &(0..40).map(|doc| (part * 40 + doc, 0)).collect::<Vec<_>>()).unwrap();
    }
    let deltas = |commits: u32| {
        for gone in 0..commits {
            store.delete_ids([id(gone)]).unwrap();
            store.commit().unwrap();
        }
        let names = std::fs::read_dir(folder.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect::<Vec<_>>()
    };
    let count = |names: &[String], prefix| names.iter().filter(|name| name.starts_with(prefix)).count();
    let names = deltas(8);
    assert_eq!((count(&names, "delta-"), count(&names, "seg-")), (8, 4));
    assert!(page.contains("At most eight deltas accumulate. The next commit folds them"));
    store.commit_with(b"kept by later commits").unwrap();
    let names = deltas(11);
    let found: BTreeSet<String> = names.iter().map(|name| pattern(name)).collect();
    let described: BTreeSet<String> =
        first_cells(&page, "## Files").iter().map(|name| pattern(name)).collect();
    assert_eq!(described, found);

    let commit = names.iter().filter(|name| name.starts_with("commit-")).max().unwrap();
    let text = std::fs::read_to_string(folder.path().join(commit)).unwrap();
    let (json, _) = text.rsplit_once("crc32").unwrap();
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    let (_, commits) = page.split_once("A commit is JSON").unwrap();
    let described: BTreeSet<String> = first_cells(commits, "").into_iter().collect();
    let found: BTreeSet<String> = json.as_object().unwrap().keys().cloned().collect();
    assert_eq!(described, found);
}
