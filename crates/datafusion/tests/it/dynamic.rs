//! Sorts with a limit, and joins, leave out documents while they run.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use datafusion::common::config::ConfigOptions;
use datafusion::datasource::MemTable;
use datafusion::execution::config::SessionConfig;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, DynamicFilterPhysicalExpr, IsNullExpr};
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterPushdownResult, ChildPushdownResult, FilterPushdownPhase, PushedDown,
};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use docvalues::Segment;
use docvalues::column::Part;
use docvalues::prelude::*;
use docvalues::search::{DocsByPart, MissingColumns, MixedTypes, Parts, Search};
use docvalues_datafusion::DocvaluesTable;
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;

const DOCS: u32 = 150_000;

/// Segments of one, three and no windows. Every column but `id` has nulls and the same value many times.
fn parts() -> Parts {
    let mut random = SplitMix64::new(5);
    let mut first = 0;
    let segments = [60_000, DOCS - 60_000 - 7, 7].map(|docs| {
        let mut schema = Schema::new();
        let mut add = |name, logical| schema.add(FieldSpec::new(name, logical)).unwrap();
        let (id, number, ratio) =
            (add("id", LogicalType::I64), add("number", LogicalType::I64), add("ratio", LogicalType::F64));
        let (day, host) = (add("day", LogicalType::Date), add("host", LogicalType::Utf8));
        // Names that would be others in SQL.
        let dotted = [add("t.id", LogicalType::I64), add("ID", LogicalType::I64)];
        let late = add("late", LogicalType::I64);
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for at in first..first + docs {
            let mut doc = writer.document();
            doc.i64(id, at.into()).unwrap();
            for field in dotted {
                doc.i64(field, i64::from(at * 7_919 % DOCS)).unwrap();
            }
            if at >= DOCS - 9 {
                doc.i64(late, at.into()).unwrap();
            }
            if random.below_u32(9) > 0 {
                doc.i64(number, i64::from(random.below_u32(50_000)) - 100).unwrap();
            }
            let ratio_of_doc = [0.0, -0.0, f64::NAN, -f64::NAN, 1.5, -7.25, f64::INFINITY];
            if let Some(value) = ratio_of_doc.get(random.below_u32(8) as usize) {
                doc.f64(ratio, *value).unwrap();
            }
            if random.below_u32(1_000) > 0 {
                doc.date(day, i32::try_from(at / 10).unwrap()).unwrap();
                doc.str(host, &format!("host-{}", random.below_u32(3_000))).unwrap();
            }
            doc.finish().unwrap();
        }
        first += docs;
        Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
    });
    Parts::new(segments.map(Part::new))
}

/// The same rows in memory.
fn memory(parts: &Parts, table: &DocvaluesTable) -> MemTable {
    use datafusion::catalog::TableProvider as _;
    let names: Vec<String> = table.schema().fields().iter().map(|field| field.name().clone()).collect();
    let search =
        Search::over(parts).missing_columns(MissingColumns::NoValues).mixed_types(MixedTypes::Promote);
    let export = search.export(DocsByPart::All, &names).unwrap().batches();
    let batches: Vec<RecordBatch> = export.collect::<Result<_, _>>().unwrap();
    MemTable::try_new(batches[0].schema(), vec![batches]).unwrap()
}

/// The answer, and the documents that scans found.
async fn run(context: &SessionContext, sql: &str) -> (String, usize) {
    let plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
    let batches = collect(plan.clone(), context.task_ctx()).await.unwrap();
    (pretty_format_batches(&batches).unwrap().to_string(), matched(&plan))
}

fn matched(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let of_children: usize = plan.children().into_iter().map(matched).sum();
    let own = plan.metrics().and_then(|metrics| metrics.sum_by_name("docs_matched"));
    of_children + own.map_or(0, |value| value.as_usize())
}

