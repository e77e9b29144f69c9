//! The commands of docs/delete-a-person.md run, and after them no file has the bytes of the person.

use std::path::Path;
use std::process::{Command, Output};

use crate::sandbox::Sandbox;

/// Runs a script in a shell that finds `dv`, and ends with the first failure, also in a pipe.
fn script(sandbox: &Sandbox, text: &str) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_dv")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut sh = Command::new("sh");
    sh.args(["-e", "-c", text]).env("PATH", path).current_dir(sandbox.path("."));
    sh.output().unwrap()
}

/// The files below a folder that have one of these.
fn files_with(sandbox: &Sandbox, folder: &str, needles: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(sandbox.path(folder)).unwrap() {
        let file = file.unwrap();
        let bytes = std::fs::read(file.path()).unwrap();
        let has = |needle: &&str| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
        if needles.iter().any(has) {
            found.push(file.file_name().into_string().unwrap());
        }
    }
    found
}

/// Bytes that must be gone.
const PERSON: [&str; 4] = ["ada@example.com", "Ada Lovelace", "Countess of Lovelace", "1815-12-10"];

/// A store in which the person is everywhere: in two segments, as updates that are folded, in older commits, a log, a replica
/// and a depot.
fn people(sandbox: &Sandbox, versions: bool) {
    sandbox.write(
        "a.csv",
        "email,v,name,born,n\nada@example.com,1,Ada Lovelace,1815-12-10,7\nbob@example.com,1,Bob,1990-01-01,8\n",
    );
    sandbox.write("b.csv", "email,v,name,born,n\ncarl@example.com,1,Carl,1991-01-01,9\n");
    let create = ["store", "create", "people", "--id-field", "email", "--keep-commits", "9"];
    let of_versions: &[&str] = if versions { &["--version-field", "v"] } else { &[] };
    sandbox.ok(&[&create[..], &["--type", "born=string:binary"], of_versions].concat());
    sandbox.ok(&["put", "people", "a.csv", "-q"]);
    sandbox.ok(&["put", "people", "b.csv", "-q"]);
    sandbox.ok(&["set", "people", "ada@example.com", "name=Countess of Lovelace", "-q"]);
    // More changes than there may be deltas, so that they are folded; and a log.
    for round in 0..12 {
        sandbox.ok(&["set", "people", "ada@example.com", &format!("n={round}"), "-q"]);
        sandbox.write("c.csv", format!("email,v,name\ncarl@example.com,{},Carl\n", round + 2));
        sandbox.ok(&["put", "people", "c.csv", "-q", "--keep-frames", "1MiB"]);
    }
    sandbox.ok(&["replicate", "people", "--to", "shared", "--once"]);
    let stream = sandbox.command(&["replicate", "people", "--once"]).output().unwrap().stdout;
    assert_eq!(sandbox.dv_with(&["replica", "copy", "--keep-frames", "1MiB"], &stream).code, 0);
    for folder in ["people", "shared", "copy"] {
        assert!(!files_with(sandbox, folder, &PERSON).is_empty(), "{folder}");
    }
}

#[test]
fn no_file_has_a_deleted_person() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/delete-a-person.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).map(|block| block.split_once("```").unwrap().0).collect();
    assert_eq!(blocks.len(), 5);
    for versions in [false, true] {
        let sandbox = Sandbox::new();
        people(&sandbox, versions);
        for (at, block) in blocks.iter().enumerate() {
            let output = script(&sandbox, block);
            assert!(output.status.success(), "{block}\n{output:?}");
            assert_eq!(files_with(&sandbox, "people", &PERSON), [""; 0], "after block {at}");
        }
        for folder in ["copy", "shared"] {
            assert_eq!(files_with(&sandbox, folder, &PERSON), [""; 0], "{folder}");
            assert_eq!(sandbox.dv(&["check", "people", "copy"]).code, 0);
        }
        sandbox.ok(&["replica", "third", "--follow", "shared", "--once"]);
        assert_eq!(sandbox.ok(&["count", "people"]), "1\n");
        assert_eq!(sandbox.ok(&["count", "third"]), "2\n");
    }
}

/// An older commit that is read is named, and purged later.
#[test]
fn a_commit_that_is_read_is_named() {
    let sandbox = Sandbox::new();
    people(&sandbox, true);
    let newest = docvalues::store::StoreReader::hold_commit(sandbox.path("people"), None).unwrap();
    sandbox.ok(&["rm", "people", "ada@example.com", "-q"]);
    let refused = sandbox.dv(&["merge", "people", "--purge"]);
    let name = format!("commit-{:08}", newest.number());
    assert!(refused.code == 3 && refused.err.contains(&name), "{refused:?}");
    let json = sandbox.dv(&["merge", "people", "--purge", "--json"]);
    assert!(json.code == 3 && json.out.contains(&name), "{json:?}");
    assert!(!files_with(&sandbox, "people", &PERSON).is_empty());
    drop(newest);
    sandbox.ok(&["merge", "people", "--purge", "--to", "1", "-q"]);
    assert_eq!(files_with(&sandbox, "people", &PERSON), [""; 0]);
    // A purge of nothing is one, too.
    sandbox.ok(&["merge", "people", "--purge", "-q"]);
    assert_eq!(sandbox.ok(&["count", "people"]), "2\n");
}

/// The store remembers how many commits it keeps, and when each was made.
#[test]
fn a_store_keeps_the_commits_that_it_was_told_to() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    let commits = || {
        let listed: serde_json::Value =
            serde_json::from_str(&sandbox.ok(&["commits", "st", "--json"])).unwrap();
        let listed = listed.as_array().unwrap().clone();
        for commit in &listed {
            let made = commit["made"].as_str().unwrap();
            assert!(made.starts_with("20") && made.ends_with('Z') && made.len() == 20, "{made}");
        }
        listed.len()
    };
    let mut round = 0;
    let mut put = |more: &[&str]| {
        round += 1;
        sandbox.write("a.csv", format!("id,n\na,{round}\n"));
        sandbox.ok(&[&["put", "st", "a.csv", "-q"], more].concat());
        commits()
    };
    assert_eq!([put(&[]), put(&[])], [2, 2]);
    assert_eq!([put(&["--keep-commits", "4"]), put(&[]), put(&[])], [3, 4, 4]);
    assert_eq!([put(&["--keep-commits", "30d"]), put(&[])], [5, 6]);
    // A command that changes nothing else sets it, too.
    sandbox.ok(&["merge", "st", "--keep-commits", "1"]);
    assert_eq!(commits(), 1);
    assert_eq!(put(&[]), 1);
    let wrong = sandbox.dv(&["rm", "st", "a", "--keep-commits", "0"]);
    assert!(wrong.code == 2 && wrong.err.contains("such as 12h or 30d"), "{wrong:?}");
    assert!(sandbox.ok(&["commits", "st"]).lines().next().unwrap().ends_with("made"));
}
