//! Groups, against a look at each document.

mod documents;
mod naive;
mod properties;
mod sizes;
