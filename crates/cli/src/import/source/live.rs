//! A reader of a pipe that may pause, such as that of `tail -f`.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::import::error;
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
                    return Err(error::PAUSE.into());
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let len = (&self.chunk[self.read..]).read(out)?;
        self.read += len;
        Ok(len)
    }
}
