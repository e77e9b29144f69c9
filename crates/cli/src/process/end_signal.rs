//! Signals that ask a command to end: SIGINT (Ctrl-C) and SIGTERM. And one that must not: SIGXFSZ.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::unfinished_files;
use crate::error::{CliError, Exit, Result};

/// A signal ends a wait after this time at the latest.
const TURN: Duration = Duration::from_millis(50);

/// Makes a write beyond the limit of a file's size (`ulimit -f`) an error, as one to a full disk is, instead of the end of the
/// process.
#[cfg(unix)]
pub(crate) fn ignore_size_signal() {
    // Without this, the signal does what it always did.
    drop(flag::register(signal_hook::consts::SIGXFSZ, Arc::default()));
}

/// Other systems have no such signal.
#[cfg(not(unix))]
pub(crate) fn ignore_size_signal() {}

/// The first signal that asked the command to end, if one did.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndSignal(Arc<AtomicUsize>);

impl EndSignal {
    /// Notes the first signal from now on. The second one removes temporary files and ends the process at once.
    pub(crate) fn watch() -> Result<EndSignal> {
        let signal = EndSignal::default();
        let register = |(number, exit): (i32, Exit)| {
            flag::register_usize(number, signal.0.clone(), usize::from(exit as u8)).map(drop)
        };
        let mut signals = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)].into_iter();
        let registered = signals.try_for_each(register).and_then(|()| unfinished_files::leave_first());
        registered.map_err(|error| CliError::failed(format!("signals: {error}")))?;
        Ok(signal)
    }

    /// Waits for so long, or until the signal. Returns as [`exit`](Self::exit).
    pub(crate) fn wait(&self, time: Duration) -> Option<Exit> {
        let began = Instant::now();
        while self.exit().is_none() && began.elapsed() < time {
            std::thread::sleep(TURN.min(time - began.elapsed().min(time)));
        }
        self.exit()
    }

    /// The exit code after the signal; `None` if there was none.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let exits = [Exit::Interrupted, Exit::Terminated];
        let noted = self.0.load(Ordering::Relaxed);
        exits.into_iter().find(|exit| usize::from(*exit as u8) == noted)
    }
}
