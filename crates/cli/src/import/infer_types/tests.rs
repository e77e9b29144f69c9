use super::*;

fn evidence(form: Form, texts: &[&str]) -> Evidence {
    let mut evidence = Evidence::default();
    add(&mut evidence, form, texts);
    evidence
}

fn add(evidence: &mut Evidence, form: Form, texts: &[&str]) {
    for text in texts {
        evidence.add(form, false, text, || ("f".to_owned(), 1, 1));
    }
}

fn csv(texts: &[&str]) -> String {
    evidence(Form::Bare, texts).decide(false).unwrap().unwrap().to_string()
}

fn json(form: Form, texts: &[&str]) -> String {
    evidence(form, texts).decide(false).unwrap().unwrap().to_string()
}

#[test]
fn csv_columns_take_the_narrowest_type_that_loses_nothing() {
    assert_eq!(csv(&["true", "false"]), "bool");
    assert_eq!(csv(&["True", "false", "TRUE"]), "bool");
    assert_eq!(csv(&["true", "1"]), "string");
    assert_eq!(csv(&["tRUE"]), "string");
    assert_eq!(csv(&["yes", "no"]), "string");
    assert_eq!(csv(&["1", "-5", "9223372036854775807"]), "i64");
    assert_eq!(csv(&["1", "18446744073709551615"]), "u64");
    assert_eq!(csv(&["-1", "18446744073709551615"]), "string");
    assert_eq!(csv(&["1", "100000000000000000000"]), "f64");
    assert_eq!(csv(&["1", "18446744073709551616"]), "string");
    assert_eq!(csv(&["1", "18446744073709551617"]), "string");
    assert_eq!(csv(&["1", "2.5", "-inf", "NaN"]), "f64");
    assert_eq!(csv(&["9007199254740993", "2.5"]), "string");
    assert_eq!(csv(&["007", "8"]), "string");
    assert_eq!(csv(&["+5"]), "string");
    assert_eq!(csv(&["-0"]), "string");
    assert_eq!(csv(&["0", "1"]), "i64");
    assert_eq!(csv(&["1", "true"]), "string");
    assert_eq!(csv(&["2013-01-31"]), "date");
    assert_eq!(csv(&["2013-01-31", "2013-02-30"]), "string");
    assert_eq!(csv(&["2013-01-31", "2013"]), "string");
    assert_eq!(csv(&[" 1"]), "string");
}

#[test]
fn timestamps_take_the_unit_of_their_digits() {
    assert_eq!(csv(&["2013-01-01T06:00:00Z"]), "timestamp[ms]");
    assert_eq!(csv(&["2013-01-01T06:00:00Z", "2013-01-01 06:00:00.123456-00:00"]), "timestamp[us]");
    assert_eq!(csv(&["2013-01-01T06:00:00.1234567Z"]), "timestamp[ns]");
    assert_eq!(csv(&["2013-01-01T06:00:00.1234567Z", "1600-01-01T00:00:00Z"]), "string");
    assert_eq!(csv(&["2013-01-01T06:00:00"]), "timestamp[ms]");
    assert_eq!(csv(&["2013-01-01 06:00:00.1234"]), "timestamp[us]");
    assert_eq!(csv(&["2013-01-01T06:00"]), "string");
    assert_eq!(csv(&["2013-01-01T06:00:00Z", "2013-01-01"]), "string");
}

#[test]
fn addresses_and_uuids_are_canonical() {
    let uuids = ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "00000000-0000-0000-0000-000000000000"];
    assert_eq!(csv(&["10.0.0.1", "::1", "2001:db8::1"]), "ip");
    assert_eq!(json(Form::Str, &["10.0.0.1"]), "ip");
    assert_eq!(csv(&uuids), "uuid");
    assert_eq!(json(Form::Str, &uuids), "uuid");
    for text in ["10.0.0.256", "010.0.0.1", "::ffff:10.0.0.1", "2001:DB8::1", "0:0:0:0:0:0:0:1", "10.0.0.1/8"]
    {
        assert_eq!(csv(&["10.0.0.1", text]), "string", "{text}");
    }
    for text in [uuids[0].to_uppercase(), uuids[0].replace('-', ""), format!("{{{}}}", uuids[0])] {
        assert_eq!(csv(&[uuids[0], &text]), "string", "{text}");
    }
    assert_eq!(csv(&[uuids[0], "10.0.0.1"]), "string");
}

