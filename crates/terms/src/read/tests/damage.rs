//! Damage with valid checksums: no panic, no endless loop, and every document returned is one of the segment.

use super::*;

/// The sections, in file order.
fn sections(ids: &Ids<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut sections = Vec::new();
    let _ = ids.clone().try_map(&mut |_, bytes: Vec<u8>| {
        sections.push(bytes);
        Ok::<_, Error>(())
    });
    sections
}

/// The ids with other sections.
fn with(ids: &Ids<Vec<u8>>, sections: &[Vec<u8>]) -> Ids<Vec<u8>> {
    let mut sections = sections.iter();
    ids.clone().try_map(&mut |_, _| Ok::<_, Error>(sections.next().unwrap().clone())).unwrap()
}

/// Asks everything there is to ask. Returns how many look-ups were asked.
fn ask(ids: Ids<Vec<u8>>, asked: &[Vec<u8>]) -> usize {
    open(ids).map_or(0, |reader| ask_reader(&reader, asked))
}

fn ask_reader(reader: &IdsReader<Owned>, asked: &[Vec<u8>]) -> usize {
    for id in asked {
        if let Ok(Some(doc)) = reader.find(id) {
            assert!(doc.get() < reader.doc_count());
        }
        let mut buffer = Packed::default();
        if let Some(Ok(Some(doc))) =
            reader.template().pack(id, &mut buffer).map(|key| reader.find_packed(key))
        {
            assert!(doc.get() < reader.doc_count());
        }
        assert!(
            reader.lower_bound(id).is_ok_and(|rank| rank <= reader.len()) || reader.lower_bound(id).is_err()
        );
    }
    let mut seen = 0;
    let _ = reader.each(|_, _| {
        seen += 1;
        ControlFlow::Continue(())
    });
    assert!(seen <= reader.len());
    let _ = reader.verify();
    asked.len()
}

fn shapes() -> Vec<Model> {
    vec![
        model((0..60_u32).map(|i| format!("doc-{:08}", i * 997).into_bytes())),
        model((0..55_u32).map(|i| i.wrapping_mul(0x9e37_79b9).to_be_bytes()[..1 + i as usize % 4].to_vec())),
        model(
            (0..60_u32)
                .map(|i| [&[b'p'; 9][..], &(i * 77_777).to_be_bytes(), &vec![b's'; i as usize % 3]].concat()),
        ),
        model([vec![]]),
        model(
            (0..120_u32).map(|i| {
                format!("{:08x}-0000-4000-8000-{:012x}", i.wrapping_mul(0x9e37_79b9), i).into_bytes()
            }),
        ),
    ]
}

#[test]
fn every_byte_of_small_indexes_damaged() {
    for (model, form) in shapes().iter().flat_map(|model| Form::ALL.map(|form| (model, form))) {
        let good = encode(model, IdOptions { form, ..IdOptions::default() });
        let all: Vec<_> = asked(&model.keys().cloned().collect()).into_iter().step_by(37).collect();
        let bytes = sections(&good);
        for (section, at) in
            bytes.iter().enumerate().flat_map(|(i, bytes)| (0..bytes.len()).map(move |at| (i, at)))
        {
            // By turns.
            let flip = [1, 0x80, 0xff][at % 3];
            let mut bad = bytes.clone();
            bad[section][at] ^= flip;
            ask(with(&good, &bad), &all);
        }
        for section in 0..bytes.len() {
            for len in 0..bytes[section].len() {
                let mut bad = bytes.clone();
                bad[section].truncate(len);
                ask(with(&good, &bad), &all[..1]);
            }
        }
    }
}

