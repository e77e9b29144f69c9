//! Replays the corpora of the fuzz targets, and inputs that once crashed.

use std::path::Path;

#[test]
fn corpora_and_regressions_replay() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (name, target) in docvalues_fuzz::TARGETS {
        let mut replayed = 0;
        for folder in ["corpus", "regressions"] {
            let Ok(files) = std::fs::read_dir(fuzz.join(folder).join(name)) else { continue };
            for file in files {
                let path = file.unwrap().path();
                // Printed first, so that the output names the input that crashes.
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
