//! Writes seeds of the fuzzers to a folder, `FOLDER/TARGET/seed-N`: `cargo run --example seeds FOLDER` in `fuzz/`.
//!
//! The seeds are valid inputs of every layout and request, and some that are damaged. `fuzz/coverage minimise` keeps in the
//! corpora those that cover something.

mod layouts;
mod rows;
mod segments;

use std::path::{Path, PathBuf};

use docvalues_testkit::rng::SplitMix64;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Random queries for all columns; a part of it for each.
const QUERIES: u32 = 400;

fn main() -> Result<()> {
    let folder =
        PathBuf::from(std::env::args_os().nth(1).ok_or("expected the folder to write to, found none")?);
    let save = |target: &str, inputs: &[Vec<u8>]| save(&folder.join(target), inputs);
    let files = [segments::segments()?, segments::golden()?].concat();
    for target in ["segment", "resealed", "structured", "directory"] {
        save(target, &files)?;
    }
    save("program", &programs())?;
    save("merge", &programs())?;
    save("input", &rows::rows())?;
    let texts = docvalues_fuzz::query_texts(QUERIES);
    save("query", &texts.iter().map(|text| text.clone().into_bytes()).collect::<Vec<_>>())?;
    let texts = [texts, found_texts()?].concat();
    save("partial", &docvalues_fuzz::partial_inputs(&texts))?;
    save("store", &docvalues_fuzz::store_inputs())?;
    save("log", &docvalues_fuzz::log_inputs())?;
    save("lucene", &docvalues_fuzz::lucene_inputs())?;
    save("delta", &docvalues_fuzz::delta_inputs())?;
    save("body", &docvalues_fuzz::body_inputs())?;
    save("scan_request", &docvalues_fuzz::scan_request_inputs(&texts))?;
    save("stream", &docvalues_fuzz::stream_inputs())?;
    save("ids", &layouts::ids()?)?;
    save("numeric", &layouts::numbers())?;
    save("presence", &layouts::presences())?;
    save("dictionary", &layouts::dictionaries()?)?;
    save("binary", &layouts::binaries()?)
}

/// The queries of the corpus, which the fuzzer found.
fn found_texts() -> Result<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/query");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        texts.extend(String::from_utf8(std::fs::read(entry?.path())?));
    }
    texts.sort();
    Ok(texts)
}

/// Random programs, short and long: any bytes are one.
fn programs() -> Vec<Vec<u8>> {
    let program = |seed| {
        let mut rng = SplitMix64::new(seed);
        let len = 8 << (seed % 8);
        (0..len).map(|_| if rng.chance(1, 4) { 0 } else { rng.below(256) as u8 }).collect()
    };
    (0..120).map(program).collect()
}

fn save(folder: &Path, inputs: &[Vec<u8>]) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    for (number, input) in inputs.iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number}")), input)?;
    }
    println!("{}: {} inputs", folder.display(), inputs.len());
    Ok(())
}
