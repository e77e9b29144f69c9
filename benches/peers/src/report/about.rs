//! Titles of the workloads, and their order in the record and in plots.

use crate::task::Workload;

/// The title of a workload in plots.
pub fn title_of(work: Workload) -> &'static str {
    match work {
        Workload::Data => "",
        Workload::Scan => "Full scan",
        Workload::Gather1 => "1 % of the documents, ascending, in batches",
        Workload::Gather001 => "0.01 % of the documents, ascending, in batches",
        Workload::Random => "Random documents, in batches",
        Workload::RandomSingle => "Random documents, one at a time",
        Workload::Get1 => "1 % of the documents, ascending, one at a time",
        Workload::Take => "Calls for 20 random documents",
        Workload::ThreeColumns => "Three columns, one document at a time",
        Workload::ThreeColumns64 => "Three columns, 64 documents at a time",
        Workload::Terms => "Ord to term, one at a time",
        Workload::TermsBatch => "Ord to term, in batches",
        Workload::Seek => "Term to ord",
        Workload::Range => "Range filter that matches 1 %",
        Workload::Open => "Open and read a first value",
        Workload::Build => "Build",
        Workload::Bytes => "Size on disk",
        Workload::Memory => "Resident memory",
    }
}

/// The workloads in the order of the record.
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
