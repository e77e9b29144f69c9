//! Structs written by `#[derive(Document)]` are read as they were, from segments and stores; and values of every type
//! are read as the Rust types that hold them, and no others.
#![allow(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use docvalues::column::{Date, TimestampMicros, TimestampMillis, TimestampNanos};
use docvalues::document::Document;
use docvalues::prelude::*;
use docvalues::search::export::FromValue;

/// A field of every type.
#[derive(Clone, Debug, PartialEq, Document)]
struct Every {
    #[document(id)]
    key: String,
    #[document(version)]
    version: u64,
    small: i32,
    unsigned: u32,
    signed: Option<i64>,
    double: f64,
    flag: bool,
    day: Date,
    millis: TimestampMillis,
    micros: TimestampMicros,
    nanos: Option<TimestampNanos>,
    #[document(rename = "host name")]
    host: Option<String>,
    #[document(kind = "binary")]
    body: Vec<u8>,
    client: IpAddr,
    session: u128,
    sizes: Vec<i64>,
    ratios: Vec<f64>,
    tags: Vec<String>,
    r#type: Option<Vec<IpAddr>>,
    #[document(skip)]
    left_out: usize,
}

/// One document with the least values and none of the optional ones, one with the greatest, one between.
fn documents() -> Vec<Every> {
    let v4 = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let least = Every {
        key: "a".into(),
        version: 0,
        small: i32::MIN,
        unsigned: 0,
        signed: None,
        double: f64::NEG_INFINITY,
        flag: false,
        day: Date(-1),
        millis: TimestampMillis(i64::MIN),
        micros: TimestampMicros(i64::MIN),
        nanos: None,
        host: None,
        body: Vec::new(),
        client: v4,
        session: 0,
        sizes: Vec::new(),
        ratios: Vec::new(),
        tags: Vec::new(),
        r#type: None,
        left_out: 0,
    };
    let greatest = Every {
        key: "b".into(),
        version: u64::MAX,
        small: i32::MAX,
        unsigned: u32::MAX,
        signed: Some(i64::MAX),
        double: f64::MAX,
        flag: true,
        day: Date(20_000),
        millis: TimestampMillis(i64::MAX),
        micros: TimestampMicros(i64::MAX),
        nanos: Some(TimestampNanos(i64::MAX)),
        host: Some("ü.example".into()),
        body: vec![0, 255],
        client: IpAddr::V6(Ipv6Addr::LOCALHOST),
        session: u128::MAX,
        sizes: vec![i64::MIN, 7, 7, i64::MAX],
        ratios: vec![-1.5, 0.25],
        tags: vec!["blue".into(), "red".into()],
        r#type: Some(vec![v4]),
        left_out: 0,
    };
    let between = Every { key: "c".into(), version: 3, host: Some(String::new()), ..least.clone() };
    vec![least, greatest, between]
}

fn segment() -> Segment {
    let (schema, ids) = Every::schema().unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for document in documents() {
        let mut doc = writer.document();
        Every { left_out: 9, ..document }.write(&ids, &mut doc).unwrap();
        doc.finish().unwrap();
    }
    Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
}

#[test]
fn a_segment_gives_back_the_structs() {
    let segment = segment();
    let mut retriever = Search::new(&segment).retriever(Every::NAMES).unwrap();
    let page = retriever.retrieve(&[0, 1, 2].map(DocId::new)).unwrap();
    let read: Vec<Every> = page.rows().map(|row| Every::read(&row).unwrap()).collect();
    assert_eq!(read, documents());
    let kind = |name: &str| Every::fields().iter().find(|field| field.name == name).unwrap().kind;
    assert_eq!((kind("key"), kind("body"), kind("host name")), (Kind::Binary, Kind::Binary, Kind::Sorted));
    assert_eq!((kind("sizes"), kind("type")), (Kind::SortedNumeric, Kind::SortedSet));
}

#[test]
fn a_store_gives_back_the_structs() {
    let folder = tempfile::tempdir().unwrap();
    let schema = Every::store_schema().unwrap();
    assert_eq!((schema.id_field(), schema.version_field()), (Some("key"), Some("version")));
    let store = Store::create(folder.path().join("a"), schema, StoreOptions::default()).unwrap();
    let mut batch = store.batch().unwrap();
    let ids = Every::ids(|name| batch.field(name)).unwrap();
    // A store keeps the highest versions for those that it assigns.
    let expected: Vec<Every> =
        documents().into_iter().map(|every| Every { version: every.version.min(1 << 40), ..every }).collect();
    for document in &expected {
        let mut doc = batch.upsert();
        document.write(&ids, &mut doc).unwrap();
        doc.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.refresh().unwrap();
    let mut read = Vec::new();
    let rows = store.snapshot().search().export(Docs::All, Every::NAMES).unwrap().rows();
    rows.for_each::<docvalues::Error>(|row| {
        read.push(Every::read(&row)?);
        Ok(())
    })
    .unwrap();
    read.sort_by_key(|every| every.key.clone());
    assert_eq!(read, expected);
}

/// A struct that borrows its text from the rows.
#[derive(Debug, PartialEq, Document)]
struct Borrowed<'a> {
    key: &'a str,
    body: &'a [u8],
    tags: Vec<&'a str>,
}

#[test]
fn text_is_borrowed_from_rows() {
    let segment = segment();
    let mut retriever = Search::new(&segment).retriever(Borrowed::NAMES).unwrap();
    let page = retriever.retrieve(&[DocId::new(1)]).unwrap();
    let read = Borrowed::read(&page.row(0)).unwrap();
    assert_eq!(read, Borrowed { key: "b", body: &[0, 255], tags: vec!["blue", "red"] });
}

/// The message of the error of reading `column` of document `doc` as `T`.
fn refused<T: for<'a> FromValue<'a>>(doc: u32, column: &str) -> String {
    let segment = segment();
    let mut retriever = Search::new(&segment).retriever(&[column]).unwrap();
    let page = retriever.retrieve(&[DocId::new(doc)]).unwrap();
    page.row(0).get::<T>(0).err().unwrap().to_string()
}

#[test]
fn what_a_type_does_not_hold_is_refused() {
    let of = |doc: u32, column: &str, why: &str| {
        format!("column \"{column}\": document {doc} of part 0 has {why} does not hold")
    };
    assert_eq!(refused::<u64>(0, "small"), of(0, "small", "i64 -2147483648, which u64"));
    assert_eq!(refused::<i64>(1, "version"), of(1, "version", "u64 18446744073709551615, which i64"));
    assert_eq!(refused::<i32>(1, "signed"), of(1, "signed", "i64 9223372036854775807, which i32"));
    assert_eq!(refused::<f64>(1, "signed"), of(1, "signed", "i64 9223372036854775807, which f64"));
    assert_eq!(refused::<i64>(0, "signed"), of(0, "signed", "no value, which i64"));
    assert_eq!(refused::<i64>(1, "sizes"), of(1, "sizes", "a list of i64, which i64"));
    assert_eq!(refused::<i64>(1, "day"), of(1, "day", "date 20000, which i64"));
    assert_eq!(refused::<String>(1, "body"), of(1, "body", "a bytes, which &str"));
    assert_eq!(refused::<IpAddr>(1, "session"), of(1, "session", "a uuid, which ip"));
    let stamp = refused::<TimestampNanos>(1, "millis");
    assert_eq!(stamp, of(1, "millis", "timestamp[ms] 9223372036854775807, which timestamp[ns]"));
}
