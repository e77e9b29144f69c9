//! A schema before the bytes of a request: its length in 4 bytes, and DataFusion's message of it.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion_common::{DataFusionError, Result, plan_datafusion_err};
use datafusion_proto::protobuf;
use prost::Message as _;

use crate::error::external;

pub(super) fn put(schema: &Schema, bytes: &mut Vec<u8>) -> Result<()> {
    let schema = protobuf::Schema::try_from(schema)?.encode_to_vec();
    bytes.extend(u32::try_from(schema.len()).map_err(external)?.to_le_bytes());
    bytes.extend(schema);
    Ok(())
}

/// The schema, and the bytes after it.
pub(super) fn take(bytes: &[u8]) -> Result<(SchemaRef, &[u8])> {
    let parts = bytes.split_first_chunk().and_then(|(len, rest)| {
        // At most a `u32`.
        rest.split_at_checked(u32::from_le_bytes(*len) as usize)
    });
    let (schema, rest) =
        parts.ok_or_else(|| plan_datafusion_err!("expected a schema, found {} bytes", bytes.len()))?;
    let schema = protobuf::Schema::decode(schema).map_err(external)?;
    let schema = Schema::try_from(&schema).map_err(DataFusionError::from)?;
    Ok((Arc::new(schema), rest))
}
