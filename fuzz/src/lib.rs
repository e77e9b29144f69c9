//! What the fuzz targets do with their input.
//!
//! | target | input | question |
//! | --- | --- | --- |
//! | [`segment`] | a file | does everything that can be asked of it return? |
//! | [`resealed`] | a file, its checksums made good | the same, behind the checksums |
//! | [`numeric`], [`presence`], [`dictionary`], [`binary`] | fields of the directory, then sections | does every decoder return, alike in all modes? |
//! | [`directory`] | a footer, a root, a page | the same |
//!
//! They are functions of a library so that ordinary tests replay corpora and old crashes on stable.
//! A target panics where it found something; otherwise it returns.

mod decoders;
mod exercise;
mod reseal;

use docvalues::{Access, JumpTables, OpenOptions, Segment, Verify};

pub use decoders::{binary, dictionary, directory, numeric, presence};
pub use exercise::{Plan, exercise};
pub use reseal::reseal;

/// A target's name and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target: what the replay of corpora walks.
pub const TARGETS: [Target; 7] = [
    ("segment", segment),
    ("resealed", resealed),
    ("numeric", numeric),
    ("presence", presence),
    ("dictionary", dictionary),
    ("binary", binary),
    ("directory", directory),
];

/// Any bytes as a file: opening them, and asking everything of what opened, returns.
pub fn segment(input: &[u8]) {
    for jump_tables in JumpTables::ALL {
        let options = OpenOptions { verify: Verify::OnFirstTouch, jump_tables, access: Access::Map };
        let Ok(segment) = Segment::from_bytes(input.to_vec(), options) else { return };
        let Ok(plan) = Plan::small(&segment) else { continue };
        exercise(&plan, &segment, &mut |answer| {
            std::hint::black_box(answer.is_ok());
        });
        std::hint::black_box((segment.verify().is_ok(), segment.stats().is_ok()));
    }
}

/// Any bytes as a file by someone who computes checksums.
pub fn resealed(input: &[u8]) {
    let mut file = input.to_vec();
    reseal(&mut file);
    segment(&file);
}
