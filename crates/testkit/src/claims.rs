//! A small file that claims to have many documents.

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::directory::DirectoryBuilder;
use docvalues_format::file::frame::Header;
use docvalues_format::granule::{SectionRef, seal};
use docvalues_format::numeric::{self, NumericOptions, Role};
use docvalues_format::presence::Presence;

/// A segment of some hundred bytes that claims `docs` documents. Its columns `five` and `seven` are constant, so their
/// values take no bytes.
pub fn claims(docs: u32) -> Vec<u8> {
    let mut file = Header::current().encode().to_vec();
    let mut directory = DirectoryBuilder::default();
    for (name, value) in [("five", 5_i64), ("seven", 7)] {
        let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
        let mut values = numeric::encode(&[value; 3], &options);
        values.count = docs.into();
        let column = Column {
            field: Field::new(name, Kind::Numeric, LogicalType::I64),
            presence: Presence::All,
            values: Values::Numbers { offsets: None, values, terms: None },
            statistics: Statistics {
                sum: Some(i128::from(value) * i128::from(docs)),
                distinct: Some(1),
                ascending: true,
                descending: true,
            },
        };
        let column = column.try_map(&mut |_, payload: Vec<u8>| {
            let (offset, len) = (file.len() as u64, payload.len() as u64);
            let (bytes, crc) = seal(payload);
            file.extend(bytes);
            Ok::<_, std::convert::Infallible>(SectionRef { offset, len, crc })
        });
        let Ok(column) = column;
        directory.push(&column, file.len() as u64);
    }
    let (end, _) = directory.finish(file.len() as u64, docs);
    file.extend(end);
    file
}
