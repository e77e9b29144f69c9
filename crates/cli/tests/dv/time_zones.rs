//! Time zones: steps, groups, conditions, and what is printed.

use docvalues_testkit::damage::cases;
use serde_json::{Value, from_str, json};

use crate::sandbox::{Sandbox, without_bars};

/// Times around 2024-03-31 in Berlin, where clocks went from 2:00 to 3:00.
fn sandbox() -> Sandbox {
    let csv = "at,size\n\
        2024-03-30T22:59:59Z,1\n\
        2024-03-30T23:00:00Z,2\n\
        2024-03-31T00:59:59Z,3\n\
        2024-03-31T01:00:00Z,4\n\
        2024-03-31T21:59:59Z,5\n\
        2024-03-31T22:00:00Z,6\n";
    let sandbox = Sandbox::with("t.csv", csv);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    sandbox
}

const BERLIN: [&str; 2] = ["--tz", "Europe/Berlin"];

fn ok(sandbox: &Sandbox, args: &[&str]) -> String {
    sandbox.ok(&[args, &BERLIN[..]].concat())
}

#[test]
fn days_and_their_parts_are_those_of_clocks() {
    let sandbox = sandbox();
    let days = ok(&sandbox, &["histogram", "t.dv", "at", "--step", "day"]);
    let expected = "\
at: 6 documents, 0 without a value
  2024-03-30T00:00:00+01:00  1
  2024-03-31T00:00:00+01:00  4
  2024-04-01T00:00:00+02:00  1
";
    assert_eq!(without_bars(&days), expected);
    let parts = ok(&sandbox, &["histogram", "t.dv", "at", "--step", "12h", "--where", "at = '2024-03-31'"]);
    let expected = "  2024-03-31T00:00:00+01:00  3\n  2024-03-31T12:00:00+02:00  1\n";
    assert!(without_bars(&parts).ends_with(expected), "{parts}");
    let hours = ok(&sandbox, &["histogram", "t.dv", "at", "--step", "hour-of-day", "--json"]);
    let hours: Value = from_str(&hours).unwrap();
    let hours = hours["ranges"].as_array().unwrap().iter().filter(|range| range["count"] != 0);
    let hours: Vec<_> = hours.map(|range| (range["from"].as_u64(), range["count"].as_u64())).collect();
    assert_eq!(hours, [(0, 2), (1, 1), (3, 1), (23, 2)].map(|(hour, count)| (Some(hour), Some(count))));
    let auto = ok(&sandbox, &["histogram", "t.dv", "at", "--step", "auto", "--where", "size < 3"]);
    assert!(without_bars(&auto).contains("2024-03-31T00:00:00+01:00  1"), "{auto}");
}

#[test]
fn a_mean_of_times_is_a_time() {
    let sandbox = sandbox();
    let asked = ["group", "t.dv", "at:day", "--mean", "at", "--having", "mean(at) >= '2024-03-31 12:00'"];
    let text = ok(&sandbox, &asked);
    let day = "2024-04-01T00:00:00+02:00";
    assert!(text.contains(&format!("\n{day}          1  {day}\n1 group, ")), "{text}");
}

/// As they are printed, and without an offset in the zone.
#[test]
fn conditions_on_groups_have_times() {
    let sandbox = sandbox();
    let group = |having: &str| {
        let args = ["group", "t.dv", "size", "--by", "value", "--format", "csv", "--having", having];
        ok(&sandbox, &args).lines().skip(1).map(|line| line[..1].to_owned()).collect::<String>()
    };
    for metric in ["max(at)", "last(at by size)"] {
        assert_eq!(group(&format!("{metric} >= '2024-03-31 03:00'")), "456");
        assert_eq!(group(&format!("{metric} >= '2024-03-31T03:00:00+02:00'")), "456");
        assert_eq!(group(&format!("{metric} in ('2024-03-31', '2024-04-02')")), "2345");
    }
    sandbox.write("d.csv", "day,k\n31/12/2012,1\n01/01/2013,2\n");
    sandbox.write("d.toml", "columns.day = { type = \"date\", format = \"%d/%m/%Y\" }");
    sandbox.ok(&["build", "d.csv", "-o", "d.dv", "-q", "--schema", "d.toml"]);
    let args = ["group", "d.dv", "k", "--format", "csv", "--having", "max(day) = '31/12/2012'"];
    assert_eq!(sandbox.ok(&args), "k,count,max.day\n1,1,31/12/2012\n");
}

