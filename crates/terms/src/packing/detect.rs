//! Candidate templates from the first and the last id.

use std::ops::Range;

use docvalues_format::strings::shared_len;

use super::{Kind, MAX_CHARS, Template, UUID_CHARS, kernels};

/// Fewer characters are not worth a template: packing saves at most as many bytes, and the next segment may have
/// ids with one character more.
const MIN_CHARS: usize = 6;

/// The templates that all ids may fit, given the least and the greatest one; the one with the shortest packed ids
/// first. If not all ids fit any of them, the template is raw.
///
/// The prefix is the common prefix of both, without the characters of the kind at its end; the suffix likewise. So
/// all segments of a store get one template, even if some characters happen to be equal in all ids of one segment.
///
/// # Examples
///
/// ```
/// use docvalues_terms::packing::{Kind, detect};
///
/// let kinds = |first: &str, last: &str| {
///     detect(first.as_bytes(), last.as_bytes()).iter().map(|template| template.kind()).collect::<Vec<_>>()
/// };
/// let uuids = kinds("123e4567-e89b-12d3-a456-426614174000", "fedc4567-e89b-12d3-a456-426614174fff");
/// assert_eq!(uuids[0], Kind::Uuid);
/// // Both ids happen to have digits only; the caller falls back to hex if another id has an `f`.
/// assert_eq!(kinds("user-001742", "user-993001")[..2], [Kind::Digits, Kind::HexLower]);
/// assert!(kinds("a", "longer").is_empty()); // of different lengths: raw
/// ```
pub fn detect(first: &[u8], last: &[u8]) -> Vec<Template> {
    if first.len() != last.len() {
        return Vec::new();
    }
    let prefix = shared_len(first, last);
    let suffix = first.iter().rev().zip(last.iter().rev()).take_while(|(a, b)| a == b).count();
    let suffix = suffix.min(first.len() - prefix);
    let kinds = [Kind::Digits, Kind::HexLower, Kind::HexUpper, Kind::Base64Url];
    let templates = kinds.into_iter().filter_map(|kind| {
        let is_char = |byte: &u8| kind.alphabet().contains(byte);
        // The differing range, extended by the characters on both sides; for a single id, its longest run of
        // characters.
        let differ = match first == last {
            true => longest_run(first, is_char),
            false => prefix..first.len() - suffix,
        };
        let start =
            differ.start - first[..differ.start].iter().rev().take_while(|byte| is_char(byte)).count();
        let end = differ.end + first[differ.end..].iter().take_while(|byte| is_char(byte)).count();
        let len = end.checked_sub(start).filter(|len| (MIN_CHARS..=MAX_CHARS).contains(len))?;
        Template::new(kind, len, &first[..start], &first[end..])
    });
    let uuids = first.windows(UUID_CHARS).take(MAX_CHARS.min(prefix) + 1).enumerate();
    let is_uuid =
        |chars: &[u8]| chars.first_chunk().is_some_and(|chars| kernels::uuid(chars, &mut [0; 16]).is_some());
    let mut uuid = uuids.filter(|(_, chars)| is_uuid(chars)).filter_map(|(at, _)| {
        let (prefix, suffix) = (&first[..at], &first[at + UUID_CHARS..]);
        Template::new(Kind::Uuid, UUID_CHARS, prefix, suffix)
    });
    uuid.next().into_iter().chain(templates).collect()
}

/// The first of the longest runs of characters.
fn longest_run(id: &[u8], is_char: impl Fn(&u8) -> bool) -> Range<usize> {
    let (mut longest, mut start) = (0..0, 0);
    for (at, byte) in id.iter().enumerate() {
        if !is_char(byte) {
            start = at + 1;
        } else if at + 1 - start > longest.len() {
            longest = start..at + 1;
        }
    }
    longest
}
