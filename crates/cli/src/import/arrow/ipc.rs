//! Arrow IPC: a sequence of messages, as a stream or as a file whose footer has their offsets.
//!
//! ```text
//! message   ff ff ff ff | u32: bytes of metadata | metadata: what follows, and its bytes | body
//! stream    schema | dictionary or record batch ... | 0, or the end
//! file      ARROW1 00 00 | a stream | footer: schema, place of each batch | i32: bytes of footer | ARROW1
//! ```
//!
//! The readers of `arrow-ipc` trust the lengths in messages. This reader allocates no more than there are bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek as _, SeekFrom};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{Block, MessageHeader, convert, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use crate::import::source::Source;

/// The magic bytes at the start and end of a file.
pub(super) const MAGIC: &[u8] = b"ARROW1";

const CONTINUED: [u8; 4] = [0xff; 4];

/// The largest buffer to decompress, in bytes.
const UNPACKED: i64 = 1 << 31;

/// Batches of a file or a stream.
pub(super) struct Ipc {
    messages: Messages,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
}

enum Messages {
    Stream(Box<dyn Read>),
    /// The remaining blocks, in reverse order.
    File {
        file: BufReader<File>,
        source: Source,
        len: u64,
        blocks: Vec<Block>,
    },
}

/// The metadata and the body of a message.
struct Message {
    metadata: Vec<u8>,
    body: Vec<u8>,
}

impl Ipc {
    pub(super) fn stream(mut reader: Box<dyn Read>) -> Result<Ipc, ArrowError> {
        let first = Message::read(&mut reader)?.ok_or_else(|| damaged("there is no schema"))?;
        let message = root_as_message(&first.metadata).map_err(malformed)?;
        let schema = message.header_as_schema().ok_or_else(|| damaged("it does not begin with a schema"))?;
        let schema = schema_of(schema)?;
        Ok(Ipc { messages: Messages::Stream(reader), schema, dictionaries: HashMap::new() })
    }

    pub(super) fn file(mut file: File, source: Source) -> Result<Ipc, ArrowError> {
        let len = file.metadata()?.len();
        let at_end = MAGIC.len() as u64 + 4;
        let mut end = [0; 10];
        file.seek(SeekFrom::Start(len.saturating_sub(at_end)))?;
        file.read_exact(&mut end)?;
        let footer = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        if !end.ends_with(MAGIC) || footer.saturating_add(at_end) > len {
            return Err(damaged("its end is missing"));
        }
        file.seek(SeekFrom::Start(len - at_end - footer))?;
        let bytes = exactly(&mut file, footer)?;
        let footer = root_as_footer(&bytes).map_err(malformed)?;
        let schema = schema_of(footer.schema().ok_or_else(|| damaged("there is no schema"))?)?;
        // Dictionaries may come after the batches that use them.
        let dictionaries = footer.dictionaries().into_iter().flatten();
        let blocks = dictionaries.chain(footer.recordBatches().into_iter().flatten());
        let mut blocks: Vec<Block> = blocks.copied().collect();
        blocks.reverse();
        let messages = Messages::File { file: BufReader::new(file), source, len, blocks };
        Ok(Ipc { messages, schema, dictionaries: HashMap::new() })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next batch; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        while let Some(Message { metadata, body }) = self.messages.next()? {
            let message = root_as_message(&metadata).map_err(malformed)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::DictionaryBatch => {
                    let batch =
                        message.header_as_dictionary_batch().ok_or_else(|| damaged("an empty message"))?;
                    batch.data().map_or(Ok(()), |data| check_unpacked(data, &body))?;
                    read_dictionary(&body.into(), batch, &self.schema, &mut self.dictionaries, &version)?;
                }
                MessageHeader::RecordBatch => {
                    let batch =
                        message.header_as_record_batch().ok_or_else(|| damaged("an empty message"))?;
                    check_unpacked(batch, &body)?;
                    let schema = Arc::clone(&self.schema);
                    let batch =
                        read_record_batch(&body.into(), batch, schema, &self.dictionaries, None, &version)?;
                    return Ok(Some(batch));
                }
                _ => return Err(damaged("a message is neither a batch nor a dictionary")),
            }
        }
        Ok(None)
    }
}

impl Messages {
    fn next(&mut self) -> Result<Option<Message>, ArrowError> {
        match self {
            Messages::Stream(reader) => Message::read(reader),
            Messages::File { file, source, len, blocks } => {
                let Some(block) = blocks.pop() else {
                    source.reached(*len, *len);
                    return Ok(None);
                };
                let at = u64::try_from(block.offset()).map_err(|_| damaged("a batch lies nowhere"))?;
                file.seek(SeekFrom::Start(at))?;
                source.reached(at, *len);
                let message = Message::read(file)?;
                message.map(Some).ok_or_else(|| damaged("a batch is missing"))
            }
        }
    }
}

impl Message {
    /// The next message; `None` after the last one.
    fn read(reader: &mut impl Read) -> Result<Option<Message>, ArrowError> {
        let mut word = Vec::new();
        reader.take(4).read_to_end(&mut word)?;
        // Before version 0.15, there was no marker before the length.
        if word == CONTINUED {
            word = exactly(reader, 4)?;
        }
        let len = match word.first_chunk() {
            Some(len) => u32::from_le_bytes(*len),
            None if word.is_empty() => 0,
            None => return Err(damaged("it is cut off")),
        };
        if len == 0 {
            return Ok(None);
        }
        let metadata = exactly(reader, len.into())?;
        let body = root_as_message(&metadata).map_err(malformed)?.bodyLength();
        let body = exactly(reader, u64::try_from(body).map_err(|_| damaged("a negative length"))?)?;
        Ok(Some(Message { metadata, body }))
    }
}

/// Reads `len` bytes; allocates memory as they arrive.
fn exactly(reader: &mut impl Read, len: u64) -> Result<Vec<u8>, ArrowError> {
    let mut bytes = Vec::new();
    reader.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len { Ok(bytes) } else { Err(damaged("it is cut off")) }
}

fn schema_of(schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, ArrowError> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(damaged("its numbers have another byte order than this machine's"));
    }
    Ok(Arc::new(convert::fb_to_schema(schema)))
}

/// Returns an error for compressed buffers that claim a very large size.
fn check_unpacked(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), ArrowError> {
    if batch.compression().is_none() {
        return Ok(());
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let at = usize::try_from(buffer.offset()).ok();
        let prefix = at.and_then(|at| body.get(at..)?.first_chunk()).copied().unwrap_or_default();
        if i64::from_le_bytes(prefix) > UNPACKED {
            return Err(damaged("a buffer unpacks to more than 2 GiB"));
        }
    }
    Ok(())
}

fn damaged(what: &str) -> ArrowError {
    ArrowError::IpcError(what.to_owned())
}

fn malformed(error: impl std::fmt::Display) -> ArrowError {
    ArrowError::IpcError(error.to_string())
}
