use std::convert::Infallible;

use docvalues_format::numeric::{self, Numeric};

use super::*;

fn build(ids: &[(&str, u32)], docs: u32) -> Result<Ids<Vec<u8>>, BuildError<Infallible>> {
    let ids: Vec<_> = ids.iter().map(|&(id, doc)| (id, DocId::new(doc))).collect();
    IdsBuilder::new(IdOptions::default()).build(&ids[..], docs)
}

#[test]
fn invalid_ids_are_refused_by_name() {
    let refused = |ids: &[(&str, u32)]| build(ids, 9).unwrap_err().to_string();
    assert_eq!(refused(&[("a", 3), ("b\n", 5), ("b\n", 2)]), r#"documents 5 and 2 have the same id: "b\n""#);
    assert_eq!(
        refused(&[("a", 3), ("b", 5), ("aa", 2)]),
        r#"the id of document 2, "aa", is less than the one before it"#
    );
    assert_eq!(refused(&[("", 3), ("", 4)]), r#"documents 3 and 4 have the same id: """#);
    assert_eq!(refused(&[("a", 9)]), "document 9 has two ids, or is not one of the segment's 9 documents");
    assert_eq!(
        refused(&[("a", 3), ("b", 3)]),
        "document 3 has two ids, or is not one of the segment's 9 documents"
    );
    let long = "x".repeat(MAX_ID_LEN + 1);
    assert_eq!(
        refused(&[(&long, 3)]),
        "expected an id of at most 65535 bytes, found 65536 bytes in document 3"
    );
    assert!(build(&[(&long[1..], 3)], 9).is_ok());
}

#[test]
fn one_id_that_does_not_fit_makes_all_raw() {
    let kind = |ids: &[(&str, u32)]| build(ids, 9).unwrap().meta.template.to_string();
    assert_eq!(kind(&[("doc-000001", 0), ("doc-000002", 1)]), "doc-<digits of 6>");
    assert_eq!(kind(&[("doc-000001", 0), ("doc-00000a", 2), ("doc-000010", 1)]), "doc-<hex of 6>");
    assert_eq!(kind(&[("doc-000001", 0), ("doc-00000G", 2), ("doc-000010", 1)]), "<base64url of 10>");
    assert_eq!(kind(&[("doc-000001", 0), ("doc-00000g+", 2), ("doc-000010", 1)]), "raw");
    assert_eq!(kind(&[]), "raw");
}

/// A source whose second pass gives other ids.
struct Fickle(std::cell::Cell<u32>, [Vec<&'static str>; 2]);

impl SortedIds for Fickle {
    type Error = &'static str;

    fn each(&self, each: &mut dyn FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<(), &'static str> {
        let pass = self.0.replace(1) as usize;
        for (doc, id) in (0..).zip(&self.1[pass]) {
            if *id == "error" {
                return Err("gone");
            }
            if each(id.as_bytes(), DocId::new(doc)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[test]
fn ids_that_change_between_passes_are_refused() {
    let build = |first: &[&'static str], second: &[&'static str]| {
        let ids = Fickle(std::cell::Cell::new(0), [first.to_vec(), second.to_vec()]);
        IdsBuilder::new(IdOptions::default()).build(&ids, 9).map(|_| ())
    };
    assert_eq!(build(&["a", "b"], &["a", "b"]), Ok(()));
    for second in [&["a"][..], &["a", "b", "c"], &["b", "a"], &["a", "a"]] {
        assert_eq!(build(&["a", "b"], second), Err(BuildError::Changed), "{second:?}");
    }
    assert_eq!(build(&["error"], &[]), Err(BuildError::Source("gone")));
    assert_eq!(build(&["a"], &["error"]), Err(BuildError::Source("gone")));
}

/// Stores the bytes of the section of ids when there are enough of them.
struct Parts {
    ids: Vec<u8>,
    docs: Vec<u32>,
    /// The fewest bytes to store, and how often some were stored.
    least: usize,
    stored: usize,
}

impl BuildStorage<Infallible> for Parts {
    type Section = Vec<u8>;

    fn begin(&mut self, _: u32) {
        self.ids.clear();
        self.docs.clear();
        self.stored = 0;
    }

    fn doc(&mut self, doc: DocId) -> Result<(), Infallible> {
        self.docs.push(doc.get());
        Ok(())
    }

    fn ids(&mut self, made: &mut Vec<u8>) -> Result<(), Infallible> {
        if made.len() >= self.least {
            self.ids.append(made);
            self.stored += 1;
        }
        Ok(())
    }

    fn section(&mut self, rest: Vec<u8>) -> Vec<u8> {
        let mut ids = std::mem::take(&mut self.ids);
        ids.extend(rest);
        ids
    }

    fn docs(&mut self, options: &NumericOptions) -> Result<Numeric<Vec<u8>>, Infallible> {
        Ok(numeric::encode(&self.docs, options))
    }
}

#[test]
fn an_index_is_the_same_in_memory_and_spilled() {
    // One in the middle does not look like the others: a template is tried, and given up.
    for another in [None, Some("doc-100000x")] {
        let ids = (0..5_000_u32).map(|i| format!("doc-{:06}", i * 37)).chain(another.map(str::to_owned));
        let mut ids: Vec<_> = ids.zip((0..).map(DocId::new)).collect();
        ids.sort_unstable();
        for form in Form::ALL {
            let builder = IdsBuilder::new(IdOptions { form, ..IdOptions::default() });
            let expected = builder.build(&ids[..], 6_000).unwrap();
            for least in [0, 1, 100, 1 << 20] {
                let mut parts = Parts { ids: Vec::new(), docs: Vec::new(), least, stored: 0 };
                let made = builder.build_in(&ids[..], 6_000, &mut parts).unwrap();
                assert_eq!(made, expected, "{form:?}, {least}");
                assert_eq!(parts.stored > 0, form != Form::Fst && least <= 100, "{form:?}, {least}");
            }
        }
    }
}
