//! Bytes of structures, and the time to build them.

use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::path::PathBuf;

use docvalues::DocId;
use docvalues_benches::clock::cpu_time;
use docvalues_benches::id_structures::{Shape, Structure};
use docvalues_benches::ids::IdKind;
use docvalues_benches::record::{self, Run, figure};

use super::contender::Contender;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kinds of ids: uuid, seq, tenant, auto
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_values_t = [IdKind::Uuid, IdKind::Tenant, IdKind::Seq])]
    kinds: Vec<IdKind>,
    /// Number of segments
    #[arg(long, value_name = "N", default_value_t = 400)]
    segments: u32,
    /// Ids of each
    #[arg(long, value_name = "N", default_value_t = 2_500)]
    each: u32,
    /// The JDK that runs Lucene, such as 25; without, Lucene is left out
    #[arg(long, value_name = "MAJOR")]
    jdk: Option<u32>,
    /// Rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Folder of indexes, which are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the table
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Structures with files of their own; the others are of these files.
const STRUCTURES: [Structure; 5] =
    [Structure::Fst, Structure::Trie, Structure::Blocks, Structure::BlocksFilter, Structure::CrateFst];

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let shape = |&kind: &IdKind| Shape { kind, segments: arguments.segments, each: arguments.each };
    let shapes: Vec<Shape> = arguments.kinds.iter().map(shape).collect();
    fs::create_dir_all(&arguments.folder)?;
    let mut head = vec![String::new()];
    head.extend(
        shapes.iter().flat_map(|shape| [format!("{}: bytes an id", shape.kind), "build: ns".to_owned()]),
    );
    let mut table = vec![head];
    for structure in STRUCTURES {
        let mut row = vec![format!("`{structure}`")];
        for &shape in &shapes {
            let (bytes, ns) = built(structure, shape, arguments.rounds)?;
            row.extend([bytes, ns].map(figure));
        }
        table.push(row);
    }
    let jdks: Vec<u32> = arguments.jdk.into_iter().collect();
    for contender in Contender::find(&[], &jdks)? {
        if contender.jdk().is_none() {
            continue;
        }
        contender.build(&arguments.folder, &shapes)?;
        let mut row = vec![format!("`{}`", contender.name())];
        for &shape in &shapes {
            row.extend([figure(lucene_bytes(&contender, arguments, shape)?), "–".to_owned()]);
        }
        table.push(row);
    }
    let mut run = Run::new(&record::command_of("ids"), &format!("medians of {} rounds", arguments.rounds));
    run.table("sizes", table);
    print!("{}", run.markdown());
    arguments.record.as_ref().map_or(Ok(()), |path| run.write(path))
}

/// The ids of a segment with their documents, sorted by id.
fn sorted(kind: IdKind, ids: Range<u32>) -> Vec<(String, DocId)> {
    let mut sorted: Vec<(String, DocId)> = ids.map(|i| kind.id(i)).zip((0..).map(DocId::new)).collect();
    sorted.sort_unstable();
    sorted
}

/// Bytes and ns of CPU time of an id, of the median round. The ids are sorted before the clock is read.
fn built(structure: Structure, shape: Shape, rounds: u32) -> Outcome<(f64, f64)> {
    let (mut times, mut bytes) = (Vec::new(), 0);
    for _ in 0..rounds {
        bytes = 0;
        let mut time = 0.0;
        for segment in 0..shape.segments {
            let ids = sorted(shape.kind, segment * shape.each..(segment + 1) * shape.each);
            let start = cpu_time();
            bytes += black_box(structure.bytes(&ids)?);
            time += cpu_time().saturating_sub(start).as_secs_f64() * 1e9;
        }
        times.push(time / f64::from(shape.ids()));
    }
    times.sort_by(f64::total_cmp);
    Ok((bytes as f64 / f64::from(shape.ids()), times[times.len() / 2]))
}

/// Bytes of an id in Lucene: terms, their index, postings and filters, without versions and the list of files.
fn lucene_bytes(contender: &Contender, arguments: &Arguments, shape: Shape) -> Outcome<f64> {
    let mut bytes = 0;
    for file in fs::read_dir(contender.files(&arguments.folder, shape))? {
        let file = file?;
        let name = file.file_name();
        let kind = name.to_str().and_then(|name| name.rsplit_once('.')).map_or("", |(_, kind)| kind);
        if ["tim", "tip", "tmd", "doc", "psm", "blm"].contains(&kind) {
            bytes += file.metadata()?.len();
        }
    }
    Ok(bytes as f64 / f64::from(shape.ids()))
}
