//! The tables of `docs/architecture.md` on crates and unsafe modules, and those of features, compared with the manifests and
//! sources; and the CPU features of kernels with those that are detected.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Each crate under `crates/`, and the crates of the workspace that it may use.
const ARROWS: [(&str, &[&str]); 18] = [
    ("format", &[]),
    ("derive", &[]),
    ("column", &["format"]),
    ("storage", &["format"]),
    ("terms", &["format"]),
    ("writer", &["column", "storage", "terms", "format"]),
    ("reader", &["column", "storage", "terms", "format"]),
    ("search", &["column", "storage", "format"]),
    ("lucene", &["column", "storage", "format"]),
    ("store", &["writer", "reader", "search", "terms", "column", "storage", "format"]),
    ("docvalues", &["store", "writer", "reader", "search", "lucene", "terms", "column", "derive", "format"]),
    ("datafusion", &["docvalues"]),
    ("tantivy", &["docvalues"]),
    ("ballista", &["datafusion"]),
    ("distributed", &["datafusion"]),
    ("cli", &["datafusion", "docvalues"]),
    ("python", &["cli", "docvalues"]),
    ("testkit", &["search", "column", "storage", "format"]),
];

/// The crates of the workspace that a manifest lists under `[dependencies]`.
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

/// `docs/architecture.md` has the same table.
#[test]
fn the_architecture_page_has_the_same_table() {
    let prose = include_str!("../../../../docs/architecture.md");
    for (name, uses) in ARROWS {
        let row = format!("| `{name}` |");
        let row = prose.lines().find(|line| line.starts_with(&row)).unwrap_or_else(|| panic!("no row {row}"));
        let cell = row.split('|').nth(2).unwrap();
        let listed: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, uses, "{name}");
    }
}

/// The crates in a line of `release/packages`, such as `order=(docvalues-{datafusion,cli})`.
fn packages(script: &str, list: &str) -> Vec<String> {
    let line = script.lines().find(|line| line.starts_with(&format!("{list}=("))).unwrap();
    let (_, names) = line.split_once('{').unwrap();
    let (names, rest) = names.rsplit_once('}').unwrap();
    let facade = rest.contains(" docvalues").then_some("docvalues");
    // The first list begins the second: `"${libraries[@]}" docvalues-{…}`.
    let names = names.rsplit('{').next().unwrap();
    names.split(',').chain(facade).map(str::to_owned).collect()
}

/// `release/packages` has every published crate, after those that it uses.
#[test]
fn packages_come_in_the_order_of_publishing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let script = std::fs::read_to_string(root.join("release/packages")).unwrap();
    let order = [packages(&script, "libraries"), packages(&script, "order")].concat();
    let mut published = 0;
    for (name, uses) in ARROWS {
        let manifest = std::fs::read_to_string(root.join("crates").join(name).join("Cargo.toml")).unwrap();
        if manifest.contains("\npublish = false") {
            continue;
        }
        let place = |name: &str| order.iter().position(|crate_name| crate_name == name);
        let here = place(name).unwrap_or_else(|| panic!("release/packages does not package `{name}`"));
        for uses in uses {
            assert!(place(uses).is_some_and(|there| there < here), "`{name}` comes before `{uses}`");
        }
        published += 1;
    }
    assert_eq!(order.len(), published, "{order:?}");
}

/// The modules under `folder` that have unsafe code, such as `storage::mmap`.
fn unsafe_modules(folder: &Path, name: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{name}::{}", path.file_stem().unwrap().to_str().unwrap());
        if path.is_dir() {
            unsafe_modules(&path, &name, found);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let is_unsafe = |line: &str| {
                let code = line.split("//").next().unwrap_or_default();
                ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| code.contains(word))
            };
            found.extend(text.lines().any(is_unsafe).then_some(name));
        }
    }
}

