//! The progress of a long command, on a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::output::text::{decimal, thousands};

/// The time before progress is first shown.
const QUIET: Duration = Duration::from_secs(1);

/// The time between updates.
const EVERY: Duration = Duration::from_millis(100);

/// The number of documents between checks of the clock.
const STEP: u64 = 256;

/// A progress line.
pub(crate) struct Progress {
    wanted: bool,
    total: Option<u64>,
    began: Instant,
    shown: Option<Instant>,
    /// The number of documents at the next check of the clock.
    next: u64,
}

impl Progress {
    /// Progress towards `total` bytes of input, if known.
    pub(crate) fn new(wanted: bool, total: Option<u64>) -> Progress {
        Progress { wanted, total, began: Instant::now(), shown: None, next: 0 }
    }

    /// Updates the line if it is due. Ignores errors of writing it.
    pub(crate) fn show(&mut self, documents: u64, bytes: u64, err: &mut dyn Write) {
        if documents < self.next {
            return;
        }
        self.next = documents + STEP;
        if !self.is_due() {
            return;
        }
        let percent = match self.total {
            Some(total) if total > 0 => format!("{:>4} %  ", decimal(bytes.saturating_mul(100), total, 0)),
            _ => String::new(),
        };
        let millis = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let each_second = thousands(documents.saturating_mul(1000) / millis.max(1));
        let rate = decimal(bytes / 1000, millis, 1);
        let documents = thousands(documents);
        write_over(&format!("{percent}{documents} documents  {each_second} documents/s  {rate} MB/s"), err);
    }

    /// Shows the current part of several, if an update is due.
    pub(crate) fn show_part(&mut self, part: &str, done: usize, parts: usize, err: &mut dyn Write) {
        if self.is_due() {
            write_over(&format!("{part}, {} of {parts}", done + 1), err);
        }
    }

    /// Whether an update is due.
    fn is_due(&mut self) -> bool {
        let due = self.wanted
            && self.began.elapsed() >= QUIET
            && self.shown.is_none_or(|shown| shown.elapsed() >= EVERY);
        if due {
            self.shown = Some(Instant::now());
        }
        due
    }

    /// Shows the current step, if progress was shown before.
    pub(crate) fn show_step(&mut self, step: &str, err: &mut dyn Write) {
        if self.shown.is_some() {
            write_over(&format!("{step} …"), err);
        }
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self, err: &mut dyn Write) {
        if self.shown.take().is_some() {
            write_over("", err);
        }
    }
}

/// Overwrites the line.
fn write_over(line: &str, err: &mut dyn Write) {
    let _ = write!(err, "\r\x1b[K{line}");
    let _ = err.flush();
}
