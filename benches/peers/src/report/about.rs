//! Headings, texts and the order of the workloads in the report.

use crate::task::Workload;

/// The heading of a workload's table, and the text below it.
pub fn about(work: Workload) -> (&'static str, &'static str) {
    match work {
        Workload::Data => ("", ""),
        Workload::Scan => (
            "Full scan",
            "Every value in document order. `price60`, `rare1` and `tags` have documents without a value: finding the \
             documents with one is part of the workload. tantivy reads strings in document order only one at a time.",
        ),
        Workload::Gather1 => (
            "1 % of the documents, ascending, in batches",
            "The hits of a query; the data exceeds the CPU's caches.",
        ),
        Workload::Gather001 => (
            "0.01 % of the documents, ascending, in batches",
            "Every repetition reads the same few documents, so they are in the CPU's caches.",
        ),
        Workload::Random => (
            "Random documents, in batches",
            "A million documents. Lucene needs a new iterator for each step back. Parquet sorts all documents of the \
             request, and so does tantivy for strings.",
        ),
        Workload::RandomSingle => ("Random documents, one at a time", "A million documents."),
        Workload::Get1 => (
            "1 % of the documents, ascending, one at a time",
            "A collector's loop over hits: only APIs that return one document's value count. Lucene's iterators profit \
             from the ascending order.",
        ),
        Workload::Take => (
            "Calls for 20 random documents",
            "50,000 calls, each for other documents. Lucene needs a new iterator for each call and each step back, or \
             sorts the documents of a call. Vortex and Lance are called from Python, whose overhead is included; their \
             `host` is a column of numbers, the ords.",
        ),
        Workload::ThreeColumns => (
            "Three columns, one document at a time",
            "1 % of the documents, ascending. `three` reads `ts`, `size` and `host`; `three-price60` reads `price60` (60 % \
             of the documents have a value) instead of `size`. All three values of a document are read before those of \
             the next.",
        ),
        Workload::ThreeColumns64 => (
            "Three columns, 64 documents at a time",
            "The same values, gathered in blocks of 64 documents, or one document at a time if that is faster.",
        ),
        Workload::Terms => ("Ord to term, one at a time", "A million random ords."),
        Workload::TermsBatch => (
            "Ord to term, in batches",
            "A million random ords. The peers sort them and read in dictionary order; docvalues reads them unsorted.",
        ),
        Workload::Seek => ("Term to ord", "A million random terms."),
        Workload::Range => (
            "Range filter that matches 1 %",
            "The result is a bitset (docvalues, Lucene) or a list of documents (tantivy, Parquet). `ts` nearly ascends.",
        ),
        Workload::Open => ("Open and read a first value", "The file is in the page cache."),
        Workload::Build => (
            "Build",
            "From values in memory to a closed and synced file: CPU time of the thread, without garbage collectors. The second \
             build of a process counts; of Lucene, one after a smaller one.",
        ),
        Workload::Bytes => (
            "Size on disk",
            "docvalues with checksums and zone maps. For Lucene, the doc-values files alone; 10.5 includes the skip index \
             if it filters by one. General-purpose compression is off, except for Lucene's blocks of terms.",
        ),
        Workload::Memory => (
            "Resident memory",
            "The process's memory after it opened the column and scanned it once, less its memory before: the heap, and \
             the touched pages of the mapped file.",
        ),
    }
}

/// The workloads in the order of their tables.
pub const ORDER: [Workload; 17] = [
    Workload::Scan,
    Workload::Gather1,
    Workload::Get1,
    Workload::Gather001,
    Workload::Random,
    Workload::RandomSingle,
    Workload::Take,
    Workload::ThreeColumns,
    Workload::ThreeColumns64,
    Workload::Range,
    Workload::Terms,
    Workload::TermsBatch,
    Workload::Seek,
    Workload::Open,
    Workload::Build,
    Workload::Bytes,
    Workload::Memory,
];

/// The workloads of the overview of reading.
pub const READING: [Workload; 13] = [
    Workload::Scan,
    Workload::Range,
    Workload::Gather1,
    Workload::Gather001,
    Workload::Random,
    Workload::ThreeColumns64,
    Workload::TermsBatch,
    Workload::Take,
    Workload::Get1,
    Workload::RandomSingle,
    Workload::ThreeColumns,
    Workload::Terms,
    Workload::Seek,
];

/// The workloads of the overview of files.
pub const FILES: [Workload; 4] = [Workload::Open, Workload::Build, Workload::Bytes, Workload::Memory];
