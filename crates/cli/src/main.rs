//! `dv`.
fn main() {}
