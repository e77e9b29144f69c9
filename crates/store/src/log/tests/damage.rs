//! Damaged logs: all frames that were durable are returned, or an error with the place.

use std::path::Path;

use super::super::frame::{LogHeader, PreviousLog};
use super::*;

/// Three logs with frames. The last log has frames that know of each other that they were synced.
fn logs() -> [(u64, Vec<u8>); 3] {
    let (_, directory) = disk();
    let writer = create(&directory).unwrap();
    let mut last = AFTER;
    for log in [7, 9, 11] {
        for _ in 0..4 {
            last += 1;
            writer.append(last, last, body(last)).unwrap();
            writer.sync_to(last).unwrap();
        }
        if log < 11 {
            writer.rotate(log + 2).unwrap();
        }
    }
    [7, 9, 11].map(|number| (number, frames_of(&*directory, number)))
}

fn borrowed(logs: &[(u64, Vec<u8>); 3]) -> Vec<(u64, &[u8])> {
    logs.iter().map(|(number, bytes)| (*number, &bytes[..])).collect()
}

/// The offset of the last frame of the last log.
fn last_frame() -> usize {
    let all = folder(&borrowed(&logs()));
    usize::try_from(list(&all).unwrap().last().unwrap().offset).unwrap()
}

/// Checks that an error names the log and, unless it is about the header, an offset.
fn check_error(error: &Error, number: u64) {
    let text = error.to_string();
    assert!(matches!(error, Error::Damaged { .. }), "{text}");
    let path = Path::new("/disk").join(format!("log-{number:08x}"));
    assert!(text.starts_with(&format!("{}: ", path.display())), "{text}");
}

#[test]
fn every_flipped_bit_is_damage_but_in_the_last_frame() {
    let (whole, last_frame, mut damaged) = (logs(), last_frame(), 0);
    for place in 0..3 {
        let len = whole[place].1.len();
        for bit in 0..len * 8 {
            let mut logs = whole.clone();
            logs[place].1[bit / 8] ^= 1 << (bit % 8);
            let disk = folder(&borrowed(&logs));
            match read(&disk) {
                Ok(111) => assert!(place == 2 && bit / 8 >= last_frame, "log {place}, bit {bit}"),
                Ok(found) => panic!("log {place}, bit {bit}: {found} is the last"),
                Err(error) => {
                    damaged += 1;
                    check_error(&error, logs[place].0);
                }
            }
            let _ = list(&disk);
        }
    }
    assert!(damaged > 12_000, "{damaged}");
}

#[test]
fn cut_logs() {
    let whole = logs();
    let ends: Vec<u64> = list(&folder(&borrowed(&whole))).unwrap()[8..]
        .iter()
        .map(|frame| frame.offset + frame.bytes)
        .collect();
    for place in 0..3 {
        for len in 0..whole[place].1.len() {
            let mut logs = whole.clone();
            logs[place].1.truncate(len);
            match read(&folder(&borrowed(&logs))) {
                Err(error) => {
                    assert!(place < 2);
                    check_error(&error, logs[place].0);
                }
                // What was cut off the last log leaves no trace.
                Ok(found) => {
                    let whole = ends.iter().filter(|end| **end <= len as u64).count() as u64;
                    assert_eq!((place, found), (2, 108 + whole));
                }
            }
        }
    }
}

#[test]
fn zeros_in_place_of_frames() {
    let (whole, last_frame) = (logs(), last_frame());
    for place in 0..3 {
        let end = whole[place].1.len();
        for offset in (LOG_HEADER..end).step_by(8) {
            let mut logs = whole.clone();
            let last = if place == 2 { last_frame } else { end };
            logs[place].1[offset..last.max(offset + 8)].fill(0);
            match read(&folder(&borrowed(&logs))) {
                Err(error) => check_error(&error, logs[place].0),
                Ok(found) => assert_eq!((place, found, offset >= last), (2, 111, true)),
            }
        }
    }
}

