//! Document by document: what is refused, and that nothing of it stays.

use super::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Adds one good value of the field's type.
fn good(doc: &mut crate::Document<'_>, field: FieldId, logical: LogicalType) -> crate::Result<()> {
    match logical {
        LogicalType::I64 => doc.i64(field, -1),
        LogicalType::U64 => doc.u64(field, 1),
        LogicalType::F64 => doc.f64(field, 1.5),
        LogicalType::Bool => doc.bool(field, true),
        LogicalType::Date => doc.date(field, 1),
        LogicalType::TimestampMillis | LogicalType::TimestampMicros | LogicalType::TimestampNanos => {
            doc.timestamp(field, 1)
        }
        LogicalType::Ip => doc.ip(field, Ipv4Addr::LOCALHOST),
        LogicalType::Uuid => doc.uuid(field, 1),
        LogicalType::Utf8 => doc.str(field, "x"),
        LogicalType::Bytes => doc.bytes(field, b"x"),
        _ => panic!("no value of type {}", logical.name()),
    }
    .map(|_| ())
}

#[test]
fn a_value_of_another_type_is_refused_with_field_and_document() {
    for (given, asked) in LogicalType::ALL.iter().flat_map(|&a| LogicalType::ALL.map(|b| (a, b))) {
        let (schema, [field]) = schema([FieldSpec::new("f", asked)]);
        let mut writer = in_memory(schema);
        writer.document().finish().unwrap();
        let mut doc = writer.document();
        let done = good(&mut doc, field, given);
        let timestamps = [given, asked].iter().all(|t| t.name().starts_with("timestamp"));
        if given == asked || timestamps {
            done.unwrap();
        } else {
            let error = done.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::WrongType { logical, .. } if *logical == asked));
            assert_eq!((error.field(), error.doc().map(|d| d.get())), (Some("f"), Some(1)));
        }
    }
}

#[test]
fn messages_name_field_and_document_and_give_advice() {
    let (schema, [size, host, up, raw]) = schema([
        FieldSpec::new("size", LogicalType::U64),
        FieldSpec::new("host", LogicalType::Utf8),
        FieldSpec::new("up", LogicalType::Bool),
        FieldSpec::new("raw", LogicalType::Bytes),
    ]);
    let mut writer = in_memory(schema);
    let mut doc = writer.document();
    assert_eq!(message(doc.str(size, "7")), "field \"size\", document 0: a string for a field of type u64");
    doc.str(host, "a").unwrap();
    assert_eq!(
        message(doc.str(host, "b")),
        "field \"host\", document 0: a second value for a field with one value a document: declare it \
         `multi_valued`"
    );
    assert_eq!(message(doc.stored(up, 2)), "field \"up\", document 0: the stored number 2 is no boolean");
    // Where addresses have 32 bits, nothing has so many bytes.
    if cfg!(target_pointer_width = "64") {
        // Zeroed memory that nobody touches: it is refused by its length.
        let long = vec![0; usize::try_from(crate::MAX_VALUE).unwrap() + 1];
        assert_eq!(
            message(doc.bytes(raw, &long)),
            "field \"raw\", document 0: a value of 2147483649 bytes, and 2147483648 is the most"
        );
    }
    let (_, other) = super::schema([(); 5].map(|()| FieldSpec::new("x", LogicalType::I64)).map({
        let mut n = 0;
        move |_| {
            n += 1;
            FieldSpec::new(format!("f{n}"), LogicalType::I64)
        }
    }));
    assert_eq!(
        message(doc.i64(other[4], 0)),
        "document 0: the writer's schema has no such field: the id is another schema's"
    );
}

#[test]
fn a_schema_refuses_what_no_segment_can_have() {
    let mut schema = Schema::new();
    let add = |schema: &mut Schema, spec| message(schema.add(spec));
    schema.add(FieldSpec::new("a", LogicalType::I64)).unwrap();
    assert_eq!(
        add(&mut schema, FieldSpec::new("", LogicalType::I64)),
        "field \"\": a field needs a name of at least one byte"
    );
    assert_eq!(
        add(&mut schema, FieldSpec::new("a", LogicalType::F64)),
        "field \"a\": the schema has a field of this name already"
    );
    let long = add(&mut schema, FieldSpec::new("é".repeat(32_769), LogicalType::I64));
    assert!(long.ends_with("…\": the name has 65538 bytes, and 65536 is the most"), "{long}");
    let format = FieldSpec::new("t", LogicalType::Date).format("%".repeat(256));
    assert_eq!(add(&mut schema, format), "field \"t\": the format has 256 bytes, and 255 is the most");
    assert_eq!(
        add(&mut schema, FieldSpec::new("n", LogicalType::Date).kind(BytesKind::Sorted)),
        "field \"n\": sorted or binary is a choice for byte strings, and values of type date are numbers"
    );
    let list = FieldSpec::new("l", LogicalType::Utf8).kind(BytesKind::Binary).multi_valued();
    assert!(add(&mut schema, list).contains("are a sorted set"));
    assert_eq!(schema.len(), 1, "what is refused is not there");

    schema.add(FieldSpec::new("é".repeat(32_768), LogicalType::I64)).unwrap();
    schema.add(FieldSpec::new("t", LogicalType::Date).format("%".repeat(255))).unwrap();
    let (_, columns) = columns(&in_memory(schema).finish_bytes().unwrap());
    assert_eq!(columns[2].field.name.len(), 65_536);
    assert_eq!(columns[1].field.format.as_deref(), Some("%".repeat(255).as_str()));
}

