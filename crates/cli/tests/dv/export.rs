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