/// The architecture page lists all modules with unsafe code, and the README has their number.
#[test]
fn unsafe_modules_are_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().parent().unwrap();
    let prose = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let rows = prose.lines().skip_while(|line| *line != "## `unsafe`").filter(|line| line.starts_with("| `"));
    let listed: Vec<&str> =
        rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    let mut found = Vec::new();
    for (name, _) in ARROWS {
        unsafe_modules(&root.join("crates").join(name).join("src"), name, &mut found);
    }
    let is_in = |found: &str, module: &str| found == module || found.starts_with(&format!("{module}::"));
    for found in &found {
        assert!(listed.iter().any(|module| is_in(found, module)), "`{found}` is not in the table");
    }
    for module in &listed {
        assert!(found.iter().any(|found| is_in(found, module)), "`{module}` has no unsafe code");
    }
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let modules = listed.iter().filter(|module| !module.starts_with("testkit::")).count();
    assert!(readme.contains(&format!("`unsafe` is confined to {modules} modules")), "{modules} modules");
}

/// Adds the CPU features that functions under `folder` are compiled for to `found`.
fn target_features(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            target_features(&path, found);
        } else {
            let text = std::fs::read_to_string(&path).unwrap();
            let lists = text.split("#[target_feature(enable = \"").skip(1);
            found
                .extend(lists.flat_map(|list| list.split('"').next().unwrap().split(',').map(str::to_owned)));
        }
    }
}

/// Few machines have some of the features of a level and lack others, so no call of a kernel shows that one is not detected.
#[test]
fn every_feature_of_a_kernel_is_detected() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut needed = BTreeSet::new();
    for (name, _) in ARROWS {
        target_features(&crates.join(name).join("src"), &mut needed);
    }
    let (avx512, avx2): (BTreeSet<_>, BTreeSet<_>) =
        needed.into_iter().partition(|feature| feature.starts_with("avx512"));
    let (_, find) =
        include_str!("../../../format/src/bits/cpu_features.rs").split_once("fn find() -> Cpu {").unwrap();
    for (level, needed) in [("avx2", avx2), ("avx512", avx512)] {
        let (_, detected) = find.split_once(&format!("let {level} = ")).unwrap();
        let (detected, _) = detected.split_once(';').unwrap();
        let detected: BTreeSet<String> = detected.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        assert_eq!(detected, needed, "{level}");
    }
}

/// The tables of the documentation and of READMEs name every feature, and whether it is a default.
#[test]
fn the_tables_of_features_are_complete() {
    let facade = include_str!("../../Cargo.toml");
    for (page, manifest, text) in [
        ("lib.rs", facade, include_str!("../../src/lib.rs")),
        ("docvalues", facade, include_str!("../../README.md")),
        ("cli", include_str!("../../../cli/Cargo.toml"), include_str!("../../../cli/README.md")),
        ("search", include_str!("../../../search/Cargo.toml"), include_str!("../../../search/README.md")),
        ("store", include_str!("../../../store/Cargo.toml"), include_str!("../../../store/README.md")),
        ("writer", include_str!("../../../writer/Cargo.toml"), include_str!("../../../writer/README.md")),
    ] {
        let (_, features) = manifest.split_once("\n[features]\n").unwrap();
        let lines = features.lines().take_while(|line| !line.starts_with('['));
        let features = lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
        let (defaults, features): (Vec<_>, Vec<_>) = features.partition(|(name, _)| *name == "default");
        let (_, table) = text.split_once("| feature | default | adds |").unwrap();
        let rows: Vec<&str> = table.lines().filter(|line| line.contains("| `")).collect();
        assert_eq!(rows.len(), features.len(), "{page}: {rows:?}");
        for (name, _) in &features {
            let is_default = defaults.iter().any(|(_, list)| list.contains(&format!("\"{name}\"")));
            let row = format!("| `{name}` | {} | ", if is_default { "yes" } else { "no" });
            assert!(rows.iter().any(|found| found.contains(&row)), "{page}: no row {row}");
        }
    }
}
