//! Tables of objects: their answers are those of the same segments in memory, whatever the bound of the cache.

use std::io::Read as _;
use std::sync::Arc;

use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_session::TableProvider;
use docvalues::prelude::*;
use docvalues::store::{Depot as _, ObjectDepot};
use docvalues_datafusion::{DocvaluesTable, Objects};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};

/// Documents of each object: more than those of a window.
const DOCS: u32 = 70_000;

const QUERIES: [&str; 9] = [
    "select count(*) as n, sum(size) as s, count(price) as p from hits where size >= 300 and host <> 'host-3'",
    "select host, count(*) as n, sum(size) as s, max(price) as p from hits group by host order by host",
    "select number, price from hits where price > 2.5 order by number desc limit 7",
    "select host, number from hits where host like 'host-1%' or price is null order by number limit 9",
    "select count(*) as n from (select * from hits where size < 900 limit 100000)",
    "select count(*) as n, sum(a.size) as s from hits a join hits b on a.number = b.number where b.size < 10",
    "select sum(length(path)) as l, count(distinct path) as d, max(path) as m from hits",
    "select path from hits where number in (3, 69999, 70000, 99077) order by number",
    "select count(*) as n, min(number), max(number) from hits",
];

/// A segment with a column of each kind; every seventh document has no price.
fn segment(number_of_file: u32) -> Vec<u8> {
    let mut schema = Schema::new();
    let number = schema.add(FieldSpec::new("number", LogicalType::I64)).unwrap();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let price = schema.add(FieldSpec::new("price", LogicalType::F64)).unwrap();
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
    let path = schema.add(FieldSpec::new("path", LogicalType::Utf8)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for i in number_of_file * DOCS..(number_of_file + 1) * DOCS {
        let mut doc = writer.document();
        doc.i64(number, i.into()).unwrap().i64(size, i64::from(i) * 7_919 % 1_000).unwrap();
        doc.str(host, &format!("host-{}", i % 17)).unwrap();
        doc.str(path, &format!("/{:x}/{i}", i.wrapping_mul(2_654_435_761))).unwrap();
        if i % 7 != 0 {
            doc.f64(price, f64::from(i % 64) / 8.0).unwrap();
        }
        doc.finish().unwrap();
    }
    writer.finish_bytes().unwrap()
}

/// Two segments, and an object store `mem://logs` with them.
async fn segments(store: &dyn ObjectStore) -> Vec<Vec<u8>> {
    let segments: Vec<Vec<u8>> = (0..2).map(segment).collect();
    for (number, bytes) in segments.iter().enumerate() {
        store.put(&Path::from(format!("a b/{number}.dv")), bytes.clone().into()).await.unwrap();
    }
    segments
}

const URLS: [&str; 2] = ["mem://logs/a%20b/0.dv", "mem://logs/a%20b/1.dv"];

fn session(store: Arc<dyn ObjectStore>) -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
    context.register_object_store(&"mem://logs".parse().unwrap(), store);
    context
}

async fn answers(context: &SessionContext, table: Arc<dyn TableProvider>) -> Vec<String> {
    context.register_table("hits", table).unwrap();
    let mut answers = Vec::new();
    for query in QUERIES {
        let batches = context.sql(query).await.unwrap().collect().await.unwrap();
        answers.push(pretty_format_batches(&batches).unwrap().to_string());
    }
    context.deregister_table("hits").unwrap();
    answers
}

/// Compares answers over objects, with bounds of the cache, with those over the same segments in memory.
async fn check_answers(store: Arc<dyn ObjectStore>, bounds: &[u64]) {
    let segments = segments(&*store).await;
    let context = session(store);
    let open = |bytes: &Vec<u8>| Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap();
    let expected = DocvaluesTable::of_segments(segments.iter().map(open)).unwrap();
    let expected = answers(&context, Arc::new(expected)).await;
    assert!(expected.iter().all(|answer| answer.lines().count() > 4), "{expected:?}");
    for bytes in bounds {
        let objects = Objects::new(context.runtime_env()).with_memory(*bytes);
        let table = objects.table(objects.dataset(URLS).await.unwrap()).await.unwrap();
        let found = answers(&context, Arc::new(table)).await;
        assert_eq!(found, expected, "{bytes} bytes");
    }
}