#[test]
fn missing_logs_are_damage() {
    let logs = logs();
    let without = |place: usize| {
        let mut left = borrowed(&logs);
        left.remove(place);
        read(&folder(&left))
    };
    check_error(&without(0).unwrap_err(), 7);
    let error = without(1).unwrap_err();
    check_error(&error, 9);
    assert!(error.to_string().contains("expected the log from which log-0000000b goes on"), "{error}");
    // Nothing tells that there was another one.
    assert_eq!(without(2).unwrap(), 108);
}

#[test]
fn gaps_and_other_epochs_are_damage() {
    let logs = logs();
    let disk = folder(&borrowed(&logs));
    let start = START;
    let read = |start| read_logs(&disk, start, |_| Ok(())).map(|end| end.sequence);
    assert_eq!(read(start).unwrap(), 112);
    assert_eq!(read(LogStart { first_log: 9, sequence: 107, ..start }).unwrap(), 112);
    for (start, number, what) in [
        (LogStart { sequence: 99, ..start }, 7, "expected batch 100 first, found batch 101"),
        (LogStart { first_log: 9, sequence: 103, ..start }, 9, "expected batch 104 first, found batch 105"),
        (LogStart { epoch: 4, ..start }, 7, "expected epoch 4, found epoch 3"),
        (LogStart { first_log: 8, ..start }, 8, "expected the log that the commit names, found no file"),
    ] {
        let error = read(start).unwrap_err();
        check_error(&error, number);
        assert!(error.to_string().contains(what), "{error}");
    }
    // Logs under each other's names.
    let swapped = folder(&[(7, &logs[1].1), (9, &logs[0].1), (11, &logs[2].1)]);
    check_error(&super::read(&swapped).unwrap_err(), 7);
    // A frame that is there twice.
    let frames = list(&disk).unwrap();
    let (from, to) = (usize::try_from(frames[8].offset).unwrap(), usize::try_from(frames[9].offset).unwrap());
    let mut twice = logs[2].1.clone();
    twice.splice(to..to, logs[2].1[from..to].iter().copied());
    let error = super::read(&folder(&[(7, &logs[0].1), (9, &logs[1].1), (11, &twice)])).unwrap_err();
    assert!(error.to_string().contains("expected batch 110, found 109"), "{error}");
}

/// Frames of another log are none of this one, and headers that contradict each other are damage.
#[test]
fn frames_and_headers_of_other_logs() {
    let [(_, one), (_, two), _] = logs();
    let mut longer = two.clone();
    longer.extend(&one[LOG_HEADER..]);
    assert_eq!(read(&folder(&[(7, &one), (9, &longer)])).unwrap(), 108);
    let header = LogHeader::decode(&two, "log").unwrap().unwrap();
    let end = header.previous.unwrap().end;
    let shorter = Some(PreviousLog { end: end - 8, ..header.previous.unwrap() });
    for (header, what) in [
        (LogHeader { after: 105, ..header }, "expected batch 105 first, found batch 106".to_owned()),
        (
            LogHeader { previous: shorter, ..header },
            format!("expected a previous log of {end} bytes, found {}", end - 8),
        ),
    ] {
        let error = read(&folder(&[(7, &one), (9, &header.encode())])).unwrap_err();
        check_error(&error, 9);
        assert!(error.to_string().contains(&what), "{error}");
    }
}

/// Bodies that contain logs and frames are only bodies.
#[test]
fn bodies_may_contain_the_log() {
    let (_, directory) = disk();
    let writer = create(&directory).unwrap();
    let mut last = AFTER;
    for _ in 0..6 {
        last += 1;
        writer.append(last, 0, bytes_of(&*directory, FIRST)).unwrap();
        writer.sync_to(last).unwrap();
    }
    assert_eq!(read_logs(&*directory, START, |_| Ok(())).unwrap().sequence, last);
    // The last frame is torn, and its body has headers of all others.
    let mut bytes = frames_of(&*directory, FIRST);
    let offset = usize::try_from(list(&*directory).unwrap().last().unwrap().offset).unwrap();
    bytes[offset..offset + FRAME_HEADER].fill(0);
    let torn = folder(&[(FIRST, &bytes)]);
    assert_eq!(read_logs(&torn, START, |_| Ok(())).unwrap().sequence, last - 1);
}
