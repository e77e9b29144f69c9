//! The segment, the five contenders, and the hits of searches.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use docvalues::reader::JumpTables;
use docvalues::{BytesKind, DocId, LogicalType, OpenOptions, Schema, Segment, SegmentWriter, WriterOptions};
use docvalues_benches::archive::{Archive, Document, FIELDS, add, field};
use docvalues_benches::forget;
use docvalues_benches::layouts::Tables;
use docvalues_testkit::rng::SplitMix64;

use crate::columns::{self, Columns};
use crate::iterate::{self, Iterated};
use crate::work::{Asked, Work};
use crate::{Arguments, Outcome};

/// The same documents in a segment, and its numbers and ords in two layouts in memory.
pub(crate) struct Corpus {
    pub(crate) docs: u32,
    pub(crate) seed: u64,
    pub(crate) asked: Asked,
    path: PathBuf,
    pub(crate) bytes: u64,
    columns: Columns,
}

/// The ways to find blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    /// The layout of Lucene 7, without tables.
    Lucene7,
    /// The same bytes, with tables.
    Lucene8,
    /// The layout of docvalues, without tables.
    Ignored,
    /// docvalues, whose tables are built at the first look-up.
    Built,
    /// docvalues, whose tables are in the file.
    Baked,
}

impl Contender {
    pub(crate) const ALL: [Contender; 5] =
        [Contender::Lucene7, Contender::Lucene8, Contender::Ignored, Contender::Built, Contender::Baked];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Contender::Lucene7 => "as Lucene 7",
            Contender::Lucene8 => "as Lucene 8",
            Contender::Ignored => "this format, tables ignored",
            Contender::Built => "docvalues, tables built",
            Contender::Baked => "docvalues",
        }
    }

    /// Whether each document is an iterator's step, and not part of a batch.
    pub(crate) fn iterates(self) -> bool {
        matches!(self, Contender::Lucene7 | Contender::Lucene8 | Contender::Ignored)
    }

    pub(crate) fn has_tables(self) -> bool {
        !matches!(self, Contender::Lucene7 | Contender::Ignored)
    }
}

/// A contender that answers requests.
pub(crate) enum Engine<'c> {
    Segment(Segment),
    Lucene(Iterated<columns::Lucene<'c>>),
    Docvalues(Iterated<columns::Docvalues<'c>>),
}

impl Engine<'_> {
    /// Runs the workload, and returns a checksum of the result.
    pub(crate) fn run(&self, work: Work, asked: &Asked, hits: &[DocId]) -> Outcome<u64> {
        match self {
            Engine::Segment(segment) => work.run(segment, asked, hits),
            Engine::Lucene(source) => iterate::run(source, work, asked, hits),
            Engine::Docvalues(source) => iterate::run(source, work, asked, hits),
        }
    }

    /// Writes the lines of CSV of `docs`, in their order.
    pub(crate) fn export(&self, asked: &Asked, docs: &[DocId], out: &mut Vec<u8>) -> Outcome {
        match self {
            Engine::Segment(segment) => crate::work::export(segment, asked, docs, out),
            Engine::Lucene(source) => iterate::export(source, asked, docs, out),
            Engine::Docvalues(source) => iterate::export(source, asked, docs, out),
        }
    }

    /// The block headers that iterators read so far, of presence and of numbers.
    pub(crate) fn headers(&self) -> [u64; 2] {
        match self {
            Engine::Segment(_) => [0; 2],
            Engine::Lucene(source) => source.headers(),
            Engine::Docvalues(source) => source.headers(),
        }
    }
}

impl Corpus {
    /// Builds the segment if it is missing in the folder, within a memory budget, and encodes its columns.
    pub(crate) fn prepare(arguments: &Arguments) -> Outcome<Corpus> {
        let &Arguments { docs, seed, .. } = arguments;
        if let Some(name) = arguments.fields.iter().find(|name| !FIELDS.contains(&&***name)) {
            return Err(format!("no field `{name}`; there are {}", FIELDS.join(", ")).into());
        }
        let fields: Vec<&'static str> = FIELDS.into_iter().filter(|name| arguments.has(name)).collect();
        fs::create_dir_all(&arguments.folder)?;
        let some = if arguments.fields.is_empty() { String::new() } else { format!("-{}", fields.join("+")) };
        let path = arguments.folder.join(format!("archive-{docs}-{seed}{some}.dv"));
        if !path.exists() {
            eprintln!("{}: {docs} documents", path.display());
            let options = WriterOptions::new().budget(arguments.budget << 20).threads(0);
            build(&archive(docs, seed), &fields, &path, options)?;
        }
        let asked = Asked::of(&fields);
        let mut columns = Columns::default();
        if !arguments.in_place {
            eprintln!("the same columns in two layouts");
            columns = Columns::of(&Segment::open(&path)?, &asked)?;
        }
        Ok(Corpus { docs, seed, asked, bytes: fs::metadata(&path)?.len(), path, columns })
    }

    /// The documents.
    pub(crate) fn archive(&self) -> Archive {
        archive(self.docs, self.seed)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Opens a contender again; if `cold`, after dropping the segment from the page cache. Iterators are never cold.
    pub(crate) fn open(&self, contender: Contender, cold: bool) -> Outcome<Engine<'_>> {
        if cold {
            forget(&self.path)?;
        }
        let open = |mode| Segment::open_with(&self.path, OpenOptions::new().jump_tables(mode));
        Ok(match contender {
            Contender::Built => Engine::Segment(open(JumpTables::BuildOnFirstUse)?),
            Contender::Baked => Engine::Segment(open(JumpTables::Baked)?),
            Contender::Ignored => {
                let layout = self.columns.docvalues(Tables::NONE);
                Engine::Docvalues(Iterated::new(layout, open(JumpTables::Baked)?)?)
            }
            Contender::Lucene7 | Contender::Lucene8 => {
                let tables = if contender.has_tables() { Tables::BOTH } else { Tables::NONE };
                Engine::Lucene(Iterated::new(self.columns.lucene(tables), open(JumpTables::Baked)?)?)
            }
        })
    }

    /// The segment, with its tables.
    pub(crate) fn segment(&self) -> Outcome<Segment> {
        Ok(Segment::open(&self.path)?)
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

/// Text has a dictionary, as in the posts: Solr groups by the ords of `url_norm`.
fn build(archive: &Archive, fields: &[&str], path: &Path, options: WriterOptions) -> Outcome {
    let mut schema = Schema::new();
    let columns: Vec<usize> = (0..FIELDS.len()).filter(|&at| fields.contains(&FIELDS[at])).collect();
    let spec = |name: &str| match field(name) {
        spec if spec.logical() == LogicalType::Utf8 => spec.kind(BytesKind::Sorted),
        spec => spec,
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
