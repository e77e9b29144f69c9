//! Look-ups in one segment of ten million ids, dropped from the page cache.

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use docvalues::terms::bloom::Probe;
use docvalues_benches::id_structures::{Opened, Shape, Structure};
use docvalues_benches::ids::{IdKind, random};

use super::serve::major_faults;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kind of ids: uuid, seq, tenant, auto
    #[arg(long, value_name = "KIND", default_value = "uuid")]
    kind: IdKind,
    /// Number of ids
    #[arg(long, value_name = "N", default_value = "10_000_000", value_parser = docvalues_benches::count)]
    ids: u32,
    /// Folder of the segments, which are removed
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
}

/// The look-ups of a new process.
#[derive(clap::Args)]
pub(crate) struct One {
    structure: Structure,
    folder: PathBuf,
    kind: IdKind,
    ids: u32,
    #[arg(long)]
    present: bool,
}

/// Ids to look up: so few that hardly two of them share a page.
const COLD: usize = 2_000;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let &Arguments { kind, ids, .. } = arguments;
    std::fs::create_dir_all(&arguments.folder)?;
    let shape = Shape { kind, segments: 1, each: ids };
    println!(
        "{ids} ids, {kind}; the filter of `ours-blocks-filter` is read first\n\n\
         | | absent: faults | µs | present: faults | µs |\n| --- | ---: | ---: | ---: | ---: |"
    );
    for structure in
        [Structure::Blocks, Structure::Trie, Structure::Fst, Structure::BlocksFilter, Structure::CrateFst]
    {
        structure.build(&arguments.folder, shape)?;
        let segments = structure.folder(&arguments.folder, shape);
        let mut row = format!("| `{structure}` |");
        for work in [None, Some("--present")] {
            docvalues_benches::forget(&segments.join("0"))?;
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["cold-one", structure.name()]).arg(&arguments.folder);
            let output = command.args([kind.name(), &ids.to_string()]).args(work).output()?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
            }
            row += String::from_utf8_lossy(&output.stdout).trim_end();
        }
        println!("{row}");
        std::fs::remove_dir_all(segments)?;
    }
    Ok(())
}

pub(crate) fn one(one: &One) -> Outcome {
    let &One { structure, kind, ids, present, .. } = one;
    let opened = structure.open(&one.folder, Shape { kind, segments: 1, each: ids }, false)?;
    if structure == Structure::BlocksFilter {
        read_filter(&opened, ids)?;
    }
    let requested: Vec<String> = match present {
        true => random(ids, COLD).map(|i| kind.id(i)).collect(),
        false => (ids..).take(COLD).map(|i| kind.id(i)).collect(),
    };
    let (mut finder, mut found, mut count) = (opened.finder(), Vec::new(), 0);
    let (faults, began) = (major_faults()?, Instant::now());
    for id in &requested {
        finder.find(&[id.as_bytes()], &mut found);
        count += found.iter().flatten().count();
    }
    let took = began.elapsed();
    assert_eq!(count, if present { COLD } else { 0 });
    let faults = (major_faults()? - faults) as f64 / COLD as f64;
    print!(" {faults:.2} | {:.0} |", took.as_secs_f64() * 1e6 / COLD as f64);
    Ok(())
}

/// Reads the whole filter, as look-ups of random ids do after some minutes.
fn read_filter(opened: &Opened, ids: u32) -> Outcome {
    let Opened::Lookup(lookup) = opened else { return Ok(()) };
    let (_, reader) = lookup.segment(0).ok_or("no segment")?;
    for i in 0..ids / 16 {
        black_box(reader.may_hold(&Probe::new(u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15)))?);
    }
    Ok(())
}
