//! Memory in huge pages.
//!
//! The first write to a page of memory costs about as much as copying the page twice. Linux can back memory with
//! pages of 2 MiB instead of 4 KiB, which takes a fifth of the time for the same number of bytes. By default it
//! does so only for memory that was advised.
#![cfg_attr(
    all(target_os = "linux", not(miri)),
    expect(unsafe_code, reason = "advice about memory is unsafe, and named as an exception")
)]

/// The size of an allocation, in bytes, from which it asks for huge pages, which may waste up to 2 MiB of it.
const LARGE: usize = 4 << 20;

/// Advises the kernel to back the capacity of `vec` with huge pages if it has at least 4 MiB. Returns whether it has.
///
/// Advice only: on other systems, or if the call fails, nothing happens. The advice survives growth that moves
/// pages instead of copying bytes. Up to 2 MiB more than were written may be taken.
pub fn prefer_huge_pages<T>(vec: &mut Vec<T>) -> bool {
    let bytes = vec.capacity().saturating_mul(size_of::<T>());
    #[cfg(all(target_os = "linux", not(miri)))]
    if bytes >= LARGE {
        advise(vec.as_mut_ptr().cast(), bytes);
    }
    bytes >= LARGE
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise(start: *mut u8, bytes: usize) {
    /// The smallest page size. Where pages are larger, the call may fail.
    const PAGE: usize = 4096;
    // Whole pages. Allocators map a large block separately, with a header of a few bytes. Advising only a part
    // would split the mapping in two, and it could no longer be moved when it grows.
    let into_page = start.addr() % PAGE;
    let len = bytes.saturating_add(into_page).checked_next_multiple_of(PAGE).unwrap_or(0);
    let start = start.wrapping_byte_sub(into_page);
    // SAFETY: this advice changes neither what memory holds nor who may use it, in a range of any kind; of one
    // that is not mapped the kernel says so.
    let _ = unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_what_it_holds_and_grows() {
        // There is no advice under Miri, so no more than a few are needed to see that.
        let all = if cfg!(miri) { 2_000 } else { 4_000_000 };
        for room in [0, 1, 5_000, 8 << 20] {
            let mut numbers: Vec<u32> = Vec::with_capacity(room);
            numbers.extend(0..1_000);
            prefer_huge_pages(&mut numbers);
            numbers.extend(1_000..all);
            assert!(numbers.into_iter().eq(0..all));
        }
    }

    /// Linux lists advice as the flag `hg` of the mapping. Emulators of other CPUs pass no advice on.
    #[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
    #[test]
    fn memory_is_advised() {
        let mut numbers: Vec<u32> = Vec::with_capacity(8 << 20);
        prefer_huge_pages(&mut numbers);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let has_huge_pages = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        if !has_huge_pages || !maps.contains("VmFlags:") {
            println!("SKIPPED: a kernel without huge pages, or without their flags");
            return;
        }
        let is_here = |line: &&str| {
            let (start, end) = line.split(' ').next()?.split_once('-')?;
            let address = |text| usize::from_str_radix(text, 16).ok();
            Some((address(start)?..address(end)?).contains(&numbers.as_ptr().addr()))
        };
        let lines = maps.lines().skip_while(|line| is_here(line) != Some(true));
        let flags = lines.skip(1).find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
    }
}