#[test]
fn documents_of_a_day_are_deleted() {
    let sandbox = sandbox();
    sandbox.ok(&["store", "create", "st"]);
    sandbox.ok(&["put", "st", "t.csv", "-q"]);
    let rm = ["rm", "st", "--where", "at = '2024-03-30'"];
    let out = ok(&sandbox, &rm);
    assert!(out.starts_with("st: 1 document deleted; "), "{out}");
    assert_eq!(sandbox.ok(&["sort", "st", "--by", "size", "-n", "1", "--columns", "size"]), "{\"size\":2}\n");
    // In UTC, the day is an hour longer.
    let out = sandbox.ok(&rm);
    assert!(out.starts_with("st: 1 document deleted; "), "{out}");
    assert_eq!(sandbox.dv(&["rm", "st", "x", "--tz", "UTC"]).code, 2);
}

#[test]
fn times_of_updates_are_those_of_clocks() {
    let sandbox = Sandbox::with("t.csv", "id,at,day\na,2024-03-30T22:59:59Z,2024-03-30\n");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "t.csv", "-q"]);
    let at = || sandbox.ok(&["head", "st", "--columns", "at", "--json"]);
    for (text, expected) in [
        ("2024-03-31 12:00", "2024-03-31T10:00:00Z"),
        ("2024-03-31T12:00:00+05:00", "2024-03-31T07:00:00Z"),
        // Skipped.
        ("2024-03-31T02:30:00", "2024-03-31T01:30:00Z"),
    ] {
        ok(&sandbox, &["set", "st", "a", &format!("at={text}"), "day=2024-03-31", "-q"]);
        assert_eq!(at(), format!("{{\"at\":\"{expected}\"}}\n"));
    }
    let query = "at = '2024-03-31 03:30' and day = '2024-03-31'";
    ok(&sandbox, &["set", "st", "--where", query, "at=2024-04-01 00:00", "-q"]);
    assert_eq!(at(), "{\"at\":\"2024-03-31T22:00:00Z\"}\n");
    // Without a zone, in UTC.
    sandbox.ok(&["set", "st", "a", "at=2024-03-31 12:00", "-q"]);
    assert_eq!(at(), "{\"at\":\"2024-03-31T12:00:00Z\"}\n");
    let run = sandbox.dv(&["set", "st", "a", "at=2024-03-31", "--tz", "Europe/Berlin"]);
    assert!(run.code == 2 && run.err.contains("\"2024-03-31\""), "{run:?}");
}

#[test]
fn times_in_the_format_of_a_column_are_those_of_clocks() {
    let sandbox = Sandbox::with("t.csv", "id,at\na,30.03.2024 22:59:59\n");
    sandbox.write("t.toml", "columns.at = { type = \"timestamp[ms]\", format = \"%d.%m.%Y %H:%M:%S\" }");
    sandbox.ok(&["store", "create", "st", "--id-field", "id"]);
    sandbox.ok(&["put", "st", "t.csv", "-q", "--schema", "t.toml"]);
    // With and without seconds.
    for text in ["31.03.2024 12:00:00", "31.03.2024 12:00"] {
        sandbox.ok(&["set", "st", "a", "at=30.03.2024 22:59:59", "-q"]);
        ok(&sandbox, &["set", "st", "a", &format!("at={text}"), "-q"]);
        let at = sandbox.ok(&["head", "st", "--columns", "at", "--json"]);
        assert_eq!(at, "{\"at\":\"31.03.2024 10:00:00\"}\n", "{text}");
    }
    ok(&sandbox, &["set", "st", "--where", "at = '31.03.2024 12:00:00'", "at=31.03.2024 00:00:00", "-q"]);
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q", "--schema", "t.toml"]);
    for (file, utc, local) in [
        ("st", "30.03.2024 23:00:00", "31.03.2024 00:00:00"),
        ("t.dv", "30.03.2024 22:59:59", "30.03.2024 23:59:59"),
    ] {
        let query = |time: &str| format!("at = '{time}'");
        assert_eq!(ok(&sandbox, &["count", file, "--where", &query(local)]), "1\n", "{file}");
        assert_eq!(sandbox.ok(&["count", file, "--where", &query(utc)]), "1\n", "{file}");
    }
    let edges = "30.03.2024 22:00:00,30.03.2024 23:00:00";
    let found = ok(&sandbox, &["histogram", "t.dv", "at", "--edges", edges]);
    assert!(without_bars(&found).ends_with("  2024-03-30T23:00:00+01:00  1\n"), "{found}");
}

