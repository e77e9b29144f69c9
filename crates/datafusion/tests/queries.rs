//! Generated queries over tables, and over the same rows in memory.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use arrow::array::{AsArray as _, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_session::TableProvider;
use docvalues::DocId;
use docvalues::prelude::*;
use docvalues::search::Query;
use docvalues::store::{Store, StoreOptions, StoreSchema};
use docvalues::{Field, Kind};
use docvalues_datafusion::DocvaluesTable;
use docvalues_testkit::rng::SplitMix64;

/// The fields after the id. Only the last segments have values of `late`.
fn fields() -> [(&'static str, Kind, LogicalType); 13] {
    [
        ("small", Kind::Numeric, LogicalType::I64),
        ("large", Kind::Numeric, LogicalType::U64),
        ("ratio", Kind::Numeric, LogicalType::F64),
        ("odd", Kind::Numeric, LogicalType::F64),
        ("flag", Kind::Numeric, LogicalType::Bool),
        ("day", Kind::Numeric, LogicalType::Date),
        ("at", Kind::Numeric, LogicalType::TimestampMillis),
        ("host", Kind::Sorted, LogicalType::Utf8),
        ("path", Kind::Binary, LogicalType::Utf8),
        ("raw", Kind::Binary, LogicalType::Bytes),
        ("tags", Kind::SortedSet, LogicalType::Utf8),
        ("numbers", Kind::SortedNumeric, LogicalType::I64),
        ("late", Kind::Numeric, LogicalType::I64),
    ]
}

fn schema() -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    let fields = fields().map(|(name, kind, logical)| Field::new(name, kind, logical));
    let mut all = [id].into_iter().chain(fields);
    all.try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap().with_id_field("id").unwrap()
}

/// Doubles that are ordered, or compared, in several ways.
const ODD: [f64; 8] = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -1.5, 5e-324];

