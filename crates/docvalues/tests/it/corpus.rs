//! What fuzzers found worth keeping, and what once crashed, on stable.

use std::path::Path;

#[test]
fn corpora_and_old_crashes_replay() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (name, target) in docvalues_fuzz::TARGETS {
        let mut replayed = 0;
        for folder in ["corpus", "regressions"] {
            let Ok(files) = std::fs::read_dir(fuzz.join(folder).join(name)) else { continue };
            for file in files {
                let path = file.unwrap().path();
                // Printed before it runs: a crash shall say whose it was.
                let input = std::fs::read(&path).unwrap();
                let result = std::panic::catch_unwind(|| target(&input));
                assert!(result.is_ok(), "{} crashes `{name}`", path.display());
                replayed += 1;
            }
        }
        println!("{name}: {replayed} inputs replayed");
        assert!(replayed > 0, "no corpus for `{name}` in {}", fuzz.display());
    }
}
