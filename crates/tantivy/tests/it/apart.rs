//! Columns whose commit the text lacks, as after a kill between the two commits.

use std::fs;
use std::path::Path;

use docvalues_tantivy::{Error, Index};

use crate::fixture::{Contents, add, check, columns, create, doc, options, set_size};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

#[test]
fn columns_that_are_ahead_go_back_to_the_commit_of_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let [path, text, both] = ["index", "text", "both"].map(|name| folder.path().join(name));
    let (index, mut writer) = create(&path, columns());
    let mut before = Contents::from([(1, doc("ant", 1)), (2, doc("bee", 2))]);
    before.iter().for_each(|(key, doc)| add(&index, &mut writer, *key, doc));
    writer.commit().unwrap();
    // A commit of the columns alone is not lost.
    set_size(&mut writer, 2, 70);
    writer.commit().unwrap();
    before.insert(2, doc("bee", 70));
    copy(&path.join("text"), &text);

    add(&index, &mut writer, 1, &doc("cow", 5));
    writer.delete(2).unwrap();
    writer.commit().unwrap();
    let after = Contents::from([(1, doc("cow", 5))]);
    check(&index.searcher(), &after);
    drop((index, writer));

    copy(&text, &both.join("text"));
    copy(&path.join("columns"), &both.join("columns"));
    for _ in 0..2 {
        let (index, _writer) = Index::open(&both, options()).unwrap();
        check(&index.searcher(), &before);
    }
    // The same operations again, which have the same numbers in tantivy.
    let (index, mut writer) = Index::open(&both, options()).unwrap();
    add(&index, &mut writer, 1, &doc("dog", 6));
    writer.delete(2).unwrap();
    writer.commit().unwrap();
    drop((index, writer));
    let (index, _writer) = Index::open(&both, options()).unwrap();
    check(&index.searcher(), &Contents::from([(1, doc("dog", 6))]));

    let (index, _writer) = Index::open(&path, options()).unwrap();
    check(&index.searcher(), &after);
}

#[test]
fn the_first_commit_goes_back_to_the_empty_index() {
    let folder = tempfile::tempdir().unwrap();
    let [path, text, both] = ["index", "text", "both"].map(|name| folder.path().join(name));
    let (index, mut writer) = create(&path, columns());
    copy(&path.join("text"), &text);
    add(&index, &mut writer, 1, &doc("ant", 1));
    writer.commit().unwrap();
    drop((index, writer));
    copy(&text, &both.join("text"));
    copy(&path.join("columns"), &both.join("columns"));
    let (index, _writer) = Index::open(&both, options()).unwrap();
    check(&index.searcher(), &Contents::new());
}

#[test]
fn a_text_that_is_ahead_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [path, older] = ["index", "columns"].map(|name| folder.path().join(name));
    let (index, mut writer) = create(&path, columns());
    copy(&path.join("columns"), &older);
    add(&index, &mut writer, 1, &doc("ant", 1));
    writer.commit().unwrap();
    drop((index, writer));
    fs::remove_dir_all(path.join("columns")).unwrap();
    copy(&older, &path.join("columns"));
    let opened = Index::open(&path, options()).map(drop);
    assert!(matches!(opened, Err(Error::Apart { .. })), "{opened:?}");
}

/// tantivy gives the first operation of a writer the stamp of the last commit, and a merge takes a deletion with it for one from
/// before.
#[test]
fn a_merge_leaves_an_uncommitted_deletion_uncommitted() {
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create(folder.path(), columns());
    let mut before = Contents::new();
    for key in 1..5 {
        add(&index, &mut writer, key, &doc("ant", 1));
        before.insert(key, doc("ant", 1));
        writer.commit().unwrap();
    }
    drop((index, writer));

    for _ in 0..2 {
        let (index, mut writer) = Index::open(folder.path(), options()).unwrap();
        check(&index.searcher(), &before);
        // So many that tantivy has them before the merge.
        [3].into_iter().chain(100..200).for_each(|key| writer.delete(key).unwrap());
        writer.merge().unwrap();
        check(&index.searcher(), &before);
    }
    let (index, mut writer) = Index::open(folder.path(), options()).unwrap();
    [3].into_iter().chain(100..200).for_each(|key| writer.delete(key).unwrap());
    writer.merge().unwrap();
    writer.commit().unwrap();
    before.remove(&3);
    check(&index.searcher(), &before);
}

/// A kill after tantivy wrote the deletions of a segment and before it named them: the same commit writes the same name again.
#[test]
fn files_of_a_killed_commit_do_not_stop_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let [path, both] = ["index", "both"].map(|name| folder.path().join(name));
    let (index, mut writer) = create(&path, columns());
    let before = Contents::from([(1, doc("ant", 1)), (2, doc("bee", 2))]);
    before.iter().for_each(|(key, doc)| add(&index, &mut writer, *key, doc));
    writer.commit().unwrap();
    drop((index, writer));
    let meta = fs::read(path.join("text/meta.json")).unwrap();

    let replace = |path: &Path| {
        let (index, mut writer) = Index::open(path, options()).unwrap();
        check(&index.searcher(), &before);
        add(&index, &mut writer, 1, &doc("cow", 5));
        writer.commit().unwrap();
        check(&index.searcher(), &Contents::from([(1, doc("cow", 5)), (2, doc("bee", 2))]));
    };
    replace(&path);
    copy(&path.join("text"), &both.join("text"));
    copy(&path.join("columns"), &both.join("columns"));
    fs::write(both.join("text/meta.json"), meta).unwrap();
    let deletions = fs::read_dir(both.join("text")).unwrap().map(|entry| entry.unwrap().path());
    assert!(deletions.into_iter().any(|path| path.extension().is_some_and(|end| end == "del")));
    replace(&both);
}