/// Writes documents from `first` on, of which some have values in some fields.
fn write(store: &Store, first: u32, docs: u32, random: &mut SplitMix64) {
    let mut batch = store.batch().unwrap();
    let id = batch.field("id").unwrap();
    let f = fields().map(|(name, ..)| batch.field(name).unwrap());
    for number in first..first + docs {
        let mut row = batch.upsert();
        row.str(id, &format!("{number:06}")).unwrap();
        let mut some = |share: u32| random.below_u32(share) > 0;
        let given: [bool; 13] = std::array::from_fn(|at| some(if at < 3 { 20 } else { 4 }));
        let mut below = |end: u32| random.below_u32(end);
        if given[0] {
            row.i64(f[0], i64::from(below(200)) - 100).unwrap();
        }
        if given[1] {
            row.u64(f[1], u64::MAX - u64::from(below(50))).unwrap();
        }
        if given[2] {
            row.f64(f[2], f64::from(below(1_000)) / 8.0 - 50.0).unwrap();
        }
        if given[3] {
            row.f64(f[3], ODD[below(8) as usize]).unwrap();
        }
        if given[4] {
            row.bool(f[4], below(2) == 0).unwrap();
        }
        if given[5] {
            row.date(f[5], 19_700 + i32::try_from(below(40)).unwrap()).unwrap();
        }
        if given[6] {
            row.timestamp(f[6], 1_700_000_000_000 + i64::from(number) * 1_000).unwrap();
        }
        if given[7] {
            row.str(f[7], &format!("host-{:02}", below(30))).unwrap();
        }
        if given[8] {
            row.str(f[8], &format!("/{}/{}", ["a", "b", "a%", "ü"][below(4) as usize], below(500))).unwrap();
        }
        if given[9] {
            row.bytes(f[9], &[0xff, u8::try_from(below(5)).unwrap()]).unwrap();
        }
        if given[10] {
            for _ in 0..below(3) {
                row.str(f[10], &format!("tag-{}", below(6))).unwrap();
            }
        }
        if given[11] {
            for _ in 0..below(3) {
                row.i64(f[11], i64::from(below(9))).unwrap();
            }
        }
        if given[12] && number >= 600 {
            row.i64(f[12], i64::from(below(4))).unwrap();
        }
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.refresh().unwrap();
}

/// A store with several segments, a buffer, deletes and updates; only the first segments if it is not `changed`.
fn store(folder: &std::path::Path, is_changed: bool) -> Store {
    let mut random = SplitMix64::new(28);
    let store = Store::create(folder, schema(), StoreOptions::default()).unwrap();
    for segment in 0..4 {
        write(&store, segment * 300, [300, 1, 300, 120][segment as usize], &mut random);
        if segment < 3 || !is_changed {
            store.commit().unwrap();
        }
    }
    if is_changed {
        store.delete_where(&Query::range("small", 40..)).unwrap();
        let mut batch = store.batch().unwrap();
        let (small, host) = (batch.field("small").unwrap(), batch.field("host").unwrap());
        let mut row = batch.update();
        row.i64(small, 1_000).unwrap().str(host, "host-new").unwrap();
        row.finish().unwrap();
        assert!(store.update_where(&Query::eq("flag", true), batch).unwrap() > 0);
        store.refresh().unwrap();
    }
    store
}

/// A condition on columns of the table `name`.
fn condition(name: &str, depth: u32, random: &mut SplitMix64) -> String {
    let kinds = if depth == 0 { 16 } else { 20 };
    let kind = random.below_u32(kinds);
    let op = ["=", "<>", "<", "<=", ">", ">="][random.below_u32(6) as usize];
    let mut below = |end: u32| random.below_u32(end);
    match kind {
        0 => format!("{name}.small {op} {}", i64::from(below(220)) - 110),
        1 => format!("{} {op} {name}.small", i64::from(below(220)) - 110),
        2 => format!("{name}.small between {} and {}", i64::from(below(100)) - 100, below(100)),
        3 => format!("{name}.small not in ({}, {}, 7)", below(20), below(20)),
        4 => format!("{name}.large {op} {}", u64::MAX - u64::from(below(60))),
        5 => format!("{name}.ratio {op} {}", f64::from(below(1_000)) / 8.0 - 50.0),
        6 => format!("{name}.odd {op} {}", ["0.0", "-0.0", "1.5", "-1e300", "1e300", "2"][below(6) as usize]),
        7 => format!("{}{name}.flag", ["", "not "][below(2) as usize]),
        8 => format!("{name}.day {op} date '2024-01-{:02}'", below(31) + 1),
        9 => format!("{name}.at {op} timestamp '2023-11-14T22:{:02}:00Z'", below(60)),
        10 => format!("{name}.host {op} 'host-{:02}'", below(32)),
        11 => {
            let last = ["'none'", "null"][below(2) as usize];
            format!(
                "{name}.host {}in ('host-{:02}', 'host-{:02}', {last})",
                ["", "not "][below(2) as usize],
                below(30),
                below(30)
            )
        }
        12 => format!(
            "{name}.path like '{}'",
            ["/a/%", "/a%", "/%/1%", "/a\\%/%", "%", "/ü%"][below(6) as usize]
        ),
        13 => {
            let all = ["small", "odd", "host", "path", "tags", "numbers", "late", "flag"];
            format!("{name}.{} is {}null", all[below(8) as usize], ["", "not "][below(2) as usize])
        }
        14 => format!("{name}.raw {op} x'ff{:02x}'", below(6)),
        15 => format!("{name}.late {op} {}", below(3)),
        16 | 17 => {
            format!("({} and {})", condition(name, depth - 1, random), condition(name, depth - 1, random))
        }
        18 => format!("({} or {})", condition(name, depth - 1, random), condition(name, depth - 1, random)),
        _ => format!("not ({})", condition(name, depth - 1, random)),
    }
}

fn query(random: &mut SplitMix64) -> String {
    let filter = condition("a", 2, random);
    match random.below_u32(7) {
        0 => format!(
            "select count(*), count(small), sum(small), min(at), max(day), sum(ratio), count(odd), count(tags), max(host), \
             min(large) from t a where {filter}"
        ),
        1 => format!("select id, small, large, odd, flag, day, at, path, raw, tags, numbers from t a where {filter} order by id"),
        2 => format!("select host, count(*), sum(small), count(late) from t a where {filter} group by host order by host"),
        3 => {
            let column = ["small", "large", "ratio", "odd", "day", "at", "host", "late"][random.below_u32(8) as usize];
            let order = ["", "desc", "nulls first", "desc nulls last"][random.below_u32(4) as usize];
            let limit = random.below_u32(9) + 1;
            format!("select id, {column} from t a where {filter} order by {column} {order}, id limit {limit}")
        }
        4 => format!(
            "select a.id, b.id, b.path from t a join t b on a.host = b.host and a.day = b.day where {filter} and {} \
             order by a.id, b.id limit 50",
            condition("b", 1, random)
        ),
        5 => format!("select count(*) from (select numbers from t a where {filter} limit 13)"),
        _ => "select count(*), min(small), max(small), min(odd), max(odd), count(late), min(day), max(at), count(host) from t"
            .to_owned(),
    }
}

fn context(table: Arc<dyn TableProvider>, partitions: usize, rows: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(rows);
    let context = SessionContext::new_with_config(config);
    context.register_table("t", table).unwrap();
    context
}

async fn answer(context: &SessionContext, sql: &str) -> String {
    let found = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = found.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = pretty_format_batches(&batches).unwrap().to_string();
    // An answer without rows may have no batch.
    if batches.iter().all(|batch| batch.num_rows() == 0) { String::new() } else { text }
}

/// 300 queries for each of several tables, partitions and sizes of batches.
#[tokio::test]
async fn answers_equal_those_over_the_same_rows_in_memory() {
    for (is_changed, partitions, rows) in [(false, 1, 8_192), (true, 2, 8_192), (false, 3, 3), (true, 4, 100)]
    {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder.path().join("store"), is_changed);
        let snapshot = store.snapshot();
        let table = DocvaluesTable::of_snapshot(&snapshot).unwrap();
        let names: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
        let export = snapshot.search().missing_columns(docvalues::search::MissingColumns::NoValues);
        let export = export.export(docvalues::search::DocsByPart::All, &names).unwrap().batches();
        let batches: Vec<RecordBatch> = export.collect::<Result<_, _>>().unwrap();
        let rows_in_memory = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert!(rows_in_memory as u64 == snapshot.docs() && (snapshot.docs() < 600) == is_changed);
        let memory = datafusion::datasource::MemTable::try_new(batches[0].schema(), vec![batches]).unwrap();
        let (memory, table) =
            (context(Arc::new(memory), 1, 8_192), context(Arc::new(table), partitions, rows));
        let mut random = SplitMix64::new(partitions as u64);
        let mut filled = 0;
        for _ in 0..300 {
            let sql = query(&mut random);
            let expected = answer(&memory, &sql).await;
            assert_eq!(answer(&table, &sql).await, expected, "{sql}");
            filled += u32::from(!expected.is_empty());
        }
        assert!(filled > 200, "{filled} answers with rows");
    }
}

