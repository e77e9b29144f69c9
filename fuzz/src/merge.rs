//! Merges of several segments.

use docvalues::column::bits;
use docvalues::reader::Verify;
use docvalues::writer::{Compression, ErrorKind as WriteErrorKind};
use docvalues::{
    Bitset, ColumnSource, DocId, LiveDocs, Merger, OpenOptions, Segment, SortKey, WriterOptions,
};
use docvalues_testkit::shapes::Presence;

use crate::choices::Choices;
use crate::program::{COMPRESSIONS, Column, Documents, options, ways_to_open};
use crate::structure::mutate;

/// Limit of the values of an input.
const VALUES: u32 = 20_000;

/// One input of a merge: some of the columns, its documents, and its live documents.
struct Piece {
    documents: Documents,
    file: Vec<u8>,
    live: Option<LiveDocs>,
}

/// Builds small segments, deletes some documents, and merges them: the bytes must equal those of a segment built at
/// once from the live documents. Then damages one of them: a merge must fail, or write a clean segment.
pub fn merge(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (options, hostile) = (options(&mut choices), choices.byte());
    let compression = choices.pick(&COMPRESSIONS);
    let columns = Documents::choose(&mut choices, true).columns;
    let mut pieces: Vec<Piece> =
        (0..=choices.below(4)).map(|_| Piece::choose(&mut choices, &columns)).collect();

    let mut whole = together(&pieces, &columns, compression);
    let keys = whole.choose_sort(&mut choices);
    whole.sort(keys.clone());
    let expected = whole.at_once(options);
    let sources: Vec<_> = pieces.iter().map(|piece| piece.source(&mut choices)).collect();
    let merged = merge_of(&pieces, &sources, &keys, compression, options);
    match merged {
        Ok(merged) => assert!(merged == expected, "the merge is not the segment that is made at once"),
        Err(error) => {
            let no_room = matches!(error.kind(), WriteErrorKind::Budget { .. }) && options.budget < 256 << 20;
            assert!(no_room, "a merge was refused: {error}");
        }
    }
    if hostile % 2 == 1 {
        drop(sources);
        let victim = usize::from(hostile / 2) % pieces.len();
        let piece = &mut pieces[victim];
        for _ in 0..=choices.byte() % 4 {
            let most = piece.file.len() + 4_096;
            let mut bytes = choices.clone();
            let mut scribble = |payload: &mut Vec<u8>, _: usize| {
                for _ in 0..=bytes.byte() % 4 {
                    let at = usize::from(bytes.word()) % payload.len().max(1);
                    if let Some(byte) = payload.get_mut(at) {
                        *byte = bytes.byte();
                    }
                }
            };
            mutate(&mut piece.file, most, choices.word().into(), &mut scribble);
        }
        merge_hostile(&pieces, compression, options);
    }
}

impl Piece {
    fn choose(choices: &mut Choices<'_>, columns: &[Column]) -> Piece {
        let absent = choices.byte();
        let mut documents = Documents::none(VALUES);
        for (number, column) in columns.iter().enumerate() {
            // Some of them exist in no segment.
            if absent < 128 || absent >> number & 1 == 0 {
                documents.columns.push(Column { spec: column.spec.clone(), values: column.values.clone() });
            }
        }
        for _ in 0..=choices.below(3) {
            let (docs, values) = documents.more(choices);
            documents.append(docs, values);
        }
        let keys = documents.choose_sort(choices);
        documents.sort(keys);
        let live = choices.flag().then(|| live(choices, documents.docs));
        let file = documents.at_once(options(choices));
        Piece { documents, file, live }
    }

    /// The source of a merge: a segment, or another source.
    fn source(&self, choices: &mut Choices<'_>) -> Box<dyn ColumnSource> {
        let segment =
            Segment::from_bytes(self.file.clone(), ways_to_open(choices)).expect("a written segment");
        if choices.byte() % 4 == 3 {
            Box::new(self.documents.source(&segment.fields().expect("the directory of a written segment")))
        } else {
            Box::new(segment)
        }
    }

    fn lives(&self, doc: u32) -> bool {
        self.live.as_ref().is_none_or(|live| live.contains(DocId::new(doc)))
    }
}

