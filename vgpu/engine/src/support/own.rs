//! Loads and stores of each lane's own memory: arrays on the stack, private copies of reductions.
//!
//! No two lanes share a place there, nobody else writes to it, and where a lane's begins is known. So
//! these accesses need less than others: one look at the offsets, and then an access for each lane.
//! What is wrong with an offset is found by the helpers for all memory.

use super::lanes::{each_lane, narrow, narrow_mut};
use super::place::{Access, FIRST_LOCAL, narrow_address};
use super::pointers::Seen;
use crate::abi::Warp;

/// Loads for the lanes of `mask` from the warp's `addresses`; false if one of them has to be looked at
/// more closely, and nothing has been loaded.
pub(super) fn load(warp: &mut Warp, mask: u32, access: Access) -> bool {
    let fine = are_within(warp, mask, access);
    if fine {
        let addresses = warp.addresses;
        // SAFETY: the offsets are within.
        unsafe { load_at(warp, mask, access, |lane| narrow_address(addresses[lane])) };
    }
    fine
}

/// Stores for the lanes of `mask` to the warp's `addresses`; false if nothing has been stored.
pub(super) fn store(warp: &Warp, mask: u32, access: Access) -> bool {
    let fine = are_within(warp, mask, access);
    if fine {
        // SAFETY: the offsets are within.
        unsafe { store_at(warp, mask, access, |lane| narrow_address(warp.addresses[lane])) };
    }
    fine
}

/// The last offset at which there is room for the access.
fn last_offset(warp: &Warp, access: Access) -> Option<u64> {
    let top = warp.local_top.min(warp.local_stride);
    top.checked_sub(access.bytes()).filter(|_| access.bytes().is_power_of_two())
}

pub(super) fn is_within(warp: &Warp, offset: u64, access: Access) -> bool {
    let aligned = offset & (access.bytes() - 1) == 0;
    aligned && offset >= FIRST_LOCAL && last_offset(warp, access).is_some_and(|last| offset <= last)
}

fn are_within(warp: &Warp, mask: u32, access: Access) -> bool {
    let Some(last) = last_offset(warp, access) else { return false };
    let mut seen = Seen::default();
    for (lane, &address) in warp.addresses.iter().enumerate() {
        let offset = if mask >> lane & 1 != 0 { narrow_address(address) } else { FIRST_LOCAL };
        seen.add(offset, FIRST_LOCAL, last);
    }
    !seen.wrong(access.bytes())
}

/// Loads each element of an access, zero-extended, to the warp's `values`.
///
/// # Safety
/// The access is within the lanes' own memory at each lane's offset, and aligned.
#[inline(always)]
pub(super) unsafe fn load_at(warp: &mut Warp, mask: u32, access: Access, offset: impl Fn(usize) -> u64) {
    let (local, stride) = (warp.local, warp.local_stride);
    for (index, values) in warp.values.iter_mut().enumerate().take(access.count.into()) {
        let inner = index as u64 * u64::from(access.size);
        let place = |lane: usize| local.wrapping_add((lane as u64 * stride + offset(lane) + inner) as usize);
        // SAFETY: the caller's promise; nobody else uses the memory.
        unsafe {
            match access.size {
                1 => each_lane(mask, |lane| narrow_mut(values)[lane] = place(lane).read().into()),
                2 => {
                    each_lane(mask, |lane| narrow_mut(values)[lane] = place(lane).cast::<u16>().read().into())
                }
                4 => each_lane(mask, |lane| narrow_mut(values)[lane] = place(lane).cast::<u32>().read()),
                _ => each_lane(mask, |lane| values[lane] = place(lane).cast::<u64>().read()),
            }
        }
    }
}

/// Stores each element of an access from the warp's `values`.
///
/// # Safety
/// As for [`load_at`].
#[inline(always)]
pub(super) unsafe fn store_at(warp: &Warp, mask: u32, access: Access, offset: impl Fn(usize) -> u64) {
    let (local, stride) = (warp.local, warp.local_stride);
    for (index, values) in warp.values.iter().enumerate().take(access.count.into()) {
        let inner = index as u64 * u64::from(access.size);
        let place = |lane: usize| local.wrapping_add((lane as u64 * stride + offset(lane) + inner) as usize);
        // SAFETY: the caller's promise; nobody else uses the memory.
        unsafe {
            match access.size {
                1 => each_lane(mask, |lane| place(lane).write(narrow(values)[lane] as u8)),
                2 => each_lane(mask, |lane| place(lane).cast::<u16>().write(narrow(values)[lane] as u16)),
                4 => each_lane(mask, |lane| place(lane).cast::<u32>().write(narrow(values)[lane])),
                _ => each_lane(mask, |lane| place(lane).cast::<u64>().write(values[lane])),
            }
        }
    }
}
