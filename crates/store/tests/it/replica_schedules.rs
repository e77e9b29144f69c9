//! Random schedules of a leader, a replica, and what happens between them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::fixture::add;
use crate::script::Random;
use crate::updates::{Doc, Operation, Row, Way, apply, contents, schema};
use docvalues_search::Query;
use docvalues_store::{
    Durability, Error, Feed, FolderDepot, Frame, Frames, Replica, Store, StoreOptions, StreamReader,
    StreamWriter,
};
use docvalues_testkit::faults::PowerLossDirectory;

/// What a leader had at each history.
type States = HashMap<u64, BTreeMap<u32, Doc>>;

/// A leader and a replica, each with a disk that may lose power.
struct World {
    random: Random,
    disks: [PowerLossDirectory; 2],
    options: [StoreOptions; 2],
    leader: Option<Store>,
    replica: Option<Replica>,
    depot: FolderDepot,
    states: States,
    /// Frames on their way.
    sent: Vec<Frame>,
    frames: Option<Frames>,
    /// What happened: for the numbers in the output.
    counts: [u64; 8],
}

const APPLIED: usize = 0;
const KNOWN: usize = 1;
const GAPS: usize = 2;
const DAMAGED: usize = 3;
const DIVERGED: usize = 4;
const OLD: usize = 5;
const INSTALLED: usize = 6;
const LOST: usize = 7;

