//! Calls that fail.

use docvalues::prelude::*;
use docvalues_tantivy::{Error, Index, KEY};
use tantivy::TantivyDocument;
use tantivy::schema;

use crate::fixture::{Contents, add, check, columns, create, doc, options, set_size};

/// The size is a sort key, which cannot be updated.
#[test]
fn a_commit_that_fails_drops_its_documents_in_text_and_columns() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create(folder.path(), columns().with_sort([SortKey::of("size")]).unwrap());
    add(&index, &mut writer, 1, &doc("ant", 1));
    writer.commit().unwrap();
    let before = Contents::from([(1, doc("ant", 1))]);

    set_size(&mut writer, 1, 9);
    assert!(matches!(writer.refresh(), Err(Error::Columns(_))));
    writer.refresh().unwrap();
    check(&index.searcher(), &before);

    add(&index, &mut writer, 1, &doc("bee", 7));
    add(&index, &mut writer, 2, &doc("bee", 2));
    set_size(&mut writer, 2, 9);
    assert!(matches!(writer.commit(), Err(Error::Columns(_))));
    check(&index.searcher(), &before);

    add(&index, &mut writer, 3, &doc("cow", 3));
    writer.commit().unwrap();
    let after = Contents::from([(1, doc("ant", 1)), (3, doc("cow", 3))]);
    check(&index.searcher(), &after);
    drop((index, writer));
    let (index, _writer) = Index::open(folder.path(), options()).unwrap();
    check(&index.searcher(), &after);
}

#[test]
fn a_document_whose_columns_fail_is_not_added() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create(folder.path(), columns());
    let size = writer.field("size").unwrap();
    let added = writer.add(1, TantivyDocument::new(), |row| row.str(size, "no number").map(drop));
    assert!(matches!(added, Err(Error::Columns(_))));
    let mut text = TantivyDocument::new();
    text.add_u64(index.text().schema().get_field(KEY).unwrap(), 7);
    let added = writer.add(1, text, |_| Ok(()));
    assert!(matches!(added, Err(Error::Schema { field }) if field == KEY));
    add(&index, &mut writer, 2, &doc("ant", 1));
    writer.commit().unwrap();
    check(&index.searcher(), &Contents::from([(2, doc("ant", 1))]));
}

#[test]
fn keys_ids_and_versions_of_the_columns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let field = |name: &str| Field::new(name, Kind::Binary, LogicalType::Bytes);
    let with = |name: &str| StoreSchema::new().with_field(field(name)).unwrap();
    let versions = || {
        let version = Field::new("version", Kind::Numeric, LogicalType::U64);
        with("id").with_id_field("id").unwrap().with_field(version).unwrap().with_version_field("version")
    };
    for columns in [with(KEY), with("id").with_id_field("id").unwrap(), versions().unwrap()] {
        let created = Index::create(folder.path(), schema::Schema::builder(), columns, options()).map(drop);
        assert!(matches!(created, Err(Error::Schema { .. })), "{created:?}");
    }
}

#[test]
fn an_index_is_open_once() {
    let folder = tempfile::tempdir().unwrap();
    let opened = create(folder.path(), columns());
    let again = Index::open(folder.path(), options()).map(drop);
    assert!(matches!(again, Err(Error::Text(_))), "{again:?}");
    drop(opened);
    drop(Index::open(folder.path(), options()).unwrap());
}
