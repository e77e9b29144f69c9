//! Cache misses of look-ups, simulated by Valgrind: a first-level cache and a last-level one, of the sizes of this CPU.
//!
//! Virtual machines often have no hardware counters. The simulation has no prefetching, and no other programs.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;

use docvalues_benches::id_structures::{Finder, Place, Shape, Structure};
use docvalues_benches::ids::{IdKind, random};
use docvalues_benches::record::{self, Run, figure};

use super::beside::vectors;
use super::rows::Work;
use super::serve::BULK;
use crate::Outcome;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Structures, by their names in benches/src/id_structures.rs; by default all but Lucene's
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_values_t = Structure::ALL)]
    only: Vec<Structure>,
    /// Kinds of ids: uuid, seq, tenant, auto
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "uuid")]
    kinds: Vec<IdKind>,
    /// Number of segments
    #[arg(long, value_name = "N", default_value_t = 400)]
    segments: u32,
    /// Ids of each
    #[arg(long, value_name = "N", default_value_t = 2_500)]
    each: u32,
    /// Bulks of 20 that are counted
    #[arg(long, value_name = "N", default_value_t = 20)]
    bulks: u32,
    /// Folder of segments, which are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the table
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The look-ups that are simulated.
#[derive(clap::Args)]
pub(crate) struct Trace {
    structure: Structure,
    folder: PathBuf,
    kind: IdKind,
    segments: u32,
    each: u32,
    bulks: u32,
    /// Whether the ids exist
    #[arg(long)]
    present: bool,
    /// Read 64 MiB before each bulk
    #[arg(long)]
    streams: bool,
}

/// The instructions and misses of a document.
struct Row {
    structure: Structure,
    shape: Shape,
    instructions: f64,
    first_level: f64,
    last_level: f64,
}

/// Bulks before those that are counted.
const WARM_UP: u32 = 100;

/// The function whose instructions are counted.
const COUNTED: &str = "*counted_look_up*";

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    let caches = caches(Path::new("/sys/devices/system/cpu/cpu0/cache"))?;
    fs::create_dir_all(&arguments.folder)?;
    let mut rows = Vec::new();
    for &kind in &arguments.kinds {
        let shape = Shape { kind, segments: arguments.segments, each: arguments.each };
        for &structure in &arguments.only {
            structure.build(&arguments.folder, shape)?;
            for (work, streams) in
                [Work::Absent, Work::Present].into_iter().flat_map(|work| [(work, false), (work, true)])
            {
                rows.push(simulate(arguments, structure, shape, work, streams, &caches)?);
            }
        }
    }
    let mut run = Run::new(&record::command_of("ids"), "simulated once");
    run.value("caches", &caches.join(" "));
    run.table("misses", table(&rows));
    print!("{}", run.markdown());
    arguments.record.as_ref().map_or(Ok(()), |path| run.write(path))
}

/// The options that give Valgrind the caches of the CPU.
fn caches(folder: &Path) -> Outcome<Vec<String>> {
    let mut found: Vec<(u32, String, [u64; 3])> = Vec::new();
    for entry in fs::read_dir(folder)?.filter_map(Result::ok) {
        let read = |name| fs::read_to_string(entry.path().join(name)).map(|text| text.trim().to_owned());
        let (Ok(level), Ok(kind), Ok(size)) = (read("level"), read("type"), read("size")) else { continue };
        let size = size.trim_end_matches('K').parse::<u64>()? << 10;
        let [ways, line] = ["ways_of_associativity", "coherency_line_size"].map(read);
        found.push((level.parse()?, kind, [size, ways?.parse()?, line?.parse()?]));
    }
    let last = found.iter().map(|cache| cache.0).max().ok_or("no description of the caches")?;
    let option = |name: &str, level: u32, kind: &str| {
        let is_it =
            |cache: &&(u32, String, [u64; 3])| cache.0 == level && [kind, "Unified"].contains(&&*cache.1);
        let [size, ways, line] = found.iter().find(is_it).ok_or("no description of a cache")?.2;
        let sets = (size / (ways * line)).max(1);
        // Valgrind has a power of two of them: the nearest.
        let below = 1 << sets.ilog2();
        let sets = if sets - below > below / 2 { 2 * below } else { below };
        Ok::<_, &str>(format!("--{name}={},{ways},{line}", sets * ways * line))
    };
    Ok(vec![option("I1", 1, "Instruction")?, option("D1", 1, "Data")?, option("LL", last, "Unified")?])
}