#[tokio::test]
async fn documents_are_left_out_and_none_is_lost() {
    let parts = parts();
    let table = DocvaluesTable::new(&parts).unwrap();
    let expected = SessionContext::new();
    let small = "create view few as select * from (values (17, 2), (40000, 3), (null, 4), (60000, 5)) as v(number, n)";
    expected.register_table("t", Arc::new(memory(&parts, &table))).unwrap();
    let table = Arc::new(table);
    let mut orders: Vec<String> = Vec::new();
    for column in [
        "\"t.id\"",
        "\"ID\"",
        "number",
        "ratio",
        "day",
        "host",
        "day desc, number",
        "number desc, host",
        "ratio, host",
    ] {
        for end in ["", "desc", "nulls first", "desc nulls last"] {
            orders.push(format!("order by {column} {end}, id limit 5"));
        }
    }
    let mut queries: Vec<String> = orders.iter().map(|order| format!("select * from t {order}")).collect();
    queries.extend([
        "select min(late), max(number) from t where id >= 0".to_owned(),
        "select min(number), max(number * 2) from t where id >= 0".to_owned(),
        "select * from t where number < 40000 order by number desc, id limit 3".to_owned(),
        "select t.id, n from t join few on t.number = few.number order by t.id".to_owned(),
        "select t.id, n from t left join few on t.number = few.number order by n, t.id limit 9".to_owned(),
        "select t.id from t left semi join few on t.number = few.number order by t.id".to_owned(),
        "select t.id from t left anti join few on t.number = few.number order by t.id limit 7".to_owned(),
        "select a.id from t a join (select host from t where id = 9) b on a.host = b.host order by a.id"
            .to_owned(),
    ]);
    for (turn, (partitions, of_aggregates)) in [(1, false), (3, false), (3, true)].into_iter().enumerate() {
        let mut config = SessionConfig::new().with_target_partitions(partitions);
        config.options_mut().optimizer.enable_aggregate_dynamic_filter_pushdown = of_aggregates;
        let context = SessionContext::new_with_config(config);
        context.register_table("t", table.clone()).unwrap();
        for context in [&context, &expected] {
            context.sql("drop view if exists few").await.unwrap();
            context.sql(small).await.unwrap();
        }
        // All in the full sweep; otherwise by turns.
        for sql in queries.iter().skip(cases(turn, 0)).step_by(cases(3, 1)) {
            let ((found, _), (expected, _)) = (run(&context, sql).await, run(&expected, sql).await);
            assert_eq!(found, expected, "{sql} in {partitions} partitions");
        }
        // Any 70,000 documents, and not those that match: of these there are more than 50,000.
        let limited = "select count(*) < 40000 as few from (select number from t limit 70000) s join (select distinct number \
             from t where number < 20000) d on s.number = d.number";
        let (found, _) = run(&context, limited).await;
        assert!(found.contains("true"), "{found}");
        for sql in [
            "select id from t where number is not null order by number desc limit 5",
            // Ratios may be NaN, so that only the number is compared.
            "select id from t where number is not null order by number desc, ratio limit 5",
            "select id, day from t order by day limit 5",
            "select id, host from t order by host limit 5",
            "select n from t join few on t.number = few.number",
        ] {
            let (_, matched) = run(&context, sql).await;
            // Each of several partitions filters its first window before any filter narrows.
            assert!(
                partitions > 1 || matched < DOCS as usize * 3 / 4,
                "{sql}: {matched} documents in {partitions} partitions"
            );
        }
    }
}

/// A filter must not be applied before a limit.
#[tokio::test]
async fn a_scan_with_a_limit_takes_no_filter() {
    let context = SessionContext::new();
    context.register_table("t", Arc::new(DocvaluesTable::new(&parts()).unwrap())).unwrap();
    for (sql, takes) in [("select number from t", true), ("select number from t limit 5", false)] {
        let mut plan = context.sql(sql).await.unwrap().create_physical_plan().await.unwrap();
        while let [child] = plan.children()[..] {
            plan = child.clone();
        }
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new("number", 0));
        let is_null = Arc::new(IsNullExpr::new(column.clone()));
        let filter: Arc<dyn PhysicalExpr> = Arc::new(DynamicFilterPhysicalExpr::new(vec![column], is_null));
        // If some filters can be wrong, none is taken.
        for of_aggregates in [true, false] {
            let parent = ChildFilterPushdownResult { filter: Arc::clone(&filter), child_results: Vec::new() };
            let result = ChildPushdownResult { parent_filters: vec![parent], self_filters: Vec::new() };
            let mut options = ConfigOptions::new();
            options.optimizer.enable_aggregate_dynamic_filter_pushdown = of_aggregates;
            let phase = FilterPushdownPhase::Post;
            let found = plan.handle_child_pushdown_result(phase, result, &options).unwrap();
            assert_eq!(found.updated_node.is_some(), takes && !of_aggregates, "{sql}");
            assert!(matches!(found.filters[..], [PushedDown::No]));
        }
    }
}
