//! Pointers of the host inside of what is mapped, such as a member of a structure.
//!
//! Nothing follows them for a kernel, so that a kernel which does is an error on most devices. They
//! are looked for when there is an error, and when somebody wants to be warned. The host's memory is
//! read by a system call: it is the program's, which may have given up what it has mapped.

use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_present::Label;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

/// Bytes of an item that are looked through.
const MOST: usize = 32 << 10;

/// Lower addresses are numbers, and higher ones no addresses of programs.
const ADDRESSES: Range<usize> = 1 << 16..1 << 47;

const WORD: usize = size_of::<usize>();

/// What may be pointers in a mapped item: offset and value.
pub(crate) fn pointers_in(item: &Item) -> Vec<(usize, usize)> {
    let other =
        MapKind::LITERAL | MapKind::PRIVATE | MapKind::STRUCTURE | MapKind::IN_PIECES | MapKind::ATTACH;
    if item.kind.only(other) != MapKind::default() || item.begin < ADDRESSES.start {
        return Vec::new();
    }
    let first = item.begin.next_multiple_of(WORD) - item.begin;
    let size = item.size.saturating_sub(first).min(MOST);
    let words = read(item.begin + first, size / WORD);
    let places = words.into_iter().enumerate().map(|(index, value)| (first + index * WORD, value));
    places.filter(|(_, value)| ADDRESSES.contains(value)).collect()
}

/// Words of the program's memory, as far as they can be read.
fn read(address: usize, count: usize) -> Vec<usize> {
    let mut words = vec![0_usize; count];
    let local = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: count * WORD };
    let remote = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address), ..local };
    // SAFETY: it writes the buffer only, and what cannot be read is an error.
    let got = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    words.truncate(usize::try_from(got).unwrap_or(0) / WORD);
    words
}

/// Memory that a program writes: not code, and no constants. The kernel is asked at the first
/// question; what is mapped later is not in it.
#[derive(Default)]
pub(crate) struct WritableMemory {
    ranges: OnceCell<Vec<Range<usize>>>,
}

impl WritableMemory {
    pub(crate) fn has(&self, address: usize) -> bool {
        let ranges = self.ranges.get_or_init(|| {
            let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
            maps.lines().filter_map(writable_range).collect()
        });
        // The kernel gives them in order.
        let before = ranges.partition_point(|range| range.start <= address);
        ranges[..before].last().is_some_and(|range| range.contains(&address))
    }
}

/// The addresses of a line of `/proc/self/maps`, if the memory there can be written.
fn writable_range(line: &str) -> Option<Range<usize>> {
    let (range, rest) = line.split_once(' ')?;
    let (begin, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    (rest.as_bytes().get(1) == Some(&b'w')).then_some(number(begin)?..number(end)?)
}

/// Says what stands at a byte of a variable, as the user would write it.
pub type NameMember = fn(Label, usize) -> Option<String>;

static NAME: OnceLock<NameMember> = OnceLock::new();

/// Names of pointers come from there for the rest of the process.
pub fn name_members_with(name: NameMember) {
    let _ = NAME.set(name);
}

/// The name of the pointer at a byte of a variable, if that is known. What has been asked is
/// remembered: a check may come by in each launch.
pub(crate) fn member(label: Label, offset: usize) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<(usize, usize), Option<String>>> = Mutex::new(BTreeMap::new());
    let name = NAME.get().filter(|_| label.location().is_some())?;
    let key = (label.as_ptr().addr(), offset);
    // In a forked child it may be locked for ever: then it is asked again.
    if let Some(name) = KNOWN.try_lock().ok().and_then(|known| known.get(&key).cloned()) {
        return name;
    }
    // Without the lock: it runs another program.
    let name = name(label, offset);
    if let Ok(mut known) = KNOWN.try_lock() {
        known.insert(key, name.clone());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_addresses_are_found_by_their_offsets() {
        #[repr(C)]
        struct Node {
            count: usize,
            data: *const u8,
            number: f64,
            next: *const Node,
        }
        let data = Box::new(1_u8);
        let node = Node { count: 7, data: &raw const *data, number: 0.5, next: std::ptr::null() };
        let begin = (&raw const node).addr();
        let item = |begin, size, kind| Item { base: begin, begin, size, kind, label: Label::NONE };
        let mapped = item(begin, size_of::<Node>(), MapKind::TO);
        assert_eq!(pointers_in(&mapped), [(8, node.data.addr())]);
        assert_eq!(pointers_in(&item(begin + 4, 20, MapKind::TO)), [(4, node.data.addr())]);
        assert_eq!(pointers_in(&item(begin, 32, MapKind::LITERAL)), []);
        assert_eq!(pointers_in(&item(1 << 20, 64, MapKind::TO)), [], "nothing is there");
        let memory = WritableMemory::default();
        assert!(memory.has(node.data.addr()) && !memory.has(pointers_in as *const () as usize));
        assert!(!memory.has(0) && !memory.has(usize::MAX));
        assert_eq!((node.count, node.number, node.next.is_null()), (7, 0.5, true));
    }

    /// A launch may ask for hundreds of pointers.
    #[test]
    fn the_kernel_is_asked_once_which_memory_can_be_written() {
        let map = || {
            let (protection, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            // SAFETY: new memory, of which nothing else is known.
            unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) }
        };
        let memory = WritableMemory::default();
        let page = map();
        assert!(memory.has(page.addr()));
        // SAFETY: nobody uses it.
        assert_eq!(unsafe { libc::munmap(page, 4096) }, 0);
        assert!(memory.has(page.addr()), "it has asked again");
        assert!(!WritableMemory::default().has(page.addr()));
    }
}
