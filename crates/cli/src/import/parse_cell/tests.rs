use super::*;
use crate::api::to_f64;

fn read(logical: LogicalType, explicit: bool, form: Form, text: &str) -> Result<Stored, TypeMismatch> {
    CellParser { logical, explicit, has_no_offsets: false, time: None }
        .read(form, text, &mut Vec::new())
        .map(|(stored, _)| stored)
}

fn bytes(logical: LogicalType, text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    CellParser { logical, explicit: true, has_no_offsets: false, time: None }
        .read(Form::Bare, text, &mut bytes)
        .ok()?;
    Some(bytes)
}

#[test]
fn numbers_are_stored_by_their_transforms() {
    let number = |logical, text| read(logical, false, Form::Bare, text);
    assert_eq!(number(LogicalType::I64, "-5"), Ok(Stored::Number(-5)));
    assert_eq!(number(LogicalType::U64, "18446744073709551615"), Ok(Stored::Number(i64::MAX)));
    assert_eq!(number(LogicalType::F64, "-0.0"), Ok(Stored::Number(from_f64(-0.0))));
    assert_eq!(number(LogicalType::Bool, "true"), Ok(Stored::Number(1)));
    assert_eq!(number(LogicalType::Date, "1970-01-02"), Ok(Stored::Number(1)));
    let Ok(Stored::Number(nan)) = number(LogicalType::F64, "NaN") else { panic!() };
    assert!(to_f64(nan).is_nan());
    assert_eq!(number(LogicalType::TimestampMicros, "1970-01-01T00:00:01.5Z"), Ok(Stored::Number(1_500_000)));
}

#[test]
fn contradictions_suggest_the_type_that_holds_the_value() {
    let wider = |logical, form, text| read(logical, false, form, text).unwrap_err().wider;
    assert_eq!(wider(LogicalType::I64, Form::Bare, "1.5"), "f64");
    assert_eq!(wider(LogicalType::I64, Form::Bare, "9223372036854775808"), "u64");
    assert_eq!(wider(LogicalType::U64, Form::Bare, "-1"), "i64");
    assert_eq!(wider(LogicalType::I64, Form::Bare, "100000000000000000000"), "f64");
    assert_eq!(wider(LogicalType::I64, Form::Bare, "18446744073709551617"), "string");
    assert_eq!(wider(LogicalType::I64, Form::Bare, "9007199254740993.0"), "string");
    assert_eq!(wider(LogicalType::F64, Form::Number, "9007199254740993"), "f64");
    assert_eq!(wider(LogicalType::F64, Form::Bare, "123456789012345678.5"), "f64");
    assert_eq!(wider(LogicalType::F64, Form::Bare, "1e400"), "string");
    assert_eq!(wider(LogicalType::I64, Form::Str, "5"), "string");
    assert_eq!(wider(LogicalType::I64, Form::Bare, "007"), "string");
    assert_eq!(wider(LogicalType::Utf8, Form::Number, "5"), "string");
    assert_eq!(wider(LogicalType::TimestampMillis, Form::Bare, "2013-01-01T00:00:00.1234Z"), "timestamp[us]");
    assert_eq!(
        wider(LogicalType::TimestampMillis, Form::Bare, "2013-01-01T00:00:00.1234567Z"),
        "timestamp[ns]"
    );
    assert_eq!(wider(LogicalType::TimestampNanos, Form::Bare, "1600-01-01T00:00:00Z"), "timestamp[us]");
}

#[test]
fn types_asked_for_take_what_inference_would_not() {
    let number = |logical, form, text| read(logical, true, form, text);
    assert_eq!(number(LogicalType::I64, Form::Bare, "007"), Ok(Stored::Number(7)));
    assert_eq!(number(LogicalType::I64, Form::Str, "7"), Ok(Stored::Number(7)));
    assert_eq!(number(LogicalType::Bool, Form::Bare, "TRUE"), Ok(Stored::Number(1)));
    assert_eq!(number(LogicalType::Utf8, Form::Number, "1.50"), Ok(Stored::Bytes));
    assert_eq!(
        number(LogicalType::F64, Form::Bare, "9007199254740993"),
        Ok(Stored::Number(from_f64(9_007_199_254_740_992.0)))
    );
    assert_eq!(
        number(LogicalType::F64, Form::Bare, "+Infinity"),
        Ok(Stored::Number(from_f64(f64::INFINITY)))
    );
    assert!(number(LogicalType::F64, Form::Bare, "1e400").is_err());
    assert_eq!(
        number(LogicalType::TimestampMillis, Form::Bare, "1970-01-01 00:00:01"),
        Ok(Stored::Number(1000))
    );
    assert!(read(LogicalType::TimestampMillis, false, Form::Bare, "1970-01-01 00:00:01").is_err());
}

#[test]
fn addresses_ids_and_bytes() {
    assert_eq!(bytes(LogicalType::Ip, "10.0.0.1"), bytes(LogicalType::Ip, "::ffff:10.0.0.1"));
    assert_eq!(bytes(LogicalType::Ip, "::1").unwrap()[15], 1);
    assert_eq!(bytes(LogicalType::Ip, "10.0.0.256"), None);
    let id = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    assert_eq!(bytes(LogicalType::Uuid, id).unwrap()[..2], [0xf8, 0x1d]);
    assert_eq!(bytes(LogicalType::Uuid, &id.replace('-', "").to_uppercase()), bytes(LogicalType::Uuid, id));
    assert_eq!(bytes(LogicalType::Uuid, "f81d4fae-7dec-11d0-a765-00a0c91e6bfg"), None);
    assert_eq!(bytes(LogicalType::Uuid, "f81d4fae7-dec-11d0-a765-00a0c91e6bf6"), None);
    assert_eq!(bytes(LogicalType::Bytes, "00fF"), Some(vec![0, 255]));
    assert_eq!(bytes(LogicalType::Bytes, "0"), None);
    assert_eq!(bytes(LogicalType::Bytes, "+1"), None);
    assert_eq!(print_ip(bytes(LogicalType::Ip, "2001:DB8::0:1").unwrap().try_into().unwrap()), "2001:db8::1");
}

#[test]
fn formats_and_epochs_read_times() {
    let format = TimeRequest::Format(TimeFormat::parse("%d.%m.%Y").unwrap());
    let dates =
        CellParser { logical: LogicalType::Date, explicit: true, has_no_offsets: false, time: Some(&format) };
    assert_eq!(dates.read(Form::Bare, "02.01.1970", &mut Vec::new()).unwrap().0, Stored::Number(1));
    assert!(dates.read(Form::Bare, "1970-01-02", &mut Vec::new()).is_err());
    let epoch = CellParser {
        logical: LogicalType::TimestampMillis,
        explicit: true,
        has_no_offsets: false,
        time: Some(&TimeRequest::Epoch),
    };
    assert_eq!(
        epoch.read(Form::Number, "1700000000000", &mut Vec::new()).unwrap().0,
        Stored::Number(1_700_000_000_000)
    );
}
