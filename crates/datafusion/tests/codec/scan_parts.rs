//! Scans of some parts.

use arrow::array::AsArray as _;
use arrow::datatypes::Int64Type;
use docvalues_datafusion::ScanParts;

use super::*;

/// The scan of a plan.
fn scan(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    nodes(plan, "DocvaluesScan").remove(0)
}

/// The parts whose documents a partition returns, in order, and the number of these.
async fn parts_of(
    plan: &Arc<dyn ExecutionPlan>,
    partition: usize,
    context: &SessionContext,
) -> (Vec<usize>, usize) {
    let stream = plan.execute(partition, context.task_ctx()).unwrap();
    let batches = datafusion::physical_plan::common::collect(stream).await.unwrap();
    let numbers = batches.iter().flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values());
    let mut parts: Vec<_> = numbers.map(|number| usize::try_from(*number).unwrap() / DOCS as usize).collect();
    let rows = parts.len();
    parts.dedup();
    (parts, rows)
}

#[tokio::test]
async fn a_scan_of_some_parts_is_the_same_after_a_journey_as_bytes() {
    let (folder, dataset) = dataset();
    let (context, codec) = (context(DocvaluesTable::of_dataset(dataset).unwrap()), DocvaluesCodec::default());
    for (query, share) in [("select number from hits where size < 500", 2), ("select number from hits", 1)] {
        let scan = scan(&plan(&context, query).await);
        let parts = ScanParts::of(&scan).unwrap();
        assert_eq!(parts.docs(), [DOCS; 3]);
        assert_eq!(parts.dataset().file(2), folder.path().join("2.dv").to_str());
        // As many partitions as parts, but not all parts.
        for lists in [vec![vec![2, 0], vec![], vec![1]], vec![vec![], vec![1], vec![]], vec![vec![0]]] {
            let some = parts.read(&lists).unwrap();
            assert_eq!(some.schema(), scan.schema());
            let bytes = physical_plan_to_bytes_with_extension_codec(some, &codec).unwrap();
            let sent = physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec);
            let sent = sent.unwrap();
            assert_eq!(sent.properties().partitioning.partition_count(), lists.len());
            for (partition, list) in lists.iter().enumerate() {
                let rows = list.len() * DOCS as usize / share;
                assert_eq!(parts_of(&sent, partition, &context).await, (list.clone(), rows), "{query}");
            }
        }
        let beyond = error(parts.read(&[vec![3]]));
        assert!(beyond.contains("expected a part below 3, found 3"), "{beyond}");
    }
}

#[tokio::test]
async fn scans_that_cannot_be_sent_have_no_parts_to_read() {
    let (_folder, dataset) = dataset();
    let opened = DocvaluesTable::new(&dataset.open().unwrap()).unwrap();
    let with_places = DocvaluesTable::of_dataset(dataset.clone()).unwrap().with_places().unwrap();
    for table in [opened, with_places] {
        let plan = plan(&context(table), "select number from hits").await;
        assert!(ScanParts::of(&scan(&plan)).is_none());
    }
    let sliced = context(DocvaluesTable::of_dataset(dataset).unwrap().sliced());
    let plan = plan(&sliced, "select number from hits").await;
    assert!(ScanParts::of(&nodes(&plan, "SlicedScan")[0]).is_none());
}
