//! The modules of each crate, read from its sources: those of the top level form no circle, and the tables of modules in
//! `docs/architecture.md` list what they use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A word, `::` or another character, with its line.
pub(crate) type Token<'a> = (usize, &'a str);

/// The lines of a file with their numbers, without comments and tests. What is under `#[cfg(test)]` or
/// `#[cfg(all(test, …))]` ends, as `rustfmt` formats it, in the column in which it begins.
pub(crate) fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut test = None;
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        let rest = code.trim_start();
        let indent = code.len() - rest.len();
        if rest.starts_with("#[cfg(test") || rest.starts_with("#[cfg(all(test") {
            test = test.or(Some(indent));
        }
        if test.is_some() {
            test = test.filter(|start| *start != indent || !rest.ends_with([';', ',', '}']));
            return None;
        }
        Some((number, code))
    })
}

/// The tokens of a file, without comments and tests.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    for (number, line) in code_lines(text) {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let len = if rest.starts_with("::") { 2 } else { word.max(first.len_utf8()) };
            found.push((number, &rest[..len]));
            rest = rest[len..].trim_start();
        }
    }
    found
}

/// The names of a path from the root of the crate and then its alias, with the line.
pub(crate) type Named = (usize, Vec<String>);

/// Adds the paths of the tree at `at`, which is below `path`, to `found`. Returns the end of the tree.
pub(crate) fn tree(tokens: &[Token<'_>], mut at: usize, path: &[String], found: &mut Vec<Named>) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", |&(_, word)| word);
    let mut path = path.to_vec();
    match word(at) {
        "{" => {
            at += 1;
            while !matches!(word(at), "}" | "") {
                at = if word(at) == "," { at + 1 } else { tree(tokens, at, &path, found) };
            }
            return at + 1;
        }
        "crate" => path.clear(),
        "super" => path.truncate(path.len().saturating_sub(1)),
        "self" if word(at + 1) == "::" => {}
        name => path.push(name.to_owned()),
    }
    if word(at + 1) == "::" {
        return tree(tokens, at + 2, &path, found);
    }
    let alias = (word(at + 1) == "as").then(|| word(at + 2).to_owned());
    let after = at + if alias.is_some() { 3 } else { 1 };
    path.extend(alias);
    found.push((tokens.get(at).map_or(0, |(line, _)| *line), path));
    after
}

/// The paths in the file of `module` that begin with `crate`, `super` or `self`, and the modules inside that have files.
/// In the root of a crate, also the paths of `use`.
fn paths(text: &str, module: &[String]) -> (Vec<Named>, Vec<Vec<String>>) {
    let (tokens, mut at) = (tokens(text), 0);
    let (mut found, mut files) = (Vec::new(), Vec::new());
    while at < tokens.len() {
        at = match tokens[at..] {
            [(_, "mod"), (_, name), (_, ";"), ..] => {
                files.push(module.iter().cloned().chain([name.to_owned()]).collect());
                at + 3
            }
            [(_, "crate" | "super" | "self"), (_, "::"), ..] => tree(&tokens, at, module, &mut found),
            [(_, "use"), ..] if module.is_empty() => tree(&tokens, at + 1, module, &mut found),
            _ => at + 1,
        };
    }
    (found, files)
}

/// Which module of the top level uses which other one, and a place where it does.
type Edges = BTreeMap<(String, String), String>;

/// The modules of the top level of the crate in `src`, and their edges.
fn edges(src: &Path) -> (BTreeSet<String>, Edges) {
    let mut left: Vec<Vec<String>> = vec![Vec::new()];
    let mut modules = BTreeSet::new();
    let (mut root, mut named) = (Vec::new(), Vec::new());
    while let Some(module) = left.pop() {
        let file = if module.is_empty() { "lib.rs".to_owned() } else { module.join("/") + ".rs" };
        let text = std::fs::read_to_string(src.join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        let (found, files) = paths(&text, &module);
        left.extend(files);
        match module.first() {
            None => root = found,
            Some(user) => {
                modules.insert(user.clone());
                let placed =
                    found.into_iter().map(|(line, path)| (format!("{file}:{line}"), user.clone(), path));
                named.extend(placed);
            }
        }
    }
    // A name that the root exports stands for its module: `crate::Name`.
    let exported = root.iter().filter(|(_, path)| path.len() > 1 && modules.contains(&path[0]));
    let exported: BTreeMap<_, _> = exported.map(|(_, path)| (path.last(), &path[0])).collect();
    let mut edges = Edges::new();
    for (place, user, path) in named {
        let Some(name) = path.first() else { continue };
        assert_ne!(name, "*", "{place}: a glob hides which modules are used");
        let used = modules.get(name).or_else(|| exported.get(&Some(name)).copied());
        if let Some(used) = used.filter(|used| **used != user) {
            edges.entry((user, used.clone())).or_insert(place);
        }
    }
    (modules, edges)
}

/// A circle of modules, each with a place where it uses the next one; empty if there is none.
fn circle(edges: &Edges) -> Vec<String> {
    let mut left = edges.clone();
    let uses = |edges: &Edges, module: &String| edges.keys().any(|(user, _)| user == module);
    while let Some((_, last)) = left.keys().find(|(_, used)| !uses(&left, used)).cloned() {
        left.retain(|(_, used), _| *used != last);
    }
    // Now each module that is used uses another one.
    let mut way: Vec<(&String, String)> = Vec::new();
    let mut next = left.keys().next().map(|(user, _)| user);
    while let Some(at) = next {
        if let Some(start) = way.iter().position(|(passed, _)| *passed == at) {
            return way.drain(start..).map(|(_, edge)| edge).collect();
        }
        let edge = left.iter().find(|((user, _), _)| user == at);
        way.extend(edge.map(|((_, used), place)| (at, format!("{at} -> {used} ({place})"))));
        next = edge.map(|((_, used), _)| used);
    }
    Vec::new()
}

/// The folder of all crates.
pub(crate) fn crates() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

#[test]
fn modules_form_no_circle() {
    let mut circles = Vec::new();
    for folder in std::fs::read_dir(crates()).unwrap() {
        let folder = folder.unwrap();
        let circle = circle(&edges(&folder.path().join("src")).1);
        if !circle.is_empty() {
            circles.push(format!("{}: {}", folder.file_name().display(), circle.join(", ")));
        }
    }
    assert!(circles.is_empty(), "modules in a circle:\n{}", circles.join("\n"));
}

/// The architecture page has a table of the modules of these crates, and of those that each uses.
#[test]
fn the_architecture_page_lists_what_modules_use() {
    let page = std::fs::read_to_string(crates().parent().unwrap().join("docs/architecture.md")).unwrap();
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    for name in ["search", "store", "writer", "cli"] {
        let (modules, edges) = edges(&crates().join(name).join("src"));
        let head = format!("| module of `{name}` | may use |");
        let rows = page.lines().skip_while(|line| !line.starts_with(&head)).skip(2);
        let (mut users, mut listed) = (BTreeSet::new(), BTreeSet::new());
        for row in rows.take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.split('|').collect();
            for user in words(cells[1]) {
                listed.extend(words(cells[2]).into_iter().map(|used| (user.clone(), used)));
                users.insert(user);
            }
        }
        let other = modules.symmetric_difference(&users);
        wrong.extend(
            other.map(|module| format!("{name}: only the table or only the sources have `{module}`")),
        );
        for ((user, used), place) in edges.iter().filter(|(edge, _)| !listed.contains(*edge)) {
            wrong.push(format!("{name}: `{user}` uses `{used}`, which its row does not list: {place}"));
        }
        for (user, used) in listed.iter().filter(|edge| !edges.contains_key(*edge)) {
            wrong.push(format!("{name}: `{user}` does not use `{used}`, which its row lists"));
        }
    }
    assert!(wrong.is_empty(), "docs/architecture.md:\n{}", wrong.join("\n"));
}

/// Uses in braces, by a name that the root exports, and in an expression.
#[test]
fn known_uses_are_found() {
    let known = [("writer", "finish", "file"), ("column", "terms", "lists"), ("column", "absent", "bits")];
    for (name, user, used) in known {
        let (_, edges) = edges(&crates().join(name).join("src"));
        assert!(edges.contains_key(&(user.to_owned(), used.to_owned())), "{name}: {user} uses {used}");
    }
}

/// The paths in a file of the module `a::b`, and its modules that have files.
fn read(text: &str) -> (Vec<String>, Vec<String>) {
    let (found, files) = paths(text, &["a".to_owned(), "b".to_owned()]);
    let joined = |paths: Vec<Vec<String>>| paths.iter().map(|path| path.join("::")).collect();
    (joined(found.into_iter().map(|(_, path)| path).collect()), joined(files))
}

#[test]
fn paths_are_read() {
    let cases: [(&str, &[&str]); 8] = [
        ("use crate::c;", &["c"]),
        ("use crate::c::{d::{E, F as G}, self, h::*};", &["c::d::E", "c::d::F::G", "c::self", "c::h::*"]),
        ("pub(crate) use super::{c::D, super::e};", &["a::c::D", "e"]),
        ("use super::super::c::D; use self::e::F; use std::fmt;", &["c::D", "a::b::e::F"]),
        ("let c: &'static crate::C<'_> = crate::d::e::<u8>('{');", &["C", "d::e::<"]),
        ("pub(in crate::a) fn f() { $crate::c!(); }", &["a", "c"]),
        ("#[serde(with = \"crate::c::d\")] e: f64, // crate::f", &["c::d"]),
        ("/// Of [`crate::c`].\nuse crate::{\n    d,\n    e,\n};", &["d", "e"]),
    ];
    for (text, paths) in cases {
        assert_eq!(read(text).0, paths, "{text}");
    }
}

#[test]
fn tests_are_left_out() {
    let text = "
#[cfg(test)]
mod tests;
#[cfg(all(test, unix))]
#[expect(dead_code)]
mod more {
    use crate::c::{D, *};
}
struct S {
    #[cfg(test)]
    a: crate::d::D,
    b: crate::e::E,
}
impl S {
    #[cfg(test)]
    pub(crate) fn limit<A, B>(
        a: crate::f::A,
    ) -> Result<A, B> {
        crate::g::h(a);
    }
    fn i(self) -> crate::i::I;
}
#[cfg(any(unix, test))]
use crate::j;
mod file;
";
    let (paths, files) = read(text);
    assert_eq!(paths, ["e::E", "i::I", "j"]);
    assert_eq!(files, ["a::b::file"]);
}

#[test]
fn circles_are_found() {
    let edges = |uses: &[(&str, &str)]| -> Edges {
        let edge = |(user, used): &(&str, &str)| ((user.to_string(), used.to_string()), "x.rs:1".to_owned());
        uses.iter().map(edge).collect()
    };
    assert!(circle(&edges(&[("a", "b"), ("a", "c"), ("b", "c"), ("d", "a")])).is_empty());
    let found = circle(&edges(&[("a", "b"), ("b", "c"), ("c", "d"), ("d", "b"), ("d", "e")]));
    assert_eq!(found, ["b -> c (x.rs:1)", "c -> d (x.rs:1)", "d -> b (x.rs:1)"]);
}
