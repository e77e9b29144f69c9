//! The counters of scans, and the columns of fields without values.

use std::sync::Arc;

use arrow::datatypes::DataType;
use arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_session::TableProvider as _;
use docvalues::column::Part;
use docvalues::prelude::*;
use docvalues::search::Parts;
use docvalues::store::{Dataset, Store, StoreOptions, StoreSchema};
use docvalues::{DocId, Field, Kind, LiveDocs};
use docvalues_datafusion::{DocvaluesTable, GroupByOrds};
use docvalues_testkit::rng::SplitMix64;

const DOCS: u32 = 300_000;

/// The documents of a zone.
const ZONE: u32 = 4_096;

/// Ascending numbers, far apart, and random ones.
fn numbers() -> Segment {
    let mut schema = Schema::new();
    let [at, noise] = ["at", "noise"].map(|name| schema.add(FieldSpec::new(name, LogicalType::I64)).unwrap());
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    let mut random = SplitMix64::new(3);
    for number in 0..i64::from(DOCS) {
        let mut doc = writer.document();
        doc.i64(at, number * 1_000 + i64::from(random.below_u32(1_000))).unwrap();
        doc.i64(noise, i64::from(random.below_u32(1 << 20))).unwrap();
        doc.finish().unwrap();
    }
    Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
}

fn context(table: DocvaluesTable) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(2);
    let config = config.set_bool("datafusion.optimizer.enable_aggregate_dynamic_filter_pushdown", false);
    let state = SessionStateBuilder::new().with_default_features().with_config(config);
    let state = state.with_physical_optimizer_rule(Arc::new(GroupByOrds)).build();
    let context = SessionContext::new_with_state(state);
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

/// The sum of a counter over all partitions of the scan of a plan.
fn counter(plan: &Arc<dyn ExecutionPlan>, name: &str) -> Option<u64> {
    if plan.name() == "DocvaluesScan" {
        return Some(plan.metrics()?.sum_by_name(name)?.as_usize() as u64);
    }
    plan.children().into_iter().find_map(|child| counter(child, name))
}

/// Runs a query; its zones skipped and bytes touched.
async fn counted(context: &SessionContext, sql: &str) -> (u64, u64) {
    let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    collect(plan.clone(), context.task_ctx()).await.unwrap();
    (counter(&plan, "zones_skipped").unwrap(), counter(&plan, "bytes_touched").unwrap())
}

#[tokio::test]
async fn scans_count_skipped_zones_and_touched_bytes() {
    let bytes_of = |segment: &Segment, name: &str| {
        let usage = segment.usage().unwrap();
        usage.columns.iter().find(|column| column.field.name == name).unwrap().bytes()
    };
    let zones = u64::from(DOCS.div_ceil(ZONE));
    for (what, more) in [("at", ""), ("count(*)", "and noise < 1000000")] {
        let segment = numbers();
        let context = context(DocvaluesTable::of_segments([segment.clone()]).unwrap());
        let selective = format!("select {what} from t where at between 150000000 and 152999999 {more}");
        let before = segment.bytes_touched();
        let (skipped, touched) = counted(&context, &selective).await;
        // Two zones at most have some of 3,000 documents in a row. Finer zones are skipped in these.
        assert!((zones - 2..zones + 16).contains(&skipped), "{selective}: {skipped}");
        assert_eq!(touched, segment.bytes_touched() - before, "{selective}: both partitions together");
        assert!((1..bytes_of(&segment, "at") / 4).contains(&touched), "{selective}: {touched}");
        let again = counted(&context, &selective).await;
        assert_eq!(again, (skipped, 0), "{selective}: bytes are touched once");
    }
    let segment = numbers();
    let context = context(DocvaluesTable::of_segments([segment.clone()]).unwrap());
    let (skipped, touched) = counted(&context, "select noise from t").await;
    assert!(skipped == 0 && touched > bytes_of(&segment, "noise") / 2, "{skipped} {touched}");
    assert_eq!(counted(&context, "select count(noise) from t where noise >= 1000").await.0, 0);
    // The first window excludes most of those after it.
    let (skipped, _) = counted(&context, "select at, noise from t order by at limit 3").await;
    assert!(skipped > 0);
}

