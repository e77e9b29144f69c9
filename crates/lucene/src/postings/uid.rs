//! Ids of Elasticsearch and OpenSearch as terms of `_id`.
//!
//! | id | term |
//! | --- | --- |
//! | digits | `0xFE`, two digits a byte; 15 after the last one of an odd number |
//! | Base64 for URLs without padding | the bytes; after `0xFD`, if the first is `0xFD` or more |
//! | others | `0xFF`, then UTF-8 |

/// First bytes of terms.
const UTF_8: u8 = 0xFF;
const NUMERIC: u8 = 0xFE;
const ESCAPE: u8 = 0xFD;

/// The term of an id.
pub(crate) fn encode(id: &str) -> Vec<u8> {
    let digits = id.as_bytes();
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        let pairs = digits.chunks(2).map(|pair| {
            let low = pair.get(1).map_or(15, |digit| digit - b'0');
            (pair[0] - b'0') << 4 | low
        });
        return std::iter::once(NUMERIC).chain(pairs).collect();
    }
    match base64(digits) {
        Some(bytes) if bytes.first().is_some_and(|first| *first >= ESCAPE) => {
            [&[ESCAPE], &bytes[..]].concat()
        }
        Some(bytes) => bytes,
        None => [&[UTF_8], id.as_bytes()].concat(),
    }
}

/// Decodes Base64 for URLs without padding; `None` if it is none, or if bits of the last character are lost.
fn base64(text: &[u8]) -> Option<Vec<u8>> {
    if text.is_empty() || text.len() % 4 == 1 {
        return None;
    }
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(value), count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_encoded() {
        assert_eq!(encode("1234"), [NUMERIC, 0x12, 0x34]);
        assert_eq!(encode("123"), [NUMERIC, 0x12, 0x3F]);
        // An id that Elasticsearch made has 15 bytes.
        assert_eq!(encode("AAECAwQFBgcICQoLDA0O"), (0..15).collect::<Vec<u8>>());
        assert_eq!(encode("_wAB"), [ESCAPE, 0xFF, 0, 1]);
        assert_eq!(encode("AQ"), [1]);
        assert_eq!(encode("AR"), [UTF_8, b'A', b'R'], "bits would be lost");
        assert_eq!(encode("hello"), [&[UTF_8], &b"hello"[..]].concat());
        assert_eq!(encode("a b"), [UTF_8, b'a', b' ', b'b']);
        assert_eq!(encode("Größe"), [&[UTF_8], "Größe".as_bytes()].concat());
    }
}
