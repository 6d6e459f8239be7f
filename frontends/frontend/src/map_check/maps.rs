//! What the system has mapped where: only private memory that is not a stack may be closed.

use std::ptr;

const PAGE: usize = 4096;

/// Ranges that are remembered.
const KNOWN: usize = 4096;

/// A mapping of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Map {
    begin: usize,
    end: usize,
    /// It may be read and written, is no other process's, and not a stack.
    plain: bool,
}

/// Ranges that have been looked up. What the program makes of one of them is [forgotten](Known::forget).
pub struct Known(Vec<Map>);

impl Known {
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Whether a page may be closed, as far as that is known.
    pub fn is_plain(&self, page: usize) -> Option<bool> {
        let at = self.0.partition_point(|map| map.end <= page);
        self.0.get(at).filter(|map| map.begin <= page).map(|map| map.plain)
    }

    /// Looks up the pages that are not known, which come in their order. `is_closed` says which ones are closed: they
    /// could be read and written before.
    pub fn look_up(&mut self, pages: &[usize], is_closed: impl Fn(usize) -> bool) {
        if pages.iter().all(|page| self.is_plain(*page).is_some()) {
            return;
        }
        let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let maps = read(&text, ptr::from_ref(&text).addr(), &is_closed);
        if self.0.len() > KNOWN {
            self.0.clear();
        }
        let mut found: Vec<Map> = Vec::new();
        for &page in pages.iter().filter(|page| self.is_plain(**page).is_none()) {
            let at = maps.partition_point(|map| map.end <= page);
            let map = maps.get(at).filter(|map| map.begin <= page);
            let plain = map.is_some_and(|map| map.plain) || is_closed(page);
            match found.last_mut() {
                Some(last) if last.end == page && last.plain == plain => last.end += PAGE,
                _ => found.push(Map { begin: page, end: page + PAGE, plain }),
            }
        }
        self.0.append(&mut found);
        self.0.sort_unstable_by_key(|map| map.begin);
        self.0.dedup_by(|next, last| {
            let same = last.end == next.begin && last.plain == next.plain;
            if same {
                last.end = next.end;
            }
            same
        });
    }

    /// A range is something else from now on. Allocates nothing.
    pub fn forget(&mut self, begin: usize, size: usize) {
        let end = begin.saturating_add(size);
        self.0.retain(|map| map.end <= begin || end <= map.begin);
    }
}

/// Reads the system's list; `here` is an address of this thread's stack.
fn read(text: &str, here: usize, is_closed: impl Fn(usize) -> bool) -> Vec<Map> {
    let mut maps: Vec<Map> = Vec::new();
    let mut guard = None;
    for line in text.lines() {
        let Some((range, rest)) = line.split_once(' ') else { continue };
        let Some((begin, end)) = range.split_once('-') else { continue };
        let (Ok(begin), Ok(end)) = (usize::from_str_radix(begin, 16), usize::from_str_radix(end, 16)) else {
            continue;
        };
        // Stacks of threads have one guard page or a few below them, which are not those that the check has closed.
        let is_stack = rest.ends_with("[stack]") || (begin..end).contains(&here) || guard == Some(begin);
        let is_guard = rest.starts_with("---") && end - begin <= 16 * PAGE && !is_closed(begin);
        guard = is_guard.then_some(end);
        maps.push(Map { begin, end, plain: rest.starts_with("rw-p") && !is_stack });
    }
    maps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_and_memory_of_others_are_told_from_plain_memory() {
        let text = "00010000-00020000 r--p 00000000 08:01 12 /bin/program\n\
                    00020000-00030000 rw-p 00000000 00:00 0 [heap]\n\
                    00040000-00041000 ---p 00000000 00:00 0\n\
                    00041000-00050000 rw-p 00000000 00:00 0\n\
                    00060000-00070000 rw-s 00000000 00:01 7 /dev/shm/x\n\
                    00080000-00090000 rw-p 00000000 00:00 0\n\
                    000a0000-000b0000 rw-p 00000000 00:00 0 [stack]\n";
        let plain: Vec<bool> = read(text, 0x80010, |_| false).iter().map(|map| map.plain).collect();
        assert_eq!(plain, [false, true, false, false, false, false, false]);
        assert!(read(text, 0, |_| false)[5].plain);
        assert!(read(text, 0, |page| page == 0x40000)[3].plain, "the check's own");
    }

    #[test]
    fn what_is_known_is_not_looked_up_again() {
        let memory = vec![1_u8; 4 * PAGE];
        let page = memory.as_ptr().addr().next_multiple_of(PAGE);
        let mut known = Known::new();
        known.look_up(&[page, page + PAGE], |_| false);
        assert_eq!([page, page + PAGE].map(|page| known.is_plain(page)), [Some(true); 2]);
        assert_eq!(known.0.len(), 1);
        known.forget(page + PAGE, 1);
        assert_eq!(known.is_plain(page), None, "it has been one range");
        let here = ptr::from_ref(&known).addr() / PAGE * PAGE;
        known.look_up(&[here], |_| false);
        assert_eq!(known.is_plain(here), Some(false));
    }
}
