//! Plans as bytes and back, and plans of which each task runs a slice.
#![expect(clippy::unwrap_used, reason = "tests")]

mod objects;
mod scan_parts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use datafusion_proto::physical_plan::{DefaultPhysicalProtoConverter, PhysicalExtensionCodec as _};
use docvalues::prelude::*;
use docvalues::store::{Dataset, Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind};
use docvalues_datafusion::{DocvaluesCodec, DocvaluesLogicalCodec, DocvaluesTable};
use tempfile::TempDir;

/// Documents of each file: more than those at whose multiples partitions begin.
const DOCS: u32 = 70_000;

const QUERIES: [&str; 7] = [
    "select count(*) as n, sum(size) as s, count(price) as p from hits where size >= 300 and host <> 'host-3'",
    "select host, count(*) as n, sum(size) as s, max(price) as p from hits group by host order by host",
    "select number, price from hits where price > 2.5 order by number desc limit 7",
    "select host, number from hits where host like 'host-1%' or price is null order by number limit 9",
    "select count(*) as n from (select * from hits where size < 900 limit 100000)",
    "select count(*) as n, sum(a.size) as s from hits a join hits b on a.number = b.number where b.size < 10",
    "select count(*) as n, min(number), max(number) from hits",
];

/// Three segment files with a column of each kind; every seventh document has no price.
fn files(folder: &Path) -> Vec<PathBuf> {
    let file = |file: u32| {
        let mut schema = Schema::new();
        let number = schema.add(FieldSpec::new("number", LogicalType::I64)).unwrap();
        let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
        let price = schema.add(FieldSpec::new("price", LogicalType::F64)).unwrap();
        let host = schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for i in file * DOCS..(file + 1) * DOCS {
            let mut doc = writer.document();
            doc.i64(number, i.into()).unwrap().i64(size, i64::from(i) * 7_919 % 1_000).unwrap();
            doc.str(host, &format!("host-{}", i % 17)).unwrap();
            if i % 7 != 0 {
                doc.f64(price, f64::from(i % 64) / 8.0).unwrap();
            }
            doc.finish().unwrap();
        }
        let path = folder.join(format!("{file}.dv"));
        std::fs::write(&path, writer.finish_bytes().unwrap()).unwrap();
        path
    };
    (0..3).map(file).collect()
}

fn dataset() -> (TempDir, Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::of_files(files(folder.path())).unwrap();
    (folder, dataset)
}

fn context(table: DocvaluesTable) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(4);
    let context = SessionContext::new_with_config(config);
    context.register_table("hits", Arc::new(table)).unwrap();
    context
}

async fn plan(context: &SessionContext, query: &str) -> Arc<dyn ExecutionPlan> {
    context.sql(query).await.unwrap().create_physical_plan().await.unwrap()
}

async fn answer(context: &SessionContext, plan: Arc<dyn ExecutionPlan>) -> String {
    text(&collect(plan, context.task_ctx()).await.unwrap())
}

fn text(batches: &[RecordBatch]) -> String {
    pretty_format_batches(batches).unwrap().to_string()
}

/// The nodes of a plan with this name.
fn nodes(plan: &Arc<dyn ExecutionPlan>, name: &str) -> Vec<Arc<dyn ExecutionPlan>> {
    let mut found: Vec<_> = plan.children().into_iter().flat_map(|child| nodes(child, name)).collect();
    found.extend((plan.name() == name).then(|| Arc::clone(plan)));
    found
}

fn error<T>(result: datafusion::error::Result<T>) -> String {
    result.err().unwrap().to_string()
}

#[tokio::test]
async fn a_plan_is_the_same_after_a_journey_as_bytes() {
    let (_folder, dataset) = dataset();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap());
    let codec = DocvaluesCodec::default();
    for query in QUERIES {
        let plan = plan(&context, query).await;
        let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &codec).unwrap();
        let sent =
            physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec).unwrap();
        let scans = |plan: &Arc<dyn ExecutionPlan>| {
            let scans = nodes(plan, "DocvaluesScan").into_iter().map(|scan| {
                assert!(scan.properties().partitioning.partition_count() > 1);
                let line = displayable(scan.as_ref()).one_line().to_string();
                line.split(", dynamic=").next().unwrap().trim_end().to_owned()
            });
            scans.collect::<Vec<_>>()
        };
        assert_eq!(scans(&sent), scans(&plan), "{query}");
        assert_eq!(answer(&context, sent).await, answer(&context, plan).await, "{query}");
    }
}

