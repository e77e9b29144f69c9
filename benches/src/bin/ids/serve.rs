//! A process that looks up ids as the lines of its standard input ask, as `IdsUnderIngest.java` does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::fs;
use std::io::{BufRead, Write, stdin, stdout};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

use docvalues_benches::clock::cpu_time;
use docvalues_benches::id_structures::{Finder, Opened, Place, Shape, Structure};
use docvalues_benches::ids::random;
use serde::{Deserialize, Serialize};

use super::beside::Ingest;
use super::grid::{Pace, Pages};
use crate::Outcome;

/// Documents of a bulk, and bulks a second, of apache/lucene#15820.
pub(crate) const BULK: u32 = 20;
pub(crate) const A_SECOND: u32 = 32;

/// Bulks between two readings of the CPU clock, which takes as long as some look-ups, if they are not paced.
const CHUNK: u32 = 50;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    structure: Structure,
    folder: PathBuf,
}

/// Look-ups in one shape. The ids follow those of the request before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) shape: Shape,
    pub(crate) pages: Pages,
    pub(crate) pace: Pace,
    pub(crate) has_ingest: bool,
    pub(crate) time: Duration,
    /// The most new ids, and the most existing ids.
    pub(crate) documents: u32,
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Request { shape: Shape { kind, segments, each }, pages, pace, has_ingest, time, documents } =
            self;
        let pages = if *pages == Pages::Cold { "cold" } else { "warm" };
        let pace = if *pace == Pace::Paced { "paced" } else { "unpaced" };
        let beside = if *has_ingest { "ingest" } else { "alone" };
        write!(f, "{kind} {segments} {each} {pages} {pace} {beside} {} {documents}", time.as_millis())
    }
}

impl FromStr for Request {
    type Err = Box<dyn std::error::Error>;

    fn from_str(line: &str) -> Outcome<Request> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [kind, segments, each, pages, pace, beside, millis, documents] = words[..] else {
            return Err(format!("expected a request, found {line}").into());
        };
        Ok(Request {
            shape: Shape { kind: kind.parse()?, segments: segments.parse()?, each: each.parse()? },
            pages: if pages == "cold" { Pages::Cold } else { Pages::Warm },
            pace: if pace == "paced" { Pace::Paced } else { Pace::Unpaced },
            has_ingest: beside == "ingest",
            time: Duration::from_millis(millis.parse()?),
            documents: documents.parse()?,
        })
    }
}

/// The measurement of new or of existing ids.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Looked {
    pub(crate) documents: u64,
    pub(crate) cpu_ns: f64,
    /// Page faults that read the disk; counted if the pages are cold.
    pub(crate) faults: u64,
    /// The wall time of each bulk.
    pub(crate) bulks_ns: Vec<u64>,
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The wall time of opening the segments, and the page faults of that which read the disk, if this request did.
    pub(crate) open_ns: u64,
    pub(crate) open_faults: u64,
    /// Documents added beside the look-ups.
    pub(crate) ingested: u64,
    pub(crate) absent: Looked,
    pub(crate) present: Looked,
}

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let mut server =
        Server { structure: arguments.structure, folder: arguments.folder.clone(), open: HashMap::new() };
    for line in stdin().lock().lines() {
        let answer = server.answer(line?.parse()?)?;
        let mut out = stdout().lock();
        serde_json::to_writer(&mut out, &answer)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}

/// The open shapes of a process.
struct Server {
    structure: Structure,
    folder: PathBuf,
    open: HashMap<Shape, (Opened, Ids)>,
}

impl Server {
    fn answer(&mut self, request: Request) -> Outcome<Answer> {
        let Server { structure, folder, open } = self;
        let mut answer = Answer::default();
        let (opened, ids) = match open.entry(request.shape) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let (faults, start) = (major_faults()?, Instant::now());
                let opened = structure.open(folder, request.shape, request.pages == Pages::Warm)?;
                answer.open_ns = start.elapsed().as_nanos() as u64;
                answer.open_faults = major_faults()? - faults;
                new.insert((opened, Ids::of(request.shape)))
            }
        };
        let mut finder = opened.finder();
        let ingest = request.has_ingest.then(|| Ingest::start(folder, request.pace)).transpose()?;
        let before = ingest.as_ref().map_or(0, Ingest::count);
        let start = Instant::now();
        for turn in 0.. {
            let is_absent = turn % 2 == 0;
            let looked = if is_absent { &mut answer.absent } else { &mut answer.present };
            let bulks = if request.pace == Pace::Paced { 1 } else { CHUNK };
            if looked.documents + u64::from(bulks * BULK) > u64::from(request.documents) {
                break;
            }
            if request.pace == Pace::Paced {
                let due = Duration::from_secs(1) * turn / (2 * A_SECOND);
                std::thread::sleep(due.saturating_sub(start.elapsed()));
            }
            if start.elapsed() >= request.time {
                break;
            }
            let asked = ids.next(is_absent, bulks * BULK)?;
            look_up(&mut finder, request, &asked, looked)?;
        }
        answer.ingested = ingest.as_ref().map_or(0, Ingest::count) - before;
        Ok(answer)
    }
}

