//! `dv sql`: its memory limit, and the temporary files of queries that need more.

use crate::sandbox::{Run, Sandbox, packages};
use crate::sql::failed;

#[test]
fn memory_is_bounded() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    sandbox.ok(&["build", "p.ndjson.gz", "-o", "p.dv", "-q"]);
    let query = "select a.id from p a join p b on a.id = b.id order by 1";
    let run = sandbox.dv(&["sql", query, "p.dv", "--memory", "64KiB"]);
    failed(&run, 1, "dv: Failed to allocate ");
    assert!(run.err.contains("\n    hint: raise --memory"), "{}", run.err);
    assert_eq!(sandbox.ok(&["sql", query, "p.dv", "--memory", "256MiB"]).lines().count(), 3525);
}

#[test]
fn half_of_the_machine_is_the_default() {
    let sandbox = Sandbox::new();
    let help = sandbox.ok(&["sql", "--help"]);
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("--memory <SIZE>") && help.contains("Default: half of the machine's memory"),
        "{help}"
    );
}

#[test]
fn sorts_and_groups_spill_to_the_temporary_folder() {
    let sandbox = Sandbox::new();
    let rows: String = (0..100_000).map(|n| format!("{},text {}\n", n * 7_919 % 100_000, n * 31)).collect();
    sandbox.write("t.csv", format!("n,s\n{rows}"));
    sandbox.ok(&["build", "t.csv", "-o", "t.dv", "-q"]);
    std::fs::create_dir(sandbox.path("spill")).unwrap();
    let run = |query: &str, memory: &str, folder: &str| {
        let args = ["sql", query, "t.dv", "--threads", "1", "--json", "--memory", memory];
        Run::new(sandbox.command(&args).env("TMPDIR", sandbox.path(folder)).output().unwrap())
    };
    for (query, few) in
        [("select n, s from t order by s, n", "12MiB"), ("select n, count(*) as c from t group by n", "3MiB")]
    {
        let plan = run(&format!("explain analyze {query}"), few, "spill").out;
        let spilled = |plan: &str| !plan.contains("spilled_rows=0") && plan.contains("spilled_rows=");
        assert!(spilled(&plan), "{plan}");
        let plan = run(&format!("explain analyze {query}"), "1GiB", "spill").out;
        assert!(!spilled(&plan), "{plan}");
        let [found, expected] = [few, "1GiB"].map(|memory| run(query, memory, "spill"));
        assert_eq!((found.code, expected.code), (0, 0), "{}{}", found.err, expected.err);
        assert_eq!(expected.out.lines().count(), 100_000);
        let [mut found, mut expected] = [&found, &expected].map(|run| run.out.lines().collect::<Vec<_>>());
        if !query.contains("order by") {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert!(found == expected, "{query}");
        assert_eq!(std::fs::read_dir(sandbox.path("spill")).unwrap().count(), 0);
        failed(&run(query, few, "none"), 1, "dv: IO error: ");
    }
}