#[tokio::test]
async fn counts_of_few_undecided_zones_need_no_scan() {
    let parts = Parts::new([numbers(), numbers()].map(Part::new));
    let mut live = LiveDocs::all(DOCS);
    live.delete(DocId::new(150_000));
    let changed = parts.with_live(1, &live);
    for (parts, condition, is_quick) in [
        (&parts, "at between 5 and 152999999", true),
        (&parts, "at > 152999999", true),
        (&parts, "at >= 1000 and at < 1500 and at <> 1200", false),
        (&parts, "at < 0", true),
        (&parts, "noise between 1000 and 5000", false),
        (&parts, "at < 90000000 and noise > 70", false),
        (&changed, "at between 5 and 152999999", false),
    ] {
        let context = context(DocvaluesTable::new(parts).unwrap());
        // The sum reads the rows.
        let sql = format!("select count(*), sum(at) * 0 + count(*) from t where {condition}");
        let read = rows(&context, &sql).await;
        let sql = format!("select count(*) from t where {condition}");
        assert_eq!(read[0].split(' ').next(), rows(&context, &sql).await[0].split(' ').next(), "{sql}");
        let plan = rows(&context, &format!("explain {sql}")).await.join("\n");
        assert_eq!(!plan.contains("DocvaluesScan"), is_quick, "{plan}");
        let sql = format!("explain select count(*) from (select 1 from t where {condition} limit 7)");
        assert!(rows(&context, &sql).await.join("").contains("DocvaluesScan"), "{sql}");
    }
}

/// A schema with a field of each kind.
fn schema() -> StoreSchema {
    let fields = [
        Field::new("size", Kind::Numeric, LogicalType::I64),
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("host", Kind::Sorted, LogicalType::Utf8),
        Field::new("day", Kind::Numeric, LogicalType::Date),
        Field::new("ratio", Kind::Numeric, LogicalType::F64),
        Field::new("tags", Kind::SortedSet, LogicalType::Utf8),
        Field::new("parts", Kind::SortedNumeric, LogicalType::I64),
        Field::new("raw", Kind::Binary, LogicalType::Bytes),
    ];
    let mut fields = fields.into_iter();
    fields.try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap().with_id_field("id").unwrap()
}

#[tokio::test]
async fn fields_of_a_store_without_values_are_columns_of_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    for docs in [0, 1, 5] {
        let mut batch = store.batch().unwrap();
        let id = batch.field("id").unwrap();
        for number in 0..docs {
            let mut row = batch.upsert();
            row.str(id, &format!("{number}")).unwrap();
            row.finish().unwrap();
        }
        store.apply(batch).unwrap();
        // In a block, in a segment, and in the commit that another process opens.
        store.refresh().unwrap();
        answers(DocvaluesTable::of_snapshot(&store.snapshot()).unwrap(), docs).await;
        store.commit().unwrap();
        answers(DocvaluesTable::of_snapshot(&store.snapshot()).unwrap(), docs).await;
        let dataset = Dataset::of_store(folder.path()).unwrap();
        answers(DocvaluesTable::of_dataset(dataset).unwrap(), docs).await;
    }
}

async fn answers(table: DocvaluesTable, docs: usize) {
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["size", "id", "host", "day", "ratio", "tags", "parts", "raw"]);
    let types: Vec<&DataType> = schema.fields().iter().map(|field| field.data_type()).collect();
    assert_eq!(
        types[..5],
        [&DataType::Int64, &DataType::Utf8View, &DataType::Utf8View, &DataType::Date32, &DataType::Float64]
    );
    let context = context(table);
    let queries = [
        ("select count(size), max(size) from t".to_owned(), vec!["0 ".to_owned()]),
        ("select count(*), count(host), min(day), max(ratio) from t".to_owned(), vec![format!("{docs} 0  ")]),
        ("select count(*) from t where size is null".to_owned(), vec![docs.to_string()]),
        (
            "select count(*) from t where size > 3 or host = 'a' or day < '2024-01-01'".to_owned(),
            vec!["0".to_owned()],
        ),
        ("select count(*) from t where host is null and tags is null".to_owned(), vec![docs.to_string()]),
        (
            "select host, count(*), sum(size) from t group by host".to_owned(),
            if docs == 0 { vec![] } else { vec![format!(" {docs} ")] },
        ),
        (
            "select day, count(*) from t group by day having count(*) = 5".to_owned(),
            if docs == 5 { vec![" 5".to_owned()] } else { vec![] },
        ),
        (
            "select size, host, day, ratio, tags, parts, raw, id from t order by ratio, id".to_owned(),
            (0..docs).map(|id| format!("       {id}")).collect(),
        ),
    ];
    for (sql, expected) in queries {
        assert_eq!(rows(&context, &sql).await, expected, "{sql}");
    }
}

/// The rows of an answer, with blanks between the values.
async fn rows(context: &SessionContext, sql: &str) -> Vec<String> {
    let found = context.sql(sql).await.unwrap().collect().await.unwrap();
    let text = pretty_format_batches(&found).unwrap().to_string();
    let rows = text.lines().skip(3).filter(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join(" ");
    rows.map(cells).collect()
}
