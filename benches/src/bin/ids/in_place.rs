//! Lucene's indexes, read in place by docvalues: an FST beside tries, in the same program.

use std::path::PathBuf;

use docvalues::lucene::Index;
use docvalues_benches::clock::cpu_time;
use docvalues_benches::id_structures::{Place, Shape};
use docvalues_benches::ids::{IdKind, random};

use super::contender::Contender;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The JDK that writes the indexes, such as 25
    #[arg(long, value_name = "MAJOR")]
    jdk: u32,
    /// Kind of ids: uuid, seq, tenant, auto
    #[arg(long, value_name = "KIND", default_value_t = IdKind::Uuid)]
    kind: IdKind,
    /// Number of segments
    #[arg(long, value_name = "N", default_value_t = 400)]
    segments: u32,
    /// Ids of each
    #[arg(long, value_name = "N", default_value_t = 2_500)]
    each: u32,
    /// Rounds
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Folder of indexes, which are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
}

/// New ids of a round, and existing ids.
const IDS: u32 = 5_000;

/// Structures without filters.
const NAMES: [&str; 3] = ["lucene-9.12-fst", "lucene-10.3-trie", "lucene-10.5-trie"];

/// An id, and the place at which it is.
type Asked = (String, Option<Place>);

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let shape = Shape { kind: arguments.kind, segments: arguments.segments, each: arguments.each };
    let (all, present) = (shape.ids(), |i| (shape.kind.id(i), Some(shape.place(i))));
    std::fs::create_dir_all(&arguments.folder)?;
    let mut rows = Vec::new();
    for contender in Contender::find(&NAMES.map(str::to_owned), &[arguments.jdk])? {
        contender.build(&arguments.folder, &[shape])?;
        let index = Index::open(contender.files(&arguments.folder, shape))?;
        // The first look-up opens the terms of all segments.
        look_up(&index, &[present(all - 1)])?;
        rows.push((contender.name(), index, [Vec::new(), Vec::new()]));
    }
    for round in 0..arguments.rounds {
        let (start, end) = (round * IDS, (round + 1) * IDS);
        let absent: Vec<Asked> = (start..end).map(|i| (shape.kind.id(all + i), None)).collect();
        let present: Vec<Asked> = random(all, end as usize).skip(start as usize).map(present).collect();
        for (_, index, times) in &mut rows {
            for (times, asked) in times.iter_mut().zip([&absent, &present]) {
                times.push(look_up(index, asked)?);
            }
        }
    }
    println!("| | a new id: µs | an existing id |\n| --- | ---: | ---: |");
    for (name, _, times) in rows {
        let [absent, present] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        println!("| `{name}` | {absent:.1} | {present:.1} |");
    }
    Ok(())
}

/// Looks up ids, and returns µs of CPU time of each.
fn look_up(index: &Index, asked: &[Asked]) -> Outcome<f64> {
    let (before, mut found) = (cpu_time(), Vec::with_capacity(asked.len()));
    for (id, _) in asked {
        found.push(index.find_id("_id", id)?);
    }
    let took = cpu_time().saturating_sub(before).as_secs_f64() * 1e6 / asked.len() as f64;
    let mut places =
        found.iter().map(|docs| docs.first().map(|at| Place { segment: at.part, doc: at.doc.get() }));
    match asked.iter().all(|(_, place)| places.next() == Some(*place)) {
        true => Ok(took),
        false => Err("other documents than those written".into()),
    }
}
