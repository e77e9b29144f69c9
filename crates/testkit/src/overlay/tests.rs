//! An overlay equals a column that was written with the changes.

use docvalues_column::{Field, Kind, LogicalType};

use super::*;
use crate::concat::Concat;
use crate::conformance::{check_column, check_panics};
use crate::model::ModelColumn;
use crate::rng::SplitMix64;

type Slots = Vec<Option<i64>>;

fn open(slots: &Slots) -> Arc<dyn Column> {
    let field = Field::new("changed", Kind::Numeric, LogicalType::I64);
    ModelColumn::Numeric(slots.clone()).open(field, slots.len() as u32)
}

/// Checks an overlay over `base`, which has these numbers, with changes of every kind, and an overlay over the overlay.
fn check(base: &Arc<dyn Column>, slots: &Slots) {
    let docs = slots.len() as u32;
    let mut rng = SplitMix64::new(u64::from(docs));
    let last = docs - 1;
    let edges = [0, 63, 64, 99, 100, 255, 256, last].map(|doc| doc.min(last));
    let mut outside = || rng.pick(&[None, Some(i64::MIN), Some(i64::MAX), Some(0), Some(7_000)]).to_owned();
    let changes: [BTreeMap<u32, Option<i64>>; 5] = [
        BTreeMap::new(),
        edges.map(|doc| (doc, outside())).into(),
        (0..docs).map(|doc| (doc, outside())).collect(),
        (0..docs).map(|doc| (doc, None)).collect(),
        (0..docs).step_by(3).map(|doc| (doc, Some(i64::from(doc) - 50))).collect(),
    ];
    let change = |slots: &mut Slots, changes: &BTreeMap<u32, Option<i64>>| {
        changes.iter().for_each(|(doc, number)| slots[*doc as usize] = *number);
    };
    for changes in &changes {
        let mut slots = slots.clone();
        change(&mut slots, changes);
        let overlay: Arc<dyn Column> = Arc::new(Overlay::new(base.clone(), changes.clone()));
        check_column(&*overlay, &*open(&slots));
        assert!(matches!(overlay.info().bounds, Bounds::Within(_)));
        let again: BTreeMap<_, _> = [(0, Some(-9)), (last, None)].into();
        change(&mut slots, &again);
        check_column(&Overlay::new(overlay, again), &*open(&slots));
    }
}

fn slots(docs: u32, some: u64) -> Slots {
    let mut rng = SplitMix64::new(some);
    (0..docs).map(|doc| rng.chance(some, 4).then(|| i64::from(doc) * 10)).collect()
}

#[test]
fn changes_are_seen_in_a_column() {
    for docs in [1, 64, 130, 700] {
        for some in [0, 3, 4] {
            let slots = slots(docs, some);
            check(&open(&slots), &slots);
        }
    }
}

#[test]
fn changes_are_seen_in_parts() {
    let slots = slots(300, 3);
    for borders in [vec![0, 100, 300], vec![0, 0, 64, 65, 256, 300]] {
        let part = |border: &[usize]| open(&slots[border[0]..border[1]].to_vec());
        let concat: Arc<dyn Column> = Arc::new(Concat::new(borders.windows(2).map(part).collect()));
        check(&concat, &slots);
        // An overlay under a concatenation: the counts of the parts are not exact.
        let overlaid = |border: &[usize]| -> Arc<dyn Column> {
            let changes = (0..border[1] - border[0]).step_by(2).map(|doc| (doc as u32, None));
            Arc::new(Overlay::new(part(border), changes.collect()))
        };
        let mut changed = slots.clone();
        for border in borders.windows(2) {
            changed[border[0]..border[1]].iter_mut().step_by(2).for_each(|slot| *slot = None);
        }
        let concat = Concat::new(borders.windows(2).map(overlaid).collect());
        check_column(&concat, &*open(&changed));
        assert!(concat.info().with_value.exact().is_none());
    }
}

#[test]
fn an_index_is_there_if_there_is_one_below() {
    let base = open(&slots(700, 4));
    let overlay = Overlay::new(base.clone(), [(300, Some(-5))].into());
    check_panics(&overlay);
    let mut open = [0];
    let index = overlay.skip_index().unwrap();
    index.may_hold(0, DocRange::new(0, 700), &(-5..=-5), &mut open, &mut Pruning::default()).unwrap();
    assert_eq!(open, [0b10]);
    assert!(Overlay::new(Arc::new(Concat::new(vec![base])), BTreeMap::new()).skip_index().is_none());
}

#[test]
#[should_panic(expected = "document Some(3) of 3")]
fn a_document_past_the_end_cannot_change() {
    Overlay::new(open(&slots(3, 4)), [(3, None)].into());
}
