use docvalues_testkit::rng::SplitMix64;

use super::*;

/// Values and a bitset of `docs` documents, of which `per_mille` have a value.
fn column(docs: usize, per_mille: u64, ascending: bool, random: &mut SplitMix64) -> (Vec<i64>, Vec<u64>) {
    let mut present = vec![0; docs.div_ceil(64)];
    let values = (0..docs as i64).map(|doc| {
        let there = random.chance(per_mille, 1_000);
        present[doc as usize / 64] |= u64::from(there) << (doc % 64);
        if ascending {
            doc * 3_000 + random.below(1_000).cast_signed()
        } else {
            random.below(1 << 20).cast_signed()
        }
    });
    (values.collect(), present)
}

#[test]
fn iterators_answer_as_the_values_do() {
    let mut random = SplitMix64::new(7);
    for docs in [0, 1, 511, 512, 513, 65_535, 65_536, 65_537, 300_000] {
        for (per_mille, ascending) in
            [(0, false), (1, true), (50, false), (600, true), (999, false), (1_000, true)]
        {
            let (values, present) = column(docs, per_mille, ascending, &mut random);
            let model = |doc: u32, all: bool| {
                let there = all || present[doc as usize / 64] >> (doc % 64) & 1 == 1;
                there.then(|| values[doc as usize])
            };
            let mut asked: Vec<u32> = (0..docs.min(500)).map(|_| random.below_u32(docs as u32)).collect();
            asked.extend([0, docs.saturating_sub(1)].map(|doc| doc as u32).iter().filter(|_| docs > 0));
            let mut ascending = asked.clone();
            ascending.sort_unstable();
            for (all, are_ords) in [(false, false), (false, true), (true, false), (true, true)] {
                let column = Column::encode(&values, (!all).then_some(&present), are_ords, 512);
                assert!(!are_ords || column.numbers.blocks() == 0);
                for tables in Tables::EACH {
                    for asked in [&asked, &ascending] {
                        let mut iterator = column.iterator(tables);
                        for &doc in asked {
                            assert_eq!(
                                iterator.get(DocId::new(doc)),
                                model(doc, all),
                                "{doc} of {docs}, {tables:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn forward_iterators_read_each_header_once() {
    let mut random = SplitMix64::new(8);
    let (values, present) = column(1_000_000, 500, true, &mut random);
    let column = Column::encode(&values, Some(&present), false, 16_384);
    let blocks = column.blocks();
    assert_eq!(blocks[0], 1_000_000_u64.div_ceil(65_536));
    assert!(blocks[1] > 25, "{blocks:?}");
    for step in [1, 10, 1_000] {
        let mut walk = column.iterator(Tables::NONE);
        (0..1_000_000).step_by(step).for_each(|doc| _ = walk.get(DocId::new(doc)));
        assert_eq!(walk.headers(), blocks, "every {step}th document");
    }
    let mut jumps = column.iterator(Tables::BOTH);
    for i in 0..10 {
        jumps.get(DocId::new(i * 100_000));
    }
    assert!(jumps.headers()[0] <= 10 && jumps.headers()[1] <= 10, "{:?}", jumps.headers());
}

#[test]
fn a_step_back_begins_again() {
    let values: Vec<i64> = (0..65_536 * 4).map(|i| i * 7_000_003 % (1 + i)).collect();
    let present = vec![0x5555_5555_5555_5555; 1_024 * 4];
    let column = Column::encode(&values, Some(&present), false, 16_384);
    let mut walk = column.iterator(Tables::NONE);
    walk.get(DocId::new(65_536 * 3));
    walk.get(DocId::new(65_536 * 3 - 2));
    assert_eq!(walk.headers()[0], 4 + 3);
}
