//! Documents of eight fields with an id. `peers/lucene/src/common/IngestDocs.java` generates the same documents.

use docvalues::store::{Store, StoreSchema, WriteBatch};
use docvalues::writer::{Document, Error as WriteError};
use docvalues::{BytesKind, Field, FieldId, FieldSpec, Kind, LogicalType, Schema};
use docvalues_testkit::rng::SplitMix64;

use crate::ids::{GAMMA, IdKind};

/// The number of hosts.
const HOSTS: u64 = 500;

/// Each is half as frequent as the one before it.
const STATUSES: [&str; 10] = ["200", "304", "404", "301", "206", "500", "302", "403", "503", "418"];

/// A document: five numbers and three strings.
#[derive(Clone, Debug, PartialEq)]
pub struct IngestDoc {
    /// Milliseconds since 1970, ascending.
    pub ts: i64,
    /// Skewed, below 2^24.
    pub size: i64,
    /// Below 128.
    pub code: i64,
    /// With two decimals.
    pub price: f64,
    /// True in one of eight documents.
    pub flag: bool,
    /// One of 500, skewed.
    pub host: String,
    /// One of ten, skewed.
    pub status: &'static str,
    /// 24 bytes, nearly all different.
    pub path: String,
}

impl IngestDoc {
    /// The document with this number.
    pub fn new(doc: u32) -> IngestDoc {
        // A SplitMix64 of its own for each document.
        let mut random = SplitMix64::new(GAMMA.wrapping_mul(8 * u64::from(doc)));
        let mut next = || random.next_u64();
        let ts = 1_700_000_000_000 + 2 * u64::from(doc) + (next() & 1);
        let size = next();
        let code = next() >> 57;
        let price = (next() >> 44) as f64 / 100.0;
        let flag = next() & 7 == 0;
        let host = next();
        let (high, low) = (host >> 32, host & 0xffff_ffff);
        let host = ((high * HOSTS) >> 32) * ((low * HOSTS) >> 32) / HOSTS;
        let status = STATUSES[(next() | 1 << 9).trailing_zeros() as usize];
        let path = next();
        IngestDoc {
            ts: ts.cast_signed(),
            size: (size >> 40 >> (size & 15)).cast_signed(),
            code: code.cast_signed(),
            price,
            flag,
            host: format!("host-{host:03}.example.com"),
            status,
            path: format!(
                "/{:02x}/{:06x}/{:08x}.html",
                path >> 56,
                path >> 32 & 0xff_ffff,
                path & 0xffff_ffff
            ),
        }
    }

    /// The id of the document with this number.
    pub fn id(doc: u32) -> String {
        IdKind::Uuid.id(doc)
    }

    /// Adds the values to a document of a segment.
    ///
    /// # Errors
    ///
    /// As those of the writer.
    pub fn add_to(&self, doc: &mut Document<'_>, fields: &[FieldId; 8]) -> Result<(), WriteError> {
        doc.i64(fields[0], self.ts)?;
        doc.i64(fields[1], self.size)?;
        doc.i64(fields[2], self.code)?;
        doc.f64(fields[3], self.price)?;
        doc.bool(fields[4], self.flag)?;
        doc.str(fields[5], &self.host)?;
        doc.str(fields[6], self.status)?;
        doc.str(fields[7], &self.path)?;
        Ok(())
    }
}

/// The fields of the documents.
pub fn schema() -> (Schema, [FieldId; 8]) {
    let number = |name| FieldSpec::new(name, LogicalType::I64);
    let string = |name, kind| FieldSpec::new(name, LogicalType::Utf8).kind(kind);
    let mut schema = Schema::new();
    let fields = [
        number("ts"),
        number("size"),
        number("code"),
        FieldSpec::new("price", LogicalType::F64),
        FieldSpec::new("flag", LogicalType::Bool),
        string("host", BytesKind::Sorted),
        string("status", BytesKind::Sorted),
        string("path", BytesKind::Binary),
    ];
    let fields = fields.map(|field| schema.add(field).expect("names differ"));
    (schema, fields)
}