#[tokio::test]
async fn answers_on_one_thread() {
    // Nothing, and more than all columns have.
    check_answers(Arc::new(InMemory::new()), &[0, 256 << 20]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn answers_on_several_threads() {
    // Less than a column has.
    let folder = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    check_answers(Arc::new(local), &[300_000]).await;
}

#[tokio::test]
async fn other_objects_are_errors_with_their_urls() {
    let store = Arc::new(InMemory::new());
    let bytes = segments(&*store).await;
    let context = session(store.clone());
    let objects = Objects::new(context.runtime_env());
    let missing = objects.dataset([URLS[0], "mem://logs/2.dv"]).await.unwrap_err().to_string();
    assert!(missing.contains("mem://logs/2.dv: "), "{missing}");
    for (url, expected) in [("logs/2.dv", "URL"), ("other://logs/2.dv", "other://logs/2.dv: ")] {
        let error = objects.dataset([url]).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let dataset = objects.dataset(URLS).await.unwrap();
    let table = Arc::new(objects.table(dataset.clone()).await.unwrap());
    // Replaced while the table is open, by bytes that are damaged.
    let mut damaged = bytes[1].clone();
    let middle = damaged.len() / 2;
    damaged[middle - 100_000..middle + 100_000].fill(7);
    let path = Path::from("a b/1.dv");
    store.put(&path, damaged.into()).await.unwrap();
    context.register_table("hits", table).unwrap();
    let query = "select sum(size), max(price), max(number), max(host), max(path) from hits";
    let error = context.sql(query).await.unwrap().collect().await.unwrap_err().to_string();
    assert!(error.contains(URLS[1]), "{error}");
    // Opened again: the damage is found by checksums.
    let table = Arc::new(objects.table(dataset.clone()).await.unwrap());
    context.deregister_table("hits").unwrap();
    context.register_table("hits", table).unwrap();
    let error = context.sql(query).await.unwrap().collect().await.unwrap_err().to_string();
    assert!(error.contains(URLS[1]) && error.contains("checksum"), "{error}");
    // Another segment.
    store.put(&path, bytes[0].clone().into()).await.unwrap();
    let error = objects.table(dataset).await.unwrap_err().to_string();
    assert!(error.contains(URLS[1]) && error.contains("expected"), "{error}");
}

/// Replicas through a bucket that is a folder. Here, because only this crate has the feature `fs` of `object_store`.
#[test]
fn objects_in_a_folder_are_read_as_they_are_put() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let local = Arc::new(LocalFileSystem::new_with_prefix(folder.path()).unwrap());
    let [depot, deeper] =
        ["a/b", "a/b/c"].map(|prefix| ObjectDepot::new(local.clone(), prefix, runtime.handle().clone()));
    // One request, and several.
    for len in [0, 1, 8 << 20, 20 << 20] {
        let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
        depot.put("one", len as u64, &mut &bytes[..]).unwrap();
        let mut found = Vec::new();
        depot.open("one").unwrap().unwrap().read_to_end(&mut found).unwrap();
        assert!(found == bytes, "{len}");
        // One that ends early takes the place of nothing.
        for name in ["one", "two"] {
            assert!(depot.put(name, len as u64 + 1, &mut &bytes[..]).is_err());
        }
        assert_eq!(depot.names().unwrap(), ["one"]);
    }
    deeper.put("three", 1, &mut &b"3"[..]).unwrap();
    assert_eq!(depot.names().unwrap(), ["one"]);
    assert!(depot.open("three").unwrap().is_none());
    depot.remove("one").unwrap();
    depot.remove("one").unwrap();
    assert!(depot.names().unwrap().is_empty() && depot.open("one").unwrap().is_none());
}
