//! Generated queries over tables, and over the same rows in memory.

use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, RecordBatch};
use arrow::datatypes::Int64Type;
use arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_session::TableProvider;
use docvalues::DocId;
use docvalues::prelude::*;
use docvalues::search::Query;
use docvalues::store::{Store, StoreOptions, Update};
use docvalues_datafusion::{DocvaluesTable, GroupByOrds, functions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;

use crate::generated::{condition, query, schema, store};

fn context(table: Arc<dyn TableProvider>, partitions: usize, rows: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(rows);
    let state = SessionStateBuilder::new().with_default_features().with_config(config);
    let state = state.with_physical_optimizer_rule(Arc::new(GroupByOrds)).build();
    let context = SessionContext::new_with_state(state);
    context.register_table("t", table).unwrap();
    functions().into_iter().for_each(|function| context.register_udf(function));
    context
}

async fn answer(context: &SessionContext, sql: &str) -> String {
    let found = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = found.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let text = pretty_format_batches(&batches).unwrap().to_string();
    // An answer without rows may have no batch.
    if batches.iter().all(|batch| batch.num_rows() == 0) { String::new() } else { text }
}

/// Queries of several tables, in several partitions and sizes of batches.
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
        let queries = if partitions == 1 { cases(60, 300) } else { cases(30, 100) };
        for _ in 0..queries {
            let sql = query(&mut random);
            let expected = answer(&memory, &sql).await;
            assert_eq!(answer(&table, &sql).await, expected, "{sql}");
            filled += u32::from(!expected.is_empty());
        }
        assert!(filled > queries * 2 / 3, "{filled} answers with rows");
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
            let ids = column("id").as_string_view().iter().flatten();
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
        for at in 0..cases(75, 300) {
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
    for (some, is_by_ords) in [
        ("host, sum(small) from t where day is null group by host", true),
        ("host, small, count(*) from t group by small, host", true),
        ("distinct host from t", true),
        ("host, max(host) from t group by host", false),
        ("host, sum(small) filter (where host > 'a') from t group by host", false),
        ("path, count(*) from t group by path", false),
        ("count(*) from t group by rollup (host, small)", false),
    ] {
        let found = plan(&context, &format!("select {some}")).await;
        assert_eq!(found.contains("DocvaluesTerms: columns=[host]"), is_by_ords, "{some}: {found}");
    }
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
        batches.iter().flat_map(|batch| batch.column(0).as_string_view().iter().flatten()).collect();
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

/// A column that was full until one document lost its value.
#[tokio::test]
async fn a_value_that_was_unset_is_null() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let mut batch = store.batch().unwrap();
    let (id, small) = (batch.field("id").unwrap(), batch.field("small").unwrap());
    for number in 0..4 {
        let mut row = batch.upsert();
        row.str(id, &number.to_string()).unwrap().i64(small, number).unwrap();
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.commit().unwrap();
    let mut batch = store.batch().unwrap();
    let mut row = batch.update_with(&Update::new().unset(small));
    row.str(id, "2").unwrap();
    row.finish().unwrap();
    store.apply(batch).unwrap();
    store.refresh().unwrap();
    let context = context(Arc::new(DocvaluesTable::of_snapshot(&store.snapshot()).unwrap()), 1, 8_192);
    for (sql, rows) in [("small is null", 1), ("small is not null", 3), ("true", 4)] {
        let sql = format!("select id, small from t where {sql}");
        let found = context.sql(&sql).await.unwrap().count().await.unwrap();
        assert_eq!(found, rows, "{sql}");
    }
    let found = context.sql("select small from t").await.unwrap().collect().await.unwrap();
    assert_eq!(found.iter().map(|batch| batch.column(0).null_count()).sum::<usize>(), 1);
}
