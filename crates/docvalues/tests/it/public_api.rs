//! The public API as a text, `tests/public-api.txt`, so that a change of it is seen: `UPDATE_SNAPSHOTS=1` rewrites the file;
//! review the difference like code.
//!
//! It is read from the sources. As `rustfmt` formats them, a public item begins a line, and a public part of it is four
//! columns in. The lint `unreachable_pub` denies `pub` where it exports nothing.

use std::collections::BTreeSet;
use std::path::Path;

use crate::modules::{code_lines, crates, tokens, tree};

/// The crates of the facade, and those of which it exports some types.
const CRATES: [&str; 10] =
    ["docvalues", "column", "reader", "search", "lucene", "store", "terms", "writer", "format", "storage"];

/// A public item, or a part of one.
struct Item {
    /// The public path of its module.
    module: String,
    /// Its own name; of a part, that of the type, trait or module that has it.
    name: String,
    is_part: bool,
    declaration: String,
    /// Of a name that is exported from elsewhere, its path.
    path: Vec<String>,
}

/// The declaration that begins in the line `first`, in one line, without its block.
fn declaration<'a>(first: &'a str, lines: &mut impl Iterator<Item = &'a str>) -> String {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let head = first.split(['(', '<', '{', ';', ':', '=']).next().unwrap_or_default();
    let blocks = ["fn", "struct", "enum", "trait", "impl", "mod"];
    let has_block = head.split_whitespace().any(|word| blocks.contains(&word));
    let mut text = String::new();
    let mut next = Some(first);
    while let Some(line) = next {
        let part = line.trim();
        if !(part.is_empty() || part.starts_with("#[")) {
            if !(text.is_empty() || text.ends_with(['(', '<', '['])) {
                text.push(' ');
            }
            text.push_str(part);
        }
        let is_end = match has_block {
            true => part.ends_with(['{', ';', '}']),
            false => part.ends_with(';') || part.ends_with(',') && indent(line) == indent(first),
        };
        next = if is_end { None } else { lines.next() };
    }
    let text = text.strip_prefix("pub ").unwrap_or(&text).replace(", )", ")").replace(", >", ">");
    let text = text.trim_end_matches(if has_block { ['{', '}', ';', ' '] } else { [',', ';', ' ', ' '] });
    let is_value = !has_block && (text.starts_with("const ") || text.starts_with("static "));
    let text = if is_value { text.split(" = ").next().unwrap_or_default() } else { text };
    // The fields of a tuple are its own affair, unless they are public.
    let is_tuple = text.starts_with("struct ") && !text.contains("pub ");
    let mut text = if is_tuple { text.split('(').next().unwrap_or_default() } else { text }.to_owned();
    // Attributes of a variant's fields.
    while let Some((before, rest)) = text.split_once("#[") {
        let (_, after) = rest.split_once("] ").unwrap_or_default();
        text = before.to_owned() + after;
    }
    text
}

/// The name of the type of an `impl` without a trait.
fn implemented(declaration: &str) -> Option<String> {
    let rest = declaration.strip_prefix("impl").filter(|rest| !rest.contains(" for "))?;
    let (mut depth, mut before) = (0, ' ');
    let is_name = |c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>' && before != '-');
        before = c;
        depth == 0 && (c.is_alphanumeric() || c == '_')
    };
    let start = rest.find(is_name)?;
    rest[start..].split(|c: char| !(c.is_alphanumeric() || c == '_')).next().map(str::to_owned)
}

/// The text with each enum of the macro `named!` as one without a macro.
fn without_macros(text: &str) -> String {
    let mut is_named = false;
    let mut plain = String::new();
    for line in text.lines() {
        match line {
            "named! {" => is_named = true,
            "}" if is_named => is_named = false,
            _ if is_named => {
                let code = line.strip_prefix("    ").unwrap_or(line);
                plain.push_str(code.split(" => ").next().unwrap_or_default());
                plain.push_str(if code.contains(" => ") { ",\n" } else { "\n" });
            }
            _ => plain.extend([line, "\n"]),
        }
    }
    plain
}

