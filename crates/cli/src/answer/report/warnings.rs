//! Warnings about a column whose values look wrong.

use std::collections::HashMap;

use crate::api::LogicalType;
use crate::api::search::facet::FacetCounts;
use crate::api::search::stats::{ColumnStats, Distinct};
use crate::text::quoting::decimal;
use crate::text::{Printer, counted, thousands};

/// The words that are shown with their spellings, the spellings of each, and the characters of one.
const WORDS: usize = 3;
const SPELLINGS: usize = 4;
const MOST: usize = 40;

/// The least number of values of which nearly all may be different.
const MANY: u64 = 100;

/// The warnings about a column.
pub(super) fn warnings(stats: &ColumnStats, facet: Option<&FacetCounts>) -> Vec<String> {
    let mut found = Vec::new();
    let ColumnStats { docs, missing, values, nans, .. } = *stats;
    let distinct = stats.distinct.map_or(0, Distinct::get);
    let is_exact_integer = matches!(stats.field.logical, LogicalType::I64 | LogicalType::U64)
        && matches!(stats.distinct, Some(Distinct::Exact(_)));
    let is_key = stats.field.kind.is_bytes() || is_exact_integer;
    if docs > 0 && missing == docs {
        found.push("no document has a value".to_owned());
    } else if distinct == 1 && values > 1 {
        found.push(format!("all {} values are the same", thousands(values)));
    } else if is_key && values >= MANY && distinct < values && distinct >= values - values / 20 {
        let [distinct, values] = [distinct, values].map(thousands);
        found.push(format!("nearly unique: some {distinct} different values of {values}"));
    }
    if missing < docs && missing >= docs - docs / 10 {
        found.push(format!("{} % of the documents have no value", decimal(missing * 100, docs, 1)));
    }
    if nans > 0 {
        found.push(counted(nans, "value is not a number (NaN)", "values are not numbers (NaN)"));
    }
    let is_text = |facet: &&FacetCounts| facet.field.logical == LogicalType::Utf8;
    let mixed = facet.filter(is_text).map(mixed_spellings).unwrap_or_default();
    if !mixed.is_empty() {
        let words = counted(mixed.len() as u64, "word is", "words are");
        let shown: Vec<String> = mixed.into_iter().take(WORDS).flatten().collect();
        found.push(format!("{words} spelled in several ways: {}", shown.join(", ")));
    }
    found
}

/// The values of each word with several that differ in capitals and blanks alone, with their counts.
fn mixed_spellings(facet: &FacetCounts) -> Vec<Vec<String>> {
    let printer = Printer::of(&facet.field);
    let (mut places, mut words) = (HashMap::new(), Vec::<Vec<(String, u64)>>::new());
    for (value, count) in &facet.values {
        let text = printer.to_text(value);
        let word = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let place = *places.entry(word).or_insert(words.len());
        if place == words.len() {
            words.push(Vec::new());
        }
        words[place].push((text, *count));
    }
    let shown = |(text, count): (String, u64)| {
        let head: String = text.chars().take(MOST).collect();
        format!("{head:?} ({})", thousands(count))
    };
    let mixed = words.into_iter().filter(|spellings| spellings.len() > 1);
    mixed.map(|spellings| spellings.into_iter().take(SPELLINGS).map(shown).collect()).collect()
}