/// A condition on places, and perhaps others.
fn place(random: &mut SplitMix64) -> String {
    let op = ["=", "<>", "<", "<=", ">", ">="][random.below_u32(6) as usize];
    let doc = i64::from(random.below_u32(210)) - 4;
    match random.below_u32(7) {
        0 => format!("_doc {op} {doc}"),
        1 => format!("{doc} {op} _doc"),
        2 => format!("_part {op} {}", random.below_u32(5)),
        3 => format!("_doc in ({doc}, {}, 199, null)", random.below_u32(200)),
        4 => format!("_doc between {doc} and {}", random.below_u32(210)),
        5 => format!("({} and {})", place(random), place(random)),
        _ => format!("({} or {})", place(random), place(random)),
    }
}

#[tokio::test]
async fn rows_are_found_by_their_places() {
    for (is_changed, partitions, rows) in [(false, 1, 8_192), (true, 3, 7)] {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder.path().join("store"), is_changed);
        let snapshot = store.snapshot();
        let table = DocvaluesTable::of_snapshot(&snapshot).unwrap().with_places().unwrap();
        assert!(table.with_places().is_err());
        let table = Arc::new(DocvaluesTable::of_snapshot(&snapshot).unwrap().with_places().unwrap());
        let found = context(table.clone(), 1, 8_192);
        let all = found.sql("select * from t").await.unwrap().collect().await.unwrap();
        let mut docs = 0;
        for batch in &all {
            let column = |name| batch.column_by_name(name).unwrap();
            let number = |name| column(name).as_primitive::<Int64Type>().values();
            let ids = column("id").as_string::<i32>().iter().flatten();
            for ((part, doc), id) in number("_part").iter().zip(number("_doc")).zip(ids) {
                let source = snapshot.parts().source(usize::try_from(*part).unwrap());
                let (mut of_doc, doc) = (Vec::new(), DocId::new(u32::try_from(*doc).unwrap()));
                source.column("id").unwrap().values().bytes().unwrap().get(doc, &mut of_doc).unwrap();
                assert_eq!(of_doc, id.as_bytes());
                docs += 1;
            }
        }
        assert_eq!(docs, snapshot.docs());
        let memory = datafusion::datasource::MemTable::try_new(all[0].schema(), vec![all]).unwrap();
        let (memory, table) = (context(Arc::new(memory), 1, 8_192), context(table, partitions, rows));
        let mut random = SplitMix64::new(partitions as u64);
        for at in 0..300 {
            let mut filter = place(&mut random);
            if at % 3 == 0 {
                filter = format!("{filter} and {}", condition("t", 1, &mut random));
            }
            let what = ["count(*), sum(_doc), max(_part)", "_doc, id, _part, host", "_doc"][at % 3];
            let sql =
                format!("select {what} from t where {filter} order by {}", ["1", "2, 1, 3", "1"][at % 3]);
            assert_eq!(answer(&table, &sql).await, answer(&memory, &sql).await, "{sql}");
            if at % 3 == 2 {
                let found = plan(&table, &sql).await;
                // DataFusion may make a condition of null of lists with it.
                assert!(sql.contains("null") || !found.contains("FilterExec"), "{sql}: {found}");
            }
        }
        // Nothing is searched, but for what was deleted.
        let sql = "explain analyze select id from t where _doc in (3, 17) and _part = 2";
        let found = answer(&table, sql).await;
        assert!(is_changed || found.contains("docs_matched=2, docs_visited=0"), "{found}");
    }
}

