//! Functions for columns whose types SQL lacks.

use std::sync::Arc;

use arrow::array::{Array as _, AsArray as _, FixedSizeBinaryBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion_common::{Result, exec_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use docvalues::LogicalType;

/// `to_ip(text)` and `to_uuid(text)`: the 16 bytes that a column of addresses or UUIDs has for a text. Conditions with them
/// run in docvalues.
///
/// ```
/// # use std::sync::Arc;
/// # use datafusion::prelude::SessionContext;
/// # use docvalues::prelude::*;
/// # use docvalues_datafusion::{DocvaluesTable, functions};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut schema = Schema::new();
/// # let client = schema.add(FieldSpec::new("client", LogicalType::Ip))?;
/// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
/// # for number in 0..10 {
/// #     let mut doc = writer.document();
/// #     doc.ip(client, [10, 0, 0, number])?;
/// #     doc.finish()?;
/// # }
/// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
/// let context = SessionContext::new();
/// functions().into_iter().for_each(|function| context.register_udf(function));
/// context.register_table("hits", Arc::new(DocvaluesTable::of_segments([segment])?))?;
/// let found = context.sql("select client from hits where client >= to_ip('10.0.0.7')").await?;
/// assert_eq!(found.count().await?, 3);
/// # Ok(())
/// # }
/// ```
pub fn functions() -> [ScalarUDF; 2] {
    // Text of any layout; DataFusion converts other types to it if it can.
    let signature = || Signature::string(1, Volatility::Immutable);
    let function = |logical| ScalarUDF::from(ToBytes { logical, signature: signature() });
    [LogicalType::Ip, LogicalType::Uuid].map(function)
}

/// Converts text to 16 bytes.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ToBytes {
    /// The type that the text is parsed as.
    logical: LogicalType,
    signature: Signature,
}

impl ScalarUDFImpl for ToBytes {
    fn name(&self) -> &str {
        if self.logical == LogicalType::Ip { "to_ip" } else { "to_uuid" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::FixedSizeBinary(16))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text] = &ColumnarValue::values_to_arrays(&args.args)?[..] else {
            return exec_err!("{} has one argument", self.name());
        };
        let text = cast(text, &DataType::Utf8View)?;
        let what = if self.logical == LogicalType::Ip { "an IP address" } else { "a UUID" };
        let mut bytes = FixedSizeBinaryBuilder::with_capacity(text.len(), 16);
        for text in text.as_string_view() {
            match text.map(|text| (text, self.logical.parse_fixed(text))) {
                None => bytes.append_null(),
                Some((_, Some(value))) => bytes.append_value(value)?,
                Some((text, None)) => {
                    return exec_err!("{}: expected {what}, found {text:?}", self.name());
                }
            }
        }
        Ok(ColumnarValue::Array(Arc::new(bytes.finish())))
    }
}
