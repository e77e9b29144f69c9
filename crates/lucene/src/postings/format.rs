//! Formats of postings: what differs between releases.

use crate::cursor::Cursor;
use crate::envelope::{self, Contents};
use crate::error::Result;
use crate::file_set::SegmentFiles;
use crate::order::Order;

/// The version of `.tim` of Lucene 8.6, from which on metadata of fields is a file of its own.
pub(super) const WITH_META: i32 = 6;

/// The version of Lucene 8.5, from which on suffixes and their lengths are apart.
const WITH_SUFFIX_AREAS: i32 = 5;

/// The version up to which fields had numbers of longs.
const WITH_LONGS: i32 = 3;

/// What `.doc` may contain.
pub(super) const DOC: [&str; 9] = [
    "Lucene50PostingsWriterDoc",
    "Lucene84PostingsWriterDoc",
    "Lucene90PostingsWriterDoc",
    "Lucene99PostingsWriterDoc",
    "Lucene912PostingsWriterDoc",
    "Lucene101PostingsWriterDoc",
    "Lucene103PostingsWriterDoc",
    "Lucene104PostingsWriterDoc",
    "ES812PostingsWriterDoc",
];

/// A format of postings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    pub(super) order: Order,
    pub(super) has_trie: bool,
    /// Whether documents of terms are always as Lucene 7 has them; if not, from version 1 on in other ways.
    is_first: bool,
    /// Whether metadata of terms with many documents has the place of a skip list.
    pub(super) has_skips: bool,
    /// How short lists of documents are stored.
    pub(super) tail: Tail,
}

/// How short lists of documents are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// Whether numbers are in groups of four.
    pub(super) has_groups: bool,
    /// Whether the first number is the first document plus one.
    pub(super) is_after_minus_one: bool,
}

impl Format {
    /// The format `name`; `None` if it is not read.
    pub(super) fn of(name: &str) -> Option<Format> {
        let tail = |has_groups, is_after_minus_one| Tail { has_groups, is_after_minus_one };
        let (order, has_skips, has_trie, tail) = match name {
            "Lucene50" | "Lucene84" => (Order::Big, true, false, tail(false, false)),
            // Elasticsearch kept the postings of Lucene 9.0 under a name of its own.
            "Lucene90" | "ES812Postings" => (Order::Little, true, false, tail(false, false)),
            "Lucene99" => (Order::Little, true, false, tail(true, false)),
            "Lucene912" | "Lucene101" => (Order::Little, false, false, tail(true, true)),
            "Lucene103" | "Lucene104" => (Order::Little, false, true, tail(true, true)),
            _ => return None,
        };
        Some(Format { order, has_trie, is_first: name == "Lucene50", has_skips, tail })
    }

    /// The contents of a file of terms.
    pub(super) fn contents(&self, name: &'static str) -> Contents {
        let (oldest, newest) = match (self.order, self.has_trie) {
            (Order::Big, _) => (WITH_LONGS, WITH_META),
            (Order::Little, false) => (0, 2),
            (Order::Little, true) => (0, 0),
        };
        Contents { name, oldest, newest, order: self.order }
    }

    /// Whether outputs of the index have the highest bits first.
    pub(super) fn has_msb(&self, version: i32) -> bool {
        self.order == Order::Little && version >= 1
    }

    /// Whether suffixes of a block, and their lengths, are apart.
    pub(super) fn has_suffix_areas(&self, version: i32) -> bool {
        self.order == Order::Little || version >= WITH_SUFFIX_AREAS
    }

    /// Whether metadata of a field has a number of longs.
    pub(super) fn has_longs(&self, version: i32) -> bool {
        self.order == Order::Big && version <= WITH_LONGS
    }

    /// Whether terms of single documents are runs: in their counts by the version of the terms, and in their documents by that of
    /// postings.
    pub(super) fn has_runs(&self, version: i32, postings_version: i32) -> (bool, bool) {
        let in_docs = !self.is_first && (self.order == Order::Little || postings_version >= 1);
        (self.has_suffix_areas(version), in_docs)
    }
}

/// The contents of the file that names the postings behind a Bloom filter of Elasticsearch, if this format has one.
pub(super) fn bloom_filter(format: &str) -> Option<&'static str> {
    ["ES85BloomFilter", "ES87BloomFilter"].into_iter().find(|name| *name == format)
}

/// The format and suffix of the postings of a field that a Bloom filter with this name wraps.
pub(super) fn delegate(
    files: &SegmentFiles,
    number: i32,
    name: &'static str,
    suffix: &str,
) -> Result<(String, String)> {
    let contents = Contents { name, oldest: 0, newest: 0, order: Order::Little };
    let file = files.original(suffix, "bfm")?;
    let body = envelope::verified(envelope::open(&file, &[contents], Some(&files.id), suffix)?)?;
    let mut cursor = Cursor::new(&body);
    for _ in 0..cursor.count("groups of fields")? {
        let (format, suffix) = (cursor.string()?.to_owned(), cursor.string()?.to_owned());
        let mut is_ours = false;
        for _ in 0..cursor.count("fields of a group")? {
            is_ours |= cursor.vint()? == number;
        }
        if is_ours {
            return Ok((format, suffix));
        }
    }
    Err(body.broken(body.place.start, "a field without postings behind its Bloom filter"))
}
