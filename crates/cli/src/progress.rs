//! How far a long command is, on a terminal.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::output::text::{decimal, thousands};

/// Before this, nothing is shown: short work needs no progress.
const QUIET: Duration = Duration::from_secs(1);

/// Time from one line to the next.
const EVERY: Duration = Duration::from_millis(100);

/// Documents from one look at the clock to the next.
const STEP: u64 = 256;

/// A line that is written over and over.
pub(crate) struct Progress {
    wanted: bool,
    total: Option<u64>,
    began: Instant,
    shown: Option<Instant>,
    /// The number of documents at which to look at the clock again.
    next: u64,
}

impl Progress {
    /// Progress towards `total` bytes of input, if that is known.
    pub(crate) fn new(wanted: bool, total: Option<u64>) -> Progress {
        Progress { wanted, total, began: Instant::now(), shown: None, next: 0 }
    }

    /// Shows how far things are, from time to time. That it cannot be shown is no reason to fail.
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
        let rate = decimal(bytes / 1000, millis, 1);
        write_over(&format!("{percent}{} documents  {rate} MB/s", thousands(documents)), err);
    }

    /// Shows which of several parts is being worked on, from time to time.
    pub(crate) fn show_part(&mut self, part: &str, done: usize, parts: usize, err: &mut dyn Write) {
        if self.is_due() {
            write_over(&format!("{part}, {} of {parts}", done + 1), err);
        }
    }

    /// Whether it is time to show something.
    fn is_due(&mut self) -> bool {
        let due = self.wanted
            && self.began.elapsed() >= QUIET
            && self.shown.is_none_or(|shown| shown.elapsed() >= EVERY);
        if due {
            self.shown = Some(Instant::now());
        }
        due
    }

    /// Says what is being done, if anything was shown.
    pub(crate) fn show_step(&mut self, step: &str, err: &mut dyn Write) {
        if self.shown.is_some() {
            write_over(&format!("{step} …"), err);
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self, err: &mut dyn Write) {
        if self.shown.take().is_some() {
            write_over("", err);
        }
    }
}

/// Writes a line in the place of the one before.
fn write_over(line: &str, err: &mut dyn Write) {
    let _ = write!(err, "\r\x1b[K{line}");
    let _ = err.flush();
}
