//! Stores with side files of another program: `dv` reads and checks them, and writes no segment without side files.

use std::error::Error;
use std::sync::Arc;

use docvalues::store::{Observer, Publication, Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind, LogicalType};
use serde_json::Value;

use crate::sandbox::Sandbox;

struct CountDocs;

impl Observer for CountDocs {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let docs = publication.segment().docs();
        publication.write("docs", |out| out.write_all(&docs.to_le_bytes()))?;
        Ok(())
    }
}

/// A store `st` with two segments.
fn store() -> Sandbox {
    let sandbox = Sandbox::new();
    let fields =
        [Field::new("id", Kind::Binary, LogicalType::Utf8), Field::new("n", Kind::Numeric, LogicalType::I64)];
    let schema = StoreSchema::new().with_fields(fields).unwrap().with_id_field("id").unwrap();
    let options = StoreOptions::new();
    let store = Store::create_with(sandbox.path("st"), schema, options, Arc::new(CountDocs)).unwrap();
    for ids in [["a", "b"], ["c", "d"]] {
        let mut batch = store.batch().unwrap();
        let [id, n] = ["id", "n"].map(|name| batch.field(name).unwrap());
        for name in ids {
            let mut doc = batch.upsert();
            doc.str(id, name).unwrap().i64(n, 1).unwrap();
            doc.finish().unwrap();
        }
        store.apply(batch).unwrap();
        store.commit().unwrap();
    }
    sandbox
}

fn side_files(sandbox: &Sandbox) -> usize {
    let entries = std::fs::read_dir(sandbox.path("st")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".side")).count()
}

fn check(sandbox: &Sandbox) -> Value {
    let report: Value = serde_json::from_str(&sandbox.ok(&["check", "st", "--json"])).unwrap();
    assert_eq!((&report["clean"], &report["store"]["unnamed"]), (&true.into(), &Value::Array(Vec::new())));
    report
}

#[test]
fn no_command_writes_a_segment_that_lacks_side_files() {
    let sandbox = store();
    assert_eq!(check(&sandbox)["store"]["files"], 4, "two segments and their side files");
    // These write no segment.
    sandbox.ok(&["rm", "st", "a", "-q"]);
    sandbox.ok(&["set", "st", "b", "n=7", "-q"]);
    let expected = "{\"id\":\"b\",\"n\":7}\n{\"id\":\"c\",\"n\":1}\n{\"id\":\"d\",\"n\":1}\n";
    assert_eq!(sandbox.ok(&["cat", "st"]), expected);

    let merge: [&[&str]; 2] = [&["merge", "st", "--to", "1"], &["merge", "st", "--purge"]];
    // Neither does a log take what no segment could have.
    let put: [&[&str]; 3] = [&[], &["--keep-frames", "1MiB"], &["--durability", "batch"]];
    let merged = merge.into_iter().map(|args| sandbox.dv(args));
    let put = put.into_iter().map(|options| {
        let args = [&["put", "st", "-", "--input-format", "ndjson"], options].concat();
        sandbox.dv_with(&args, b"{\"id\":\"e\",\"n\":1}\n")
    });
    for run in merged.chain(put) {
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.err.contains("expected an observer, as segments have side files"), "{run:?}");
    }
    check(&sandbox);
    assert_eq!((sandbox.ok(&["cat", "st"]).as_str(), side_files(&sandbox)), (expected, 2));
    sandbox.ok(&["set", "st", "b", "n=7", "-q"]);

    // The program that wrote them goes on.
    let store = Store::open_with(sandbox.path("st"), StoreOptions::new(), Arc::new(CountDocs)).unwrap();
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    drop(store);
    assert_eq!(check(&sandbox)["store"]["files"], 4, "a segment, its side file, and two deltas");
    assert_eq!((sandbox.ok(&["cat", "st"]).as_str(), side_files(&sandbox)), (expected, 1));
}

#[test]
fn a_damaged_side_file_is_named() {
    let sandbox = store();
    let mut entries = std::fs::read_dir(sandbox.path("st")).unwrap().map(|entry| entry.unwrap().path());
    let file = entries.find(|path| path.extension().is_some_and(|end| end == "side")).unwrap();
    std::fs::write(&file, [9; 4]).unwrap();
    let run = sandbox.dv(&["check", "st"]);
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(run.code == 1 && run.out.contains(name) && run.out.contains("expected the content"), "{run:?}");
}
