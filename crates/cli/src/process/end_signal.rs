//! Signals that ask a command to end: SIGINT (Ctrl-C) and SIGTERM. And one that must not: SIGXFSZ.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{CliError, Exit, Result};

/// A signal ends a wait after this time at the latest.
const TURN: Duration = Duration::from_millis(50);

/// Whether the command watches the signals, and so ends by itself.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether a signal is for the command, which removes its files itself.
#[cfg(unix)]
pub(super) fn is_watched(signal: i32) -> bool {
    [SIGINT, SIGTERM].contains(&signal) && IS_WATCHED.load(Ordering::Relaxed)
}

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
    /// Notes the first signal from now on. The second one ends the process at once.
    pub(crate) fn watch() -> Result<EndSignal> {
        let (signal, is_second) = (EndSignal::default(), Arc::new(AtomicBool::new(false)));
        let register = |(number, exit): (i32, Exit)| -> io::Result<()> {
            flag::register_conditional_shutdown(number, i32::from(exit as u8), is_second.clone())?;
            flag::register(number, is_second.clone())?;
            flag::register_usize(number, signal.0.clone(), usize::from(exit as u8)).map(drop)
        };
        let mut signals = [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)].into_iter();
        let registered = signals.try_for_each(register);
        registered.map_err(|error| CliError::failed(format!("signals: {error}")))?;
        IS_WATCHED.store(true, Ordering::Relaxed);
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
