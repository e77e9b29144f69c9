//! The progress of a long command, on a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::api::writer::MergeProgress;
use crate::text::thousands;

/// The time before progress is first shown.
const QUIET: Duration = Duration::from_secs(1);

/// The time between updates.
const EVERY: Duration = Duration::from_millis(100);

/// The number of documents between checks of the clock.
const STEP: u64 = 256;

/// An input of known size, an input of unknown size, and other work. The message is cut at the edge of the terminal.
const OF_INPUT: &str = "{percent:>3} %  ETA {eta}  {decimal_bytes_per_sec}  {wide_msg}";
const OF_PIPE: &str = "{decimal_bytes_per_sec}  {wide_msg}";
const OF_WORK: &str = "{wide_msg}";

/// A progress line.
pub(crate) struct Progress {
    bar: ProgressBar,
    is_wanted: bool,
    began: Instant,
    shown: Option<Instant>,
    /// The number of documents at the next check of the clock.
    next: u64,
}

impl Progress {
    /// Progress towards `total` bytes of input, if known.
    pub(crate) fn new(is_wanted: bool, total: Option<u64>) -> Progress {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(style(if total.is_some() { OF_INPUT } else { OF_PIPE }));
        Progress { bar, is_wanted, began: Instant::now(), shown: None, next: 0 }
    }

    /// Shows the documents and bytes that were read, if an update is due.
    pub(crate) fn show(&mut self, documents: u64, bytes: u64) {
        if documents < self.next {
            return;
        }
        self.next = documents + STEP;
        if self.is_due() {
            self.bar.set_message(format!("{} documents", thousands(documents)));
            self.bar.set_position(bytes);
        }
    }

    /// Shows the column that a merge writes, if an update is due.
    pub(crate) fn show_merge(&mut self, MergeProgress { column, done, columns, .. }: MergeProgress<'_>) {
        if self.is_due() {
            self.bar.set_style(style(OF_WORK));
            self.bar.set_message(format!("column {column:?}, {} of {columns}", done + 1));
        }
    }

    /// Shows the current step, if progress was shown before.
    pub(crate) fn show_step(&mut self, step: &str) {
        if self.shown.is_some() {
            self.bar.set_style(style(OF_WORK));
            self.bar.set_message(format!("{step} …"));
        }
    }

    /// Whether an update is due.
    fn is_due(&mut self) -> bool {
        let due = self.is_wanted
            && self.began.elapsed() >= QUIET
            && self.shown.is_none_or(|shown| shown.elapsed() >= EVERY);
        if due && self.shown.replace(Instant::now()).is_none() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        due
    }

    /// Clears the line.
    pub(crate) fn clear(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The style of a line, whose template is one of those above.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_correct() {
        for template in [OF_INPUT, OF_PIPE, OF_WORK] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
