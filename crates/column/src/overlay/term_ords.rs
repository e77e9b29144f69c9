//! [`NewTerms`]: terms that a dictionary lacks, and the ords of both together.

use std::io;
use std::sync::Arc;

use docvalues_format::id::TermOrd;

use crate::error::ErrorKind;
use crate::lists::Lists;
use crate::{Result, Terms};

/// Terms of a chunk, which a clone shares.
const CHUNK: usize = 256;

/// Terms that a dictionary lacks, and their places among its own.
///
/// A term keeps its *stable ord* when others come. That of a term of the dictionary is its ord there. New terms are numbered
/// from the dictionary's length on, in the order of the calls that add them, and by their bytes within a call.
/// [`Changes`](super::Changes) of a column of ords store stable ords.
///
/// ```text
/// dictionary   ant   cow   fox            stable ords 0 1 2
/// new                                     fly 3   bee 4
/// ords         ant 0   bee 1   cow 2   fly 3   fox 4
/// ```
///
/// # Examples
///
/// ```
/// # use docvalues_column::{ErrorKind, Lists, OrdRange, Result, TermOrd, Terms};
/// # struct Words(Vec<&'static str>);
/// # impl Terms for Words {
/// #     fn term_count(&self) -> u32 {
/// #         self.0.len() as u32
/// #     }
/// #     fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
/// #         out.clear();
/// #         Ok(ords.iter().for_each(|ord| out.push(self.0[ord.get() as usize].as_bytes())))
/// #     }
/// #     fn seek_ceil(&self, term: &[u8]) -> Result<TermOrd> {
/// #         Ok(TermOrd::new(self.0.partition_point(|word| word.as_bytes() < term) as u32))
/// #     }
/// # }
/// use docvalues_column::NewTerms;
///
/// let dictionary = Words(vec!["ant", "cow", "fox"]);
/// let mut new = NewTerms::default();
/// let ords = new.add(&dictionary, &[b"fly", b"cow"])?;
/// assert_eq!(ords, [3, 1].map(TermOrd::new));
/// assert_eq!(new.add(&dictionary, &[b"bee", b"fly"])?, [4, 3].map(TermOrd::new));
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct NewTerms {
    /// By stable ord.
    chunks: Arc<Vec<Arc<Lists<u8>>>>,
    order: Arc<Order>,
    bytes: usize,
}

/// The order of the new terms, and of all.
#[derive(Clone, Debug, Default)]
struct Order {
    /// The new terms in their order, by number.
    terms: Vec<u32>,
    /// The ord of each of these among all terms.
    ords: Vec<u32>,
    /// The place in that order of each new term, by number.
    places: Vec<u32>,
}

impl NewTerms {
    /// The number of new terms.
    pub fn len(&self) -> usize {
        self.order.terms.len()
    }

    /// Whether there are no new terms.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The size in memory, in bytes.
    pub fn heap(&self) -> usize {
        self.bytes + self.len() * (size_of::<u64>() + 3 * size_of::<u32>())
    }

    /// Returns the stable ord of each term, and adds the terms that are in neither. `dictionary` must be the same in every
    /// call. O(terms log n), and O(new terms) if some are added.
    ///
    /// # Errors
    ///
    /// If the dictionary is damaged, or there would be 2^32 terms. Nothing is added then.
    pub fn add(&mut self, dictionary: &dyn Terms, terms: &[&[u8]]) -> Result<Vec<TermOrd>> {
        let place = |term: &&[u8]| dictionary.place(term);
        let places = terms.iter().map(place).collect::<Result<Vec<_>>>()?;
        self.add_at(dictionary.term_count(), terms, &places)
    }

    /// As [`add`](Self::add), with the number of the dictionary's terms, and the [`place`](Terms::place) of each term in
    /// it.
    ///
    /// # Errors
    ///
    /// If there would be 2^32 terms.
    pub fn add_at(
        &mut self,
        count: u32,
        terms: &[&[u8]],
        places: &[Result<TermOrd, TermOrd>],
    ) -> Result<Vec<TermOrd>> {
        let (mut ords, mut lacking) = (Vec::with_capacity(terms.len()), Vec::new());
        for (at, (term, place)) in terms.iter().zip(places).enumerate() {
            ords.push(match (place, self.find(term)) {
                (Ok(ord), _) => *ord,
                (Err(_), Ok(new)) => TermOrd::new(count + self.order.terms[new]),
                (Err(before), Err(_)) => {
                    lacking.push((*term, at, before.get()));
                    TermOrd::default()
                }
            });
        }
        lacking.sort_unstable();
        let mut added = Vec::new();
        for (term, at, before) in lacking {
            if added.last().is_none_or(|(last, _)| *last != term) {
                added.push((term, before));
            }
            let number = u32::try_from(self.len() + added.len() - 1).ok();
            let ord = number.and_then(|number| count.checked_add(number)).filter(|ord| *ord < u32::MAX);
            ords[at] = TermOrd::new(ord.ok_or_else(too_many)?);
        }
        if !added.is_empty() {
            self.merge(&added);
        }
        Ok(ords)
    }

