#![no_main]

use docvalues_fuzz::structure::mutate;

libfuzzer_sys::fuzz_target!(|input: &[u8]| docvalues_fuzz::segment(input));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut file = data[..size].to_vec();
    mutate(&mut file, max_size, seed, &mut |bytes, most| {
        let len = bytes.len();
        bytes.resize(len.max(most), 0);
        let len = libfuzzer_sys::fuzzer_mutate(bytes, len, most.max(1));
        bytes.truncate(len);
    });
    data[..file.len()].copy_from_slice(&file);
    file.len()
});
