//! The comparison under ingest: every contender in turn, cell by cell, in each round.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_benches::id_structures::Shape;
use docvalues_benches::record::{self, Run};

use super::beside::{Searches, vectors};
use super::contender::{Contender, Process};
use super::grid::{Axes, Cell, Pace, Pages};
use super::rows::{Measured, rows};
use super::serve::{BULK, Request};
use super::show;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    axes: Axes,
    /// Structures, by their names in benches/src/id_structures.rs; by default all
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
    /// The JDKs that run Lucene, such as 21,25, found in JAVA_HOME and /usr/lib/jvm; without, Lucene is left out
    #[arg(long, value_name = "MAJOR,…", value_delimiter = ',')]
    jdk: Vec<u32>,
    /// Rounds
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Length of a paced cell; others take at most half of it
    #[arg(long, value_name = "SECONDS", default_value_t = 1.5)]
    seconds: f64,
    /// Threads that search in the cells that have searches
    #[arg(long, value_name = "N", default_value_t = 1)]
    searchers: u32,
    /// One shape, alone and beside ingest and searches, at the pace of the issue: some two minutes
    #[arg(long)]
    quick: bool,
    /// Folder of segments and indexes, which are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the tables
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write a plot of the first shape at the pace of the issue
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

/// The most new ids, and the most existing ids, of a request that is not paced.
const MOST: u32 = 50_000;

/// Time of the look-ups of each shape before it is measured: pages are mapped, and the JIT compiles.
const WARM_UP: Duration = Duration::from_secs(2);

/// Ids of each segment of the shape with which a process warms up before it measures cold pages.
const OTHER: u32 = 5_000;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let cells = arguments.axes.cells(arguments.quick)?;
    let contenders = Contender::find(&arguments.only, &arguments.jdk)?;
    if cells.is_empty() || contenders.is_empty() {
        return Err("no cell or no structure is left".into());
    }
    std::fs::create_dir_all(&arguments.folder)?;
    let is_cold = |cell: &&Cell| cell.pages == Pages::Cold;
    let mut shapes: BTreeSet<Shape> = cells.iter().map(|cell| cell.shape).collect();
    shapes.extend(cells.iter().filter(is_cold).map(|cell| other(cell.shape)));
    let shapes: Vec<Shape> = shapes.into_iter().collect();
    contenders.iter().try_for_each(|contender| contender.build(&arguments.folder, &shapes))?;
    let searched = Arc::new(vectors());
    let comparison = Comparison { arguments, contenders, cells, searched };
    let mut measured = comparison.warm()?;
    measured.extend(comparison.cold()?);
    let rows = rows(&measured);
    let mut run = Run::new(&record::command_of("ids"), &format!("medians of {} rounds", arguments.rounds));
    show::tables(&rows, &mut run);
    print!("{}", run.markdown());
    if let Some(path) = &arguments.plot {
        std::fs::write(path, show::plot(&rows)?)?;
    }
    arguments.record.as_ref().map_or(Ok(()), |path| run.write(path))
}

/// A small shape of the same kind.
fn other(shape: Shape) -> Shape {
    Shape { segments: 8, each: OTHER.min(shape.each), ..shape }
}

struct Comparison<'a> {
    arguments: &'a Arguments,
    contenders: Vec<Contender>,
    cells: Vec<Cell>,
    searched: Arc<Vec<f32>>,
}

impl Comparison<'_> {
    fn cells(&self, pages: Pages) -> impl Iterator<Item = Cell> {
        self.cells.iter().copied().filter(move |cell| cell.pages == pages)
    }

    /// Each contender has a process for all rounds.
    fn warm(&self) -> Outcome<Vec<Measured>> {
        let folder = &self.arguments.folder;
        let shapes: BTreeSet<Shape> = self.cells(Pages::Warm).map(|cell| cell.shape).collect();
        let mut measured = Vec::new();
        if shapes.is_empty() {
            return Ok(measured);
        }
        let start = |contender: &Contender| -> Outcome<Process> {
            eprintln!("warming up {contender}");
            let mut process = contender.start(folder)?;
            shapes.iter().try_for_each(|&shape| warm_up(&mut process, shape, warm_up_documents(shape)))?;
            Ok(process)
        };
        let mut processes = self.contenders.iter().map(start).collect::<Outcome<Vec<Process>>>()?;
        for round in 0..self.arguments.rounds {
            for (at, cell) in self.cells(Pages::Warm).enumerate() {
                eprintln!("round {} of {}: {cell}", round + 1, self.arguments.rounds);
                // The order changes, so that none always follows the same one.
                for turn in 0..processes.len() {
                    let turn = (turn + at + round as usize) % processes.len();
                    measured.push(self.measure(&self.contenders[turn], &mut processes[turn], cell)?);
                }
            }
        }
        Ok(measured)
    }

    /// Each measurement has a new process, and no other has mapped the files.
    fn cold(&self) -> Outcome<Vec<Measured>> {
        let folder = &self.arguments.folder;
        let mut measured = Vec::new();
        for round in 0..self.arguments.rounds {
            for cell in self.cells(Pages::Cold) {
                eprintln!("round {} of {}: {cell}", round + 1, self.arguments.rounds);
                for contender in &self.contenders {
                    let mut process = contender.start(folder)?;
                    let other = other(cell.shape);
                    warm_up(&mut process, other, other.ids())?;
                    forget_all(&contender.files(folder, cell.shape))?;
                    measured.push(self.measure(contender, &mut process, cell)?);
                }
            }
        }
        Ok(measured)
    }

    fn measure(&self, contender: &Contender, process: &mut Process, cell: Cell) -> Outcome<Measured> {
        let Arguments { seconds, rounds, searchers, .. } = *self.arguments;
        let time = if cell.pace == Pace::Paced { seconds } else { seconds / 2.0 };
        // Existing ids must suffice for all rounds.
        let cells = self.cells(Pages::Warm).filter(|other| other.shape == cell.shape).count().max(1);
        let documents = (cell.shape.ids() - warm_up_documents(cell.shape)) / (rounds * cells as u32);
        let request = Request {
            shape: cell.shape,
            pages: cell.pages,
            pace: cell.pace,
            has_ingest: cell.beside.has_ingest(),
            time: Duration::try_from_secs_f64(time)?,
            documents: documents.min(MOST),
        };
        let searches = cell.beside.has_searches().then(|| Searches::start(&self.searched, searchers));
        let start = Instant::now();
        let answer = process.ask(request)?;
        let seconds = start.elapsed().as_secs_f64();
        let searches = searches.map_or(0, |searches| searches.count());
        let (structure, jdk) = (contender.name(), contender.jdk());
        Ok(Measured { structure, jdk, cell, answer, seconds, searches })
    }
}

/// The number of new ids, and of existing ids, that warm up a shape.
fn warm_up_documents(shape: Shape) -> u32 {
    (shape.ids() / 20).max(50 * BULK).min(shape.ids() / 2)
}

fn warm_up(process: &mut Process, shape: Shape, documents: u32) -> Outcome {
    let (pages, pace) = (Pages::Warm, Pace::Unpaced);
    process.ask(Request { shape, pages, pace, has_ingest: false, time: WARM_UP, documents })?;
    Ok(())
}

/// Drops the files of a folder from the page cache.
fn forget_all(folder: &Path) -> Outcome {
    for entry in std::fs::read_dir(folder)? {
        docvalues_benches::forget(&entry?.path())?;
    }
    Ok(())
}
