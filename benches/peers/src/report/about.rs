//! The texts and the order of the works in the report.

use crate::task::Work;

/// The heading of a work's table, and what is to be said of it.
pub fn about(work: Work) -> (&'static str, &'static str) {
    match work {
        Work::Data => ("", ""),
        Work::Scan => (
            "Full scan",
            "Every value in the order of documents, whose ids are known. `price60`, `rare1` and `tags` are not \
             in every document: which ones have them is part of the work. tantivy has no way to read strings \
             in the order of documents other than one by one.",
        ),
        Work::Gather1 => ("1 % of the documents, ascending", "What a query hits, more than caches hold."),
        Work::Gather001 => ("0.01 % of the documents, ascending", "The same few documents again: cache-hot."),
        Work::Random => (
            "A million documents in random order, the fastest way",
            "In batches where there are any. Lucene takes a new iterator for each step back; Parquet and, \
             for strings, tantivy are given all of them at once and sort them.",
        ),
        Work::RandomSingle => ("A million documents in random order, one by one", ""),
        Work::Get1 => (
            "1 % of the documents, ascending, one by one",
            "As a loop over hits asks for values: only ways that answer for one document at a time count. Lucene's \
             iterators may use that the documents ascend.",
        ),
        Work::Take => (
            "Calls for 20 random documents",
            "50,000 calls, each for other documents. Lucene takes a new iterator for each call and each step back, or \
             sorts the documents of a call. Vortex and Lance are called through Python, whose own share is in the \
             figure; `host` is a column of numbers there, which are the ords.",
        ),
        Work::ThreeColumns => (
            "Three columns, 1 % of the documents, a document at a time",
            "`three` is `ts`, `size` and `host`; `three-price60` has `price60`, of 60 % of the documents, in the place of \
             `size`. All three values of a document, then those of the next one.",
        ),
        Work::ThreeColumns64 => (
            "Three columns, 64 documents of each at a time",
            "The same values, gathered in blocks; or a document at a time, if that is faster.",
        ),
        Work::Terms => ("A million random ords to terms, one by one", ""),
        Work::TermsBatch => (
            "The same, all at once",
            "Sorted and then read in the order of the dictionary; docvalues as they come.",
        ),
        Work::Seek => ("A million random terms to ords", ""),
        Work::Range => (
            "A range that 1 % of the documents have",
            "Into a bitset (docvalues, Lucene) or a list (tantivy, Parquet) of documents. `ts` nearly ascends.",
        ),
        Work::Open => ("From the closed file to the first value", "The page cache is warm."),
        Work::Build => (
            "Build",
            "From values in memory to a closed and synced file: CPU time of the thread, without collectors of \
             garbage.",
        ),
        Work::Bytes => (
            "Bytes",
            "docvalues with checksums and zone maps; of Lucene the files of doc values alone, with the skip \
             index where 10.5 filters by it; nothing is compressed by a general-purpose codec except Lucene's \
             blocks of terms.",
        ),
        Work::Memory => (
            "Memory",
            "What the process has in memory after opening the column and scanning it once, less what it had \
             before: the heap, and what it has touched of the mapped file.",
        ),
    }
}

/// The order of the tables.
pub const ORDER: [Work; 17] = [
    Work::Scan,
    Work::Gather1,
    Work::Get1,
    Work::Gather001,
    Work::Random,
    Work::RandomSingle,
    Work::Take,
    Work::ThreeColumns,
    Work::ThreeColumns64,
    Work::Range,
    Work::Terms,
    Work::TermsBatch,
    Work::Seek,
    Work::Open,
    Work::Build,
    Work::Bytes,
    Work::Memory,
];