/// The lines of a plan.
async fn plan(context: &SessionContext, sql: &str) -> String {
    answer(context, &format!("explain {sql}")).await
}

#[tokio::test]
async fn conditions_are_answered_by_docvalues() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder.path().join("store"), false);
    let context = context(Arc::new(DocvaluesTable::of_snapshot(&store.snapshot()).unwrap()), 2, 8_192);
    let all = "small between 1 and 5 and host like 'host-0%' and (day is null or ratio > 1.5) and not flag and large <> 7";
    let found = plan(&context, &format!("select id from t where {all}")).await;
    assert!(!found.contains("FilterExec") && found.contains("DocvaluesScan"), "{found}");
    // NaNs and zeros are ordered differently; the elements of a list are not its value.
    for some in ["odd > 1", "ratio = 0.0", "path like '%x'", "small % 2 = 0", "small + 1 > small"] {
        let found = plan(&context, &format!("select id from t where {some}")).await;
        assert!(found.contains("FilterExec"), "{some}: {found}");
    }
    // From the directory.
    let found = plan(&context, "select count(*), min(small), max(small) from t").await;
    assert!(!found.contains("DocvaluesScan"), "{found}");
    let found = plan(&context, "select id from t where small > 3 limit 5").await;
    assert!(found.contains("limit=5"), "{found}");
}

