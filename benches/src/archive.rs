//! Synthetic documents of a web archive, in any number, each generated independently of the others.
//!
//! They imitate the collection of the posts on jump tables (LUCENE-8585): a document is a harvest of a page. Each
//! field has the original's number of distinct values, frequency of the common ones, and share of documents with a
//! value.
//!
//! | field | type | values | documents with one |
//! | --- | --- | --- | --- |
//! | `id` | uuid | unique, random | all |
//! | `source_file` | string | one for 20,000 documents in a row | all |
//! | `url` | string | nearly unique; repeated if a page is harvested again | all |
//! | `url_norm` | string | one for each page; 5 of 6 documents have a unique one | all |
//! | `host` | string | one for about 128 documents (Zipf) | all |
//! | `domain` | string | five for eight hosts | all |
//! | `public_suffix` | string | 36, of which `dk` has three quarters | all |
//! | `content_type_served` | string | 34, most of which are HTML | all |
//! | `content_type_norm` | string | 8 | all |
//! | `content_type_ext` | string | 25 | about 60 %: pages with an extension |
//! | `status_code` | i64 | 8, of which 200 has nine tenths | all |
//! | `crawl_date` | timestamp\[ms\] | 14 years, nearly ascending | all |
//! | `crawl_year` | i64 | its year | all |
//! | `content_length` | u64 | powers of two, skewed, by the type | a chosen percentage |
//! | `content_language` | string | 12 | about half: HTML |
//! | `image_pixels` | u64 | up to 24 bits | 1 % |

use std::fmt::Write;

use docvalues_testkit::rng::SplitMix64;
use jiff::tz::Offset;

pub use self::fields::{FIELDS, Value, add, field, moment};

mod fields;

/// Documents of a source file.
const FILE: u32 = 20_000;

/// 2004-12-31T23:00:00Z, the first harvest, in milliseconds.
const FIRST: u64 = 1_104_534_000_000;

/// Milliseconds from the first harvest to the last: 14 years of 365.25 days.
const SPAN: u64 = 14 * 365_250 * 86_400;

/// The greatest distance of adjacent harvests, in milliseconds: an hour.
const APART: u64 = 3_600_000;

const SYLLABLES: [&str; 64] = [
    "ba", "be", "bi", "bo", "by", "da", "de", "di", "do", "du", "fa", "fe", "fi", "fo", "ga", "ge", "go",
    "gu", "ha", "he", "hi", "ho", "ja", "jo", "ka", "ke", "ki", "ko", "ku", "la", "le", "li", "lo", "lu",
    "ma", "me", "mi", "mo", "na", "ne", "ni", "no", "nu", "pa", "pe", "pi", "po", "ra", "re", "ri", "ro",
    "ru", "sa", "se", "si", "so", "ta", "te", "ti", "to", "va", "ve", "vi", "vo",
];

const SUFFIXES: [&str; 32] = [
    "ac.uk", "at", "be", "biz", "ca", "cc", "ch", "co.uk", "cz", "de", "es", "eu", "fi", "fo", "fr", "gl",
    "gov", "hu", "info", "is", "it", "me", "name", "nl", "no", "nu", "pl", "ru", "se", "tv", "uk", "us",
];

/// The hosts of a domain, which have consecutive numbers.
const SUBDOMAINS: [&str; 8] = ["www.", "", "blog.", "shop.", "img.", "forum.", "news.", "m."];

const SECTIONS: [&str; 16] = [
    "nyheder",
    "sport",
    "blog",
    "shop",
    "produkter",
    "kategori",
    "arkiv",
    "bruger",
    "forum",
    "medier",
    "video",
    "billeder",
    "dok",
    "hjaelp",
    "om",
    "soeg",
];

const WORDS: [&str; 32] = [
    "roed", "groen", "blaa", "sort", "hvid", "lille", "stor", "hurtig", "langsom", "glad", "flod", "bjerg",
    "skov", "hav", "dal", "vinter", "sommer", "foraar", "mandag", "fredag", "ferie", "by", "land", "bog",
    "film", "musik", "mad", "bil", "hus", "have", "hest", "vogn",
];

