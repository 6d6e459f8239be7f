//! Where the accesses of all lanes go, found without a branch per lane: the common case of
//! loads, stores and atomics whose addresses compiled code knows nothing about.

use gangway_device_memory::{BASE, LOCAL_WINDOW, WINDOWS};

use super::access::{Access, FIRST_LOCAL, FIRST_SHARED, Space};
use crate::abi::{LANES, Warp};

/// The place of each lane's access; what stands for lanes outside of the mask means nothing.
pub(super) struct Pointers {
    pub each: [*mut u8; LANES],
    /// All of them are in the block's shared memory, which only this thread uses.
    pub shared: bool,
}

/// The places of the accesses of `mask`; none when one of them has to be looked at more
/// closely, because it is wrong or in memory of the host.
#[inline]
pub(super) fn pointers(warp: &Warp, mask: u32, access: Access) -> Option<Pointers> {
    let size = access.bytes();
    if access.check || !size.is_power_of_two() {
        return None;
    }
    let addresses = &warp.addresses;
    let mut each = [0u64; LANES];
    let mut wrong = 0u64;
    let active = |lane: usize| 0u64.wrapping_sub(u64::from(mask >> lane & 1));
    let outside = |offset: u64, first: u64, end: u64| {
        u64::from(offset.wrapping_sub(first) > end.wrapping_sub(first + size)) | u64::from(end < first + size)
    };
    let top = warp.local_top.min(warp.local_stride);
    let mut shared = access.space == Space::Shared;
    match access.space {
        Space::Shared => {
            for lane in 0..LANES {
                let address = addresses[lane];
                wrong |=
                    (outside(address, FIRST_SHARED, warp.shared_size) | address & (size - 1)) & active(lane);
                each[lane] = (warp.shared as u64).wrapping_add(address);
            }
        }
        Space::Local => {
            let mut base = warp.local as u64;
            for lane in 0..LANES {
                let address = addresses[lane];
                wrong |= (outside(address, FIRST_LOCAL, top) | address & (size - 1)) & active(lane);
                each[lane] = base.wrapping_add(address);
                base += warp.local_stride;
            }
        }
        Space::Generic | Space::Global => {
            let most = WINDOWS - BASE - size;
            for lane in 0..LANES {
                let address = addresses[lane];
                let far = u64::from(address.wrapping_sub(BASE) > most);
                wrong |= (far | address & (size - 1)) & active(lane);
                each[lane] = address;
            }
            let (start, length) = (warp.shared as u64, warp.shared_size);
            let first = addresses[mask.trailing_zeros() as usize & 31];
            if wrong == 0 && first.wrapping_sub(start) < length {
                let inside =
                    |lane: usize| u64::from(addresses[lane].wrapping_sub(start) >= length) & active(lane);
                shared = (0..LANES).fold(0, |outside, lane| outside | inside(lane)) == 0;
            }
            if wrong != 0 && access.space == Space::Generic {
                // Each lane's own memory, of which generic addresses are the same in all lanes.
                wrong = 0;
                let mut base = warp.local as u64;
                for lane in 0..LANES {
                    let offset = addresses[lane].wrapping_sub(LOCAL_WINDOW);
                    wrong |= (outside(offset, FIRST_LOCAL, top) | offset & (size - 1)) & active(lane);
                    each[lane] = base.wrapping_add(offset);
                    base += warp.local_stride;
                }
            }
        }
    }
    let each = each.map(|address| std::ptr::with_exposed_provenance_mut(address as usize));
    (wrong == 0).then_some(Pointers { each, shared })
}
