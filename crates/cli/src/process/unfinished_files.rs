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
    unix::watch().map_err(|error| crate::error::CliError::failed(format!("signals: {error}")))
}

/// Elsewhere, the next command that writes the same file takes the temporary one over.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
pub(crate) fn remove_at_end() -> Result<()> {
    Ok(())
}

/// Leaves the first SIGINT or SIGTERM to the command, which ends by itself. The second one removes temporary files and ends
/// the process at once.
#[cfg(unix)]
pub(super) fn leave_first() -> std::io::Result<()> {
    unix::watch_second()
}

/// Elsewhere, the second one only ends the process.
#[cfg(not(unix))]
pub(super) fn leave_first() -> std::io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;

    let is_second = Arc::new(AtomicBool::new(false));
    [SIGINT, SIGTERM].into_iter().try_for_each(|signal| {
        flag::register_conditional_shutdown(signal, 128 + signal, is_second.clone())?;
        flag::register(signal, is_second.clone()).map(drop)
    })
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::io;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::Builder;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, exit};

    use crate::api::AtomicFile;

    /// Whether SIGINT and SIGTERM are for the command.
    static IS_LEFT: AtomicBool = AtomicBool::new(false);

    pub(super) fn watch() -> io::Result<()> {
        let ignored = ignored();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].iter().filter(|signal| !ignored(**signal)))?;
        let is_left = |signal: i32| signal != SIGHUP && IS_LEFT.load(Ordering::Relaxed);
        let wait = move || {
            for signal in signals.forever().filter(|signal| !is_left(*signal)) {
                // It ends the process, as the signal would have done.
                remove(|| drop(emulate_default_handler(signal)));
            }
        };
        Builder::new().name("signals".to_owned()).spawn(wait)?;
        Ok(())
    }

    pub(super) fn watch_second() -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let wait = move || {
            // One that comes again before this thread has seen it counts once.
            if let Some(signal) = signals.forever().nth(1) {
                remove(|| exit(128 + signal));
            }
        };
        Builder::new().name("second signal".to_owned()).spawn(wait)?;
        IS_LEFT.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Removes all temporary files, then calls `end`, which ends the process.
    fn remove(end: impl FnOnce()) {
        AtomicFile::abandon_all(|| {
            #[cfg(any(feature = "lucene", feature = "sql"))]
            crate::process::temporary::remove_all();
            end();
        });
    }

    /// Whether the process ignores a signal. Systems other than Linux do not tell without unsafe code: there, SIGINT and
    /// SIGHUP, which shells let background jobs ignore, are taken for ignored.
    fn ignored() -> impl Fn(i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        move |signal| match mask {
            Some(mask) => mask >> (signal - 1) & 1 == 1,
            None => signal != SIGTERM,
        }
    }
}