/// A type of pages.
struct Type {
    norm: &'static str,
    /// Percentage of the pages.
    percent: u64,
    served: &'static [&'static str],
    /// File extensions; empty for pages without one.
    ext: &'static [&'static str],
    /// The least and the greatest power of two of the length.
    bits: [u64; 2],
}

const TYPES: [Type; 8] = [
    Type {
        norm: "html",
        percent: 56,
        served: &[
            "text/html",
            "text/html; charset=utf-8",
            "text/html; charset=UTF-8",
            "text/html; charset=iso-8859-1",
            "text/html;charset=utf-8",
            "text/html; charset=ISO-8859-1",
            "text/html;charset=UTF-8",
            "text/html; charset=windows-1252",
            "text/html;charset=ISO-8859-1",
            "application/xhtml+xml",
            "text/html; charset=iso-8859-15",
            "text/html; charset=\"utf-8\"",
        ],
        ext: &["", "", "", "html", "php", "", "htm", "asp", "aspx", "jsp", "", ""],
        bits: [9, 18],
    },
    Type {
        norm: "image",
        percent: 31,
        served: &["image/jpeg", "image/gif", "image/png", "image/x-icon", "image/svg+xml", "image/pjpeg"],
        ext: &["jpg", "gif", "png", "jpg", "ico", "svg", "JPG", "jpeg"],
        bits: [7, 20],
    },
    Type {
        norm: "text",
        percent: 6,
        served: &[
            "text/css",
            "application/javascript",
            "text/plain",
            "application/x-javascript",
            "text/javascript",
        ],
        ext: &["css", "js", "txt", "js", ""],
        bits: [6, 17],
    },
    Type { norm: "pdf", percent: 2, served: &["application/pdf"], ext: &["pdf"], bits: [13, 24] },
    Type {
        norm: "xml",
        percent: 2,
        served: &["text/xml", "application/rss+xml", "application/xml"],
        ext: &["xml", "rss", ""],
        bits: [8, 18],
    },
    Type {
        norm: "video",
        percent: 1,
        served: &["video/mp4", "video/x-flv"],
        ext: &["mp4", "flv"],
        bits: [16, 29],
    },
    Type { norm: "audio", percent: 1, served: &["audio/mpeg"], ext: &["mp3"], bits: [15, 25] },
    Type {
        norm: "other",
        percent: 1,
        served: &["application/octet-stream", "application/zip", "application/x-shockwave-flash", "no-type"],
        ext: &["exe", "zip", "swf", ""],
        bits: [4, 26],
    },
];

const STATUSES: [(u64, i64); 8] =
    [(880, 200), (930, 404), (960, 302), (980, 301), (985, 403), (990, 500), (998, 304), (1000, 503)];

const LANGUAGES: [&str; 12] = ["da", "en", "de", "sv", "no", "fo", "kl", "fr", "nl", "pl", "is", "es"];

/// The low `bits` bits of `random`.
fn low(random: u64, bits: u64) -> u64 {
    random & ((1 << bits) - 1)
}

/// A number below 2^`kinds` - 1 with a Zipf distribution: each power of two is as likely as the next.
fn skewed(random: &mut SplitMix64, kinds: u64) -> u64 {
    let k = random.below(kinds);
    (1 << k) - 1 + low(random.next_u64(), k)
}

/// One of `items`, with a preference for the first ones.
fn frequent<T: Copy>(random: &mut SplitMix64, items: &[T]) -> T {
    let kinds = u64::from(items.len().ilog2()) + 1;
    items[skewed(random, kinds) as usize % items.len()]
}

/// The parameters of an archive.
#[derive(Clone, Copy, Debug)]
pub struct Archive {
    /// The number of documents.
    pub docs: u32,
    /// The seed of all documents.
    pub seed: u64,
    /// The percentage of documents with a `content_length`.
    pub length_percent: u64,
}

