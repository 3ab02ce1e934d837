//! Returns the memory that contains this program's code and constants to the system.
//!
//! The system maps 64 KiB around each page that is used, and nothing unmaps them while memory is free: after one
//! iteration a keeper has nearly all of its program in its resident set, for the hours that it waits. Pages that are
//! used again are mapped again, from the page cache.

use std::io;
use std::ops::Range;

/// Unmaps all pages of this program that do not differ from its file.
pub fn release_program_pages() -> io::Result<()> {
    let program = std::fs::read_link("/proc/self/exe")?;
    let smaps = std::fs::read("/proc/self/smaps")?;
    for range in unmodified_ranges(&String::from_utf8_lossy(&smaps), &program.to_string_lossy()) {
        release(&range)?;
    }
    Ok(())
}

/// The read-only mappings of `program` without private pages, neither in memory nor swapped out. Those of
/// libraries are left out: the loader replaces parts of them while it loads.
fn unmodified_ranges(smaps: &str, program: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut candidate, mut zeros) = (None, 0);
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        match (words.next(), words.next()) {
            (Some("Anonymous:" | "Swap:"), amount) => zeros += usize::from(amount == Some("0")),
            (Some(field), _) if field.ends_with(':') => {}
            (Some(addresses), Some(access)) => {
                let is_constant = matches!(access, "r-xp" | "r--p") && line.ends_with(&format!(" {program}"));
                (candidate, zeros) = (address_range(addresses).filter(|_| is_constant), 0);
            }
            _ => {}
        }
        if zeros == 2 {
            ranges.extend(candidate.take());
        }
    }
    ranges
}

/// Parses `5573daf5d000-5573db8fd000`.
fn address_range(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

fn release(range: &Range<usize>) -> io::Result<()> {
    let start = std::ptr::without_provenance_mut(range.start);
    // SAFETY: the system mapped this range from the program's file before `main`, nothing in the program writes to it or
    // replaces it, and no page differs from the file, so that the next access reads the same bytes.
    #[expect(unsafe_code, reason = "no crate offers this call as a safe function")]
    let result = unsafe { libc::madvise(start, range.len(), libc::MADV_DONTNEED) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::{release_program_pages, unmodified_ranges};

    /// One mapping as `/proc/PID/smaps` describes it.
    fn mapping(access: &str, path: &str, (anonymous, swap): (u32, u32)) -> String {
        format!(
            "1000-3000 {access} 00543000 fe:00 1837    {path}\nSize: 8 kB\nRss: 8 kB\nAnonymous: {anonymous} kB\n\
             Swap: {swap} kB\nVmFlags: rd ex mr mw me\n"
        )
    }

    #[test]
    fn only_unmodified_parts_of_the_program_are_returned() {
        let check = |smaps: &str, expect: usize| {
            assert_eq!(unmodified_ranges(smaps, "/bin/a b"), vec![0x1000..0x3000; expect], "{smaps}");
        };
        let code = mapping("r-xp", "/bin/a b", (0, 0));
        check(&code, 1);
        check(&mapping("r--p", "/bin/a b", (0, 0)), 1);
        check(&format!("{code}{code}"), 2);
        // Relocated pages, in memory or swapped out.
        check(&mapping("r--p", "/bin/a b", (4, 0)), 0);
        check(&mapping("r--p", "/bin/a b", (0, 4)), 0);
        check(&mapping("rw-p", "/bin/a b", (0, 0)), 0);
        check(&mapping("r-xs", "/bin/a b", (0, 0)), 0);
        check(&mapping("r-xp", "/lib/libc.so.6", (0, 0)), 0);
        check(&mapping("r-xp", "", (0, 0)), 0);
        // A kernel that does not report one of the amounts.
        check(&code.replace("Swap: 0 kB\n", ""), 0);
        check(&format!("{}{}", code.replace("Swap: 0 kB\n", ""), mapping("rw-p", "/bin/a b", (0, 0))), 0);
        check("", 0);
    }

    #[test]
    fn returned_pages_leave_the_resident_set_and_are_usable() {
        let resident = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|it| it.strip_prefix("RssFile:")).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        let before = resident();
        release_program_pages().unwrap();
        let after = resident();
        assert!(after < before, "{before} kB before, {after} kB after");
        only_unmodified_parts_of_the_program_are_returned();
    }
}