/// A document with its id and version.
pub type Versioned = (IngestDoc, String, i64);

/// The schema of a store of these documents, with ids and versions or without.
pub fn store_schema(with_ids: bool) -> StoreSchema {
    if !with_ids {
        return store_fields(false);
    }
    store_fields(true)
        .with_id_field("id")
        .and_then(|schema| schema.with_version_field("version"))
        .expect("these fields")
}

/// The fields of these documents, with those of ids and versions as plain values.
pub fn store_fields(with_ids: bool) -> StoreSchema {
    let numbers = [("ts", LogicalType::I64), ("size", LogicalType::I64), ("code", LogicalType::I64)];
    let numbers = numbers.into_iter().chain([("price", LogicalType::F64), ("flag", LogicalType::Bool)]);
    let numbers = numbers.map(|(name, logical)| (name, Kind::Numeric, logical));
    let strings = [("host", Kind::Sorted), ("status", Kind::Sorted), ("path", Kind::Binary)];
    let strings = strings.map(|(name, kind)| (name, kind, LogicalType::Utf8));
    let ids = [("id", Kind::Binary, LogicalType::Utf8), ("version", Kind::Numeric, LogicalType::I64)];
    let ids = ids.into_iter().filter(|_| with_ids);
    let fields = numbers.chain(strings).chain(ids);
    let fields = fields.map(|(name, kind, logical)| Field::new(name, kind, logical));
    fields.fold(StoreSchema::new(), |schema, field| schema.with_field(field).expect("names differ"))
}

/// A batch of documents for a store.
pub fn batch(store: &Store, docs: &[Versioned], with_ids: bool) -> WriteBatch {
    let mut batch = store.batch().expect("a schema");
    let names = ["ts", "size", "code", "price", "flag", "host", "status", "path"];
    let fields: [FieldId; 8] = names.map(|name| batch.field(name).expect("a field"));
    let of_ids = with_ids.then(|| ["id", "version"].map(|name| batch.field(name).expect("a field")));
    for (values, id, version) in docs {
        let mut doc = batch.upsert();
        values.add_to(&mut doc, &fields).expect("values of these types");
        if let Some([id_field, version_field]) = of_ids {
            doc.str(id_field, id)
                .and_then(|doc| doc.i64(version_field, *version))
                .expect("an id and a version");
        }
        doc.finish().expect("a document");
    }
    batch
}

/// A hash of `count` documents and their ids from the number `first` on: must equal that of Java.
pub fn checksum(first: u32, count: u32) -> u64 {
    let add = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0100_0000_01b3);
    let add_all = |hash, text: &str| text.bytes().fold(hash, |hash, byte| add(hash, byte.into()));
    (first..first + count).fold(0, |mut hash, at| {
        let doc = IngestDoc::new(at);
        for number in [doc.ts, doc.size, doc.code] {
            hash = add(hash, number.cast_unsigned());
        }
        hash = add(add(hash, doc.price.to_bits()), doc.flag.into());
        [&doc.host, doc.status, &doc.path, &IngestDoc::id(at)].into_iter().fold(hash, add_all)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_equal_those_of_java() {
        assert_eq!(checksum(12_345, 1_000) & 0xffff_ffff_ffff, 172_978_157_628_076);
    }

    #[test]
    fn documents_are_as_described() {
        let docs: Vec<IngestDoc> = (0..10_000).map(IngestDoc::new).collect();
        assert!(docs.is_sorted_by_key(|doc| doc.ts) && docs.iter().all(|doc| doc.path.len() == 24));
        let (mut hosts, mut statuses): (Vec<&str>, Vec<&str>) =
            docs.iter().map(|doc| (&doc.host[..], doc.status)).unzip();
        hosts.sort_unstable();
        hosts.dedup();
        statuses.sort_unstable();
        statuses.dedup();
        assert!((300..=500).contains(&hosts.len()), "{}", hosts.len());
        assert_eq!(statuses.len(), 10);
    }
}
