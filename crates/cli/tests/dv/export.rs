//! What `dv export -o` does to files: those of others, and its own.

use crate::sandbox::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with("a.csv", "a,b\n1,x\n2,y\n");
    sandbox.ok(&["build", "a.csv", "-o", "a.dv", "-q"]);
    sandbox
}

/// Under whatever name.
#[cfg(unix)]
#[test]
fn a_segment_is_not_exported_over_itself() {
    let sandbox = sandbox();
    let before = sandbox.read("a.dv");
    std::fs::hard_link(sandbox.path("a.dv"), sandbox.path("hard.dv")).unwrap();
    std::os::unix::fs::symlink("a.dv", sandbox.path("link.dv")).unwrap();
    for output in ["a.dv", "./a.dv", "hard.dv", "link.dv"] {
        let run = sandbox.dv(&["export", "a.dv", "-o", output, "--format", "csv"]);
        let expected = "dv: a.dv is an input and the output\n    hint: name another file with -o\n";
        assert_eq!((run.code, run.err.as_str()), (2, expected));
        assert_eq!(sandbox.read(output), before);
    }
}

#[test]
fn no_file_beside_the_output_is_touched() {
    let sandbox = sandbox();
    sandbox.write("out.csv.part", "mine");
    sandbox.write("out.csv", "older");
    sandbox.ok(&["export", "a.dv", "-o", "out.csv"]);
    assert_eq!(sandbox.read("out.csv"), b"a,b\n1,x\n2,y\n");
    assert_eq!(sandbox.read("out.csv.part"), b"mine");
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "out.csv", "out.csv.part"]);
}

#[test]
fn what_cannot_be_exported_leaves_what_stood_there() {
    let sandbox = sandbox();
    sandbox.write("out.csv", "older");
    for more in [&["--columns", "c"][..], &["--docs", "1..9"], &["--where", "c = 1"], &["--format", "xml"]] {
        assert_ne!(sandbox.dv(&[&["export", "a.dv", "-o", "out.csv"], more].concat()).code, 0, "{more:?}");
        assert_ne!(sandbox.dv(&[&["export", "a.dv", "-o", "new.csv"], more].concat()).code, 0, "{more:?}");
    }
    let mut damaged = sandbox.read("a.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    assert_eq!(sandbox.dv(&["export", "damaged.dv", "-o", "out.csv"]).code, 1);
    assert_eq!(sandbox.read("out.csv"), b"older");
    for folder in [".", "no/out.csv"] {
        let run = sandbox.dv(&["export", "a.dv", "-o", folder, "--format", "csv"]);
        assert!(run.code == 3 && run.err.starts_with("dv: cannot create `"), "{run:?}");
    }
    assert_eq!(sandbox.names(), ["a.csv", "a.dv", "damaged.dv", "out.csv"]);
}
