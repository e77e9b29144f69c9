//! Look-ups by one thread and by two, in 400 segments of 2,500 UUIDs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docvalues_benches::id_structures::{Opened, Shape, Structure};
use docvalues_benches::ids::{IdKind, LookupIds};

use super::serve::BULK;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Structures, by their names in benches/src/id_structures.rs
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values_t = Structure::ALL)]
    only: Vec<Structure>,
    /// Length of a measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    seconds: f64,
    /// Folder of segments, which are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
}

/// Distinct ids of each thread, which are looked up in turn.
const IDS: u32 = 500_000;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let shape = Shape { kind: IdKind::Uuid, segments: 400, each: 2_500 };
    std::fs::create_dir_all(&arguments.folder)?;
    println!("| | threads | absent: ids a second | present |\n| --- | ---: | ---: | ---: |");
    let seconds = Duration::try_from_secs_f64(arguments.seconds)?;
    for &structure in &arguments.only {
        structure.build(&arguments.folder, shape)?;
        let opened = structure.open(&arguments.folder, shape, true)?;
        for threads in [1, 2] {
            let [absent, present] = [false, true].map(|present| {
                let ids: Vec<LookupIds> = (0..threads).map(|thread| ids(shape, thread, present)).collect();
                a_second(&opened, &ids, present, seconds)
            });
            println!("| `{structure}` | {threads} | {absent:.0} | {present:.0} |");
        }
    }
    Ok(())
}

/// The ids of a thread, of which no other thread has one.
fn ids(shape: Shape, thread: u32, present: bool) -> LookupIds {
    match present {
        true => LookupIds::new(
            docvalues_benches::ids::random(shape.ids(), shape.ids() as usize)
                .skip((thread * IDS) as usize)
                .take(IDS as usize)
                .map(|i| shape.kind.id(i)),
        ),
        false => LookupIds::absent(shape.kind, shape.ids() + thread * IDS, IDS as usize),
    }
}

/// Look-ups a second of a thread for each of `ids`.
fn a_second(opened: &Opened, ids: &[LookupIds], present: bool, seconds: Duration) -> f64 {
    let done = AtomicU64::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for ids in ids {
            let done = &done;
            scope.spawn(move || {
                let (mut finder, mut found, mut bulk) = (opened.finder(), Vec::new(), Vec::new());
                for window in ids.windows(BULK as usize).cycle() {
                    bulk.clear();
                    bulk.extend(window.ids());
                    finder.find(&bulk, &mut found);
                    assert!(found.iter().all(|place| place.is_some() == present), "other documents");
                    done.fetch_add(BULK.into(), Ordering::Relaxed);
                    if began.elapsed() >= seconds {
                        break;
                    }
                }
            });
        }
    });
    done.into_inner() as f64 / began.elapsed().as_secs_f64()
}
