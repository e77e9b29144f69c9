//! A small index of Lucene 10, written by hand: for tests of programs that read one.

/// The id of the segment.
const ID: [u8; 16] = *b"an id of a test.";

/// A column of an index: a value for each document.
#[derive(Clone, Debug)]
pub enum LuceneColumn {
    /// Doc values `NUMERIC`.
    Numbers(Vec<i64>),
    /// Doc values `SORTED`, of at most 64 terms.
    Terms(Vec<&'static str>),
}

/// The files of an index of one segment of `docs` documents with these columns, and what its commit notes.
///
/// # Panics
///
/// If a column has another number of values.
pub fn lucene_index(
    docs: usize,
    columns: &[(&str, LuceneColumn)],
    user_data: &[(&str, &str)],
) -> Vec<(&'static str, Vec<u8>)> {
    let (mut infos, mut meta) = (Fields::default(), Fields::default());
    let mut data = header("Lucene90DocValuesData", 0, "Lucene90_0");
    infos.vint(columns.len());
    for (number, (name, column)) in (0..).zip(columns) {
        let (tag, tag_in_meta) = if matches!(column, LuceneColumn::Numbers(_)) { (1, 0) } else { (3, 2) };
        infos.string(name).vint(number as usize).bytes(&[0, 0, tag, 0]).i64(-1);
        infos.map(&[("PerFieldDocValuesFormat.format", "Lucene90"), ("PerFieldDocValuesFormat.suffix", "0")]);
        infos.bytes(&[0; 4]);
        meta.i32(number).bytes(&[tag_in_meta]);
        match column {
            LuceneColumn::Numbers(numbers) => {
                assert_eq!(numbers.len(), docs, "values of {name}");
                numeric(&mut meta, &mut data, numbers);
            }
            LuceneColumn::Terms(values) => {
                assert_eq!(values.len(), docs, "values of {name}");
                let mut terms = values.clone();
                terms.sort_unstable();
                terms.dedup();
                let ord = |value: &&str| terms.binary_search(value).unwrap_or_default() as i64;
                numeric(&mut meta, &mut data, &values.iter().map(ord).collect::<Vec<_>>());
                dictionary(&mut meta, &mut data, &terms);
            }
        }
    }
    meta.i32(-1);
    let mut info = Fields::default();
    info.i32(10).i32(4).i32(0).bytes(&[0]).i32(docs as i32);
    // Not compound, without blocks, diagnostics, files, attributes and sort fields.
    info.bytes(&[0xFF, 0xFF, 0, 0, 0, 0]);
    let file = |name: &str, version, suffix: &str, body: Fields| {
        sealed([header(name, version, suffix), body.0].concat())
    };
    vec![
        ("segments_1", file("segments", 10, "1", commit(user_data))),
        ("_0.si", file("Lucene90SegmentInfo", 0, "", info)),
        ("_0.fnm", file("Lucene94FieldInfos", 2, "", infos)),
        ("_0_Lucene90_0.dvm", file("Lucene90DocValuesMetadata", 0, "Lucene90_0", meta)),
        ("_0_Lucene90_0.dvd", sealed(data)),
    ]
}

/// The last bytes of a file made right: magic, and the checksum.
pub fn reseal_lucene(file: &mut Vec<u8>) {
    if file.len() >= 16 {
        file.truncate(file.len() - 16);
        *file = sealed(std::mem::take(file));
    }
}

/// The body of `segments_1`, whose numbers are big-endian.
fn commit(user_data: &[(&str, &str)]) -> Fields {
    let mut out = Fields::default();
    // Release 10.4.0, created by release 10, a change, a name, a segment of release 10.4.0.
    out.bytes(&[10, 4, 0, 10]).bytes(&1_u64.to_be_bytes()).bytes(&[1, 0, 0, 0, 1, 10, 4, 0]);
    out.string("_0").bytes(&ID).string("Lucene104");
    // No deletes, no later field infos and doc values, no soft deletes.
    out.bytes(&[0xFF; 8]).bytes(&[0; 4]).bytes(&[0xFF; 16]).bytes(&[0; 4]);
    // No id of a commit, no files of field infos and doc values.
    out.bytes(&[0, 0, 0, 0, 0, 0]).map(user_data);
    out
}

/// Numbers of all documents, as they are.
fn numeric(meta: &mut Fields, data: &mut Vec<u8>, numbers: &[i64]) {
    let (start, len) = (data.len() as i64, 8 * numbers.len() as i64);
    data.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    // Present in all documents; no table, 64 bits each, from 0 on in steps of 1; no blocks.
    meta.i64(-1).i64(0).bytes(&[0xFF; 3]).i64(numbers.len() as i64).i32(-1).bytes(&[64]);
    meta.i64(0).i64(1).i64(start).i64(len).i64(-1);
}

/// A dictionary of one block.
fn dictionary(meta: &mut Fields, data: &mut Vec<u8>, terms: &[&str]) {
    assert!((1..=64).contains(&terms.len()), "{} terms", terms.len());
    let (start, mut block, mut rest) = (data.len() as i64, Fields::default(), Fields::default());
    block.string(terms[0]);
    for term in &terms[1..] {
        // Nothing is shared with the term before.
        let more = term.len() - 1;
        rest.bytes(&[(more.min(15) << 4) as u8]);
        if more >= 15 {
            rest.vint(more - 15);
        }
        rest.bytes(term.as_bytes());
    }
    if terms.len() > 1 {
        block.vint(rest.0.len());
        // LZ4 of literals alone.
        let more = rest.0.len().saturating_sub(15);
        block.bytes(&[(rest.0.len().min(15) << 4) as u8]);
        if rest.0.len() >= 15 {
            block.bytes(&vec![0xFF; more / 255]).bytes(&[(more % 255) as u8]);
        }
        block.bytes(&rest.0);
    }
    data.extend(&block.0);
    let monotonic = |meta: &mut Fields| {
        // A straight line at 0, without bits.
        meta.i64(0).i32(0).i64(0).bytes(&[0]);
    };
    meta.vint(terms.len()).i32(16);
    monotonic(meta);
    let longest = terms.iter().map(|term| term.len()).max().unwrap_or_default();
    meta.i32(longest as i32).i32(rest.0.len() as i32);
    meta.i64(start).i64(block.0.len() as i64).i64(start).i64(0).i32(10);
    monotonic(meta);
    meta.i64(start).i64(0).i64(start).i64(0);
}

/// Appends fields, whose numbers are little-endian.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Fields {
        self.0.extend(bytes);
        self
    }

    fn i32(&mut self, number: i32) -> &mut Fields {
        self.bytes(&number.to_le_bytes())
    }

    fn i64(&mut self, number: i64) -> &mut Fields {
        self.bytes(&number.to_le_bytes())
    }

    fn vint(&mut self, mut number: usize) -> &mut Fields {
        while number >= 0x80 {
            self.0.push((number & 0x7F) as u8 | 0x80);
            number >>= 7;
        }
        self.bytes(&[number as u8])
    }

    fn string(&mut self, text: &str) -> &mut Fields {
        self.vint(text.len()).bytes(text.as_bytes())
    }

    fn map(&mut self, map: &[(&str, &str)]) -> &mut Fields {
        self.vint(map.len());
        map.iter().fold(self, |out, (key, value)| out.string(key).string(value))
    }
}

fn header(name: &str, version: i32, suffix: &str) -> Vec<u8> {
    let mut out = 0x3FD7_6C17_u32.to_be_bytes().to_vec();
    out.push(name.len() as u8);
    out.extend(name.as_bytes());
    out.extend(version.to_be_bytes());
    out.extend(ID);
    out.push(suffix.len() as u8);
    out.extend(suffix.as_bytes());
    out
}

fn sealed(mut file: Vec<u8>) -> Vec<u8> {
    file.extend((!0x3FD7_6C17_u32).to_be_bytes());
    file.extend([0; 4]);
    let checksum = crc32(&file);
    file.extend(u64::from(checksum).to_be_bytes());
    file
}

/// The checksum of zlib, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { 0xEDB8_8320 } else { 0 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        let mut file = sealed(b"body".to_vec());
        let good = file.clone();
        let last = file.len() - 1;
        file[last] ^= 1;
        reseal_lucene(&mut file);
        assert_eq!(file, good);
    }
}
