//! Truncated and modified Parquet and Arrow files: `dv build` reads them, or returns an error that names the file and the
//! damage. Whatever the underlying libraries do, there is no panic, no hang, and no memory out of proportion to the file.
//!
//! `cargo test` tries some damages of each file, `DOCVALUES_SWEEP=full` all of them. This is a test program of its own,
//! because it counts allocations.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

#[path = "dv/arrow/samples.rs"]
#[expect(dead_code, reason = "the other tests want all of it")]
mod samples;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use docvalues_cli::{Console, Exit};
use docvalues_testkit::damage::{Damage, Sweep, alloc::PeakAlloc, truncations};
use samples::{batch, ipc_file, ipc_stream, lists, parquet, scalars};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc::new();

/// The most memory that a build of one of these small files may take.
const MEMORY: usize = 16 << 20;

/// The longest that it may take on a machine that does other things, too.
const PATIENCE: Duration = Duration::from_secs(5);

/// Some rows, compressed: numbers that repeat, and strings with and without a dictionary.
fn compressed(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter((0..200).map(|i| (i % 7 > 0).then_some(i / 3))));
    let strings: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..200).map(|i| format!("string {}", i % 60))));
    let rows =
        RecordBatch::try_from_iter_with_nullable([("n", numbers, true), ("s", strings, true)]).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_dictionary_page_size_limit(300)
        .set_data_page_row_count_limit(60)
        .set_write_batch_size(20)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.into_inner().unwrap()
}

/// Files to damage, by what they are.
fn files() -> Vec<(String, &'static str, Vec<u8>)> {
    let types = scalars().into_iter().filter(|sample| sample.in_parquet).step_by(3);
    let rows = batch(&types.chain(lists().into_iter().take(1)).collect::<Vec<_>>());
    let mut files = vec![
        ("Parquet, every type".to_owned(), "a.parquet", parquet(&rows)),
        ("Arrow file".to_owned(), "a.arrow", ipc_file(&rows)),
        ("Arrow stream".to_owned(), "a.arrows", ipc_stream(&rows)),
    ];
    for compression in compressions() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let name = format!("Parquet, {compression}, {version:?}");
            files.push((name, "a.parquet", compressed(compression, version)));
        }
    }
    files
}

/// Builds a segment of a file within this process; what it says of an error.
fn build(folder: &Path, name: &str) -> (Exit, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let (input, output) = (folder.join(name), folder.join("x.dv"));
    let args = ["dv".into(), "build".into(), "-q".into(), input.into(), "-o".into(), output.into()];
    let exit = docvalues_cli::run(args, &mut Console::plain(&mut out, &mut err));
    (exit, String::from_utf8(err).unwrap())
}

/// The compressions of Parquet.
fn compressions() -> [Compression; 4] {
    [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
        Compression::ZSTD(Default::default()),
    ]
}

/// What became of the damaged files of one.
#[derive(Default)]
struct Seen {
    files: usize,
    refused: usize,
    most: usize,
    longest: Duration,
}

impl Seen {
    fn check(&mut self, folder: &Path, name: &str, bytes: &[u8], damage: &str) {
        std::fs::write(folder.join(name), bytes).unwrap();
        let began = Instant::now();
        let ((exit, message), peak) = ALLOCATOR.peak_of(|| build(folder, name));
        let took = began.elapsed();
        self.files += 1;
        if exit != Exit::Ok {
            self.refused += 1;
            assert!(message.contains(name) && message.lines().count() <= 4, "{damage}: {message}");
        }
        assert!(peak <= MEMORY, "{damage}: {} MiB; {message}", peak >> 20);
        assert!(took <= PATIENCE, "{damage}: {took:?}; {message}");
        (self.most, self.longest) = (self.most.max(peak), self.longest.max(took));
    }
}

/// Whose turn it is: the allocator counts for all threads.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn a_page_that_says_it_unpacks_to_gigabytes_takes_no_memory() {
    // 2^31 - 1 as Thrift has it.
    const MOST: [u8; 5] = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    let _turn = TURN.lock();
    for compression in compressions() {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let mut bytes = compressed(compression, version);
            // The first page follows the file's magic bytes, and begins with its type and this size.
            assert_eq!([bytes[4], bytes[6]], [0x15, 0x15]);
            let len = bytes[7..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
            bytes.splice(7..7 + len, MOST);
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("a.parquet"), &bytes).unwrap();
            let ((exit, message), peak) = ALLOCATOR.peak_of(|| build(folder.path(), "a.parquet"));
            assert!(exit == Exit::Failed && message.contains("unpacks to more than it can"), "{message}");
            assert!(peak <= MEMORY, "{compression}: {} MiB", peak >> 20);
        }
    }
}

#[test]
fn damaged_files_are_errors_that_name_them() {
    let _turn = TURN.lock();
    for (what, name, bytes) in files() {
        let (folder, mut seen, mut copy) = (tempfile::tempdir().unwrap(), Seen::default(), Vec::new());
        let sweep = Sweep::from_env(24);
        for damage in truncations(bytes.len(), sweep) {
            damage.apply(&bytes, &mut copy);
            seen.check(folder.path(), name, &copy, &format!("{what}, {damage}"));
        }
        for at in sweep.places(bytes.len()) {
            for bit in [0, 6, 7] {
                let damage = Damage::Flip { at, bit };
                damage.apply(&bytes, &mut copy);
                seen.check(folder.path(), name, &copy, &format!("{what}, {damage}"));
            }
            copy[at] = !bytes[at];
            seen.check(folder.path(), name, &copy, &format!("{what}, all bits of byte {at} flipped"));
        }
        let Seen { files, refused, most, longest } = seen;
        println!(
            "{what}: {files} damaged files of {} bytes, {refused} refused; {} KiB and {longest:?} at most; 0 panics",
            bytes.len(),
            most >> 10
        );
        assert!(refused > files / 5, "{what}: {refused} of {files}");
    }
}
