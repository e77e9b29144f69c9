//! `dv log`: lists the batches in the log of a store.

use crate::answer::table::{Align, Table};
use crate::api::store::{FrameInfo, StoreReader};
use crate::args::store::LogArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::text::{Json, thousands};

pub(crate) fn run(args: &LogArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let (mut frames, mut damage) = (Vec::new(), None);
    for frame in StoreReader::log_frames(&args.folder)? {
        match frame {
            Ok(frame) => frames.push(frame),
            Err(error) => damage = Some(error.to_string()),
        }
    }
    if args.json {
        console.json(frames.iter().map(json).collect::<Json>())?;
    } else {
        let numbers = ["batch", "log", "offset", "bytes"].map(|name| (name, Align::Right));
        let mut table = Table::new(&[&numbers[..], &[("durable", Align::Left)]].concat());
        for frame in &frames {
            let durable = if frame.is_synced { "yes" } else { "unknown" };
            let numbers = [frame.sequence, frame.log, frame.offset, frame.bytes].map(thousands);
            table.row(numbers.into_iter().chain([durable.to_owned()]).collect());
        }
        table.print(console)?;
    }
    console.out.flush()?;
    if frames.is_empty() && damage.is_none() && !args.json {
        console.note(
            "note: no log: `dv put --durability batch` writes one, and --keep-frames keeps it after a commit",
        );
    }
    damage.iter().for_each(|damage| console.note(&format!("dv: {damage}")));
    Ok(if damage.is_none() { Exit::Ok } else { Exit::Failed })
}

fn json(frame: &FrameInfo) -> Json {
    Json::object([
        ("batch", frame.sequence.into()),
        ("log", frame.log.into()),
        ("epoch", frame.epoch.into()),
        ("offset", frame.offset.into()),
        ("bytes", frame.bytes.into()),
        ("known_durable", frame.is_synced.into()),
    ])
}
