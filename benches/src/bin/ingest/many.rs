//! Many stores of small segments that are open at a time: their mappings, open files and memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use docvalues::SortKey;
use docvalues::search::Docs;
use docvalues::store::{Background, BackgroundOptions, Outcome, Snapshot, Store, StoreOptions};
use docvalues_benches::process::{cpu, handles, maps, mib, threads};

use super::Figures;
use super::base::{link, no_merges};
use super::mixed::SMALL;
use super::ours::{BATCH, Ours, apply, docs, remove};

impl Ours<'_> {
    /// The number of documents in each store.
    pub(super) fn small(&self) -> u32 {
        self.args.segment_docs * self.segments
    }

    /// To be run in a process of its own.
    pub(super) fn many(&self) -> Vec<Figures> {
        let (base, all) = (self.base(self.small()), self.folder.join("many"));
        remove(&all);
        let folders: Vec<PathBuf> =
            (0..self.args.stores).map(|store| all.join(format!("{store}.docvalues"))).collect();
        folders.iter().for_each(|folder| link(&base, folder));
        let (wall, start) = (Instant::now(), cpu());
        let open = |folder: &PathBuf| {
            let store = Store::open(folder, StoreOptions::default()).expect("a store");
            let snapshot = store.snapshot();
            assert_eq!(snapshot.segments().len(), self.segments as usize);
            (Arc::new(store), snapshot)
        };
        let opened: Vec<(Arc<Store>, Snapshot)> = folders.iter().map(open).collect();
        let mut cases = vec![self.held("opened", wall, start)];
        let (wall, start) = (Instant::now(), cpu());
        let keys = [SortKey::of("size").descending()];
        for (_, snapshot) in &opened {
            assert_eq!(snapshot.search().top(Docs::All, &keys, 20).expect("good bytes").len(), 20);
        }
        cases.push(self.held("the top 20 by size of each", wall, start));
        let (wall, start) = (Instant::now(), cpu());
        let some = docs(self.small()..self.small() + SMALL, |number| i64::from(number) + 2);
        for (store, _) in &opened {
            let outcomes = apply(store, &some, true);
            assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Added), "another outcome");
            store.commit().expect("a disk with room");
        }
        cases.push(self.held("20 new ids in each, committed", wall, start));
        cases.push(self.shared(&opened));
        drop(opened);
        remove(&all);
        cases
    }

    /// Fills the buffers of all stores, which share threads and memory.
    fn shared(&self, opened: &[(Arc<Store>, Snapshot)]) -> Figures {
        let options = BackgroundOptions::new().merges(no_merges()).buffer_bytes(64 << 20);
        let background = Background::start(options).expect("threads can be started");
        opened.iter().for_each(|(store, _)| background.add(store).expect("a store without threads"));
        let (wall, start, first) = (Instant::now(), cpu(), self.small() + SMALL);
        let some = docs(first..first + 10_000, |number| i64::from(number) + 2);
        for some in some.chunks(BATCH) {
            opened.iter().for_each(|(store, _)| drop(apply(store, some, true)));
        }
        self.held("ten thousand new ids in each, 64 MiB of buffers shared", wall, start)
    }

    /// The time of a step, and the mappings, files, threads and memory of the process after it.
    fn held(&self, step: &str, wall: Instant, start: f64) -> Figures {
        let figures = [
            ("ms_wall", wall.elapsed().as_secs_f64() * 1e3),
            ("ms_cpu", (cpu() - start) * 1e3),
            ("maps", maps() as f64),
            ("handles", handles() as f64),
            ("threads", threads() as f64),
            ("mib_resident", mib("VmRSS")),
            ("mib_anonymous", mib("RssAnon")),
        ];
        self.figures("many", &format!("{} stores: {step}", self.args.stores), &figures)
    }
}
