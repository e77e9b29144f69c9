//! Who may use whom: the table of `docs/architecture.md`, compared with the manifests.

use std::collections::BTreeMap;
use std::path::Path;

/// Each crate under `crates/`, and which of ours it may use.
const ARROWS: [(&str, &[&str]); 10] = [
    ("format", &[]),
    ("column", &["format"]),
    ("storage", &["format"]),
    ("terms", &["format"]),
    ("writer", &["column", "storage", "terms", "format"]),
    ("reader", &["column", "storage", "terms", "format"]),
    ("search", &["column", "storage", "format"]),
    ("docvalues", &["writer", "reader", "search", "terms", "column", "format"]),
    ("cli", &["docvalues"]),
    ("testkit", &["search", "column", "format"]),
];

/// The crates of ours that a manifest lists under `[dependencies]`.
fn used(manifest: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let names = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| {
        let name = line.split(['.', ' ', '=']).next()?;
        name.starts_with("docvalues").then(|| name.trim_start_matches("docvalues-").to_owned())
    });
    names.collect()
}

#[test]
fn crates_use_only_crates_below_them() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let allowed: BTreeMap<_, _> = ARROWS.into_iter().collect();
    let mut seen = 0;
    for folder in std::fs::read_dir(crates).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let allowed = allowed.get(name.as_str()).unwrap_or_else(|| panic!("`{name}` has no row in ARROWS"));
        for used in used(&manifest) {
            assert!(allowed.contains(&used.as_str()), "`{name}` may not use `{used}`");
        }
        seen += 1;
    }
    assert_eq!(seen, ARROWS.len());
}

/// The prose says the same.
#[test]
fn the_architecture_document_has_the_same_arrows() {
    let prose = include_str!("../../../../docs/architecture.md");
    for (name, uses) in ARROWS {
        let row = format!("| `{name}` |");
        let row = prose.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row {row}"));
        let cell = row.split('|').nth(2).unwrap();
        let listed: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, uses, "{name}");
    }
}