#[test]
fn groups_have_weekdays_and_hours() {
    let sandbox = sandbox();
    let groups = |args: &[&str]| {
        let json: Value = from_str(&ok(&sandbox, &[args, &["--json"]].concat())).unwrap();
        let group = |group: &Value| (group["values"].clone(), group["count"].as_u64().unwrap());
        json["groups"].as_array().unwrap().iter().map(group).collect::<Vec<_>>()
    };
    let day = |day: &str, count| (json!({ "day(at)": day }), count);
    let expected = [
        day("2024-03-30T00:00:00+01:00", 1),
        day("2024-03-31T00:00:00+01:00", 4),
        day("2024-04-01T00:00:00+02:00", 1),
    ];
    assert_eq!(groups(&["group", "t.dv", "at:day", "--by", "value"]), expected);
    let at = |day: u8, hour: u8| (json!({ "weekday(at)": day, "hour of day(at)": hour }), 1);
    let expected = [at(1, 0), at(6, 23), at(7, 0), at(7, 1), at(7, 3), at(7, 23)];
    assert_eq!(groups(&["group", "t.dv", "at:weekday,at:hour-of-day"]), expected);
    let run = sandbox.dv(&["group", "t.dv", "size:day"]);
    assert!(run.code != 0 && run.err.contains("expected a date or a timestamp"), "{run:?}");
}

#[test]
fn what_is_printed_is_read() {
    let sandbox = sandbox();
    let printed = ok(&sandbox, &["export", "t.dv", "--format", "csv", "--columns", "at"]);
    let times: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(times[2..4], ["2024-03-31T01:59:59+01:00", "2024-03-31T03:00:00+02:00"]);
    for (at, time) in times.iter().enumerate() {
        let query = format!("at <= '{time}'");
        assert_eq!(ok(&sandbox, &["count", "t.dv", "--where", &query]).trim(), (at + 1).to_string());
        assert_eq!(sandbox.ok(&["count", "t.dv", "--where", &query]).trim(), (at + 1).to_string());
    }
    let edges = format!("{},{}", times[1], times[4]);
    let found = ok(&sandbox, &["histogram", "t.dv", "at", "--edges", &edges]);
    assert!(without_bars(&found).ends_with(&format!("  {}  3\n  {}  2\n", times[1], times[4])), "{found}");
    // Without an offset, a time is in the zone; 2:30 is skipped.
    for (query, count) in
        [("at < '2024-03-31'", 1), ("at < '2024-03-31 02:30'", 4), ("at >= '2024-04-01'", 1)]
    {
        assert_eq!(ok(&sandbox, &["count", "t.dv", "--where", query]).trim(), count.to_string(), "{query}");
    }

    // In the format of the input, too.
    sandbox.write(
        "log.csv",
        "when,day\n10/Oct/2000:13:55:36 -0700,31.01.2024\n10/Oct/2000:13:55:37 -0700,01.02.2024\n",
    );
    let schema = "[columns.when]\ntype = \"timestamp[ms]\"\nformat = \"%d/%b/%Y:%H:%M:%S %z\"\n\
        [columns.day]\ntype = \"date\"\nformat = \"%d.%m.%Y\"\n";
    sandbox.write("log.toml", schema);
    sandbox.ok(&["build", "log.csv", "-o", "log.dv", "-q", "--schema", "log.toml"]);
    for query in ["when > '10/Oct/2000:13:55:36 -0700'", "day = '31.01.2024'"] {
        assert_eq!(sandbox.ok(&["count", "log.dv", "--where", query]), "1\n", "{query}");
    }
    let edges = sandbox.ok(&["histogram", "log.dv", "day", "--edges", "31.01.2024,01.02.2024"]);
    assert!(without_bars(&edges).ends_with("  31.01.2024  1\n  01.02.2024  1\n"), "{edges}");
}

