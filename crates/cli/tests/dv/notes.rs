//! Notes on standard error about values that come out otherwise than they went in.

use crate::sandbox::Sandbox;

/// Builds `a.dv` and returns the notes.
#[track_caller]
fn notes(sandbox: &Sandbox, args: &[&str]) -> String {
    let run = sandbox.dv(&[&["build"], args, &["-o", "a.dv"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.err
}

#[test]
fn numbers_that_a_double_rounds_are_kept_as_text() {
    let note = |number| {
        format!(
            "note: column \"x\": a double rounds {number}, so the type is string (--type x=f64 rounds it)\n"
        )
    };
    for number in ["9007199254740993.0", "123456789012345678.5", "0.12345678901234567890", "1e-400"] {
        let text = format!("x\n1.5\n{number}\n");
        let sandbox = Sandbox::with("a.csv", &text);
        assert_eq!(notes(&sandbox, &["a.csv"]), note(number));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        sandbox.write("a.ndjson", format!("{{\"x\":1.5}}\n{{\"x\":{number}}}\n"));
        assert_eq!(notes(&sandbox, &["a.ndjson"]), note(number));
        assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
        notes(&sandbox, &["a.csv", "--type", "x=f64"]);
        assert_eq!(sandbox.ok(&["count", "a.dv", "--where", "x >= 0"]).trim(), "2");
    }
    let sandbox = Sandbox::with("a.csv", "x\n1.5\n6.904679999999999\n9007199254740992.0\n");
    assert_eq!(notes(&sandbox, &["a.csv"]), "");
    assert!(sandbox.ok(&["info", "a.dv"]).contains("f64"));
}

#[test]
fn a_late_number_that_a_double_rounds_is_an_error() {
    let sandbox = Sandbox::with("a.csv", "x\n1.5\n123456789012345678.5\n");
    let run = sandbox.dv(&["build", "a.csv", "-o", "a.dv", "--sample", "1"]);
    let expected = "dv: a.csv:3:1: column \"x\" (f64): a double rounds this number: \"123456789012345678.5\"\n    \
                    hint: use --type x=f64 to round it, or --type x=string to keep its text; or skip bad rows with \
                    --skip-bad\n";
    assert_eq!((run.code, run.err.as_str()), (1, expected));
}

#[test]
fn timestamps_with_different_offsets_are_kept_as_text() {
    let text = "t\n2013-01-01T06:00:00+01:00\n2013-07-01T06:00:00+02:00\n";
    let sandbox = Sandbox::with("a.csv", text);
    let expected = "note: column \"t\": the UTC offsets of its timestamps differ, so the type is string \
                    (--type t=timestamp stores them without offsets)\n";
    assert_eq!(notes(&sandbox, &["a.csv"]), expected);
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), text);
    notes(&sandbox, &["a.csv", "--type", "t=timestamp"]);
    let moments = "t\n2013-01-01T05:00:00Z\n2013-07-01T04:00:00Z\n";
    assert_eq!(sandbox.ok(&["export", "a.dv", "--format", "csv"]), moments);
}
