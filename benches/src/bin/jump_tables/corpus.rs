//! The two segments, the three contenders, and the hits of searches.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use docvalues::{
    BytesKind, DocId, JumpTables, LogicalType, OpenOptions, Schema, Segment, SegmentWriter, WriterOptions,
};
use docvalues_benches::archive::{Archive, Document, FIELDS, add, field};
use docvalues_benches::forget;
use docvalues_testkit::rng::SplitMix64;

use crate::work::Asked;
use crate::{Arguments, Outcome};

/// The same documents in two segments.
pub(crate) struct Corpus {
    pub(crate) docs: u32,
    pub(crate) seed: u64,
    pub(crate) asked: Asked,
    /// Without jump tables, and with them.
    paths: [PathBuf; 2],
    pub(crate) bytes: [u64; 2],
    /// Build time and peak memory, from this run or an earlier one.
    pub(crate) built: Built,
}

/// Build time and peak memory of one or both segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Built {
    pub(crate) seconds: u64,
    /// Peak memory of the process, or 0 if the system does not report it.
    pub(crate) peak: u64,
}

/// The ways to find blocks.
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
    /// Builds the segments that are missing in the folder, each within a memory budget in bytes.
    pub(crate) fn prepare(arguments: &Arguments) -> Outcome<Corpus> {
        let &Arguments { docs, seed, one_file, .. } = arguments;
        let mut named = arguments.fields.iter().chain(&arguments.sorted);
        if let Some(name) = named.find(|name| !FIELDS.contains(&&***name)) {
            return Err(format!("no field `{name}`; there are {}", FIELDS.join(", ")).into());
        }
        let not_text = |name: &&String| field(name).logical() != LogicalType::Utf8 || !arguments.has(name);
        if let Some(name) = arguments.sorted.iter().find(not_text) {
            return Err(format!("--sorted: `{name}` is no field of text of these segments").into());
        }
        let fields: Vec<&'static str> = FIELDS.into_iter().filter(|name| arguments.has(name)).collect();
        fs::create_dir_all(&arguments.folder)?;
        let mut built = Built::default();
        let some = if arguments.fields.is_empty() { String::new() } else { format!("-{}", fields.join("+")) };
        let sorted = arguments.sorted.iter().map(|name| format!("-sorted-{name}")).collect::<String>();
        let name = format!("archive-{docs}-{seed}{some}{sorted}");
        let path = |which: &str| arguments.folder.join(format!("{name}-{which}.dv"));
        let paths = if one_file { [path("with"), path("with")] } else { [path("without"), path("with")] };
        for (path, jump_tables) in paths.iter().zip([one_file, true]) {
            if !path.exists() {
                eprintln!("{}: {docs} documents", path.display());
                let options = WriterOptions {
                    jump_tables,
                    budget: arguments.budget << 20,
                    threads: 0,
                    ..WriterOptions::default()
                };
                let began = Instant::now();
                build(&archive(docs, seed), &fields, &arguments.sorted, path, options)?;
                let (seconds, peak) = (began.elapsed().as_secs(), peak().unwrap_or(0));
                fs::write(note(path), format!("{seconds} seconds, at most {peak} bytes of memory\n"))?;
            }
        }
        for path in paths.iter().skip(usize::from(one_file)) {
            let note = fs::read_to_string(note(path)).unwrap_or_default();
            let mut numbers = note.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            built.seconds += numbers.next().unwrap_or(0);
            built.peak = built.peak.max(numbers.next().unwrap_or(0));
        }
        let bytes = [fs::metadata(&paths[0])?.len(), fs::metadata(&paths[1])?.len()];
        Ok(Corpus { docs, seed, asked: Asked::of(&fields), paths, bytes, built })
    }

    /// The documents.
    pub(crate) fn archive(&self) -> Archive {
        archive(self.docs, self.seed)
    }

    /// Whether all contenders read the same file.
    pub(crate) fn is_one_file(&self) -> bool {
        self.paths[0] == self.paths[1]
    }

    /// Opens the contender's segment again; if `cold`, after dropping it from the page cache.
    pub(crate) fn open(&self, contender: Contender, cold: bool) -> Outcome<Segment> {
        let path = &self.paths[usize::from(contender == Contender::Baked)];
        if cold {
            forget(path)?;
        }
        Ok(Segment::open_with(path, OpenOptions::new().jump_tables(contender.mode()))?)
    }

    /// About `count` documents, ascending: the hits of a search for a word.
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

fn archive(docs: u32, seed: u64) -> Archive {
    Archive { docs, seed, length_percent: 85 }
}

fn build(
    archive: &Archive,
    fields: &[&str],
    sorted: &[String],
    path: &Path,
    options: WriterOptions,
) -> Outcome {
    let mut schema = Schema::new();
    let columns: Vec<usize> = (0..FIELDS.len()).filter(|&at| fields.contains(&FIELDS[at])).collect();
    let spec = |name: &str| match sorted.iter().any(|sorted| sorted == name) {
        true => field(name).kind(BytesKind::Sorted),
        false => field(name),
    };
    let ids = columns.iter().map(|&at| schema.add(spec(FIELDS[at]))).collect::<Result<Vec<_>, _>>()?;
    let mut writer = SegmentWriter::create(path, schema, options)?;
    let mut document = Document::default();
    let mut progress = Instant::now();
    for doc in 0..archive.docs {
        if doc % 1_000_000 == 0 && progress.elapsed().as_secs() >= 30 {
            eprintln!("  {} million documents", doc / 1_000_000);
            progress = Instant::now();
        }
        archive.read(doc, &mut document);
        add(&mut writer, &ids, &columns, &document)?;
    }
    writer.finish()?;
    Ok(())
}

/// Nanoseconds for each document of generating the documents, and of a segment with one field.
pub(crate) fn by_column(arguments: &Arguments) -> Outcome<Vec<(&'static str, f64)>> {
    let archive = archive(arguments.docs, arguments.seed);
    let path = arguments.folder.join("column.dv");
    let mut columns = Vec::new();
    for name in FIELDS.into_iter().filter(|name| arguments.has(name)) {
        eprintln!("{name}");
        let began = Instant::now();
        let options =
            WriterOptions { budget: arguments.budget << 20, threads: 0, ..WriterOptions::default() };
        build(&archive, &[name], &arguments.sorted, &path, options)?;
        columns.push((name, began.elapsed().as_secs_f64() * 1e9 / f64::from(arguments.docs.max(1))));
        fs::remove_file(&path)?;
    }
    Ok(columns)
}

/// The file that records build time and peak memory of a segment.
fn note(path: &Path) -> PathBuf {
    path.with_extension("built")
}

/// Peak memory of this process, in bytes.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}