#[test]
fn every_byte_of_ids_in_a_column_damaged() {
    let model = in_column::ids(150);
    let (good, column) = (in_column::build(&model, 16), in_column::values(&model));
    let all: Vec<_> = asked(&model.keys().cloned().collect()).into_iter().step_by(37).collect();
    // The column is the last one.
    let bytes = [sections(&good), vec![column.slice(0..column.len()).unwrap().to_vec()]].concat();
    let ask = |bad: &[Vec<u8>], all: &[Vec<u8>]| {
        let Some((column, bad)) = bad.split_last() else { return 0 };
        let column = Owned::new(Section::Bytes, column.clone());
        in_column::open_in(with(&good, bad), column).map_or(0, |reader| ask_reader(&reader, all))
    };
    let mut done = 0;
    for (section, at) in
        bytes.iter().enumerate().flat_map(|(i, bytes)| (0..bytes.len()).map(move |at| (i, at)))
    {
        let mut bad = bytes.clone();
        bad[section][at] ^= [1, 0x80, 0xff][at % 3];
        done += ask(&bad, &all);
        bad[section].truncate(at);
        ask(&bad, &all[..1]);
    }
    assert!(done > 1_000 * all.len(), "{done}");
}

#[test]
fn a_hundred_thousand_look_ups_on_damaged_copies() {
    let mut state = 0x5eed_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) as usize % below
    };
    let mut done = 0;
    let models: Vec<_> = shapes()
        .into_iter()
        .map(|model| {
            let all = asked(&model.keys().cloned().collect());
            (model, all)
        })
        .collect();
    while done < 100_000 {
        for (model, all) in &models {
            let form = Form::ALL[random(3)];
            let good = encode(
                model,
                IdOptions { form, filter_bits: [0, 16][random(2)], seed: 1, ..IdOptions::default() },
            );
            let mut bad = sections(&good);
            for _ in 0..=random(3) {
                let section = random(bad.len());
                if !bad[section].is_empty() {
                    let at = random(bad[section].len());
                    bad[section][at] = random(256) as u8;
                }
            }
            done += ask(with(&good, &bad), all);
        }
    }
}

#[test]
fn verify_refuses_contradictions() {
    let model = model((0..200_u32).map(|i| format!("doc-{:08}", i * 997).into_bytes()));
    let good = encode(&model, IdOptions::default());
    let fails = |ids: Ids<Vec<u8>>| open(ids).and_then(|reader| reader.verify()).unwrap_err().to_string();
    let bytes = sections(&good);
    // All bits of each section in turn, but for the filter, of which set bits do no harm, and what fills the last byte.
    for section in [0, 1, 2, 3] {
        for at in 0..bytes[section].len() {
            let mut bad = bytes.clone();
            bad[section][at] ^=
                if section == 3 { bad[section][at] & 0u8.wrapping_sub(bad[section][at]) } else { 0x04 };
            if bad[section] == bytes[section] || section == 1 && at >= bytes[1].len() - 7 {
                continue;
            }
            let ids = with(&good, &bad);
            let verified = open(ids).and_then(|reader| reader.verify());
            assert!(verified.is_err(), "section {section}, byte {at} of {}", bytes[section].len());
        }
    }
    let changed = |change: &dyn Fn(&mut IdsMeta)| {
        let mut ids = good.clone();
        change(&mut ids.meta);
        fails(ids)
    };
    assert!(changed(&|meta| meta.max_len = 99).contains("longest"));
    assert!(changed(&|meta| meta.least = [0].into()).contains("least"));
    assert!(changed(&|meta| meta.greatest = [9, 9].into()).contains("greatest"));
    assert!(changed(&|meta| meta.doc_count = 100).contains("number of ids"));
    assert!(changed(&|meta| meta.doc_count = 300).contains("a document that is not in the segment"));
    assert!(changed(&|meta| meta.seed = 1).contains("filter"));
    let docs = docvalues_format::numeric::encode(
        &vec![4_u32; 200],
        &docvalues_format::numeric::NumericOptions {
            role: docvalues_format::numeric::Role::IdDocs,
            doubles: false,
            jump_tables: true,
            zones: false,
        },
    );
    assert!(fails(Ids { docs, ..good.clone() }).contains("two ids"));
}
