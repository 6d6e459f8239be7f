//! Data that a construct uses through pointers that no clause names. What is on the device already is used there, in
//! whatever way; of the rest the translator has said which section the construct uses.

use super::abi::{AccItem, kind};
use gangway_openacc::device_type::{NOVAL, SYNC};
use gangway_openacc::present::{self, Parts};
use gangway_openacc::waits;
use gangway_runtime::{Device, memory};
use std::ops::Range;
use std::ptr::null_mut;

/// Whether an item is such data.
pub(super) const fn is_supposed(item: &AccItem) -> bool {
    matches!(item.kind, kind::SUPPOSED_COPY | kind::SUPPOSED_COPYIN)
}

/// The items that are copied for them. Constructs before, which queues are about to end, may have brought other parts
/// of the same data: these are waited for.
pub(super) fn copied(device: &'static Device, items: &[AccItem]) -> Vec<AccItem> {
    let is_leaving = |item: &AccItem| {
        let pointer = item.pointer.addr();
        present::is_leaving(device, &(pointer..pointer + 1)) || present::is_leaving(device, &item.range())
    };
    if items.iter().any(|item| is_supposed(item) && is_leaving(item)) {
        waits::wait_clause(device, SYNC, std::iter::once(NOVAL));
    }
    let mut all: Vec<AccItem> = Vec::new();
    for item in items.iter().filter(|item| is_supposed(item) && item.bytes > 0) {
        let range = item.range();
        let is_named =
            |other: &AccItem| !is_supposed(other) && other.kind != kind::ROW && meet(&other.range(), &range);
        let is_there = memory::mapped_address(device, item.pointer.addr()).is_some()
            || !matches!(present::parts_of(device, &range), Parts::Nothing);
        if is_there || items.iter().any(is_named) || !is_readable(&range) {
            continue;
        }
        let kind = if item.kind == kind::SUPPOSED_COPY { kind::COPY } else { kind::COPYIN };
        let mut copy = AccItem { kind, pointer: null_mut(), ..*item };
        // Pointers may lead to the same data, of which there is one copy.
        while let Some(at) = all.iter().position(|known| meet(&known.range(), &copy.range())) {
            let known = all.swap_remove(at);
            let (one, other) = (known.range(), copy.range());
            let begin = if known.begin < copy.begin { known.begin } else { copy.begin };
            let bytes = one.end.max(other.end) - begin.addr();
            copy = AccItem { begin, bytes, kind: known.kind.min(copy.kind), ..copy };
        }
        all.push(copy);
    }
    all
}

/// Where the first byte of such data is on the device.
pub(super) fn address(device: &'static Device, item: &AccItem) -> Option<usize> {
    let pointer = item.pointer.addr();
    let behind = item.begin.addr().wrapping_sub(pointer);
    // What the pointer leads to says it: the section may begin before what is there.
    let by_pointer = memory::mapped_address(device, pointer).map(|address| address.0.wrapping_add(behind));
    by_pointer.or_else(|| match present::parts_of(device, &item.range()) {
        Parts::Of(address) => Some(address),
        Parts::Nothing | Parts::Apart(..) => None,
    })
}

fn meet(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

/// Whether the program has memory there, as it has none where a pointer is a device's.
fn is_readable(range: &Range<usize>) -> bool {
    [range.start, range.end - 1].into_iter().all(|address| {
        let mut byte = 0_u8;
        let local = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let remote = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address), ..local };
        // SAFETY: it writes the byte only, and what cannot be read is an error.
        let got =
            unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
        got == 1
    })
}
