//! [`DocvaluesLogicalCodec`]: tables in logical plans.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::{Result, TableReference, plan_err};
use datafusion_datasource::file_format::FileFormatFactory;
use datafusion_execution::TaskContext;
use datafusion_expr::{Extension, LogicalPlan};
use datafusion_proto::logical_plan::{DefaultLogicalExtensionCodec, LogicalExtensionCodec};
use datafusion_session::TableProvider;
use docvalues::store::ScanRequest;

use super::Tag;
use super::opened::OpenedTables;
use crate::error::external;
use crate::table::DocvaluesTable;

/// Sends tables that were made by [`DocvaluesTable::of_dataset`] or [`Objects::table`](crate::Objects::table), and leaves all
/// else to another codec.
///
/// Encodes a table as its dataset. The decoder opens the files, and keeps the 16 datasets open that were used last.
#[derive(Debug)]
pub struct DocvaluesLogicalCodec {
    inner: Arc<dyn LogicalExtensionCodec>,
    opened: OpenedTables,
    is_sliced: bool,
}

impl DocvaluesLogicalCodec {
    /// A codec around `inner`.
    pub fn new(inner: Arc<dyn LogicalExtensionCodec>) -> DocvaluesLogicalCodec {
        DocvaluesLogicalCodec { inner, opened: OpenedTables::default(), is_sliced: false }
    }

    /// This codec for Ballista: tables are [sliced](DocvaluesTable::sliced) when they are decoded.
    pub fn sliced(self) -> DocvaluesLogicalCodec {
        DocvaluesLogicalCodec { is_sliced: true, ..self }
    }

    /// This codec with a cache of `bytes` bytes for [objects](crate::Objects); by default, it has 256 MiB.
    #[must_use]
    pub fn with_object_memory(self, bytes: u64) -> DocvaluesLogicalCodec {
        DocvaluesLogicalCodec { opened: OpenedTables::with_object_memory(bytes), ..self }
    }

    fn table(&self, request: &[u8], schema: &SchemaRef, context: &TaskContext) -> Result<DocvaluesTable> {
        let request = ScanRequest::decode(request).map_err(external)?;
        let name = request.dataset.to_string();
        let table = DocvaluesTable { data: self.opened.open(request.dataset, context)? };
        if table.data.schema != *schema {
            return plan_err!("{name}: expected {schema:?}, found {:?}", table.data.schema);
        }
        Ok(if self.is_sliced { table.sliced() } else { table })
    }
}

impl Default for DocvaluesLogicalCodec {
    fn default() -> DocvaluesLogicalCodec {
        DocvaluesLogicalCodec::new(Arc::new(DefaultLogicalExtensionCodec {}))
    }
}

impl LogicalExtensionCodec for DocvaluesLogicalCodec {
    fn try_decode_table_provider(
        &self,
        bytes: &[u8],
        name: &TableReference,
        schema: SchemaRef,
        context: &TaskContext,
    ) -> Result<Arc<dyn TableProvider>> {
        match Tag::of(bytes) {
            None => self.inner.try_decode_table_provider(bytes, name, schema, context),
            Some((Tag::Table, request)) => Ok(Arc::new(self.table(request, &schema, context)?)),
            Some((tag, _)) => Err(tag.misplaced()),
        }
    }

    fn try_encode_table_provider(
        &self,
        name: &TableReference,
        table: Arc<dyn TableProvider>,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        match table.downcast_ref::<DocvaluesTable>() {
            Some(table) => Tag::Table.write(None, &table.data.request()?, bytes),
            None => self.inner.try_encode_table_provider(name, table, bytes),
        }
    }

    fn try_decode(&self, bytes: &[u8], inputs: &[LogicalPlan], context: &TaskContext) -> Result<Extension> {
        self.inner.try_decode(bytes, inputs, context)
    }

    fn try_encode(&self, node: &Extension, bytes: &mut Vec<u8>) -> Result<()> {
        self.inner.try_encode(node, bytes)
    }

    fn try_decode_file_format(
        &self,
        bytes: &[u8],
        context: &TaskContext,
    ) -> Result<Arc<dyn FileFormatFactory>> {
        self.inner.try_decode_file_format(bytes, context)
    }

    fn try_encode_file_format(&self, bytes: &mut Vec<u8>, format: Arc<dyn FileFormatFactory>) -> Result<()> {
        self.inner.try_encode_file_format(bytes, format)
    }

    leave_functions! {}
}
