//! The heap usage of retrieving a page of results, after pages of the largest size.

use docvalues::search::Search;
use docvalues::{DocId, Kind, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes;

use crate::{ALLOCATOR, write};

/// Documents of a page.
const PAGE: usize = 20;

/// Memory for decoding compressed strings: the codes of a page, and the decoded bytes.
const DECODING: usize = 4 << 10;

#[test]
fn pages_allocate_only_for_decoding() {
    let _turn = crate::turn();
    let dataset = shapes::small_of_every_kind();
    let file = write::in_batches(&dataset, 10_000, &write::COMPRESSIONS, WriterOptions::default());
    let segment = Segment::from_bytes(file, OpenOptions::new()).unwrap();
    let mut random = SplitMix64::new(7);
    let pages: Vec<Vec<DocId>> = (0..cases(150, 500))
        .map(|_| (0..PAGE).map(|_| DocId::new(random.below_u32(dataset.docs))).collect())
        .collect();
    for (field, _) in &dataset.columns {
        let mut retriever = Search::new(&segment).retriever(&[&field.name]).unwrap();
        let turn = |retriever: &mut docvalues::search::export::Retriever| {
            pages.iter().for_each(|page| assert_eq!(retriever.retrieve(page).unwrap().len(), PAGE));
        };
        turn(&mut retriever);
        let ((), more, peak) = ALLOCATOR.here(|| turn(&mut retriever));
        assert_eq!(more, 0, "`{}` keeps more with each page", field.name);
        // Other columns are decoded in place.
        let allowed = if field.kind == Kind::Binary { DECODING } else { 0 };
        assert!(peak <= allowed, "`{}` takes {peak} bytes of {allowed}", field.name);
        println!("{}: {peak} bytes", field.name);
    }
}
