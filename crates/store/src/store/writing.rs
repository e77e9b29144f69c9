//! [`Writing`]: a thread that writes the sealed buffer to a segment.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::segments::{NewNumbers, SegmentState};

/// The segment of a buffer, and the number of each document in it.
pub(crate) type Written = (SegmentState, Arc<NewNumbers>);

/// A thread that writes a sealed buffer. Dropping it waits for the thread.
#[derive(Debug)]
pub(crate) struct Writing {
    /// The number of the segment.
    pub(crate) number: u64,
    thread: Option<JoinHandle<(Result<Written>, Duration)>>,
}

impl Writing {
    /// Starts a thread that writes the sealed buffer to the segment with a number.
    pub(crate) fn start(
        number: u64,
        write: impl FnOnce() -> Result<Written> + Send + 'static,
    ) -> io::Result<Writing> {
        let timed = move || {
            let began = Instant::now();
            (write(), began.elapsed())
        };
        let thread = thread::Builder::new().name("dv-flush".to_owned()).spawn(timed)?;
        Ok(Writing { number, thread: Some(thread) })
    }

    /// Whether [`finish`](Self::finish) would not wait.
    pub(crate) fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the segment. Returns the time of writing it, too.
    pub(crate) fn finish(mut self) -> (Result<Written>, Duration) {
        let panic: Box<dyn Any + Send> = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(written)) => return written,
            Some(Err(panic)) => panic,
            None => Box::new("it was waited for before"),
        };
        (Err(Error::of_panic(panic)), Duration::ZERO)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // After a panic, nobody needs the segment.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_keeps_its_message() {
        let failed = |writing: Writing| writing.finish().0.err().unwrap().to_string();
        let number = 1;
        let formatted = Writing::start(number, move || panic!("panic {number}")).unwrap();
        assert_eq!(failed(formatted), "a thread panicked: panic 1");
        let literal = Writing::start(2, || panic!("a test panics here")).unwrap();
        assert_eq!(failed(literal), "a thread panicked: a test panics here");
    }
}
