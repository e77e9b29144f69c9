//! The golden files: segments that every later release must read, and write byte for byte; and in `golden/retired`, one
//! that no release reads.
//!
//! ```text
//! NAME.dv           the segment that this release writes from the values in `cases`
//! NAME.bare.dv      the same without jump tables and zone maps, if it has any
//! NAME.jsonl        the contents of both, as text
//! NAME.ids.jsonl    their ids, as text, if they have an id index
//! ```
//!
//! Any other `NAME.….dv` was written by an earlier release: it is read, and not written. `docs/read_dv.py`, which was
//! written from `docs/format.md` alone, must print the same text. CONTRIBUTING.md explains changes of these files.
//!
//! ```sh
//! UPDATE_GOLDEN=1 cargo test -p docvalues --test it golden     # rewrites all of them
//! ```

use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Once;

use docvalues::format::file::frame::{HEADER_LEN, Header};
use docvalues::reader::JumpTables;
use docvalues::{ColumnSource as _, OpenOptions, Segment, SegmentWriter, WriterOptions};

mod cases;
mod coverage;
mod extensions;
mod python;
mod retired;
mod text;

use crate::write;
use cases::Golden;

/// A golden file: its path, and the options it is written with.
struct File {
    name: String,
    options: WriterOptions,
}

impl Golden {
    fn files(&self) -> Vec<File> {
        let full = File { name: format!("{}.dv", self.name), options: WriterOptions::default() };
        let options = full.options.jump_tables(false).zones(false);
        let bare = File { name: format!("{}.bare.dv", self.name), options };
        if self.bare { vec![full, bare] } else { vec![full] }
    }

    /// The bytes of `file`. The header has version 0.0.0, so that a release does not change the file.
    fn bytes(&self, file: &File) -> Vec<u8> {
        let (schema, fields) = write::schema(&self.dataset, &[self.compression]);
        let mut writer = SegmentWriter::in_memory(schema, file.options);
        writer.sort_by(self.sort.clone()).unwrap();
        if let Some((name, options)) = self.ids {
            let column = self.dataset.columns.iter().position(|(field, _)| field.name == name).unwrap();
            writer.id_field(fields[column], options).unwrap();
        }
        write::add_documents(&mut writer, &fields, &self.dataset);
        let mut bytes = writer.finish_bytes().unwrap();
        let header: &mut [u8; HEADER_LEN] = bytes.first_chunk_mut().unwrap();
        *header = Header { writer: [0; 3], ..Header::decode(header).unwrap() }.encode();
        bytes
    }
}

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", name].iter().collect()
}

/// The stored file `name`; with `UPDATE_GOLDEN`, after all files were rewritten.
fn stored(name: &str) -> Vec<u8> {
    static UPDATED: Once = Once::new();
    UPDATED.call_once(|| {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            made(|name, bytes| fs::write(path(name), bytes).unwrap());
        }
    });
    fs::read(path(name)).unwrap_or_else(|error| panic!("{name}: {error}; UPDATE_GOLDEN=1 writes all files"))
}

/// Calls `file` with the name and the bytes of every file, as this release writes it.
fn made(mut file: impl FnMut(&str, &[u8])) {
    for golden in cases::all() {
        let dataset = golden.dataset.sorted(&golden.sort);
        file(&twin(golden.name), text::of(&dataset.source()).as_bytes());
        if let Some((name, _)) = golden.ids {
            let column = dataset.source().column(name).unwrap();
            file(&ids_twin(golden.name), text::of_ids(&*column).as_bytes());
        }
        golden.files().iter().for_each(|each| file(&each.name, &golden.bytes(each)));
    }
}

#[test]
fn written_files_equal_the_stored_files() {
    made(|name, made| {
        let stored = stored(name);
        let same = made.iter().zip(&stored).take_while(|(made, stored)| made == stored).count();
        assert!(made == stored, "{name}: not what is made today, from byte {same} on: see CONTRIBUTING.md");
    });
}

/// The names of all golden files, including those of earlier releases.
fn segments() -> Vec<String> {
    let names =
        fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".dv")).collect();
    names.sort_unstable();
    names
}

/// The name of the text file for the golden file `name`.
fn twin(name: &str) -> String {
    format!("{}.jsonl", name.split('.').next().unwrap())
}

/// The name of the text file for its ids.
fn ids_twin(name: &str) -> String {
    format!("{}.ids.jsonl", name.split('.').next().unwrap())
}

#[test]
fn stored_files_read_as_their_text_in_every_mode() {
    for name in segments() {
        let text = String::from_utf8(stored(&twin(&name))).unwrap();
        for jump_tables in JumpTables::ALL {
            let options = OpenOptions::new().jump_tables(jump_tables);
            let segment = Segment::from_bytes(stored(&name), options).unwrap();
            segment.verify().unwrap();
            assert!(text::of(&segment) == text, "{name} with {jump_tables:?}");
            let Some(ids) = segment.ids().unwrap() else { continue };
            let mut listed = String::new();
            ids.each(|id, doc| {
                assert_eq!(ids.find(id).unwrap(), Some(doc));
                listed.push_str(&text::id(id, Some(doc)));
                ControlFlow::Continue(())
            })
            .unwrap();
            assert!(listed.as_bytes() == stored(&ids_twin(&name)), "the ids of {name}");
        }
    }
}

/// Golden files are in the repository, so they must be small.
#[test]
fn the_files_are_small() {
    let sizes: Vec<(String, usize)> =
        segments().into_iter().map(|name| (name.clone(), stored(&name).len())).collect();
    for (name, size) in &sizes {
        assert!(*size < 21_000, "{name}: {size} bytes");
    }
    assert!(sizes.iter().map(|(_, size)| size).sum::<usize>() < 400_000, "{sizes:?}");
}
