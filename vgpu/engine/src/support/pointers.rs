//! Where the accesses of all lanes go, found without a branch per lane. This is the common case
//! of accesses whose addresses have no shape.

use gangway_device_memory::{LOCAL_SIZE, LOCAL_WINDOW, range};

use super::helper::run;
use super::place::{Access, FIRST_LOCAL, Space, narrow_address};
use crate::abi::{ALL, LANES, Lanes64, Warp};
use crate::windows::Window;

/// The place of each lane's access; what stands for lanes outside of the mask means nothing.
pub(super) struct Pointers {
    pub each: [*mut u8; LANES],
    /// All of them are in the block's shared memory, which only this thread uses.
    pub shared: bool,
}

/// What is known of addresses that have been looked at. Made of subtractions and ors alone, of
/// which every processor has vectors.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    all: u64,
    /// The sign is set once an address was outside of its bounds.
    outside: u64,
}

impl Seen {
    /// Adds an address that has to be between two bounds, both included and below 2^63.
    #[inline(always)]
    pub fn add(&mut self, address: u64, first: u64, last: u64) {
        self.all |= address;
        self.outside |= address | address.wrapping_sub(first) | last.wrapping_sub(address);
    }

    /// Whether one was outside, or no multiple of the power of two `size`.
    #[must_use]
    pub fn wrong(self, size: u64) -> bool {
        self.outside >> 63 != 0 || self.all & (size - 1) != 0
    }
}

/// The places of the accesses of `mask`; none when one of them has to be looked at more
/// closely, because it is wrong or in memory of the host that the warp has not met yet. Where it is not
/// part of its caller, all of them are copied.
#[inline(always)]
pub(super) fn pointers(warp: &Warp, mask: u32, access: Access) -> Option<Pointers> {
    let size = access.bytes();
    if !size.is_power_of_two() {
        return None;
    }
    // Lanes outside of the mask stand where the first one inside does, so that loops need no tests.
    let first = warp.addresses[mask.trailing_zeros() as usize & 31];
    let chosen: Lanes64;
    let addresses = if mask == ALL {
        &warp.addresses
    } else {
        let inside = |lane: usize| mask >> lane & 1 != 0;
        chosen = std::array::from_fn(|lane| if inside(lane) { warp.addresses[lane] } else { first });
        &chosen
    };
    let top = warp.local_top.min(warp.local_stride);
    let mut seen = Seen::default();
    let (each, shared) = match access.space {
        Space::Shared => {
            let last = warp.shared_size.checked_sub(size)?;
            let addresses = addresses.map(narrow_address);
            addresses.iter().for_each(|&address| seen.add(address, 0, last));
            (addresses.map(|address| place(warp.shared as u64, address)), true)
        }
        Space::Local => {
            let addresses = addresses.map(narrow_address);
            (own(warp, &addresses, 0, top.saturating_sub(size), &mut seen), false)
        }
        Space::Generic | Space::Global => {
            let (start, last) = bounds(warp, access, first)?;
            addresses.iter().for_each(|&address| seen.add(address, start, last));
            if !seen.wrong(size) {
                let (start, length) = (warp.shared as u64, warp.shared_size);
                let inside = |address: u64| address.wrapping_sub(start) < length;
                // One look tells most accesses of global memory.
                let shared = inside(first) && addresses.iter().all(|&address| inside(address));
                (addresses.map(|address| place(0, address)), shared)
            } else if access.space == Space::Generic && first.wrapping_sub(LOCAL_WINDOW) < LOCAL_SIZE {
                // Each lane's own memory, of which generic addresses are the same in all lanes.
                seen = Seen::default();
                (own(warp, addresses, LOCAL_WINDOW, top.saturating_sub(size), &mut seen), false)
            } else if access.check {
                return None;
            } else {
                let range = range();
                let inside =
                    |address: u64| address.wrapping_sub(range.first) <= range.windows - range.first - size;
                let fine = |&address: &u64| {
                    address.is_multiple_of(size) && (inside(address) || warp.windows.cover(address, size))
                };
                return addresses
                    .iter()
                    .all(fine)
                    .then(|| Pointers { each: addresses.map(|address| place(0, address)), shared: false });
            }
        }
    };
    (!seen.wrong(size)).then_some(Pointers { each, shared })
}

