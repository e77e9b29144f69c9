//! Where the ids of an index come from, and where its sections are while it is built.

use std::convert::Infallible;
use std::ops::ControlFlow;

use docvalues_format::id::DocId;
use docvalues_format::numeric::{self, Numeric, NumericOptions};

/// A source of ids and their documents, in the byte order of the ids.
///
/// # Examples
///
/// Ids that are computed, so that a list of them is never in memory:
///
/// ```
/// use std::convert::Infallible;
/// use std::ops::ControlFlow;
///
/// use docvalues_format::id::DocId;
/// use docvalues_terms::build::{IdOptions, IdsBuilder, SortedIds};
///
/// struct Orders(u32);
///
/// impl SortedIds for Orders {
///     type Error = Infallible;
///
///     fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Infallible> {
///         let _ = (0..self.0).try_for_each(|i| each(format!("order-{i:08}").as_bytes(), DocId::new(i)));
///         Ok(())
///     }
/// }
///
/// let ids = IdsBuilder::new(IdOptions::default()).build(&Orders(1_000), 1_000)?;
/// assert_eq!(ids.meta.count, 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SortedIds {
    /// The error of reading them.
    type Error;

    /// Calls `each` with each id and its document, in the order of the ids, until it breaks. Every call passes the
    /// same ids.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Self::Error>;
}

impl<I: AsRef<[u8]>> SortedIds for [(I, DocId)] {
    type Error = Infallible;

    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), Infallible> {
        let _ = self.iter().try_for_each(|(id, doc)| each(id.as_ref(), *doc));
        Ok(())
    }
}

/// The storage of an index while it is built: memory or, for the parts that grow with the ids, a temporary file.
///
/// An error `E` ends the build with [`BuildError::Storage`](super::BuildError::Storage).
pub trait BuildStorage<E> {
    /// The finished section. Small sections are converted from memory.
    type Section: From<Vec<u8>>;

    /// Discards everything: the build of an index of `count` ids begins.
    fn begin(&mut self, count: u32);

    /// Stores the document of the next id.
    ///
    /// # Errors
    ///
    /// When there is no room.
    fn doc(&mut self, doc: DocId) -> Result<(), E>;

    /// Appends `made`, the next bytes of the section of ids, to those stored before, and clears it. Or leaves it as it is:
    /// then the next call passes the same bytes and more.
    ///
    /// # Errors
    ///
    /// When there is no room; then `made` is left as it is.
    fn ids(&mut self, made: &mut Vec<u8>) -> Result<(), E>;

    /// The section of ids: the bytes stored, followed by `rest`.
    fn section(&mut self, rest: Vec<u8>) -> Self::Section;

    /// The documents stored, encoded.
    ///
    /// # Errors
    ///
    /// When they cannot be read, or there is no room.
    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Self::Section>, E>;
}

/// Stores the documents in memory.
#[derive(Default)]
pub(super) struct InMemory(Vec<u32>);

impl<E> BuildStorage<E> for InMemory {
    type Section = Vec<u8>;

    fn begin(&mut self, count: u32) {
        self.0.clear();
        self.0.reserve_exact(count as usize);
    }

    fn doc(&mut self, doc: DocId) -> Result<(), E> {
        self.0.push(doc.get());
        Ok(())
    }

    fn ids(&mut self, _: &mut Vec<u8>) -> Result<(), E> {
        Ok(())
    }

    fn section(&mut self, rest: Vec<u8>) -> Vec<u8> {
        rest
    }

    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Vec<u8>>, E> {
        Ok(numeric::encode(&self.0, options))
    }
}
