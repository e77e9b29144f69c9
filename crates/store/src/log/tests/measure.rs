//! Measures appends and syncs: `cargo test --release -p docvalues-store --lib log::tests::measure -- --ignored
//! --nocapture`, in the folder `TMPDIR`.

use std::fs::File;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use docvalues_storage::FsDirectory;

use super::*;

const COUNT: usize = 1_000;

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1e6;
    println!("{what:44} {:7.1} {:7.1} {:7.1} us (10 %, median, 90 %)", at(10), at(50), at(90));
}

/// Writes and syncs one kilobyte after the other, without a log.
fn bare(folder: &std::path::Path, is_filled: bool, is_data: bool) {
    let path = folder.join(format!("bare-{is_filled}-{is_data}"));
    let directory = FsDirectory::new(folder);
    let file = directory.create(path.file_name().unwrap()).unwrap();
    if is_filled {
        file.write_at(&vec![0; COUNT * 1_024 + 4_096], 0).unwrap();
    }
    file.sync().unwrap();
    let synced = File::options().write(true).open(&path).unwrap();
    let bytes = vec![7; 1_024];
    let time = |at: usize| {
        let start = Instant::now();
        file.write_at(&bytes, (at * bytes.len()) as u64).unwrap();
        if is_data { synced.sync_data() } else { synced.sync_all() }.unwrap();
        start.elapsed()
    };
    let what = format!(
        "bare {} of {}",
        if is_data { "fdatasync" } else { "fsync" },
        if is_filled { "zeros written ahead" } else { "an append" }
    );
    print(&what, (0..COUNT).map(time).collect());
}

#[test]
#[ignore = "a measurement"]
fn appends_and_syncs() {
    let folder = tempfile::tempdir().unwrap();
    for is_filled in [false, true] {
        for is_data in [false, true] {
            bare(folder.path(), is_filled, is_data);
        }
    }
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::new(folder.path()));
    let writer = LogWriter::create(&directory, 1, 1, 0, true).unwrap();
    let time = |sequence| {
        let start = Instant::now();
        writer.append(sequence, 0, vec![7; 976]).unwrap();
        writer.sync_to(sequence).unwrap();
        start.elapsed()
    };
    print("log, one caller", (1..=COUNT as u64).map(time).collect());
    for callers in [2, 8] {
        let writer = LogWriter::create(&directory, 10 + callers, 1, 0, true).unwrap();
        let (sequencer, times, start) = (Mutex::new(0), Mutex::new(Vec::new()), Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..callers {
                scope.spawn(|| {
                    for _ in 0..COUNT {
                        let start = Instant::now();
                        let sequence = {
                            let mut last = sequencer.lock().unwrap();
                            *last += 1;
                            writer.append(*last, 0, vec![7; 976]).unwrap();
                            *last
                        };
                        writer.sync_to(sequence).unwrap();
                        times.lock().unwrap().push(start.elapsed());
                    }
                });
            }
        });
        let (all, stats) = (start.elapsed(), writer.stats());
        print(&format!("log, {callers} callers"), times.into_inner().unwrap());
        let each = all.as_secs_f64() * 1e6 / stats.frames as f64;
        println!("  {each:.1} us a batch, {} syncs of {} batches", stats.syncs, stats.frames);
    }
    let writer = LogWriter::create(&directory, 30, 1, 0, true).unwrap();
    let bodies: Vec<_> = (0..100_000).map(|_| vec![7; 100]).collect();
    let start = Instant::now();
    for (body, sequence) in bodies.into_iter().zip(1..) {
        writer.append(sequence, 0, body).unwrap();
    }
    println!("append alone {:.1} ns", start.elapsed().as_secs_f64() * 1e9 / 1e5);
    let start = Instant::now();
    writer.write_to(100_000).unwrap();
    println!("writing a frame of 148 bytes {:.1} ns", start.elapsed().as_secs_f64() * 1e9 / 1e5);
    let start = Instant::now();
    let mut reader = LogReader::open(&*directory, 30).unwrap();
    let mut count = 0;
    while reader.next_frame().unwrap().is_some() {
        count += 1;
    }
    println!("reading a frame {:.1} ns ({count})", start.elapsed().as_secs_f64() * 1e9 / 1e5);
}
