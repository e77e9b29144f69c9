//! [`DocvaluesCodec`]: scans in physical plans.

use std::sync::Arc;

use datafusion_common::{Result, plan_err};
use datafusion_execution::TaskContext;
use datafusion_physical_expr::PhysicalExpr;
use datafusion_physical_expr_common::physical_expr::proto_decode::PhysicalExprDecodeCtx;
use datafusion_physical_expr_common::physical_expr::proto_encode::PhysicalExprEncodeCtx;
use datafusion_physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{
    DefaultPhysicalExtensionCodec, PhysicalExtensionCodec, PhysicalProtoConverterExtension,
};
use docvalues::store::ScanRequest;

use super::opened::OpenedTables;
use super::{Tag, schema};
use crate::error::external;
use crate::failed::FailedExec;
use crate::scan::DocvaluesScan;
use crate::sliced::SlicedScan;

/// Sends scans of tables that were made by [`DocvaluesTable::of_dataset`](crate::DocvaluesTable::of_dataset) or
/// [`Objects::table`](crate::Objects::table), and leaves all
/// other nodes, functions and expressions to another codec.
///
/// Encodes a scan as a [`ScanRequest`]. The decoder opens the files, and keeps the 16 datasets open that were used last.
#[derive(Debug)]
pub struct DocvaluesCodec {
    inner: Arc<dyn PhysicalExtensionCodec>,
    opened: OpenedTables,
    is_sliced: bool,
    /// Changes the nodes that the inner codec decodes.
    decoded: Option<Decoded>,
}

/// A change of a node.
type Decoded = fn(Arc<dyn ExecutionPlan>, &TaskContext) -> Arc<dyn ExecutionPlan>;

impl DocvaluesCodec {
    /// A codec around `inner`.
    pub fn new(inner: Arc<dyn PhysicalExtensionCodec>) -> DocvaluesCodec {
        DocvaluesCodec { inner, opened: OpenedTables::default(), is_sliced: false, decoded: None }
    }

    /// This codec for Ballista, whose tasks run all partitions of a scan that they receive: it refuses to send a scan of a
    /// table that is not [sliced](crate::DocvaluesTable::sliced), whose rows would be returned several times.
    pub fn sliced(self) -> DocvaluesCodec {
        DocvaluesCodec { is_sliced: true, ..self }
    }

    /// This codec, which applies `change` to the nodes that the inner codec decodes.
    pub fn with_decoded(
        self,
        change: fn(Arc<dyn ExecutionPlan>, &TaskContext) -> Arc<dyn ExecutionPlan>,
    ) -> DocvaluesCodec {
        DocvaluesCodec { decoded: Some(change), ..self }
    }

    /// This codec with a cache of `bytes` bytes for [objects](crate::Objects); by default, it has 256 MiB.
    #[must_use]
    pub fn with_object_memory(self, bytes: u64) -> DocvaluesCodec {
        DocvaluesCodec { opened: OpenedTables::with_object_memory(bytes), ..self }
    }

    fn scan(&self, request: ScanRequest, context: &TaskContext) -> Result<DocvaluesScan> {
        let data = self.opened.open(request.dataset.clone(), context)?;
        DocvaluesScan::of_request(data, request)
    }

    /// A scan that has a schema before its request. One whose files cannot be opened fails when it runs.
    fn scan_or_error(&self, bytes: &[u8], context: &TaskContext) -> Result<Arc<dyn ExecutionPlan>> {
        let (schema, request) = schema::take(bytes)?;
        match self.scan(ScanRequest::decode(request).map_err(external)?, context) {
            Ok(scan) if scan.schema() != schema => {
                plan_err!("expected {schema:?}, found {:?}", scan.schema())
            }
            Ok(scan) => Ok(Arc::new(scan)),
            Err(error) => Ok(Arc::new(FailedExec::of_schema(error, schema))),
        }
    }
}

impl Default for DocvaluesCodec {
    fn default() -> DocvaluesCodec {
        DocvaluesCodec::new(Arc::new(DefaultPhysicalExtensionCodec {}))
    }
}

impl PhysicalExtensionCodec for DocvaluesCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (Tag::of(bytes), inputs) {
            (None, _) => {
                let node = self.inner.try_decode(bytes, inputs, context, converter)?;
                Ok(match self.decoded {
                    Some(change) => change(node, context),
                    None => node,
                })
            }
            (Some((Tag::Scan, request)), []) => {
                Ok(Arc::new(self.scan(ScanRequest::decode(request).map_err(external)?, context)?))
            }
            (Some((Tag::Sliced, bytes)), [numbers]) => {
                Ok(Arc::new(SlicedScan::try_new(self.scan_or_error(bytes, context)?, Arc::clone(numbers))?))
            }
            (Some((tag, _)), _) => Err(tag.misplaced()),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(sliced) = node.downcast_ref::<SlicedScan>() {
            return Tag::Sliced.write(Some(&sliced.schema()), &sliced.scan()?.request()?, bytes);
        }
        match node.downcast_ref::<DocvaluesScan>() {
            Some(_) if self.is_sliced => {
                plan_err!("expected a scan of a sliced table, found one whose rows every task would return")
            }
            Some(scan) => Tag::Scan.write(None, &scan.request()?, bytes),
            None => self.inner.try_encode(node, bytes, converter),
        }
    }

    fn try_decode_expr(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn PhysicalExpr>],
        context: &PhysicalExprDecodeCtx<'_>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        self.inner.try_decode_expr(bytes, inputs, context)
    }

    fn try_encode_expr(
        &self,
        expr: &Arc<dyn PhysicalExpr>,
        bytes: &mut Vec<u8>,
        context: &PhysicalExprEncodeCtx<'_>,
    ) -> Result<()> {
        self.inner.try_encode_expr(expr, bytes, context)
    }

    leave_functions! {}
}
