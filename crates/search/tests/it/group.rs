//! Groups, compared with a naive implementation.

mod documents;
mod naive;
mod properties;
mod several;
mod sizes;