/// Adds the public items of a file in a module.
fn items(text: &str, module: &str, found: &mut Vec<Item>) {
    let text = &without_macros(text);
    // The item whose block this is, and whether all in it is public, as in an enum and a trait.
    let mut owner: Option<(String, bool)> = None;
    let mut is_hidden = false;
    let mut lines = code_lines(text).map(|(_, line)| line).filter(|line| !line.is_empty());
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if code.starts_with("#[") {
            is_hidden |= code.starts_with("#[doc(hidden)");
            continue;
        }
        let is_hidden = std::mem::take(&mut is_hidden);
        let indent = line.len() - code.len();
        let is_item = indent == 0 && (code.starts_with("pub ") || code.starts_with("impl"));
        let is_public = |(_, all): &(String, bool)| *all || code.starts_with("pub ");
        let is_part = indent == 4 && !code.starts_with(['}', ')']) && owner.as_ref().is_some_and(is_public);
        if indent == 0 {
            owner = None;
        }
        if !(is_item || is_part) {
            continue;
        }
        let declaration = declaration(line, &mut lines);
        if is_item && declaration.starts_with("impl") {
            owner = implemented(&declaration).map(|name| (name, false));
            continue;
        }
        if is_hidden {
            continue;
        }
        let mut name = owner.as_ref().map_or(String::new(), |(name, _)| name.clone());
        if is_item {
            let kinds = ["struct", "enum", "trait", "mod", "fn", "const", "type", "use", "static"];
            let mut words = declaration.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let kind = words.find(|word| kinds.contains(word)).unwrap_or_default();
            name = words.next().unwrap_or_default().to_owned();
            owner = match kind {
                "struct" | "mod" => Some((name.clone(), false)),
                "enum" | "trait" => Some((name.clone(), true)),
                _ => None,
            };
        }
        let item = |declaration, path| Item {
            module: module.to_owned(),
            name: name.clone(),
            is_part,
            declaration,
            path,
        };
        if !declaration.starts_with("use ") {
            found.push(item(declaration, Vec::new()));
            continue;
        }
        let mut paths = Vec::new();
        tree(&tokens(&declaration), 1, &[], &mut paths);
        let exports = paths
            .into_iter()
            .map(|(_, path)| item(format!("use {}", path.last().map_or("", String::as_str)), path));
        found.extend(exports);
    }
}

/// The public path of each module of a crate, and the text of its file. Hidden modules are left out.
fn files(name: &str) -> Vec<(String, String)> {
    let src = crates().join(name).join("src");
    let mut found = Vec::new();
    // The folder of each module, and its public path.
    let mut left = vec![(src.clone(), name.to_owned())];
    while let Some((folder, module)) = left.pop() {
        let file = if folder == src { src.join("lib.rs") } else { folder.with_extension("rs") };
        let text =
            std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut is_hidden = false;
        for (_, line) in code_lines(&text).filter(|(_, line)| !line.is_empty()) {
            if line.starts_with("#[") {
                is_hidden |= line.starts_with("#[doc(hidden)");
                continue;
            }
            let is_hidden = std::mem::take(&mut is_hidden);
            let words: Vec<&str> = line.trim_end_matches(';').split(' ').collect();
            let inner = match words.as_slice() {
                ["pub", "mod", inner] if line.ends_with(';') => Some((inner, format!("{module}::{inner}"))),
                ["mod", inner] | [_, "mod", inner] if line.ends_with(';') => Some((inner, module.clone())),
                _ => None,
            };
            let inner = inner.filter(|_| !is_hidden && !line.starts_with(' '));
            left.extend(inner.map(|(inner, path)| (folder.join(inner), path)));
        }
        found.push((module, text));
    }
    found
}

/// The public items of a crate.
fn items_of(name: &str) -> Vec<Item> {
    let mut found = Vec::new();
    for (module, text) in files(name) {
        items(&text, &module, &mut found);
    }
    found
}

