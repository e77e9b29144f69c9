//! [`Writing`]: a thread that writes one buffer to a segment.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};
use crate::segments::{FrozenBuffer, NewNumbers, SegmentState};

/// The segment of a buffer, and the number of each document in it.
pub(crate) type Written = (SegmentState, Arc<NewNumbers>);

/// A thread that writes a sealed buffer. Dropping it waits for the thread.
#[derive(Debug)]
pub(crate) struct Writing {
    pub(crate) buffer: Arc<FrozenBuffer>,
    /// The number of the segment.
    pub(crate) number: u64,
    thread: Option<JoinHandle<Result<Written>>>,
}

impl Writing {
    /// Starts a thread that writes a buffer to the segment with a number.
    pub(crate) fn start(
        buffer: Arc<FrozenBuffer>,
        number: u64,
        write: impl FnOnce() -> Result<Written> + Send + 'static,
    ) -> io::Result<Writing> {
        let thread = thread::Builder::new().name("dv-flush".to_owned()).spawn(write)?;
        Ok(Writing { buffer, number, thread: Some(thread) })
    }

    /// Whether [`finish`](Self::finish) would not wait.
    pub(crate) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the segment.
    pub(crate) fn finish(mut self) -> Result<Written> {
        let panicked = || Error::Request("a thread panicked".to_owned());
        self.thread.take().ok_or_else(panicked)?.join().map_err(|_| panicked())?
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // After a panic, nobody needs the segment.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