#[test]
fn timestamps_of_different_units_are_one_column() {
    let sandbox = sandbox();
    sandbox.write("nanos.csv", "at,size\n2024-03-31T00:00:00.000000001Z,7\n");
    sandbox.ok(&["build", "nanos.csv", "-o", "nanos.dv", "-q"]);
    let days = ok(&sandbox, &["histogram", "t.dv", "nanos.dv", "at", "--step", "day"]);
    assert!(without_bars(&days).contains("2024-03-31T00:00:00+01:00  5\n"), "{days}");
    let days = ok(&sandbox, &["group", "t.dv", "nanos.dv", "at:day", "--by", "count", "-n", "1"]);
    assert!(days.contains("2024-03-31T00:00:00+01:00          5"), "{days}");
    // Nanoseconds begin in 1677.
    sandbox.write("old.csv", "at,size\n1500-06-01T00:00:00.5Z,8\n");
    sandbox.ok(&["build", "old.csv", "-o", "old.dv", "-q"]);
    let run = sandbox.dv(&["count", "old.dv", "nanos.dv", "--where", "at < '2024-04-01'"]);
    let why = "(1500-06-01T00:00:00Z) has no equal of type timestamp[ns]";
    assert!(run.code == 1 && run.err.contains(why), "{run:?}");
}

#[test]
fn timestamps_of_a_store_get_a_finer_unit() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "at=timestamp[ms]"]);
    let put = |row: &str| {
        let rows = format!("id,at\n{row}\n");
        sandbox.dv_with(&["put", "st", "-", "--input-format", "csv", "-q"], rows.as_bytes()).code
    };
    let (first, second) = ("a,2024-03-31T00:00:00Z", "b,2024-03-31T00:00:00.000000001Z");
    assert_eq!((put(first), put(second)), (0, 1));
    sandbox.ok(&["store", "alter", "st", "--type", "at=timestamp[ns]"]);
    assert_eq!(put(second), 0);
    assert_eq!(sandbox.ok(&["count", "st"]), "2\n");
    assert_eq!(sandbox.ok(&["count", "st", "--where", "at > '2024-03-31'"]), "1\n");
}

/// An offset is a value, although it begins like an option.
#[test]
fn offsets_west_of_greenwich_need_no_equals_sign() {
    let sandbox = sandbox();
    let count = ["count", "t.dv", "--where", "at = '2024-03-30'", "--tz", "-05:00"];
    assert_eq!(sandbox.ok(&count), "4\n");
    assert_eq!(sandbox.ok(&["count", "t.dv", "--tz=-05", "--where", "at = '2024-03-31'"]), "2\n");
}

#[test]
fn an_unknown_zone_is_a_wrong_command_line() {
    let run = sandbox().dv(&["count", "t.dv", "--tz", "Europe/Atlantis"]);
    assert!(run.code == 2 && run.err.contains("Europe/Atlantis"), "{run:?}");
    assert!(run.err.contains("expected a time zone of the database, such as Europe/Berlin"), "{run:?}");
    for [name, zone] in
        [["Europe/Berlni", "Europe/Berlin"], ["Kolkata", "Asia/Kolkata"], ["New York", "America/New_York"]]
    {
        let run = sandbox().dv(&["count", "t.dv", "--tz", name]);
        assert!(run.code == 2 && run.err.contains(&format!("; did you mean {zone}?")), "{run:?}");
    }
    for name in ["", "AEST", "-1"] {
        let run = sandbox().dv(&["count", "t.dv", "--tz", name]);
        assert!(
            run.code == 2 && run.err.contains("for '--tz <ZONE>'") && !run.err.contains("mean"),
            "{run:?}"
        );
    }
    let run = sandbox().dv(&["build", "t.csv", "-o", "t.dv", "--tz", "Europe/Berlin"]);
    assert!(run.code == 2 && run.err.contains("times without an offset are read in UTC"), "{run:?}");
}

/// A part of the zones, or all in the full sweep.
#[test]
fn days_weeks_and_hours_are_those_of_python() {
    let sandbox = Sandbox::new();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/time_zones.py");
    let mut python = std::process::Command::new("python3");
    python.arg(script).arg(env!("CARGO_BIN_EXE_dv")).arg(sandbox.path("")).arg(cases(29, 1).to_string());
    let Ok(run) = python.output() else { return eprintln!("SKIPPED: no python3 to compare zones with") };
    let [out, err] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(run.status.success(), "{err}");
    assert!(out.lines().filter(|line| line.starts_with("same:")).count() > 10, "{out}");
}