#[tokio::test]
async fn a_table_is_the_same_after_a_journey_as_bytes() {
    let (_folder, dataset) = dataset();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap());
    for codec in [DocvaluesLogicalCodec::default(), DocvaluesLogicalCodec::default().sliced()] {
        for query in QUERIES {
            let local = context.sql(query).await.unwrap();
            let bytes = logical_plan_to_bytes_with_extension_codec(local.logical_plan(), &codec).unwrap();
            let sent =
                logical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec).unwrap();
            let sent = context.execute_logical_plan(sent).await.unwrap().collect().await.unwrap();
            assert_eq!(text(&sent), text(&local.collect().await.unwrap()), "{query}");
        }
    }
}

/// As Ballista does it: each task runs all partitions of a plan whose child has a slice of them.
#[tokio::test]
async fn each_task_runs_its_slice_of_the_partitions() {
    let (_folder, dataset) = dataset();
    let table = || DocvaluesTable::of_dataset(dataset.clone()).unwrap();
    let (context, codec) = (context(table().sliced()), DocvaluesCodec::default().sliced());
    let query = "select number from hits where size < 500";
    let plan = plan(&context, query).await;
    let [sliced] = &nodes(&plan, "SlicedScan")[..] else {
        panic!("{}", displayable(plan.as_ref()).indent(true))
    };
    assert_eq!(sliced.properties().partitioning.partition_count(), 4);
    let child = sliced.children()[0].downcast_ref::<DataSourceExec>().unwrap();
    let rows = child.data_source().downcast_ref::<MemorySourceConfig>().unwrap();
    let mut found = 0;
    for slice in [&[0, 3][..], &[], &[2], &[1]] {
        let kept: Vec<_> = slice.iter().map(|at: &usize| rows.partitions()[*at].clone()).collect();
        let kept = MemorySourceConfig::try_new_exec(&kept, rows.original_schema(), None).unwrap();
        let task = datafusion::physical_plan::replace_children_if_necessary(Arc::clone(sliced), vec![kept]);
        let bytes = physical_plan_to_bytes_with_extension_codec(task.unwrap(), &codec).unwrap();
        let task =
            physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec).unwrap();
        assert_eq!(task.properties().partitioning.partition_count(), slice.len());
        let batches = collect(task, context.task_ctx()).await.unwrap();
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(rows > 0, !slice.is_empty());
        found += rows;
    }
    assert_eq!(found, 3 * DOCS as usize / 2);
    for query in QUERIES {
        let plain = self::context(table());
        let expected = answer(&plain, self::plan(&plain, query).await).await;
        assert_eq!(answer(&context, self::plan(&context, query).await).await, expected, "{query}");
    }
    let plain = self::plan(&self::context(table()), query).await;
    let refused = error(physical_plan_to_bytes_with_extension_codec(plain, &codec));
    assert!(refused.contains("expected a scan of a sliced table"), "{refused}");
}

#[tokio::test]
async fn tables_that_cannot_be_sent_say_what_to_do() {
    let (_folder, dataset) = dataset();
    let opened = DocvaluesTable::new(&dataset.open().unwrap()).unwrap();
    let with_places = DocvaluesTable::of_dataset(dataset).unwrap().with_places().unwrap();
    for (table, expected) in
        [(opened, "make it by `DocvaluesTable::of_dataset`"), (with_places, "leave out `with_places`")]
    {
        let context = context(table);
        let frame = context.sql("select number from hits").await.unwrap();
        let logical = DocvaluesLogicalCodec::default();
        let refused = error(logical_plan_to_bytes_with_extension_codec(frame.logical_plan(), &logical));
        assert!(refused.contains(expected), "{refused}");
        let plan = plan(&context, "select number from hits").await;
        let codec = DocvaluesCodec::default();
        let refused = error(physical_plan_to_bytes_with_extension_codec(plan, &codec));
        assert!(refused.contains(expected), "{refused}");
    }
}

#[tokio::test]
async fn changed_bytes_and_files_are_errors() {
    let (folder, dataset) = dataset();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap());
    let plan = plan(&context, "select number from hits where size < 3").await;
    let bytes = physical_plan_to_bytes_with_extension_codec(plan, &DocvaluesCodec::default()).unwrap();
    let decode = |bytes: &[u8]| {
        let codec = DocvaluesCodec::default();
        physical_plan_from_bytes_with_extension_codec(bytes, &context.task_ctx(), &codec)
    };
    decode(&bytes).unwrap();
    let tag = b"docvalues.scan\0";
    let at = bytes.windows(tag.len()).position(|window| window == tag).unwrap();
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.to_vec();
        bytes[at] = byte;
        error(decode(&bytes))
    };
    let newer = changed(at + tag.len() + 4, 9);
    assert!(newer.contains("found version 9: it needs a newer docvalues"), "{newer}");
    let damaged = changed(at + tag.len() + 30, 0xff);
    assert!(damaged.contains("scan request: byte 8: expected the checksum"), "{damaged}");
    // Bytes of nobody.
    let unknown = changed(at, b'x');
    assert!(unknown.contains("PhysicalExtensionCodec is not provided"), "{unknown}");
    let (first, second) = (folder.path().join("0.dv"), folder.path().join("1.dv"));
    std::fs::copy(&first, &second).unwrap();
    let replaced = error(decode(&bytes));
    assert!(replaced.contains(second.to_str().unwrap()) && replaced.contains("expected"), "{replaced}");
    std::fs::remove_file(&second).unwrap();
    let gone = error(decode(&bytes));
    assert!(gone.contains(second.to_str().unwrap()), "{gone}");
}