/// A damaged file gives an error that names it, or the same answer where it is not read; never fewer rows.
#[tokio::test]
async fn a_damaged_file_is_an_error() {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for number in 0..3_000 {
        let mut doc = writer.document();
        doc.i64(size, number * 7 % 1_000).unwrap().str(host, &format!("host-{}", number % 50)).unwrap();
        doc.finish().unwrap();
    }
    let bytes = writer.finish_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hits.dv");
    let sql = "select host, sum(size), count(*) from t where size > 100 group by host order by host";
    let mut answers = Vec::new();
    for at in (0..bytes.len() + 97).step_by(97) {
        let mut damaged = bytes.clone();
        // The first file is whole.
        if let Some(byte) = at.checked_sub(97).and_then(|at| damaged.get_mut(at)) {
            *byte ^= 0x10;
        }
        std::fs::write(&path, damaged).unwrap();
        let opened = Segment::open(&path);
        let table = match opened.map_err(|error| error.to_string()) {
            Ok(segment) => DocvaluesTable::of_segments([segment]).map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        let found = match table {
            Ok(table) => {
                let plan = context(Arc::new(table), 2, 500).sql(sql).await.unwrap();
                plan.collect().await.map_err(|error| error.to_string())
            }
            Err(error) => Err(error),
        };
        answers.push(found.map(|batches| pretty_format_batches(&batches).unwrap().to_string()));
    }
    let whole = answers[0].clone().unwrap();
    assert!(answers.iter().any(Result::is_err));
    for answer in answers {
        match answer {
            Ok(answer) => assert_eq!(answer, whole),
            Err(error) => assert!(error.contains("hits.dv"), "{error}"),
        }
    }
}

/// More documents than are filtered at once, in several partitions.
#[tokio::test]
async fn partitions_and_windows_cover_all_documents_once() {
    let mut schema = Schema::new();
    let number = schema.add(FieldSpec::new("number", LogicalType::I64)).unwrap();
    let segment = |docs: std::ops::Range<i64>| {
        let mut writer = SegmentWriter::in_memory(schema.clone(), WriterOptions::default());
        for value in docs {
            let mut doc = writer.document();
            doc.i64(number, value).unwrap();
            doc.finish().unwrap();
        }
        Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
    };
    let table =
        Arc::new(DocvaluesTable::of_segments([segment(0..600_000), segment(600_000..700_000)]).unwrap());
    for (partitions, rows) in [(1, 8_192), (3, 1_000), (4, 200_000)] {
        let context = context(table.clone(), partitions, rows);
        for (filter, below) in
            [("true", 700_000_i64), ("number <> 700000", 700_000), ("number < 650001", 650_001)]
        {
            let sql = format!("select sum(number), count(number) from t where {filter}");
            let sum = below * (below - 1) / 2;
            let (found, plan) = (answer(&context, &sql).await, plan(&context, &sql).await);
            for figure in [sum, below] {
                assert!(found.contains(&format!("| {figure} ")), "{sql}: {found}");
            }
            assert!(plan.contains(&format!("partitions={partitions},")), "{plan}");
        }
    }
}

/// Strings that do not fit one chunk.
#[tokio::test]
async fn long_strings_come_in_several_batches() {
    let mut schema = Schema::new();
    let text =
        schema.add(FieldSpec::new("text", LogicalType::Utf8).kind(docvalues::BytesKind::Binary)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for number in 0..75 {
        let mut doc = writer.document();
        doc.str(text, &format!("{number:02}").repeat(500_000)).unwrap();
        doc.finish().unwrap();
    }
    let segment = Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap();
    let context = context(Arc::new(DocvaluesTable::of_segments([segment]).unwrap()), 1, 8_192);
    let batches = context.sql("select text from t limit 73").await.unwrap().collect().await.unwrap();
    let texts: Vec<_> =
        batches.iter().flat_map(|batch| batch.column(0).as_string::<i32>().iter().flatten()).collect();
    assert!(batches.len() > 1 && texts.len() == 73, "{} batches, {} texts", batches.len(), texts.len());
    for (number, text) in texts.iter().enumerate() {
        assert!(text.len() == 1_000_000 && text.starts_with(&format!("{number:02}")), "{number}");
    }
}

/// The largest value and the only missing one were deleted: the directory still counts them.
#[tokio::test]
async fn figures_of_deleted_documents_are_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let mut batch = store.batch().unwrap();
    let (id, small) = (batch.field("id").unwrap(), batch.field("small").unwrap());
    for number in 0..4 {
        let mut row = batch.upsert();
        row.str(id, &number.to_string()).unwrap();
        if number < 3 {
            row.i64(small, number).unwrap();
        }
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.commit().unwrap();
    store.delete_where(&Query::is_in("id", ["2", "3"])).unwrap();
    store.refresh().unwrap();
    let context = context(Arc::new(DocvaluesTable::of_snapshot(&store.snapshot()).unwrap()), 1, 8_192);
    // One by one, as DataFusion reads rows if it lacks one of several figures.
    for (figure, expected) in [("max(small)", 1), ("count(small)", 2), ("count(*)", 2)] {
        let found = answer(&context, &format!("select {figure} from t")).await;
        assert!(found.contains(&format!("| {expected} ")), "{found}");
    }
}