/// The dependencies of a crate but Arrow's crates and those of this project.
fn dependencies(name: &str) -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
    let (mut is_list, mut found) = (false, BTreeSet::new());
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_list = line.ends_with("dependencies]");
            continue;
        }
        let name = line.split([' ', '.', '=']).next().unwrap_or_default().replace('-', "_");
        let is_other =
            name.is_empty() || ["#", "arrow_", "docvalues"].iter().any(|ours| name.starts_with(ours));
        if is_list && !is_other {
            found.insert(name);
        }
    }
    found
}

/// The names from dependencies that the public items of a file have in their declarations, each with its item.
fn foreign_names(text: &str, dependencies: &BTreeSet<String>) -> Vec<String> {
    let words = tokens(text);
    let mut paths = Vec::new();
    for (at, pair) in words.windows(2).enumerate() {
        if pair[0].1 == "use" && dependencies.contains(pair[1].1) {
            tree(&words, at + 1, &[], &mut paths);
        }
    }
    let mut foreign = dependencies.clone();
    foreign.extend(paths.into_iter().filter_map(|(_, mut path)| path.pop()));
    let mut public = Vec::new();
    items(text, "", &mut public);
    let mut found = Vec::new();
    for item in &public {
        let words = tokens(&item.declaration).into_iter().map(|(_, word)| word);
        let named = words.filter(|word| !["self", "_", "*"].contains(word) && foreign.contains(*word));
        found.extend(named.map(|word| format!("{}: {word}", item.name)));
    }
    found
}

/// The public items of all crates, a line each.
fn public_api() -> String {
    let (mut lines, mut exported) = (BTreeSet::new(), BTreeSet::<String>::new());
    for name in CRATES {
        let is_below = ["format", "storage"].contains(&name);
        for Item { module, name, is_part, declaration, path } in items_of(name) {
            if is_below && (!path.is_empty() || !exported.contains(&name)) {
                continue;
            }
            if path.first().is_some_and(|root| ["docvalues_format", "docvalues_storage"].contains(&&**root)) {
                // The name, and the one that it gets.
                exported.extend(path.into_iter().rev().take(2));
            }
            let owner = if is_part { name + ": " } else { String::new() };
            lines.insert((module, owner, declaration));
        }
    }
    let lines =
        lines.into_iter().map(|(module, owner, declaration)| format!("{module} {owner}{declaration}\n"));
    lines.collect()
}

#[test]
fn the_public_api_is_as_it_was() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public-api.txt");
    let actual = public_api();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (before, now) = (lines(&expected), lines(&actual));
    let gone = before.difference(&now).map(|line| format!("- {line}"));
    let added = now.difference(&before).map(|line| format!("+ {line}"));
    let changes: Vec<_> = gone.chain(added).collect();
    assert!(
        changes.is_empty(),
        "{} differs (UPDATE_SNAPSHOTS=1 writes it):\n{}",
        file.display(),
        changes.join("\n")
    );
}

