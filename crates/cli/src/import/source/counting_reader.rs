//! A reader that counts bytes, and a reader with a peeked head.

use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the bytes that are read or consumed.
pub(super) struct Counted<R> {
    pub(super) reader: R,
    pub(super) read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read.fetch_add(amount as u64, Ordering::Relaxed);
        self.reader.consume(amount);
    }
}

/// A reader whose first bytes were peeked.
pub(super) type Peeked = io::Chain<Cursor<Vec<u8>>, Box<dyn BufRead>>;

/// The first bytes, at most `wanted`, and a reader that returns them again. Of a text that may pause, the first line that
/// is not blank suffices, so that it can be read before the others come.
pub(super) fn peek(
    mut reader: impl BufRead + 'static,
    wanted: usize,
    may_pause: bool,
) -> io::Result<(Vec<u8>, Peeked)> {
    let mut head = Vec::with_capacity(wanted);
    while head.len() < wanted && !(may_pause && head.trim_ascii_start().contains(&b'\n')) {
        let bytes = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let taken = bytes.len().min(wanted - head.len());
        if taken == 0 {
            break;
        }
        head.extend_from_slice(&bytes[..taken]);
        reader.consume(taken);
    }
    let rest: Box<dyn BufRead> = Box::new(reader);
    Ok((head.clone(), Cursor::new(head).chain(rest)))
}
