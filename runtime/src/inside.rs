//! Pointers of the host inside of what is mapped, such as a member of a structure.
//!
//! Nothing follows them for a kernel, so that a kernel which does is an error on most devices. They
//! are looked for when there is an error, and when somebody wants to be warned. The host's memory is
//! read by a system call: it is the program's, which may have given up what it has mapped.

use crate::items::Item;
use crate::label::Label;
use crate::map_kind::MapKind;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// Bytes of an item that are looked through.
const MOST: usize = 32 << 10;

/// Lower addresses are numbers, and higher ones no addresses of programs.
const ADDRESSES: std::ops::Range<usize> = 1 << 16..1 << 47;

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

/// Whether an address is in memory that a program writes: not code, and no constant.
pub(crate) fn is_writable(address: usize) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    maps.lines().any(|line| {
        let Some((range, rest)) = line.split_once(' ') else { return false };
        let Some((begin, end)) = range.split_once('-') else { return false };
        let number = |text| usize::from_str_radix(text, 16);
        let (Ok(begin), Ok(end)) = (number(begin), number(end)) else { return false };
        (begin..end).contains(&address) && rest.as_bytes().get(1) == Some(&b'w')
    })
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

/// A pointer, whose name may be known.
pub(crate) fn pointer(member: Option<&str>) -> String {
    member.map_or("the pointer".to_owned(), |name| format!("`{name}`, the pointer"))
}

/// What to do about a pointer, whose name may be known.
pub(crate) fn advice(label: Label, member: Option<&str>) -> String {
    let member = match member.or(label.name()) {
        Some(name) if member.is_some() => name.to_owned(),
        Some(name) if name.starts_with("this[") => "this->member".to_owned(),
        Some(name) => match name.split_once('[') {
            Some((array, _)) => format!("{array}[i].member"),
            None => format!("{name}.member"),
        },
        None => "s.member".to_owned(),
    };
    format!(
        "map what it points to as well, as in map(tofrom: {member}[0:n]), which attaches the pointer, too"
    )
}

#[cfg(all(test, not(loom)))]
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
        assert!(is_writable(node.data.addr()) && !is_writable(pointers_in as *const () as usize));
        assert_eq!((node.count, node.number, node.next.is_null()), (7, 0.5, true));
    }
}
