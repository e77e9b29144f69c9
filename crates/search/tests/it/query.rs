//! Queries: parsing and printing, and results compared with a naive implementation.

mod found;
#[allow(missing_docs, unreachable_pub, reason = "the fuzz targets use it, too")]
mod naive;
mod parts;
mod text;
