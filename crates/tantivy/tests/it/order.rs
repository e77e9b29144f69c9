//! Documents in another order in the columns than in the text, which several threads write.

use docvalues::prelude::*;
use docvalues_tantivy::{Error, KEY};
use docvalues_testkit::rng::SplitMix64;

use crate::fixture::{Contents, Doc, add, check, columns, create_with, doc, options};

#[test]
fn documents_are_found_whatever_their_order() {
    let sorted = columns().with_sort([SortKey::of("size")]).unwrap();
    for (seed, columns) in (0..).zip([columns(), sorted]) {
        let folder = tempfile::tempdir().unwrap();
        // Up to four threads.
        let (index, mut writer) = create_with(folder.path(), columns, options().text_memory(60_000_000));
        let (mut rng, mut contents) = (SplitMix64::new(seed), Contents::new());
        for round in 0..4 {
            for _ in 0..200 {
                let key = rng.below(500);
                if rng.chance(1, 6) {
                    writer.delete(key).unwrap();
                    contents.remove(&key);
                    continue;
                }
                let mut words = vec!["all"];
                words.extend(rng.chance(1, 10).then_some("tenth"));
                words.extend(rng.chance(1, 100).then_some("rare"));
                // Longer than a batch.
                words.extend(
                    rng.chance(1, 50).then_some("again").map(|word| [word; 1_000]).into_iter().flatten(),
                );
                let words = words.into_iter().map(str::to_owned).collect();
                let doc = Doc { words, size: Some(rng.below_u32(1_000).into()), section: "net".to_owned() };
                add(&index, &mut writer, key, &doc);
                contents.insert(key, doc);
            }
            writer.commit().unwrap();
            check(&index.searcher(), &contents);
            if round % 2 == 1 {
                match writer.merge() {
                    // tantivy merges some of the segments.
                    Ok(()) | Err(Error::Text(_)) => {}
                    Err(error) => panic!("{error}"),
                }
                check(&index.searcher(), &contents);
            }
        }
    }
}

#[test]
fn threads_of_tantivy_get_documents_by_batches() {
    const DOCS: u64 = 500;
    let folder = tempfile::tempdir().unwrap();
    let (index, mut writer) = create_with(folder.path(), columns(), options().text_memory(60_000_000));
    (0..DOCS).for_each(|key| add(&index, &mut writer, key, &doc("ant", 1)));
    writer.commit().unwrap();
    let mut starts = 0;
    let searcher = index.searcher();
    for segment in searcher.text().segment_readers() {
        let keys = segment.fast_fields().u64(KEY).unwrap();
        let keys: Vec<u64> = (0..segment.max_doc()).map(|doc| keys.first(doc).unwrap()).collect();
        starts += 1 + keys.windows(2).filter(|pair| pair[0] + 1 != pair[1]).count();
    }
    assert!(starts < 50, "{starts} runs");
}