#[test]
fn a_document_that_is_dropped_never_was() {
    let specs = || {
        [
            FieldSpec::new("number", LogicalType::I64),
            FieldSpec::new("numbers", LogicalType::F64).multi_valued(),
            FieldSpec::new("binary", LogicalType::Bytes).kind(BytesKind::Binary),
            FieldSpec::new("sorted", LogicalType::Utf8).kind(BytesKind::Sorted),
            FieldSpec::new("set", LogicalType::Utf8).multi_valued(),
        ]
    };
    let fill =
        |doc: &mut crate::Document<'_>, [number, numbers, binary, sorted, set]: [FieldId; 5], i: u8| {
            doc.i64(number, i.into()).unwrap();
            doc.f64(numbers, i.into()).unwrap().f64(numbers, 0.5).unwrap();
            doc.bytes(binary, &[i; 3]).unwrap();
            doc.str(sorted, &format!("term {i}")).unwrap();
            doc.str(set, "all").unwrap().str(set, &format!("only {i}")).unwrap();
        };
    let segment = |docs: &[(u8, bool)]| {
        let (schema, ids) = schema(specs());
        let mut writer = in_memory(schema);
        for &(i, keep) in docs {
            let mut doc = writer.document();
            fill(&mut doc, ids, i);
            if keep {
                doc.finish().unwrap();
            }
        }
        writer.finish_bytes().unwrap()
    };
    let with = segment(&[(9, false), (1, true), (8, false), (7, false), (2, true), (1, true), (6, false)]);
    assert!(with == segment(&[(1, true), (2, true), (1, true)]));
    // Not even the terms are left.
    let (docs, columns) = columns(&with);
    assert_eq!(docs, 3);
    let terms = |values: &Values<_>| match values {
        Values::Numbers { terms: Some(terms), .. } => terms.count,
        _ => 0,
    };
    assert_eq!(columns.iter().map(|c| terms(&c.values)).collect::<Vec<_>>(), [0, 0, 0, 3, 2]);
}

#[test]
fn a_refused_value_leaves_the_document_as_it_was() {
    let (schema, [size, tags]) = schema([
        FieldSpec::new("size", LogicalType::U64),
        FieldSpec::new("tags", LogicalType::Utf8).multi_valued(),
    ]);
    let mut writer = in_memory(schema.clone());
    let mut doc = writer.document();
    doc.u64(size, 7).unwrap().str(tags, "x").unwrap();
    doc.u64(size, 8).unwrap_err();
    doc.i64(tags, 8).unwrap_err();
    doc.finish().unwrap();
    let mut clean = in_memory(schema);
    let mut doc = clean.document();
    doc.str(tags, "x").unwrap().str(tags, "x").unwrap().u64(size, 7).unwrap();
    doc.finish().unwrap();
    assert!(writer.finish_bytes().unwrap() == clean.finish_bytes().unwrap());
}

#[test]
fn one_document_too_many_is_refused_and_taken_back() {
    let (schema, [size]) = schema([FieldSpec::new("size", LogicalType::U64)]);
    let mut writer = in_memory(schema);
    writer.batch(docvalues_format::id::MAX_DOCS).unwrap().finish();
    let mut doc = writer.document();
    doc.u64(size, 7).unwrap();
    assert_eq!(
        message(doc.finish()),
        "document 4294967294: more than 4294967294 documents: write several segments"
    );
    assert!(matches!(writer.batch(1).unwrap_err().kind(), ErrorKind::TooManyDocs { .. }));
    writer.batch(0).unwrap().finish();
    let (docs, columns) = columns(&writer.finish_bytes().unwrap());
    assert_eq!((docs, &columns[0].presence), (u32::MAX - 1, &Presence::None));
}