    /// Adds terms, which ascend, and the ord of the dictionary that each is before.
    fn merge(&mut self, added: &[(&[u8], u32)]) {
        let first = self.len();
        let mut old = self.order.terms.iter().zip(&self.order.ords).enumerate().peekable();
        let (mut terms, mut before) = (Vec::new(), Vec::new());
        for (number, (term, dictionary)) in (first..).zip(added) {
            while let Some((place, (old, ord))) =
                old.next_if(|(_, (old, _))| self.term(**old as usize) < *term)
            {
                terms.push(*old);
                before.push(ord - small(place));
            }
            terms.push(small(number));
            before.push(*dictionary);
        }
        for (place, (old, ord)) in old {
            terms.push(*old);
            before.push(ord - small(place));
        }
        let mut places = vec![0; terms.len()];
        terms.iter().enumerate().for_each(|(place, number)| places[*number as usize] = small(place));
        let ords = before.iter().enumerate().map(|(place, before)| before + small(place)).collect();
        self.order = Arc::new(Order { terms, ords, places });
        for (term, _) in added {
            self.push(term);
        }
    }

    fn push(&mut self, term: &[u8]) {
        self.bytes += term.len();
        let chunks = Arc::make_mut(&mut self.chunks);
        match chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(term),
            None => {
                let mut chunk = Lists::new();
                chunk.push(term);
                chunks.push(Arc::new(chunk));
            }
        }
    }

    /// The new term of a number.
    fn term(&self, number: usize) -> &[u8] {
        self.chunks[number / CHUNK].get(number % CHUNK)
    }

    /// The place of a term in the order of the new terms; the place where it would be if it is not there.
    fn find(&self, term: &[u8]) -> Result<usize, usize> {
        self.order.terms.binary_search_by(|number| self.term(*number as usize).cmp(term))
    }

    /// The number of new terms before a term.
    pub(super) fn before(&self, term: &[u8]) -> u32 {
        small(self.find(term).unwrap_or_else(|place| place))
    }

    /// The number of new terms before an ord among all terms.
    #[inline]
    fn before_ord(&self, ord: u32) -> usize {
        self.order.ords.partition_point(|other| *other < ord)
    }

    /// The ord among all terms of a stable ord, in a dictionary of `count` terms.
    #[inline]
    pub(super) fn ord(&self, count: u32, stable: TermOrd) -> TermOrd {
        let order = &*self.order;
        if let Some(place) = stable.get().checked_sub(count).and_then(|new| order.places.get(new as usize)) {
            return TermOrd::new(order.ords[*place as usize]);
        }
        // The new terms at or before the dictionary's term: those whose ord, less the new terms before it, is not above it.
        let (mut low, mut high) = (0, order.ords.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let is_before = order.ords[middle] - small(middle) <= stable.get();
            (low, high) = if is_before { (middle + 1, high) } else { (low, middle) };
        }
        // A damaged column may have any ord.
        TermOrd::new(stable.get().saturating_add(small(low)))
    }

    /// The new term of an ord among all terms, or else its ord in the dictionary.
    #[inline]
    pub(super) fn term_of(&self, ord: u32) -> Result<&[u8], TermOrd> {
        let before = self.before_ord(ord);
        match self.order.ords.get(before) {
            Some(new) if *new == ord => Ok(self.term(self.order.terms[before] as usize)),
            _ => Err(TermOrd::new(ord - small(before))),
        }
    }

    /// The number of the dictionary's terms before an ord among all terms.
    pub(super) fn dictionary_before(&self, ord: u32) -> u32 {
        ord - small(self.before_ord(ord))
    }
}

/// A number of new terms, of which there are fewer than 2^32.
fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn too_many() -> ErrorKind {
    let source = io::Error::other(format!("expected at most {} terms, found more", u32::MAX));
    ErrorKind::Source { name: "a column with new terms".to_owned(), source: Box::new(source) }
}
