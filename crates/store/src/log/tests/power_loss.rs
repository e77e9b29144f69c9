//! Power loss: every frame that was synced is there.

use super::*;

/// Images of the disk that are drawn at each moment.
const DRAWS: u64 = 6;

#[derive(Debug, Default)]
struct Counts {
    images: u64,
    /// Images with frames that were not synced.
    with_more: u64,
    /// Images in which a whole frame follows the end.
    with_later_frames: u64,
}

/// Checks images of the disk: at least `synced` batches are there.
fn check_images(disk: &PowerLossDirectory, synced: u64, appended: u64, seed: &mut u64, counts: &mut Counts) {
    for _ in 0..DRAWS {
        *seed += 1;
        let image = disk.crash_image(*seed);
        let found = read_after(&image, AFTER);
        let (found, end) = found.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!((synced..=appended).contains(&found), "seed {seed}: {found}, expected {synced} at least");
        counts.images += 1;
        counts.with_more += u64::from(found > synced);
        let bytes = bytes_of(&image, end.logs.last().unwrap().header.number);
        let rest = bytes.get(usize::try_from(end.offset).unwrap()..).unwrap_or_default();
        let is_whole = |at: usize| {
            let header = super::super::frame::FrameHeader::decode(rest.get(at..)?)?;
            rest.get(at + FRAME_HEADER..at + FRAME_HEADER + header.padded_body())
                .filter(|body| header.is_body(body))
        };
        counts.with_later_frames += u64::from((8..rest.len()).step_by(8).any(|at| is_whole(at).is_some()));
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn synced_frames_survive(steps in steps(), mut seed in 0..1_u64 << 40) {
        let (disk, directory) = disk();
        let mut counts = Counts::default();
        let _ = run(&directory, &steps, |written, synced| {
            check_images(&disk, synced, written, &mut seed, &mut counts);
        });
    }

    /// The machine goes down, or a sync fails, at any sync.
    #[test]
    fn synced_frames_survive_each_failing_sync(
        steps in steps(),
        (n, is_down) in (2..30_u64, any::<bool>()),
        mut seed in 0..1_u64 << 40,
    ) {
        let (disk, _) = disk();
        let disk = if is_down { disk.down_at_sync(n) } else { disk.with_failing_sync(n) };
        let directory: Arc<dyn Directory> = Arc::new(disk.clone());
        let mut safe = AFTER;
        let _ = run(&directory, &steps, |_, synced| safe = synced);
        check_images(&disk, safe, AFTER + 60, &mut seed, &mut Counts::default());
    }
}

/// Torn frames with whole ones after them occur, and are no damage.
#[test]
fn whole_frames_after_torn_ones() {
    let (disk, directory) = disk();
    let writer = create(&directory).unwrap();
    let (mut counts, mut seed, mut last) = (Counts::default(), 0, AFTER);
    for _ in 0..20 {
        let synced = last;
        for _ in 0..5 {
            last += 1;
            writer.append(last, 0, body(last)).unwrap();
            writer.write_to(last).unwrap();
        }
        check_images(&disk, synced, last, &mut seed, &mut counts);
        writer.sync_to(last).unwrap();
        check_images(&disk, last, last, &mut seed, &mut counts);
    }
    println!("{counts:?}");
    assert!(
        counts.with_more > counts.images / 10 && counts.with_later_frames > counts.images / 20,
        "{counts:?}"
    );
}

/// Without any of its syncs, something is lost.
#[test]
fn each_sync_is_needed() {
    let steps: Vec<Step> = "aasrawsaasraws"
        .chars()
        .map(|step| match step {
            'a' => Step::Append,
            'w' => Step::Write,
            's' => Step::Sync,
            _ => Step::Rotate,
        })
        .collect();
    let syncs = {
        let (disk, directory) = disk();
        run(&directory, &steps, |_, _| {}).unwrap();
        disk.sync_count()
    };
    for without in 0..syncs {
        let disk = PowerLossDirectory::new("/disk").without_sync(without);
        let directory: Arc<dyn Directory> = Arc::new(disk.clone());
        let (mut lost, mut seed) = (0, 0);
        run(&directory, &steps, |_, synced| {
            for _ in 0..if lost == 0 { 200 } else { 0 } {
                seed += 1;
                let found = read(&disk.crash_image(seed));
                lost += u64::from(!found.is_ok_and(|found| found >= synced));
            }
        })
        .unwrap();
        assert!(lost > 0, "sync {without} of {syncs}");
    }
}