#[test]
fn one_term_too_many_is_refused_and_the_others_go_on() {
    let (schema, [host]) = schema([FieldSpec::new("host", LogicalType::Utf8)]);
    let mut writer = in_memory(schema);
    limit_terms(&mut writer, 2);
    for (host_name, fits) in [("a", true), ("b", true), ("c", false), ("a", true)] {
        let mut doc = writer.document();
        let done = doc.str(host, host_name).map(|_| ());
        assert_eq!(done.is_ok(), fits, "{done:?}");
        if fits {
            doc.finish().unwrap();
        }
    }
    assert_eq!(writer.docs(), 3);
}

#[test]
fn addresses_are_stored_as_sixteen_bytes() {
    let mapped: Ipv6Addr = "::ffff:127.0.0.1".parse().unwrap();
    let bytes = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(mapped)].map(|ip| {
        let (schema, [field]) = schema([FieldSpec::new("ip", LogicalType::Ip).kind(BytesKind::Binary)]);
        let mut writer = in_memory(schema);
        let mut doc = writer.document();
        doc.ip(field, ip).unwrap();
        doc.finish().unwrap();
        writer.finish_bytes().unwrap()
    });
    assert!(bytes[0] == bytes[1]);
    assert_eq!(bytes[0][64..80], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1]);
}

#[test]
fn a_field_added_on_the_way_is_missing_before() {
    let (schema, [a]) = schema([FieldSpec::new("a", LogicalType::I64)]);
    let mut writer = in_memory(schema);
    let mut doc = writer.document();
    doc.i64(a, 1).unwrap();
    doc.finish().unwrap();
    let b = writer.add_field(FieldSpec::new("b", LogicalType::I64)).unwrap();
    writer.add_field(FieldSpec::new("b", LogicalType::I64)).unwrap_err();
    let mut doc = writer.document();
    doc.i64(b, 1).unwrap();
    doc.finish().unwrap();
    let (_, columns) = columns(&writer.finish_bytes().unwrap());
    assert_eq!(columns.len(), 2);
    for column in columns {
        assert!(matches!(column.presence, Presence::Blocks { values: 1, .. }), "{column:?}");
        assert_eq!(column.field.kind, Kind::Numeric);
    }
}

#[test]
fn a_format_may_come_at_the_end() {
    let (schema_a, [day]) = schema([FieldSpec::new("day", LogicalType::Date)]);
    let mut writer = in_memory(schema_a);
    writer.set_format(day, "%d.%m.%Y").unwrap();
    let text = message(writer.set_format(day, "x".repeat(256)));
    assert_eq!(text, "field \"day\": the format has 256 bytes, and 255 is the most");
    let (schema_b, _) = schema([FieldSpec::new("day", LogicalType::Date).format("%d.%m.%Y")]);
    assert!(writer.finish_bytes().unwrap() == in_memory(schema_b).finish_bytes().unwrap());
}

#[test]
fn stored_bytes_are_checked_for_their_type() {
    let (schema, [text, ip]) =
        schema([FieldSpec::new("text", LogicalType::Utf8), FieldSpec::new("ip", LogicalType::Ip)]);
    let mut writer = in_memory(schema);
    let mut doc = writer.document();
    assert_eq!(
        message(doc.stored_bytes(text, b"ab\xff")),
        "field \"text\", document 0: not UTF-8 behind its first 2 bytes"
    );
    assert_eq!(
        message(doc.stored_bytes(ip, &[127, 0, 0, 1])),
        "field \"ip\", document 0: a value of 4 bytes, where all have 16"
    );
    doc.stored_bytes(text, "é".as_bytes()).unwrap().stored_bytes(ip, &[0; 16]).unwrap();
    doc.finish().unwrap();
}

#[test]
fn a_document_that_is_forgotten_never_was() {
    let (schema, [a, b]) =
        schema([FieldSpec::new("a", LogicalType::I64), FieldSpec::new("b", LogicalType::Utf8)]);
    let forget = |writer: &mut SegmentWriter<Vec<u8>>| {
        let mut doc = writer.document();
        doc.i64(a, 9).unwrap().str(b, "forgotten").unwrap();
        std::mem::forget(doc);
    };
    let segment = |forgotten: bool| {
        let mut writer = in_memory(schema.clone());
        for i in 0..3 {
            if forgotten {
                forget(&mut writer);
            }
            match i {
                0 => writer.batch(1).unwrap().i64(a, &[i], None).map(|_| ()).unwrap(),
                _ => {
                    let mut doc = writer.document();
                    doc.i64(a, i).unwrap();
                    doc.finish().unwrap();
                }
            }
        }
        if forgotten {
            forget(&mut writer);
        }
        writer.finish_bytes().unwrap()
    };
    assert!(segment(true) == segment(false));
}