/// A document: a buffer that [`Archive::read`] fills again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above describes the fields")]
pub struct Document {
    pub id: u128,
    pub source_file: String,
    pub url: String,
    pub url_norm: String,
    pub host: String,
    pub domain: String,
    pub public_suffix: &'static str,
    pub content_type_served: &'static str,
    pub content_type_norm: &'static str,
    pub content_type_ext: Option<&'static str>,
    pub status_code: i64,
    pub crawl_date: i64,
    pub crawl_year: i64,
    pub content_length: Option<u64>,
    pub content_language: Option<&'static str>,
    pub image_pixels: Option<u64>,
}

impl Archive {
    /// A random number generator for the item `number` of a kind.
    fn random(&self, kind: u64, number: u64) -> SplitMix64 {
        let mut random = SplitMix64::new(self.seed ^ kind.wrapping_mul(0xD605_BBB5_8C8A_BBFD));
        SplitMix64::new(random.next_u64() ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Fills `out` with document `doc`, which depends only on the archive and the number.
    pub fn read(&self, doc: u32, out: &mut Document) {
        let mut random = self.random(0, doc.into());
        out.id = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        self.harvest(doc, &mut random, out);
        // A sixth of the documents are pages that were harvested before.
        let page = if doc > 0 && random.chance(1, 6) { random.below_u32(doc) } else { doc };
        self.page(page, out);
        out.url.clear();
        match random.below(8) {
            0 => {
                write_all(&mut out.url, format_args!("{}?PHPSESSID={:016x}", out.url_norm, random.next_u64()))
            }
            1 => write_all(&mut out.url, format_args!("{}#top", out.url_norm)),
            _ => out.url.push_str(&out.url_norm),
        }
        let [least, most] = of_norm(out.content_type_norm).bits;
        let k = least + random.below(most - least + 1);
        let len = 1 << k | low(random.next_u64(), k);
        out.content_length = (random.below(100) < self.length_percent).then_some(len);
    }

    /// Sets the fields that depend on the time of the harvest.
    fn harvest(&self, doc: u32, random: &mut SplitMix64, out: &mut Document) {
        let date =
            |doc: u32| FIRST + (u128::from(doc) * u128::from(SPAN) / u128::from(self.docs.max(1))) as u64;
        out.crawl_date = (date(doc) + random.below(APART)).cast_signed();
        out.crawl_year = Offset::UTC.to_datetime(moment(out.crawl_date)).year().into();
        let file = doc / FILE;
        out.source_file.clear();
        let started = date(file * FILE);
        let name =
            format_args!("{}-{}-{started}-{:05}-harvest.warc.gz", file / 512 + 1, file / 32 % 16, file % 32);
        write_all(&mut out.source_file, name);
        let place = random.below(1000);
        let status = STATUSES.iter().find(|(end, _)| place < *end);
        out.status_code = status.map_or(200, |(_, status)| *status);
    }

    /// Sets the fields that depend on the page.
    fn page(&self, page: u32, out: &mut Document) {
        let mut random = self.random(1, page.into());
        // The number of hosts is a power of two. They are ordered by number, not by frequency.
        let hosts = u64::from((self.docs >> 7).max(128).ilog2());
        let host = low(skewed(&mut random, hosts).wrapping_mul(0x9E37_79B1), hosts);
        self.host(host, out);
        let mut percent = random.below(100);
        let kind = TYPES.iter().find(|kind| {
            let found = percent < kind.percent;
            percent = percent.wrapping_sub(kind.percent);
            found
        });
        let kind = kind.unwrap_or(&TYPES[0]);
        out.content_type_norm = kind.norm;
        out.content_type_served = frequent(&mut random, kind.served);
        let ext = frequent(&mut random, kind.ext);
        out.content_type_ext = Some(ext).filter(|ext| !ext.is_empty());
        out.content_language = None;
        if kind.norm == "html" && random.below(100) < 90 {
            let is_danish = out.public_suffix == "dk" && random.below(100) < 85;
            out.content_language = Some(if is_danish { "da" } else { frequent(&mut random, &LANGUAGES) });
        }
        let has_pixels = kind.norm == "image" && random.below(1000) < 32;
        out.image_pixels = has_pixels.then(|| 1 + low(random.next_u64(), 24));

        out.url_norm.clear();
        let mut word = || *random.pick(&WORDS);
        let (first, second) = (word(), word());
        let section = random.pick(&SECTIONS);
        let dot = if ext.is_empty() { "" } else { "." };
        let path = format_args!("http://{}/{section}/{first}-{second}-{page}{dot}{ext}", out.host);
        write_all(&mut out.url_norm, path);
    }

    /// Sets the names of a host.
    fn host(&self, host: u64, out: &mut Document) {
        let domain = host * 5 / 8;
        let mut random = self.random(2, domain);
        out.public_suffix = match random.below(100) {
            ..75 => "dk",
            75..87 => "com",
            87..91 => "org",
            91..94 => "net",
            _ => *random.pick(&SUFFIXES),
        };
        out.domain.clear();
        // At least two syllables; the last one of longer names is not the first of the list, so names are distinct.
        let mut left = domain;
        for place in 0.. {
            if place >= 2 && left == 0 {
                break;
            }
            out.domain.push_str(SYLLABLES[(left % 64) as usize]);
            left /= 64;
        }
        out.domain.push('.');
        out.domain.push_str(out.public_suffix);
        out.host.clear();
        out.host.push_str(SUBDOMAINS[(host % 8) as usize]);
        out.host.push_str(&out.domain);
    }
}

fn of_norm(norm: &str) -> &'static Type {
    TYPES.iter().find(|kind| kind.norm == norm).unwrap_or(&TYPES[0])
}

fn write_all(to: &mut String, text: std::fmt::Arguments<'_>) {
    to.write_fmt(text).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const ARCHIVE: Archive = Archive { docs: 200_000, seed: 1, length_percent: 85 };

    fn all() -> Vec<Document> {
        let read = |doc| {
            let mut document = Document::default();
            ARCHIVE.read(doc, &mut document);
            document
        };
        (0..ARCHIVE.docs).map(read).collect()
    }

    #[test]
    fn documents_are_as_the_table_says() {
        let documents = all();
        let len = documents.len();
        let distinct = |get: fn(&Document) -> &str| documents.iter().map(get).collect::<HashSet<_>>().len();
        let share =
            |has: fn(&Document) -> bool| documents.iter().filter(|d| has(d)).count() as f64 / len as f64;
        assert_eq!(documents.iter().map(|d| d.id).collect::<HashSet<_>>().len(), len);
        assert_eq!(distinct(|d| &d.source_file), 10);
        assert!(
            (len * 82 / 100..len * 88 / 100).contains(&distinct(|d| &d.url_norm)),
            "{}",
            distinct(|d| &d.url_norm)
        );
        assert!(distinct(|d| &d.url) > distinct(|d| &d.url_norm));
        assert!((900..=1024).contains(&distinct(|d| &d.host)), "{}", distinct(|d| &d.host));
        assert!((560..=640).contains(&distinct(|d| &d.domain)), "{}", distinct(|d| &d.domain));
        assert!((20..=36).contains(&distinct(|d| d.public_suffix)));
        assert_eq!(distinct(|d| d.content_type_norm), TYPES.len());
        let years: HashSet<_> = documents.iter().map(|d| d.crawl_year).collect();
        assert!((14..=16).contains(&years.len()));
        for (name, share, expected) in [
            ("ext", share(|d| d.content_type_ext.is_some()), 0.5..0.7),
            ("length", share(|d| d.content_length.is_some()), 0.84..0.86),
            ("language", share(|d| d.content_language.is_some()), 0.45..0.55),
            ("pixels", share(|d| d.image_pixels.is_some()), 0.007..0.013),
            ("200", share(|d| d.status_code == 200), 0.87..0.89),
        ] {
            assert!(expected.contains(&share), "{name}: {share}");
        }
    }

    /// Every machine generates these documents.
    #[test]
    fn the_hash_of_all_documents() {
        let hash = all()
            .iter()
            .flat_map(|d| d.url.bytes().chain(d.host.bytes()).chain(d.id.to_be_bytes()))
            .fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        assert_eq!(hash, 12_606_762_068_192_692_592);
    }
}
