//! Tables and scans of objects as bytes: here the objects are files, by their URLs.

use docvalues_datafusion::Objects;

use super::*;

fn urls(folder: &Path) -> Vec<String> {
    files(folder).iter().map(|file| format!("file://{}", file.display())).collect()
}

#[tokio::test]
async fn objects_are_sent_by_their_urls() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionContext::new();
    let objects = Objects::new(session.runtime_env());
    let dataset = objects.dataset(urls(folder.path())).await.unwrap();
    assert!(error(DocvaluesTable::of_dataset(dataset.clone()).map(drop)).contains("`open_objects`"));
    let (local, other) = (context(objects.table(dataset.clone()).await.unwrap()), SessionContext::new());
    let (tables, scans) =
        (DocvaluesLogicalCodec::default(), DocvaluesCodec::default().with_object_memory(1 << 20));
    for query in QUERIES {
        let expected = answer(&local, plan(&local, query).await).await;
        // Opened by the session of another process.
        let logical = local.sql(query).await.unwrap();
        let bytes = logical_plan_to_bytes_with_extension_codec(logical.logical_plan(), &tables).unwrap();
        let sent = logical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &tables).unwrap();
        let sent = other.execute_logical_plan(sent).await.unwrap();
        let physical = sent.clone().create_physical_plan().await.unwrap();
        assert_eq!(text(&sent.collect().await.unwrap()), expected, "{query}");
        let bytes = physical_plan_to_bytes_with_extension_codec(physical, &scans).unwrap();
        let sent = physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &scans).unwrap();
        assert_eq!(answer(&other, sent).await, expected, "{query}");
    }
    // Another segment under the URL of one.
    std::fs::copy(folder.path().join("0.dv"), folder.path().join("1.dv")).unwrap();
    let bytes = physical_plan_to_bytes_with_extension_codec(plan(&local, QUERIES[0]).await, &scans).unwrap();
    let fresh = DocvaluesCodec::default();
    let error =
        error(physical_plan_from_bytes_with_extension_codec(&bytes, &other.task_ctx(), &fresh).map(drop));
    assert!(error.contains("/1.dv: expected the content"), "{error}");
}
