#![no_main]

use docvalues_fuzz::structure::mutate_data;

libfuzzer_sys::fuzz_target!(|input: &[u8]| docvalues_fuzz::delta(input));

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_data(data, size, max_size, seed)
});
