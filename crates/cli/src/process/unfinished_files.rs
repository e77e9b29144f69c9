//! Removal of the temporary files of a command that a signal ends.

use crate::error::Result;

/// Removes the temporary files of unfinished outputs when SIGINT (Ctrl-C), SIGTERM or SIGHUP ends the process. A signal
/// that the process ignores, as after `nohup`, stays ignored.
#[cfg(unix)]
pub(crate) fn remove_at_end() -> Result<()> {
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    if IS_WATCHED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    watch().map_err(|error| crate::error::CliError::failed(format!("signals: {error}")))
}

/// Elsewhere, the next command that writes the same file takes the temporary one over.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(crate) fn remove_at_end() -> Result<()> {
    Ok(())
}

#[cfg(unix)]
fn watch() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::end_signal::is_watched;
    use crate::api::AtomicFile;

    let ignored = ignored();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].iter().filter(|signal| !ignored(**signal)))?;
    let wait = move || {
        for signal in signals.forever().filter(|signal| !is_watched(*signal)) {
            // It ends the process, as the signal would have done.
            AtomicFile::abandon_all(|| drop(emulate_default_handler(signal)));
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait)?;
    Ok(())
}

/// Whether the process ignores a signal. Systems other than Linux do not tell without unsafe code: there, SIGINT and
/// SIGHUP, which shells let background jobs ignore, are taken for ignored.
#[cfg(unix)]
fn ignored() -> impl Fn(i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    move |signal| match mask {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal != signal_hook::consts::SIGTERM,
    }
}
