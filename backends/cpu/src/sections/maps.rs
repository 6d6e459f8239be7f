//! What the process may do with its pages, as the kernel tells.

use std::fs;
use std::ops::Range;

/// Pages that can be read, and what else may be done with them: `mprotect`'s word.
pub(super) fn readable() -> Vec<(Range<usize>, i32)> {
    let text = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines().filter_map(line).collect()
}

/// `55d0c0a0b000-55d0c0a2c000 rw-p 00000000 00:00 0 [heap]`. Code is left alone.
fn line(line: &str) -> Option<(Range<usize>, i32)> {
    let mut words = line.split_ascii_whitespace();
    let (begin, end) = words.next()?.split_once('-')?;
    let number = |digits| usize::from_str_radix(digits, 16).ok();
    let protection = match words.next()?.get(..3)? {
        "rw-" => libc::PROT_READ | libc::PROT_WRITE,
        "r--" => libc::PROT_READ,
        _ => return None,
    };
    Some((number(begin)?..number(end)?, protection))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let both = libc::PROT_READ | libc::PROT_WRITE;
        assert_eq!(line("1000-3000 rw-p 00000000 00:00 0    [heap]"), Some((0x1000..0x3000, both)));
        assert_eq!(line("1000-3000 r--s 0 00:00 0 /a b\n"), Some((0x1000..0x3000, libc::PROT_READ)));
        for other in ["1000-3000 r-xp 0 0 0", "1000-3000 ---p 0 0 0", "x-y rw-p", "1000", ""] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn our_own_memory_is_there() {
        let local = 5_u8;
        let address = std::ptr::from_ref(&local).addr();
        assert!(readable().iter().any(|(range, protection)| range.contains(&address)
            && *protection == libc::PROT_READ | libc::PROT_WRITE));
    }
}
