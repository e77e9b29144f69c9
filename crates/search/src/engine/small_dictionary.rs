//! Binary columns of small parts, read as sorted ones.
//!
//! A writer that chooses the kind of a column by itself gives few strings no dictionary, and many equal ones a
//! dictionary: small segments have binary columns where large ones have sorted columns. Their dictionaries are made in
//! memory, so that the large segments keep theirs.

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, DocRange, Field, Gathered, Kind, PlainColumn, Result as ColumnResult, Values,
};

/// The most documents of a part whose strings are read when the column is opened.
const MAX_DOCS: u32 = 1 << 16;

/// Whether this is a binary column of a small part.
pub(super) fn is_small(column: &dyn Column) -> bool {
    column.info().kind() == Kind::Binary && column.info().docs <= MAX_DOCS
}

/// Reads all strings of a binary column into a sorted one in memory. O(bytes · log strings).
///
/// # Errors
///
/// If the column is damaged.
pub(super) fn with_dictionary(column: &dyn Column) -> ColumnResult<Arc<dyn Column>> {
    let info = column.info();
    let (mut strings, mut sorted) = (Gathered::new(), PlainColumn::of_kind(Kind::Sorted));
    if let Values::Bytes(rows) = column.values() {
        rows.gather(BatchDocs::Run(DocRange::new(0, info.docs)), &mut strings)?;
    }
    (0..strings.len()).for_each(|doc| sorted.push_strings(strings.row(doc)));
    Ok(sorted.open(Field { kind: Kind::Sorted, ..info.field.clone() }, info.docs))
}

#[cfg(test)]
mod tests {
    use docvalues_testkit::conformance::{check_column, check_panics};
    use docvalues_testkit::model::ModelColumn;
    use docvalues_testkit::shapes;

    use super::*;

    #[test]
    fn strings_follow_the_rules_of_a_sorted_column() {
        for shape in shapes::small() {
            let ModelColumn::Binary(slots) = shape.column() else { continue };
            let field = shape.field("it");
            let strings = ModelColumn::Binary(slots.clone()).open(field.clone(), shape.docs);
            let found = with_dictionary(&*strings).unwrap();
            let sorted = Field { kind: Kind::Sorted, ..field };
            check_column(&*found, &*ModelColumn::Sorted(slots).open(sorted, shape.docs));
            check_panics(&*found);
        }
    }
}
