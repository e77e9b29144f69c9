//! The documents that are compared with each other.

use std::collections::HashMap;

use crate::api::{DocAddress, LogicalType};
use crate::error::{CliError, Result};
use crate::open::Segments;
use crate::open::columns::unknown_column;
use crate::open::records::{CHUNK, Records};
use crate::text::Printer;

/// Pairs of documents, one of each side.
pub(super) struct Pairs<'a> {
    sides: &'a [Segments; 2],
    /// The column whose values name documents; `None` if numbers do.
    pub(super) column: Option<String>,
    /// The documents with the same value of the column: first those of the first side, in its order, then those of the second
    /// side only.
    by_value: Vec<Pair>,
}

/// A document of one side, or the same document of both.
#[derive(Clone)]
pub(super) struct Pair {
    /// The name of the document: a number, or a value as JSON.
    pub(super) name: String,
    /// Its address on each side that has it.
    pub(super) docs: [Option<DocAddress>; 2],
}

impl<'a> Pairs<'a> {
    /// Documents with the same number.
    pub(super) fn by_number(sides: &'a [Segments; 2]) -> Pairs<'a> {
        Pairs { sides, column: None, by_value: Vec::new() }
    }

    /// Documents with the same value of `column`, which each document has, and no two of a side. Takes memory for all
    /// values.
    pub(super) fn by_value(sides: &'a [Segments; 2], column: &str) -> Result<Pairs<'a>> {
        let [(type_a, a), (type_b, b)] = [named(&sides[0], column)?, named(&sides[1], column)?];
        if type_a != type_b {
            let (a, b) = (type_a.name(), type_b.name());
            let message =
                format!("--by: column {column:?} is of type {a} in the first, of type {b} in the second");
            return Err(CliError::failed(message));
        }
        let mut of_b = unique(&sides[1], column, &b)?;
        unique(&sides[0], column, &a)?;
        let mut pairs: Vec<Pair> = Vec::with_capacity(a.len().max(b.len()));
        for (name, doc) in a {
            let other = of_b.remove(name.as_str());
            pairs.push(Pair { name, docs: [Some(doc), other] });
        }
        let only_b = b.iter().filter(|(name, _)| of_b.contains_key(name.as_str()));
        pairs.extend(only_b.map(|(name, doc)| Pair { name: name.clone(), docs: [None, Some(*doc)] }));
        Ok(Pairs { sides, column: Some(column.to_owned()), by_value: pairs })
    }

    /// The number of pairs.
    pub(super) fn count(&self) -> u64 {
        match self.column {
            Some(_) => self.by_value.len() as u64,
            None => self.sides[0].docs().max(self.sides[1].docs()),
        }
    }

    /// All pairs.
    pub(super) fn iter(&self) -> Box<dyn Iterator<Item = Pair> + '_> {
        if self.column.is_some() {
            return Box::new(self.by_value.iter().cloned());
        }
        let [mut a, mut b] = self.sides.each_ref().map(Segments::addresses);
        let pairs = std::iter::from_fn(move || {
            let docs = [a.next(), b.next()];
            docs.iter().any(Option::is_some).then_some(docs)
        });
        Box::new((0_u64..).zip(pairs).map(|(number, docs)| Pair { name: number.to_string(), docs }))
    }
}

/// The type of a column, and its value in each document, as JSON in canonical format.
fn named(segments: &Segments, column: &str) -> Result<(LogicalType, Vec<(String, DocAddress)>)> {
    let Some(mut field) = segments.find_field(column)? else {
        return Err(unknown_column(segments.all(), column)?);
    };
    if field.kind.is_multi_valued() {
        return Err(CliError::failed(format!("--by: documents have several values in column {column:?}")));
    }
    field.format = None;
    let printer = Printer::of(&field);
    let mut records = Records::over(segments, [Some(&field)])?;
    let docs: Vec<DocAddress> = segments.addresses().collect();
    let mut named = Vec::with_capacity(docs.len());
    for chunk in docs.chunks(CHUNK) {
        records.load(chunk)?;
        for (at, doc) in chunk.iter().enumerate() {
            let mut name = String::new();
            let has_name = records.columns().any(|values| {
                values.values(at, |values| !values.is_empty() && printer.json(values, &mut name))
            });
            if !has_name {
                let place = segments.place(*doc);
                let message = format!("--by: document {place} has no value in column {column:?}");
                return Err(CliError::failed(message));
            }
            named.push((name, *doc));
        }
    }
    Ok((field.logical, named))
}

/// The documents by their names; fails if two have the same.
fn unique<'n>(
    segments: &Segments,
    column: &str,
    named: &'n [(String, DocAddress)],
) -> Result<HashMap<&'n str, DocAddress>> {
    let mut by_name = HashMap::with_capacity(named.len());
    for (name, doc) in named {
        if let Some(other) = by_name.insert(name.as_str(), *doc) {
            let [a, b] = [other, *doc].map(|doc| segments.place(doc));
            let message =
                format!("--by: documents {a} and {b} have the same value in column {column:?}: {name}");
            return Err(CliError::failed(message));
        }
    }
    Ok(by_name)
}