#[test]
fn json_values_keep_their_kind() {
    assert_eq!(json(Form::Str, &["1", "2"]), "string");
    assert_eq!(json(Form::Str, &["true", "True"]), "string");
    assert_eq!(json(Form::Str, &["2013-01-31"]), "date");
    assert_eq!(json(Form::Str, &["2013-01-31T00:00:00Z"]), "timestamp[ms]");
    assert_eq!(json(Form::Number, &["1", "-2"]), "i64");
    assert_eq!(json(Form::Number, &["1", "18446744073709551615"]), "u64");
    assert_eq!(json(Form::Number, &["1", "2.0"]), "f64");
    assert_eq!(json(Form::Number, &["-0"]), "f64");
    assert_eq!(json(Form::Bool, &["true"]), "bool");
}

#[test]
fn conflicts_name_both_sides_or_the_majority_decides() {
    let mut mixed = evidence(Form::Number, &["1", "2"]);
    add(&mut mixed, Form::Str, &["x"]);
    let conflict = mixed.decide(false).unwrap_err();
    assert_eq!((conflict.one.0, conflict.other.0), ("JSON numbers", "JSON strings"));
    assert_eq!(mixed.decide(true), Ok(Some(ColumnType::single(LogicalType::I64))));
}

#[test]
fn numbers_that_a_double_rounds_and_mixed_offsets_are_kept_as_text() {
    let reason = |form, texts: &[&str]| {
        let evidence = evidence(form, texts);
        (evidence.decide(false).unwrap().unwrap().to_string(), evidence.kept_as_text())
    };
    let rounded = |text: &str| ("string".to_owned(), Some(KeptAsText::Rounded(text.to_owned())));
    for form in [Form::Bare, Form::Number] {
        let number = |texts: &[&str]| reason(form, texts);
        assert_eq!(number(&["1.5", "9007199254740993.0"]), rounded("9007199254740993.0"));
        assert_eq!(number(&["9007199254740993", "2.5"]), rounded("9007199254740993"));
        assert_eq!(number(&["-1", "18446744073709551615"]), rounded("18446744073709551615"));
        assert_eq!(number(&["123456789012345678.5"]), rounded("123456789012345678.5"));
        assert_eq!(number(&["9007199254740993", "7"]), ("i64".to_owned(), None));
        assert_eq!(number(&["1.50", "1.5", "1e3"]), ("f64".to_owned(), None));
    }
    assert_eq!(reason(Form::Number, &["1e400"]), rounded("1e400"));
    assert_eq!(reason(Form::Bare, &["9007199254740993.0", "x"]), ("string".to_owned(), None));
    for form in [Form::Bare, Form::Str] {
        let mixed = ["2013-01-01T06:00:00+01:00", "2013-07-01T06:00:00+02:00"];
        let kept = ("string".to_owned(), Some(KeptAsText::MixedOffsets));
        assert_eq!(reason(form, &mixed), kept);
        assert_eq!(reason(form, &[mixed[0], mixed[1], "x"]), ("string".to_owned(), None));
        assert_eq!(reason(form, &["2013-01-01T06:00:00Z", mixed[0]]), kept);
        assert_eq!(reason(form, &["2013-01-01T06:00:00Z", "2013-01-01T06:00:00"]), kept);
        assert_eq!(reason(form, &[mixed[0], mixed[0]]), ("timestamp[ms]".to_owned(), None));
    }
}

#[test]
fn the_first_value_that_does_not_fit_a_type_is_known() {
    let evidence = evidence(Form::Bare, &["1", "2", "2.5", "3.5", "x", "2024-01-01"]);
    let misfit = |logical| evidence.misfit(ColumnType::single(logical)).map(|found| found.text.as_str());
    assert_eq!(misfit(LogicalType::I64), Some("2.5"));
    assert_eq!(misfit(LogicalType::F64), Some("x"));
    assert_eq!(misfit(LogicalType::Date), Some("1"));
    assert_eq!(misfit(LogicalType::Utf8), None);
}

#[test]
fn csv_and_json_files_meet_in_one_column() {
    let mut both = evidence(Form::Number, &["1"]);
    add(&mut both, Form::Bare, &["2.5"]);
    assert_eq!(both.decide(false).unwrap().unwrap().logical, LogicalType::F64);
    add(&mut both, Form::Bare, &["x"]);
    assert!(both.decide(false).is_err());
}

#[test]
fn columns_without_values_are_text_in_csv_and_open_in_json() {
    let mut none = Evidence::default();
    assert_eq!(none.decide(false), Ok(None));
    none.in_csv = true;
    assert_eq!(none.decide(false), Ok(Some(ColumnType::single(LogicalType::Utf8))));
}