/// Looks up some bulks, and checks the places.
fn look_up(finder: &mut Finder<'_>, request: Request, asked: &[Asked], looked: &mut Looked) -> Outcome {
    let is_cold = request.pages == Pages::Cold;
    let ids: Vec<&[u8]> = asked.iter().map(|asked| asked.id.as_bytes()).collect();
    let bulks = ids.len() / BULK as usize;
    let mut found: Vec<Vec<Option<Place>>> = (0..bulks).map(|_| Vec::with_capacity(BULK as usize)).collect();
    let faults = if is_cold { major_faults()? } else { 0 };
    let before = cpu_time();
    for (ids, found) in ids.chunks(BULK as usize).zip(&mut found) {
        let start = Instant::now();
        finder.find(ids, found);
        looked.bulks_ns.push(start.elapsed().as_nanos() as u64);
    }
    looked.cpu_ns += (cpu_time() - before).as_nanos() as f64;
    looked.faults += if is_cold { major_faults()? - faults } else { 0 };
    looked.documents += ids.len() as u64;
    if !found.iter().flatten().copied().eq(asked.iter().map(|asked| asked.place)) {
        return Err(format!("{request}: other documents than those written").into());
    }
    Ok(())
}

/// An id, and the place at which it is.
struct Asked {
    id: String,
    place: Option<Place>,
}

/// The ids of a shape that were not looked up yet.
struct Ids {
    shape: Shape,
    next: u32,
    present: Box<dyn Iterator<Item = u32>>,
}

impl Ids {
    /// New ids are the next of the sequence, existing ones in random order, each once.
    fn of(shape: Shape) -> Ids {
        let all = shape.ids();
        Ids { shape, next: all, present: Box::new(random(all, all as usize)) }
    }

    fn next(&mut self, is_absent: bool, count: u32) -> Outcome<Vec<Asked>> {
        let shape = self.shape;
        let asked = |i, place| Asked { id: shape.kind.id(i), place };
        if is_absent {
            self.next += count;
            return Ok((self.next - count..self.next).map(|i| asked(i, None)).collect());
        }
        let present = self.present.by_ref().take(count as usize).map(|i| asked(i, Some(shape.place(i))));
        let present: Vec<Asked> = present.collect();
        if present.len() < count as usize {
            return Err(
                format!("{shape}: each existing id was looked up; take fewer rounds or more ids").into()
            );
        }
        Ok(present)
    }
}

/// Page faults of this process that read the disk.
pub(crate) fn major_faults() -> Outcome<u64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit_once(')').ok_or("no such field")?.1;
    Ok(after_name.split_whitespace().nth(9).ok_or("no such field")?.parse()?)
}

#[cfg(test)]
mod tests {
    use docvalues_benches::ids::IdKind;

    use super::*;

    fn request(documents: u32) -> Request {
        let shape = Shape { kind: IdKind::Tenant, segments: 4, each: 500 };
        let time = Duration::from_secs(5);
        Request { shape, pages: Pages::Warm, pace: Pace::Unpaced, has_ingest: true, time, documents }
    }

    #[test]
    fn a_request_is_read_as_written() {
        let request = request(7);
        assert_eq!(request.to_string(), "tenant 4 500 warm unpaced ingest 5000 7");
        assert_eq!(request.to_string().parse::<Request>().unwrap(), request);
        assert!("tenant 4".parse::<Request>().is_err());
    }

    #[test]
    fn ids_are_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        Structure::Trie.build(folder.path(), request(0).shape).unwrap();
        let folder = folder.path().to_owned();
        let mut server = Server { structure: Structure::Trie, folder, open: HashMap::new() };
        let answer = server.answer(request(1_000)).unwrap();
        assert_eq!((answer.absent.documents, answer.present.documents), (1_000, 1_000));
        assert_eq!(answer.absent.bulks_ns.len(), 50);
        assert!(answer.absent.cpu_ns > 0.0);
        let paced = Request { pace: Pace::Paced, documents: 40, has_ingest: false, ..request(0) };
        assert_eq!(server.answer(paced).unwrap().present.documents, 40);
        // 960 of 2,000 existing ids are left.
        let error = server.answer(request(1_000)).unwrap_err().to_string();
        assert!(error.contains("each existing id was looked up"), "{error}");
    }
}