/// Names that the CHANGELOG says moved are at their new place, and no longer at the root.
#[test]
fn moved_names_are_where_the_changelog_says() {
    let changelog = include_str!("../../../../CHANGELOG.md");
    let api = include_str!("../public-api.txt");
    let is_public = |module: &str, name: &str| {
        let lines = ["use", "mod"].map(|kind| format!("{module} {kind} {name}"));
        api.lines().any(|line| lines.iter().any(|wanted| wanted == line))
    };
    let mut seen = 0;
    for row in changelog.lines().filter(|row| row.starts_with("| `docvalues::{")) {
        let (old, new) = row.trim_start_matches("| `docvalues::{").split_once("}` | ").unwrap();
        let Some(module) = new.strip_prefix("the same names in `docvalues::") else { continue };
        let (module, _) = module.split_once('`').unwrap();
        for name in old.split(", ") {
            assert!(is_public(module, name), "`{name}` is not in `{module}`");
            assert!(!is_public("docvalues", name), "`{name}` is still at the root");
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen} names");
}

#[test]
fn the_root_has_forty_names() {
    let items = items_of("docvalues");
    let is_root = |item: &&Item| item.module == "docvalues" && !item.is_part;
    let name = |item: &Item| item.path.last().unwrap_or(&item.name).clone();
    // The guide is pages, and has no items. Indexes of Lucene are there only with a feature that few have.
    let mut names: BTreeSet<_> = items.iter().filter(is_root).map(name).collect();
    names.remove("_guide");
    names.remove("lucene");
    assert!(names.len() <= 40, "{} names: {names:?}", names.len());
}

/// A new version of a dependency changes no signature. What reads from an object store of the application takes that store.
#[test]
fn signatures_name_no_dependency_but_arrow() {
    let mut found = BTreeSet::new();
    for name in CRATES {
        let dependencies = dependencies(name);
        for (module, text) in files(name) {
            let names = foreign_names(&text, &dependencies);
            found.extend(names.into_iter().map(|name| format!("{module} {name}")));
        }
    }
    let expected = [
        "store ObjectDepot: Handle",
        "store ObjectDepot: ObjectStore",
        "store ObjectReader: Handle",
        "store ObjectReader: ObjectStore",
        "store ObjectReader: Path",
    ];
    assert_eq!(found, BTreeSet::from(expected.map(str::to_owned)));
}

#[test]
fn foreign_names_are_found() {
    let text = "
use dep::{self, a::B as C, D, Trait as _};
use std::E;
pub struct S {
    pub c: Vec<C>,
    d: D,
    #[serde(with = \"dep::f\")]
    pub e: E,
}
pub enum F {
    G(#[dep(h)] E),
}
pub use dep::H;
impl S {
    pub fn f(&self, a: &dep::A<'_>) -> E {
        D::g()
    }
    fn i(d: D) {}
}
";
    let found = foreign_names(text, &BTreeSet::from(["dep".to_owned()]));
    assert_eq!(found, ["S: C", "dep: H", "S: dep"]);
}

#[test]
fn enums_of_a_macro_are_read() {
    let text = "named! {\n    /// One.\n    pub enum Kind {\n        /// Two.\n        A = 1 => \"a\",\n    }\n}\npub fn f() {}\n";
    let mut found = Vec::new();
    items(text, "m", &mut found);
    let found: Vec<&str> = found.iter().map(|item| item.declaration.as_str()).collect();
    assert_eq!(found, ["enum Kind", "A = 1", "fn f()"]);
}

#[test]
fn declarations_are_read() {
    let text = "
#[derive(Clone)]
pub struct S<T> {
    pub a: Vec<T>, // text
    b: u8,
}
pub(crate) struct Private {
    c: u8,
}
impl<T: Fn() -> u8> S<T> {
    pub const ALL: [u8; 1] =
        [1];
    pub fn f(
        self,
        a: u8,
    ) -> T
    where
        T: Copy,
    {
        self.b
    }
    #[doc(hidden)]
    pub fn g(&self) {}
    fn h(&self) {}
}
impl<T> Clone for S<T> {
    fn clone(&self) {}
}
pub enum E {
    /// A variant.
    #[error(\"x\")]
    A(#[from] u8),
    B {
        a: u8,
    },
}
pub struct Id(u32);
pub use a::{B as C, d::D};
#[cfg(test)]
pub fn test() {}
";
    let mut found = Vec::new();
    items(text, "m", &mut found);
    let found: Vec<_> = found
        .iter()
        .map(|item| format!("{}{}", if item.is_part { "  " } else { "" }, item.declaration))
        .collect();
    let expected = [
        "struct S<T>",
        "  a: Vec<T>",
        "  const ALL: [u8; 1]",
        "  fn f(self, a: u8) -> T where T: Copy,",
        "enum E",
        "  A(u8)",
        "  B { a: u8, }",
        "struct Id",
        "use C",
        "use D",
    ];
    assert_eq!(found, expected);
}