fn simulate(
    arguments: &Arguments,
    structure: Structure,
    shape: Shape,
    work: Work,
    streams: bool,
    caches: &[String],
) -> Outcome<Row> {
    eprintln!("{structure}, {shape}, {work:?}{}", if streams { ", after 64 MiB" } else { "" });
    let out = tempfile::NamedTempFile::new()?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--cache-sim=yes"]).args(caches);
    command.arg(format!("--toggle-collect={COUNTED}"));
    command.arg(format!("--callgrind-out-file={}", out.path().display()));
    command.arg(std::env::current_exe()?).args(["trace", structure.name()]).arg(&arguments.folder);
    let Shape { kind, segments, each } = shape;
    command.arg(kind.name()).args([segments, each, arguments.bulks].map(|number| number.to_string()));
    command.args((work == Work::Present).then_some("--present")).args(streams.then_some("--streams"));
    let output = command.output().map_err(|error| format!("valgrind: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let total = totals(&fs::read_to_string(out.path())?)?;
    let documents = f64::from(arguments.bulks * BULK);
    let sum = |names: &[&str]| names.iter().map(|name| total(name)).sum::<f64>() / documents;
    Ok(Row {
        structure,
        shape,
        instructions: sum(&["Ir"]),
        first_level: sum(&["D1mr", "D1mw"]),
        last_level: sum(&["DLmr", "DLmw"]),
    })
}

/// The sums of the events of a profile.
fn totals(profile: &str) -> Outcome<impl Fn(&str) -> f64 + use<>> {
    let line = |key: &str| {
        let found = profile.lines().find_map(|line| line.strip_prefix(key));
        found.ok_or_else(|| format!("the profile has no {key}"))
    };
    let names: Vec<String> = line("events:")?.split_whitespace().map(str::to_owned).collect();
    let numbers = line("totals:").or_else(|_| line("summary:"))?.split_whitespace().map(str::parse);
    let numbers = numbers.collect::<Result<Vec<f64>, _>>()?;
    if numbers.iter().all(|number| *number == 0.0) {
        return Err("nothing was counted: has the program been stripped?".into());
    }
    Ok(move |name: &str| names.iter().zip(&numbers).find(|pair| pair.0 == name).map_or(0.0, |pair| *pair.1))
}

/// A row for each structure and shape, from four rows: new and existing ids, each alone and after 64 MiB.
fn table(rows: &[Row]) -> Vec<Vec<String>> {
    let head = [
        "",
        "ids",
        "new, alone: instructions",
        "misses of the first level",
        "of the last",
        "after 64 MiB: of the last",
        "existing, alone: instructions",
        "first level",
        "last",
        "after 64 MiB: last",
    ];
    let mut table = vec![head.map(str::to_owned).to_vec()];
    for rows in rows.chunks(4) {
        let [absent, absent_after, present, present_after] = rows else { continue };
        let mut cells = vec![format!("`{}`", absent.structure), absent.shape.to_string()];
        for (alone, after) in [(absent, absent_after), (present, present_after)] {
            let values = [alone.instructions, alone.first_level, alone.last_level, after.last_level];
            cells.extend(values.map(figure));
        }
        table.push(cells);
    }
    table
}

/// Looks up bulks, of which those after the warm-up are counted.
pub(crate) fn trace(trace: &Trace) -> Outcome {
    let shape = Shape { kind: trace.kind, segments: trace.segments, each: trace.each };
    let opened = trace.structure.open(&trace.folder, shape, true)?;
    let mut finder = opened.finder();
    let searched = if trace.streams { vectors() } else { Vec::new() };
    let (all, bulks) = (shape.ids(), WARM_UP + trace.bulks);
    let numbers: Vec<u32> = match trace.present {
        true => random(all, (bulks * BULK) as usize).collect(),
        false => (all..all + bulks * BULK).collect(),
    };
    let mut found = Vec::new();
    for (bulk, numbers) in (0..).zip(numbers.chunks(BULK as usize)) {
        if bulk >= WARM_UP {
            // One number of each cache line.
            black_box(searched.iter().step_by(16).sum::<f32>());
        }
        let ids: Vec<String> = numbers.iter().map(|&i| shape.kind.id(i)).collect();
        let ids: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
        if bulk < WARM_UP {
            finder.find(&ids, &mut found)
        } else {
            counted_look_up(&mut finder, &ids, &mut found)
        }
        assert!(
            found.iter().all(|place| place.is_some() == trace.present),
            "other documents than those written"
        );
    }
    Ok(())
}

#[inline(never)]
fn counted_look_up(finder: &mut Finder<'_>, ids: &[&[u8]], found: &mut Vec<Option<Place>>) {
    finder.find(black_box(ids), found);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_a_profile_are_read() {
        let profile = "version: 1\nevents: Ir D1mr DLmr\nfn=(1) a\n1 2 3 4\ntotals: 10 20 30\n";
        let total = totals(profile).unwrap();
        assert_eq!([total("Ir"), total("DLmr"), total("DLmw")], [10.0, 30.0, 0.0]);
        assert!(totals("events: Ir\n").is_err());
        assert!(totals("events: Ir\ntotals: 0\n").is_err());
    }

    #[test]
    fn caches_become_options_with_a_power_of_two_of_sets() {
        let folder = tempfile::tempdir().unwrap();
        for (at, [level, kind, size]) in
            [["1", "Data", "32K"], ["1", "Instruction", "96K"], ["3", "Unified", "8000K"]].iter().enumerate()
        {
            let cache = folder.path().join(format!("index{at}"));
            fs::create_dir(&cache).unwrap();
            for (name, value) in [
                ("level", *level),
                ("type", kind),
                ("size", size),
                ("ways_of_associativity", "16"),
                ("coherency_line_size", "64"),
            ] {
                fs::write(cache.join(name), format!("{value}\n")).unwrap();
            }
        }
        assert_eq!(
            caches(folder.path()).unwrap(),
            ["--I1=65536,16,64", "--D1=32768,16,64", "--LL=8388608,16,64"]
        );
    }
}
