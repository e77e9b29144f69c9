//! Arguments that break a contract panic, as slices do: an output that is too short is never half filled
//! in silence.

use std::panic::{AssertUnwindSafe, catch_unwind};

use docvalues_column::{AnyColumn, DocId, Lists, Result, TermOrd};
use std::ops::Bound;

/// Checks that every operation of a column panics where its output is too short.
///
/// Not a part of [`check_source`](super::check_source): a panic is printed even where it is caught, and
/// a fuzzer takes it for a crash.
///
/// # Panics
///
/// If one goes through.
pub fn check_panics(column: &AnyColumn) {
    let name = &column.as_column().field().name;
    let must_panic = |operation: &str, run: &mut dyn FnMut() -> Result<()>| {
        let outcome = catch_unwind(AssertUnwindSafe(run));
        assert!(outcome.is_err(), "column `{name}`: {operation}: an output that is too short went through");
    };
    // 65 documents take two words; the outputs below have one, or 64 places.
    let docs: Vec<DocId> = (0..65).map(DocId::new).collect();
    let (word, words) = (&mut [0], &mut [0; 2]);
    must_panic("exists", &mut || column.as_column().exists(0..65, word));
    match column {
        AnyColumn::Numeric(column) => {
            must_panic("filter", &mut || column.filter(0..65, 0..=9, word));
            must_panic("gather, `out`", &mut || column.gather(&docs, &mut [0; 64], words));
            must_panic("gather, `present`", &mut || column.gather(&docs, &mut [0; 65], word));
            must_panic("gather_or", &mut || column.gather_or(&docs, &mut [0; 64], 0));
        }
        AnyColumn::Binary(column) => {
            let all = Bound::Unbounded;
            must_panic("filter", &mut || column.filter(0..65, all, all, word));
            must_panic("gather, `present`", &mut || column.gather(&docs, &mut Lists::new(), word));
        }
        AnyColumn::Sorted(column) => {
            let ord = TermOrd::new(0);
            must_panic("filter", &mut || column.filter(0..65, 0..9, word));
            must_panic("gather, `out`", &mut || column.gather(&docs, &mut [ord; 64], words));
            must_panic("gather, `present`", &mut || column.gather(&docs, &mut [ord; 65], word));
            must_panic("gather_or", &mut || column.gather_or(&docs, &mut [ord; 64], ord));
        }
        AnyColumn::SortedNumeric(column) => {
            must_panic("filter", &mut || column.filter(0..65, 0..=9, word));
        }
        AnyColumn::SortedSet(column) => {
            must_panic("filter", &mut || column.filter(0..65, 0..9, word));
        }
    }
}