/// Where the first lane's access goes, if all lanes access elements that follow each other in device memory.
#[inline(always)]
pub(super) fn row(warp: &Warp, mask: u32, access: Access) -> Option<*mut u8> {
    let size = access.bytes();
    let device = matches!(access.space, Space::Generic | Space::Global);
    if mask != ALL || access.count != 1 || access.strong || !device {
        return None;
    }
    let first = warp.addresses[0];
    let expected = (0..LANES as u64).map(|lane| first.wrapping_add(lane * size));
    let apart = warp.addresses.iter().zip(expected).fold(0, |apart, (one, other)| apart | one ^ other);
    if apart != 0 || first & (size - 1) != 0 {
        return None;
    }
    let (start, last) = bounds(warp, access, first)?;
    let end = first.checked_add((LANES as u64 - 1) * size)?;
    (first >= start && end <= last).then(|| place(0, first))
}

/// The first and the last address, around the one of a lane, of accesses that are right: in all of device
/// memory, or in check mode in an allocation. None where none is.
#[inline(always)]
fn bounds(warp: &Warp, access: Access, first: u64) -> Option<(u64, u64)> {
    let size = access.bytes();
    if !access.check || access.space == Space::Generic && first.wrapping_sub(LOCAL_WINDOW) < LOCAL_SIZE {
        return Some((range().first, range().windows - size));
    }
    // SAFETY: where accesses are checked the engine has set it to the counter of the space, which stays.
    let freed = unsafe { warp.freed.as_ref() }?;
    warp.grants.around(freed, access.site, first)?.bounds(size)
}

/// Gives the range around an address that a site may access.
pub(super) unsafe extern "C" fn grant(warp: *mut Warp, address: u64, site: u64) {
    // SAFETY: compiled code passes its warp.
    unsafe {
        run(warp, |warp| {
            let (start, length) = (warp.shared as u64, warp.shared_size);
            let range = if address.wrapping_sub(start) < length {
                // It is the block's, and is not remembered longer than that.
                Some(Window::new(start, length))
            } else {
                // SAFETY: where accesses are checked the engine has set it to the counter of the space, which stays.
                warp.freed.as_ref().and_then(|freed| warp.grants.around(freed, site as u8, address))
            };
            warp.grants.give(range);
        });
    }
}

fn place(base: u64, offset: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(base.wrapping_add(offset) as usize)
}

/// Places in each lane's own memory, whose addresses count from `window`.
#[inline(always)]
fn own(warp: &Warp, addresses: &Lanes64, window: u64, last: u64, seen: &mut Seen) -> [*mut u8; LANES] {
    std::array::from_fn(|lane| {
        let offset = addresses[lane].wrapping_sub(window);
        seen.add(offset, FIRST_LOCAL, last);
        place(warp.local as u64 + lane as u64 * warp.local_stride, offset)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_follow_each_other_are_a_row() {
        // SAFETY: all zeros is a state of a warp.
        let mut warp: Box<Warp> = Box::new(unsafe { std::mem::zeroed() });
        let range = range();
        let access = Access::plain(8, Space::Global, false);
        let mut found = |change: &dyn Fn(&mut Lanes64), first: u64, mask: u32, access: Access| {
            warp.addresses = std::array::from_fn(|lane| first.wrapping_add(8 * lane as u64));
            change(&mut warp.addresses);
            row(&warp, mask, access).map(|place| place as u64)
        };
        let start = range.first + 4096;
        assert_eq!(found(&|_| {}, start, ALL, access), Some(start));
        assert_eq!(found(&|_| {}, start, ALL, Access { space: Space::Generic, ..access }), Some(start));
        // Lanes that are missing or elsewhere, elements of another size or kind, what is not aligned.
        assert_eq!(found(&|_| {}, start, ALL >> 1, access), None);
        assert_eq!(found(&|each| each[31] += 8, start, ALL, access), None);
        assert_eq!(found(&|each| each.swap(3, 4), start, ALL, access), None);
        assert_eq!(found(&|_| {}, start, ALL, Access { size: 4, ..access }), None);
        assert_eq!(found(&|_| {}, start, ALL, Access { count: 2, ..access }), None);
        assert_eq!(found(&|_| {}, start, ALL, Access { strong: true, ..access }), None);
        assert_eq!(found(&|_| {}, start, ALL, Access { space: Space::Shared, ..access }), None);
        assert_eq!(found(&|_| {}, start + 4, ALL, access), None);
        // All of it in device memory, and nothing behind that.
        let last = range.windows - 8 * LANES as u64;
        assert_eq!(found(&|_| {}, last, ALL, access), Some(last));
        assert_eq!(found(&|_| {}, last + 8, ALL, access), None);
        assert_eq!(found(&|_| {}, range.first - 8, ALL, access), None);
        assert_eq!(found(&|_| {}, u64::MAX - 7, ALL, access), None);
    }
}
