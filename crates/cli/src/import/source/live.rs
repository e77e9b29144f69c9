//! A reader of a pipe that may pause, such as that of `tail -f`.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::import::error::pause;
use crate::process::end_signal::EndSignal;

/// A wait for bytes that is this long is a pause.
const PAUSE: Duration = Duration::from_millis(100);

/// The most chunks to read ahead, and their size.
const CHUNKS: usize = 4;
const CHUNK: usize = 64 * 1024;

/// The bytes of a pipe. A thread reads them, so that a wait for them ends when the input pauses, or at a signal.
pub(super) struct LiveReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// The bytes of `chunk` that were read.
    read: usize,
    end: EndSignal,
    reports_pauses: Rc<Cell<bool>>,
}

impl LiveReader {
    /// Reads `raw` until `end`. Pauses are errors while `reports_pauses` is set.
    pub(super) fn new(
        raw: impl Read + Send + 'static,
        end: EndSignal,
        reports_pauses: Rc<Cell<bool>>,
    ) -> LiveReader {
        let (sender, chunks) = sync_channel(CHUNKS);
        // It ends with the input, or with the process.
        std::thread::spawn(move || send_chunks(raw, &sender));
        LiveReader { chunks, chunk: Vec::new(), read: 0, end, reports_pauses }
    }
}

/// Sends all chunks, or the error that ends them.
fn send_chunks(mut raw: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = match raw.read(&mut chunk) {
            Ok(0) => return,
            Ok(len) => {
                chunk.truncate(len);
                Ok(chunk)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = read.is_err();
        if sender.send(read).is_err() || is_last {
            return;
        }
    }
}

impl Read for LiveReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.read == self.chunk.len() {
            match self.chunks.recv_timeout(PAUSE) {
                Ok(chunk) => (self.chunk, self.read) = (chunk?, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.end.exit().is_some() => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) if self.reports_pauses.get() => {
                    return Err(pause());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let len = (&self.chunk[self.read..]).read(out)?;
        self.read += len;
        Ok(len)
    }
}

/// A reader that pauses before each byte, once `reports_pauses` is set.
#[cfg(test)]
pub(crate) struct PausingReader {
    bytes: Vec<u8>,
    read: usize,
    is_awake: bool,
    reports_pauses: Rc<Cell<bool>>,
}

#[cfg(test)]
impl PausingReader {
    pub(crate) fn new(bytes: &[u8], reports_pauses: Rc<Cell<bool>>) -> PausingReader {
        PausingReader { bytes: bytes.to_owned(), read: 0, is_awake: false, reports_pauses }
    }
}

#[cfg(test)]
impl Read for PausingReader {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("expected calls of fill_buf"))
    }
}

#[cfg(test)]
impl io::BufRead for PausingReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let rest = &self.bytes[self.read..];
        self.is_awake = !self.is_awake;
        // As a pipe that was closed, it does not pause at the end.
        if !self.is_awake && !rest.is_empty() && self.reports_pauses.get() {
            return Err(pause());
        }
        Ok(&rest[..rest.len().min(1)])
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount;
    }
}