/// Live documents, from words that may have bits after the last document.
fn live(choices: &mut Choices<'_>, docs: u32) -> LiveDocs {
    let presence = match choices.byte() {
        per_mille @ 0..128 => Presence::Random(u32::from(per_mille) * 8),
        other => Presence::ALL[usize::from(other) % Presence::ALL.len()],
    };
    let mut words = vec![0; bits::words(0..docs) + usize::from(choices.flag())];
    for (doc, lives) in presence.bits(docs, choices.byte().into()).into_iter().enumerate() {
        if lives {
            bits::set(&mut words, doc);
        }
    }
    let after_end = u64::MAX.checked_shl(docs % 64).unwrap_or(0);
    if let Some(last) = words.get_mut(docs as usize / 64).filter(|_| choices.flag()) {
        *last |= after_end;
    }
    words.truncate(bits::words(0..docs));
    LiveDocs::from(&Bitset::from_words(words, docs))
}

fn merge_of(
    pieces: &[Piece],
    sources: &[Box<dyn ColumnSource>],
    keys: &[SortKey],
    compression: Compression,
    options: WriterOptions,
) -> Result<Vec<u8>, docvalues::writer::Error> {
    let merger = || -> Result<Merger<'_>, docvalues::writer::Error> {
        let mut merger = Merger::new(options).compression(compression).sort_by(keys.to_vec());
        for (piece, source) in pieces.iter().zip(sources) {
            match &piece.live {
                Some(live) => drop(merger.add_live("piece", &**source, live)?),
                None => drop(merger.add("piece", &**source)),
            }
        }
        Ok(merger)
    };
    if options.budget >= 1 << 20 {
        return merger()?.finish_bytes().map(|(bytes, _)| bytes);
    }
    let folder = crate::folder();
    let path = folder.path().join("merged.dv");
    let merged = merger()?.finish(&path);
    let left = std::fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(left, usize::from(merged.is_ok()), "files in the folder");
    merged.map(|_| std::fs::read(&path).expect("the file that was published"))
}

/// All live documents, input by input.
fn together(pieces: &[Piece], columns: &[Column], compression: Compression) -> Documents {
    let places = |piece: &Piece| {
        (0..piece.documents.docs).filter(|&doc| piece.lives(doc)).map(Some).collect::<Vec<_>>()
    };
    let mut whole = Documents::none(0);
    for column in columns {
        let of = |piece: &'_ Piece| {
            piece.documents.columns.iter().position(|c| c.spec.name() == column.spec.name())
        };
        if pieces.iter().any(|piece| of(piece).is_some()) {
            let spec = column.spec.clone().compression(compression);
            whole.columns.push(Column { spec, values: column.values.clone() });
        }
    }
    for piece in pieces {
        let places = places(piece);
        let values = whole.columns.iter().map(|column| {
            let found = piece.documents.columns.iter().find(|c| c.spec.name() == column.spec.name());
            match found {
                Some(found) => found.values.pick(places.iter().copied()),
                None => column.values.pick(places.iter().map(|_| None)),
            }
        });
        let values = values.collect();
        whole.append(u32::try_from(places.len()).expect("few documents"), values);
    }
    whole
}

/// Merges with one input that is damaged under valid checksums.
fn merge_hostile(pieces: &[Piece], compression: Compression, options: WriterOptions) {
    let options = options.budget(4 << 20);
    for verify in [Verify::OnFirstTouch, Verify::Never] {
        let opened = pieces
            .iter()
            .map(|piece| Segment::from_bytes(piece.file.clone(), OpenOptions::new().verify(verify)));
        let Ok(opened) = opened.collect::<Result<Vec<_>, _>>() else { continue };
        let mut merger = Merger::new(options).compression(compression);
        for (number, segment) in opened.iter().enumerate() {
            merger.add(format!("piece {number}"), segment);
        }
        let Ok((merged, _)) = merger.finish_bytes() else { continue };
        let merged = Segment::from_bytes(merged, OpenOptions::new()).expect("a merged segment opens");
        merged.verify().unwrap_or_else(|error| panic!("merged, and not clean: {error}"));
    }
}
