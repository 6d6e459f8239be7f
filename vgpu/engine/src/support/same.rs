//! Loads and stores of each lane's own memory, all of them at one address: loops over private
//! arrays.

use super::access;
use super::helper::run;
use super::own::{is_within, load_at, store_at};
use super::place::{Access, narrow_address};
use crate::abi::{LANES, Warp};

/// As [`access::load`], of memory of the lanes' own, at the same `address` for all of them.
pub(super) unsafe extern "C" fn load_same(warp: *mut Warp, mask: u64, address: u64, access: u64) {
    // SAFETY: compiled code passes its warp; an offset that is within may be read.
    unsafe {
        let done = at_one_place(warp, address, access, |warp, access, offset| {
            load_at(warp, mask as u32, access, |_| offset);
        });
        if !done {
            access::load(warp, mask, access);
        }
    }
}

/// As [`access::store`], to memory of the lanes' own, at the same `address` for all of them.
pub(super) unsafe extern "C" fn store_same(warp: *mut Warp, mask: u64, address: u64, access: u64) {
    // SAFETY: compiled code passes its warp; an offset that is within may be written.
    unsafe {
        let done = at_one_place(warp, address, access, |warp, access, offset| {
            store_at(warp, mask as u32, access, |_| offset);
        });
        if !done {
            access::store(warp, mask, access);
        }
    }
}

/// Has `act` access an offset that is within; false if it is not, and has been noted as the address of all lanes.
///
/// # Safety
/// The warp is compiled code's.
#[inline(always)]
unsafe fn at_one_place(
    warp: *mut Warp,
    address: u64,
    access: u64,
    act: impl FnOnce(&mut Warp, Access, u64),
) -> bool {
    let (access, offset) = (Access::from_bits(access), narrow_address(address));
    // SAFETY: the caller's promise.
    unsafe {
        run(warp, |warp| {
            let fine = is_within(warp, offset, access);
            if fine {
                act(warp, access, offset);
            } else {
                warp.addresses = [address; LANES];
            }
            fine
        })
    }
}
