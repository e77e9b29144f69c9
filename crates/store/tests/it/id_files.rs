//! An engine that keeps the numbers of the documents of each segment in a side file, and follows merges by their moves.

use std::error::Error as StdError;
use std::io::Read as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use docvalues_column::{ColumnSource, DocId};
use docvalues_storage::Directory;
use docvalues_store::{Observer, Publication, Snapshot};

/// The bytes of a document in a side file.
const LEN: usize = 4;

/// Writes the numbers of the documents of each segment, in their order: those of a merge from the side files before.
#[derive(Default)]
pub(crate) struct Ids {
    /// Whether the publication fails, after the side file was written.
    pub(crate) fails: AtomicBool,
    pub(crate) calls: AtomicUsize,
}

impl Ids {
    pub(crate) fn new() -> Arc<Ids> {
        Arc::default()
    }
}

impl Observer for Ids {
    fn publish(&self, publication: &mut Publication<'_>) -> Result<(), Box<dyn StdError + Send + Sync>> {
        self.calls.fetch_add(1, Relaxed);
        let expected = numbers(publication.segment());
        let mut found = vec![0; expected.len()];
        let (mut moved, mut known) = (0, 0);
        for run in publication.moves() {
            let Some((to, first)) = run.to else { continue };
            assert_eq!(to.segment(), Some(publication.number()));
            let len = run.docs.len() * LEN;
            moved += len;
            let Some(number) = run.from.segment() else { continue };
            let mut before = Vec::new();
            let file = publication.side_file(number, "ids");
            file.ok_or("expected a side file of each segment")?.read_to_end(&mut before)?;
            let (from, to) = (run.docs.start as usize * LEN, first.get() as usize * LEN);
            found[to..to + len].copy_from_slice(&before[from..from + len]);
            known += len;
        }
        assert!(moved == 0 || moved == expected.len(), "each document was somewhere before");
        assert!(known == 0 || found == expected, "moves are those of the columns");
        publication.write("ids", |out| out.write_all(&expected))?;
        match self.fails.load(Relaxed) {
            true => Err("no".into()),
            false => Ok(()),
        }
    }
}

/// The numbers of all documents, read from the column of their ids.
fn numbers(source: &dyn ColumnSource) -> Vec<u8> {
    let column = source.column("id").unwrap();
    let (values, mut all, mut id) = (column.values().bytes().unwrap(), Vec::new(), Vec::new());
    for doc in (0..source.docs()).map(DocId::new) {
        assert!(values.get(doc, &mut id).unwrap());
        let number = std::str::from_utf8(&id).unwrap().strip_prefix("doc-").unwrap();
        all.extend_from_slice(&number.parse::<u32>().unwrap().to_le_bytes());
    }
    all
}

/// Whether each segment has a side file with the numbers of its columns.
pub(crate) fn are_right(snapshot: &Snapshot) -> bool {
    snapshot.segments().all(|segment| {
        let mut found = Vec::new();
        let file = snapshot.side_file(segment.number, "ids");
        let is_read = file.is_some_and(|mut file| file.read_to_end(&mut found).is_ok());
        is_read && found == numbers(segment.segment)
    })
}

/// Checks the side file of each segment. Returns the number of segments.
pub(crate) fn check(snapshot: &Snapshot) -> usize {
    assert!(are_right(snapshot), "a side file is missing, or differs from the columns");
    snapshot.segments().len()
}

/// The number of side files.
pub(crate) fn side_files(directory: &dyn Directory) -> usize {
    let names = directory.list().unwrap().into_iter().map(|entry| entry.name.into_string().unwrap());
    names.filter(|name| name.ends_with(".side")).count()
}
