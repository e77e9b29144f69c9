//! [`TermsExec`]: strings for their ords.

use std::fmt;
use std::sync::Arc;

use arrow::array::{
    Array as _, ArrayRef, AsArray as _, BinaryArray, BinaryViewArray, RecordBatch, RecordBatchOptions,
    StringArray, StringViewArray, UInt32Array, UInt64Array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{DataType, Schema, UInt64Type};
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{Result, exec_datafusion_err, internal_err};
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties as _, Partitioning, PlanProperties,
};
use docvalues::column::{BatchDocs, Gathered, Lists, Values};
use docvalues::{LogicalType, TermOrd};
use futures::StreamExt as _;

use crate::error::external;
use crate::table_data::TableData;

/// The type of ords in batches: the part in the upper half, the ord in the lower one.
pub(crate) const ORDS: DataType = DataType::UInt64;

/// The ords of some documents of a part, as [`ORDS`]; nulls if the part lacks the column.
pub(crate) fn ords_of(data: &TableData, part: usize, column: usize, docs: BatchDocs<'_>) -> Result<ArrayRef> {
    let open = data.open.now();
    let source = open.parts.source(part);
    let name = &data.fields[column].field.name;
    if !source.fields().map_err(external)?.iter().any(|field| field.name == *name) {
        return Ok(Arc::new(UInt64Array::new_null(docs.len())));
    }
    let column = source.column(name).map_err(external)?;
    let Values::Ords(ords, _) = column.values() else { return internal_err!("no ords in {name}") };
    let mut gathered = Gathered::new();
    ords.gather(docs, &mut gathered).map_err(external)?;
    let of_part = (part as u64) << 32;
    let numbers = gathered.values().iter().map(|ord| of_part | u64::from(ord.get()));
    let nulls = gathered.present().map(|present| {
        NullBuffer::new(arrow::buffer::BooleanBuffer::new(Buffer::from_slice_ref(present), 0, gathered.len()))
    });
    Ok(Arc::new(UInt64Array::new(numbers.collect(), nulls)))
}

/// Replaces ords in columns of its input by their strings.
#[derive(Clone)]
pub(crate) struct TermsExec {
    input: Arc<dyn ExecutionPlan>,
    data: Arc<TableData>,
    /// The places of these columns, and the columns of the table.
    columns: Vec<(usize, usize)>,
    properties: Arc<PlanProperties>,
}

impl TermsExec {
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        data: Arc<TableData>,
        columns: Vec<(usize, usize)>,
    ) -> TermsExec {
        let schema = input.schema();
        let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
        for (place, column) in &columns {
            let field = &mut fields[*place];
            *field = Arc::new(
                field.as_ref().clone().with_data_type(data.schema.field(*column).data_type().clone()),
            );
        }
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            input.pipeline_behavior(),
            input.boundedness(),
        );
        TermsExec { input, data, columns, properties: Arc::new(properties) }
    }

    fn strings(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        for (place, column) in &self.columns {
            let ords = columns[*place].as_primitive::<UInt64Type>();
            columns[*place] = terms(&self.data, *column, ords)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema(), columns, &options)?)
    }
}

/// The strings of ords of a column of the table.
fn terms(data: &TableData, column: usize, ords: &UInt64Array) -> Result<ArrayRef> {
    let mut places = vec![0; ords.len()];
    let mut order: Vec<(u64, usize)> = Vec::with_capacity(ords.len());
    order.extend(ords.iter().enumerate().filter_map(|(row, ord)| Some((ord?, row))));
    order.sort_unstable();
    let (mut all, mut of_part, mut wanted) = (Lists::<u8>::new(), Lists::new(), Vec::new());
    let (name, open) = (&data.fields[column].field.name, data.open.now());
    for of_one in order.chunk_by(|a, b| a.0 >> 32 == b.0 >> 32) {
        wanted.clear();
        for (ord, row) in of_one {
            #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
            let ord = TermOrd::new(*ord as u32);
            if wanted.last() != Some(&ord) {
                wanted.push(ord);
            }
            places[*row] = u32::try_from(all.len() + wanted.len() - 1).unwrap_or(u32::MAX);
        }
        let part = usize::try_from(of_one[0].0 >> 32).unwrap_or(usize::MAX);
        let column = open.parts.source(part).column(name).map_err(external)?;
        let Values::Ords(_, terms) = column.values() else { return internal_err!("no ords in {name}") };
        terms.gather_terms(&wanted, &mut of_part).map_err(external)?;
        all.extend_from(of_part.slices());
    }
    let places = UInt32Array::new(ScalarBuffer::from(places), ords.nulls().cloned());
    Ok(take(&views(data, column, &all)?, &places, None)?)
}

/// Terms as an array of views.
fn views(data: &TableData, column: usize, terms: &Lists<u8>) -> Result<ArrayRef> {
    let field = &data.fields[column].field;
    let refused = |error: &dyn fmt::Display| exec_datafusion_err!("column {:?}: {error}", field.name);
    let offsets = terms.offsets().iter().map(|offset| i32::try_from(*offset));
    let offsets: Vec<i32> =
        offsets.collect::<std::result::Result<_, _>>().map_err(|error| refused(&error))?;
    let (offsets, bytes) =
        (OffsetBuffer::new(offsets.into()), Buffer::from_slice_ref(terms.slices().items()));
    if field.logical == LogicalType::Utf8 {
        let strings = StringArray::try_new(offsets, bytes, None).map_err(|error| refused(&error))?;
        return Ok(Arc::new(StringViewArray::from(&strings)));
    }
    let strings = BinaryArray::try_new(offsets, bytes, None).map_err(|error| refused(&error))?;
    Ok(Arc::new(BinaryViewArray::from(&strings)))
}

impl fmt::Debug for TermsExec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TermsExec").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl DisplayAs for TermsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let schema = self.schema();
        let names: Vec<&str> =
            self.columns.iter().map(|(place, _)| schema.field(*place).name().as_str()).collect();
        write!(f, "DocvaluesTerms: columns=[{}]", names.join(", "))
    }
}

impl ExecutionPlan for TermsExec {
    fn name(&self) -> &str {
        "DocvaluesTerms"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = &children[..] else { return internal_err!("DocvaluesTerms has one child") };
        Ok(Arc::new(TermsExec::new(Arc::clone(input), Arc::clone(&self.data), self.columns.clone())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let (input, this) = (self.input.execute(partition, context)?, self.clone());
        let batches = input.map(move |batch| this.strings(&batch?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