impl World {
    fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let mut options = || {
            StoreOptions::new()
                .durability(if random.below(2) == 0 { Durability::OnCommit } else { Durability::EachBatch })
                .keep_frames([0, 100_000, 1 << 30][random.below(3) as usize])
                .buffer_bytes(if random.below(3) == 0 { 2_000 } else { 64 << 20 })
        };
        let options = [options(), options()];
        let disks = ["/leader", "/replica"].map(PowerLossDirectory::new);
        let leader = Store::create_in(Arc::new(disks[0].clone()), schema(false), options[0]).unwrap();
        let replica = Replica::open_in(Arc::new(disks[1].clone()), options[1]).unwrap();
        let mut world = World {
            random,
            disks,
            options,
            leader: Some(leader),
            replica: Some(replica),
            depot: FolderDepot::of(Arc::new(PowerLossDirectory::new("/depot"))),
            states: States::from([(0, BTreeMap::new())]),
            sent: Vec::new(),
            frames: None,
            counts: [0; 8],
        };
        world.note();
        world
    }

    fn below(&mut self, end: u32) -> u32 {
        self.random.below(end)
    }

    fn leader(&self) -> &Store {
        self.leader.as_ref().unwrap()
    }

    fn replica(&self) -> &Replica {
        self.replica.as_ref().unwrap()
    }

    /// Notes what the leader contains.
    fn note(&mut self) {
        self.leader().refresh().unwrap();
        let (history, now) = (self.leader().position().history, contents(&self.leader().snapshot()));
        let before = self.states.entry(history).or_insert_with(|| now.clone());
        assert_eq!(*before, now, "one history, one state");
    }

    /// The replica has a state that the leader had.
    fn check(&self) {
        self.replica().store().refresh().unwrap();
        let position = self.replica().position();
        assert_eq!(
            Some(&contents(&self.replica().snapshot())),
            self.states.get(&position.history),
            "{position:?}"
        );
    }

    fn step(&mut self) {
        match self.below(20) {
            0..=5 => {
                let operations: Vec<_> = (0..self.below(6) + 1).map(|_| self.operation()).collect();
                apply(self.leader(), &operations);
                self.note();
            }
            6 => {
                let docs = [(self.below(40), 7), (self.below(40), 8)];
                add(self.leader(), &docs).unwrap();
                self.note();
            }
            7 if !self.leader().snapshot().parts().is_empty() => {
                let below = i64::from(self.below(20));
                self.leader().delete_where(&Query::range("size", ..below)).unwrap();
                self.note();
            }
            7 | 8 => drop(self.leader().commit().unwrap()),
            9 => self.leader().merge_to(1).unwrap(),
            10 => self.crash_leader(),
            11 => self.crash_replica(),
            12 => drop(self.replica().store().commit().unwrap()),
            13 => {
                self.replica().store().merge_to(1).unwrap();
            }
            14 => self.install(),
            15 => self.exchange(),
            _ => self.deliver(),
        }
        self.check();
    }

    /// A write, an update of some fields, or a delete.
    fn operation(&mut self) -> Operation {
        let number = self.below(40);
        match self.below(8) {
            0..=2 => Operation::Write(number, self.doc()),
            3..=6 => {
                let ways = [Way::Keep, Way::Set, Way::Unset, Way::Add, Way::Remove];
                let mut row = Row {
                    doc: self.doc(),
                    ways: [3, 3, 3, 5, 5].map(|kinds| ways[self.below(kinds) as usize]),
                };
                if self.below(3) == 0 {
                    row.ways[0] = Way::Count;
                }
                Operation::Update(number, row)
            }
            _ => Operation::Delete(number),
        }
    }

    fn doc(&mut self) -> Doc {
        let mut word = |end| (self.random.below(3) > 0).then(|| format!("w{}", self.random.below(end)));
        let (title, host) = (word(1_000), word(6));
        let tags = (0..3).filter_map(|_| word(8)).collect();
        let mut numbers: Vec<_> = (0..self.below(4)).map(|_| i64::from(self.random.below(5))).collect();
        numbers.sort_unstable();
        Doc { size: Some(i64::from(self.below(100))), title, host, numbers, tags }
    }

    /// The process of the leader ends, or its machine loses power.
    fn crash_leader(&mut self) {
        drop(self.leader.take());
        (self.frames, self.sent) = (None, Vec::new());
        if self.below(2) == 0 {
            self.disks[0] = self.disks[0].crash_image(self.random.next());
        }
        self.leader = Some(Store::open_in(Arc::new(self.disks[0].clone()), self.options[0]).unwrap());
        let history = self.leader().position().history;
        assert!(self.states.contains_key(&history), "a leader that was opened has a state of before");
        self.note();
    }

    fn crash_replica(&mut self) {
        drop(self.replica.take());
        if self.below(2) == 0 {
            self.disks[1] = self.disks[1].crash_image(self.random.next());
        }
        self.replica = Some(Replica::open_in(Arc::new(self.disks[1].clone()), self.options[1]).unwrap());
    }

    /// Some frames arrive: in order, or dropped, twice, out of order, cut or flipped.
    fn deliver(&mut self) {
        if self.frames.is_none() {
            self.frames = self.leader().frames(self.replica().position().sequence).ok();
        }
        while let Some(frames) = &mut self.frames {
            match frames.next_frame() {
                Ok(Some(frame)) => self.sent.push(frame),
                Ok(None) => break,
                Err(_) => self.frames = None,
            }
        }
        for _ in 0..=self.below(4) {
            if self.sent.is_empty() {
                return;
            }
            let (mut at, mut is_kept) = (0, false);
            let last = self.sent.len() - 1;
            let mut damage = None;
            match self.below(12) {
                0 => drop(self.sent.remove(0)),
                1 => is_kept = true,
                2 => at = last,
                3 => damage = Some(self.random.next()),
                _ => {}
            }
            if self.sent.is_empty() {
                return;
            }
            let frame =
                if is_kept { self.sent[0].clone() } else { self.sent.remove(at.min(self.sent.len() - 1)) };
            let mut bytes = frame.bytes;
            if let Some(damage) = damage {
                let bit = usize::try_from(damage % (bytes.len() as u64 * 8)).unwrap();
                if damage % 2 == 0 { bytes.truncate(bit / 8) } else { bytes[bit / 8] ^= 1 << (bit % 8) }
            }
            let before = self.replica().position();
            let received = self.replica().apply_frame(&bytes);
            let count = match &received {
                Ok(docvalues_store::Received::Applied) => APPLIED,
                Ok(docvalues_store::Received::Known) => KNOWN,
                Err(Error::Gap { .. }) => GAPS,
                Err(Error::Damaged { .. }) => DAMAGED,
                Err(Error::Diverged { .. }) => DIVERGED,
                Err(Error::OldEpoch { .. }) => OLD,
                other => panic!("{other:?}"),
            };
            self.counts[count] += 1;
            assert!(damage.is_none() || matches!(received, Err(Error::Damaged { .. })), "{received:?}");
            if received.is_err() {
                assert_eq!(self.replica().position(), before);
                // It asks again.
                (self.frames, self.sent) = (None, Vec::new());
            }
            self.check();
        }
    }

    /// The files of the newest commit.
    fn install(&mut self) {
        let commit = self.leader().hold_commit(None).unwrap();
        let is_vanishing = self.below(4) == 0;
        let installed = self.replica().install(commit.files(), |file| match is_vanishing {
            true => Err(Error::Damaged { file: file.name(), what: "gone".to_owned() }),
            false => commit.open(file),
        });
        match installed {
            Ok(_) => self.counts[INSTALLED] += 1,
            Err(Error::Diverged { .. }) => self.counts[DIVERGED] += 1,
            Err(Error::Damaged { .. }) if is_vanishing => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// Through a folder.
    fn exchange(&mut self) {
        let commit = self.leader().hold_commit(None).unwrap();
        commit.publish(&self.depot).unwrap();
        match self.replica().install_from(&self.depot) {
            Ok(_) => self.counts[INSTALLED] += 1,
            Err(Error::Diverged { .. }) => self.counts[DIVERGED] += 1,
            Err(error) => panic!("{error}"),
        }
    }

    /// The replica gets what it lacks, through a stream; what the leader lost, it discards.
    fn end(&mut self) {
        self.leader().commit().unwrap();
        let mut feed = Feed::open_in(self.leader().directory().clone(), self.replica().position());
        for _ in 0..2 {
            let mut pipe = Vec::new();
            let mut sent = Ok(true);
            while let Ok(true) = sent {
                sent = feed.send(&mut StreamWriter::new(&mut pipe));
            }
            let mut stream = StreamReader::new(&pipe[..]);
            let mut taken = sent.map(|_| Some(()));
            while let Ok(Some(())) = taken {
                taken = self.replica().take(&mut stream).map(|taken| taken.map(drop));
            }
            match taken {
                Ok(_) => break,
                Err(Error::Diverged { .. }) => {
                    self.counts[LOST] += 1;
                    let commit = self.leader().hold_commit(None).unwrap();
                    self.replica().install_over(commit.files(), |file| commit.open(file)).unwrap();
                    feed = Feed::open_in(self.leader().directory().clone(), self.replica().position());
                }
                Err(error) => panic!("{error}"),
            }
        }
        self.check();
        assert_eq!(self.replica().position(), self.leader().position());
        self.leader().refresh().unwrap();
        assert_eq!(contents(&self.replica().snapshot()), contents(&self.leader().snapshot()));
    }
}

/// Each replica has a state that its leader had, after every step, and the leader's own in the end.
#[test]
fn a_replica_has_a_state_of_its_leader() {
    let first = std::env::var("DOCVALUES_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let mut all = [0; 8];
    let schedules = crate::cases(120, 200_000);
    for seed in first..first + schedules {
        let ran = std::panic::catch_unwind(|| {
            let mut world = World::new(seed);
            for _ in 0..40 {
                world.step();
            }
            world.end();
            world.counts
        });
        let counts = ran.unwrap_or_else(|_| panic!("DOCVALUES_SEED={seed}"));
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    println!("{schedules} schedules: applied, known, gaps, damaged, diverged, old, installed, lost: {all:?}");
    assert!(
        [APPLIED, KNOWN, GAPS, DAMAGED, DIVERGED, INSTALLED, LOST].iter().all(|count| all[*count] > 0),
        "{all:?}"
    );
}
