//! `dv sql` of a `dv` that was built without the feature `sql`.

use crate::sandbox::Sandbox;

#[test]
fn the_error_says_how_to_get_sql() {
    let run = Sandbox::new().dv(&["sql", "select 1", "a.dv"]);
    let expected = "dv: this dv was built without support for SQL\n    \
                    hint: install it from a checkout: cargo install --path crates/cli --features sql,parquet\n";
    assert_eq!((run.code, run.err.as_str(), run.out.as_str()), (1, expected, ""));
}