/// The bytes of a sliced scan, and its child.
async fn slice(context: &SessionContext) -> (Vec<u8>, Arc<dyn ExecutionPlan>) {
    let plan = plan(context, "select number from hits where size < 3").await;
    let [sliced] = &nodes(&plan, "SlicedScan")[..] else { panic!("a sliced scan") };
    let (mut bytes, converter) = (Vec::new(), DefaultPhysicalProtoConverter {});
    DocvaluesCodec::default().try_encode(Arc::clone(sliced), &mut bytes, &converter).unwrap();
    (bytes, Arc::clone(sliced.children()[0]))
}

#[tokio::test]
async fn a_slice_whose_files_changed_fails_when_it_runs() {
    let (folder, dataset) = dataset();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap().sliced());
    let (bytes, child) = slice(&context).await;
    let decode = || {
        let (codec, children) = (DocvaluesCodec::default(), [Arc::clone(&child)]);
        codec.try_decode(&bytes, &children, &context.task_ctx(), &DefaultPhysicalProtoConverter {})
    };
    assert!(collect(decode().unwrap(), context.task_ctx()).await.is_ok());
    let (first, second) = (folder.path().join("0.dv"), folder.path().join("1.dv"));
    std::fs::copy(&first, &second).unwrap();
    let failed = decode().unwrap();
    assert_eq!(failed.schema().field(0).name(), "number");
    let replaced = error(collect(failed, context.task_ctx()).await);
    assert!(replaced.contains(second.to_str().unwrap()) && replaced.contains("expected"), "{replaced}");
}

#[tokio::test]
async fn damaged_bytes_of_a_slice_are_refused() {
    let (_folder, dataset) = dataset();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap().sliced());
    let (bytes, child) = slice(&context).await;
    let (codec, task) = (DocvaluesCodec::default(), context.task_ctx());
    let decode = |bytes: &[u8], children: &[Arc<dyn ExecutionPlan>]| {
        codec.try_decode(bytes, children, &task, &DefaultPhysicalProtoConverter {})
    };
    let child = [child];
    decode(&bytes, &child).unwrap();
    assert!(error(decode(&bytes, &[])).contains("Sliced"));
    for len in 0..bytes.len() {
        assert!(decode(&bytes[..len], &child).is_err(), "{len} bytes");
    }
    for bit in 0..bytes.len() * 8 {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bytes, &child).is_err(), "bit {bit}");
    }
}

#[tokio::test]
async fn a_commit_is_sent_with_its_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let schema = StoreSchema::new().with_field(Field::new("id", Kind::Binary, LogicalType::Utf8)).unwrap();
    let schema = schema.with_field(Field::new("size", Kind::Numeric, LogicalType::I64)).unwrap();
    let store =
        Store::create(folder.path(), schema.with_id_field("id").unwrap(), StoreOptions::default()).unwrap();
    let mut batch = store.batch().unwrap();
    let (id, size) = (batch.field("id").unwrap(), batch.field("size").unwrap());
    for number in 0..100_i64 {
        let mut doc = batch.upsert();
        doc.str(id, &number.to_string()).unwrap().i64(size, number).unwrap();
        doc.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.commit().unwrap();
    store.delete_ids((0..10).map(|number: u32| number.to_string())).unwrap();
    let commit = store.commit().unwrap();
    let dataset = Dataset::of_store(folder.path()).unwrap();
    let context = context(DocvaluesTable::of_dataset(dataset).unwrap());
    let query = "select count(*) as n, sum(size) as s, count(id) as i from hits where size < 50";
    let plan = plan(&context, query).await;
    let bytes =
        physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &DocvaluesCodec::default()).unwrap();
    let decode = || {
        let codec = DocvaluesCodec::default();
        physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec)
    };
    let expected = answer(&context, plan).await;
    assert!(expected.contains("| 40 | 1180 | 40 |"), "{expected}");
    assert_eq!(answer(&context, decode().unwrap()).await, expected);
    store.delete_ids(["50"]).unwrap();
    store.commit().unwrap();
    let gone = error(decode());
    assert!(gone.contains(&format!("found commit {commit}")), "{gone}");
}
