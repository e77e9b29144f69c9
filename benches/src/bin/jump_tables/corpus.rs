//! The two segments, the three contenders, and what a search hits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use docvalues::{DocId, JumpTables, OpenOptions, Schema, Segment, SegmentWriter, WriterOptions};
use docvalues_benches::archive::{Archive, Document, FIELDS, add, field};
use docvalues_testkit::rng::SplitMix64;

use crate::Outcome;

/// The same documents in two segments.
pub(crate) struct Corpus {
    pub(crate) docs: u32,
    seed: u64,
    /// Without jump tables, and with them.
    paths: [PathBuf; 2],
    pub(crate) bytes: [u64; 2],
    /// What building took, if a segment was not there.
    pub(crate) built: Option<Built>,
}

/// What building one or both segments took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Built {
    pub(crate) time: Duration,
    /// The most memory that this process had, if the system tells.
    pub(crate) peak: Option<u64>,
}

/// Who finds blocks in which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    Walk,
    Built,
    Baked,
}

impl Contender {
    pub(crate) const ALL: [Contender; 3] = [Contender::Walk, Contender::Built, Contender::Baked];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Contender::Walk => "no tables (Lucene 7)",
            Contender::Built => "built on first use (LUCENE-8374)",
            Contender::Baked => "in the file (LUCENE-8585)",
        }
    }

    fn mode(self) -> JumpTables {
        match self {
            Contender::Walk => JumpTables::Ignore,
            Contender::Built => JumpTables::BuildOnFirstUse,
            Contender::Baked => JumpTables::Baked,
        }
    }
}

impl Corpus {
    /// Builds the segments that are not in `folder`, each within `budget` bytes of buffered values.
    pub(crate) fn prepare(docs: u32, seed: u64, folder: &Path, budget: usize) -> Outcome<Corpus> {
        fs::create_dir_all(folder)?;
        let began = Instant::now();
        let mut built = false;
        let mut bytes = [0; 2];
        let paths = ["without", "with"].map(|which| folder.join(format!("archive-{docs}-{seed}-{which}.dv")));
        for ((path, jump_tables), bytes) in paths.iter().zip([false, true]).zip(&mut bytes) {
            if !path.exists() {
                eprintln!("{}: {docs} documents", path.display());
                let options = WriterOptions { jump_tables, budget, threads: 0, ..WriterOptions::default() };
                build(&Archive { docs, seed, length_percent: 85 }, path, options)?;
                built = true;
            }
            *bytes = fs::metadata(path)?.len();
        }
        let built = built.then(|| Built { time: began.elapsed(), peak: peak() });
        Ok(Corpus { docs, seed, paths, bytes, built })
    }

    /// The contender's segment, opened anew. `cold`: nothing of it is in the page cache.
    pub(crate) fn open(&self, contender: Contender, cold: bool) -> Outcome<Segment> {
        let path = &self.paths[usize::from(contender == Contender::Baked)];
        if cold {
            forget(path)?;
        }
        Ok(Segment::open_with(path, OpenOptions::new().jump_tables(contender.mode()))?)
    }

    /// About `count` documents, ascending: what a search for a word hits.
    pub(crate) fn hits(&self, count: u32, request: u32) -> Vec<DocId> {
        let mut random = SplitMix64::new(self.seed ^ u64::from(request) << 32 ^ u64::from(count));
        // A gap is from 1 to twice the average.
        let gaps = (2 * self.docs / count.max(1)).max(2) - 1;
        let (mut hits, mut doc) = (Vec::with_capacity(count as usize), random.below_u32(gaps));
        while doc < self.docs {
            hits.push(DocId::new(doc));
            doc = doc.saturating_add(1 + random.below_u32(gaps));
        }
        hits
    }
}

fn build(archive: &Archive, path: &Path, options: WriterOptions) -> Outcome {
    let mut schema = Schema::new();
    let columns: Vec<usize> = (0..FIELDS.len()).filter(|&at| FIELDS[at] != "url").collect();
    let ids = columns.iter().map(|&at| schema.add(field(FIELDS[at]))).collect::<Result<Vec<_>, _>>()?;
    let mut writer = SegmentWriter::create(path, schema, options)?;
    let mut document = Document::default();
    for doc in 0..archive.docs {
        archive.read(doc, &mut document);
        add(&mut writer, &ids, &columns, &document)?;
    }
    writer.finish()?;
    Ok(())
}

/// The most memory that this process had, in bytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Asks the system to forget what it keeps of a file.
fn forget(path: &Path) -> Outcome {
    let file = fs::File::open(path)?;
    // What was not written yet cannot be forgotten.
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}
