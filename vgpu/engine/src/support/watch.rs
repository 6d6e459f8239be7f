//! What is told of accesses and fences in check mode, to whoever looks for races.

use super::helper::run;
use super::host::Noted;
use super::place::Access;
use crate::abi::Warp;

/// A lane is about to load from a place.
pub(super) fn loads(warp: &Warp, lane: usize, access: Access, place: *mut u8) {
    if access.check {
        note(warp, Noted { reads: true, ..noted(lane, access, place) });
    }
}

/// A lane is about to store bytes to a place.
pub(super) fn stores(warp: &Warp, lane: usize, access: Access, place: *mut u8, bytes: [u8; 32]) {
    if access.check {
        note(warp, Noted { writes: true, bytes: Some(bytes), ..noted(lane, access, place) });
    }
}

/// A lane is about to read and write a place at once.
pub(super) fn exchanges(warp: &Warp, lane: usize, access: Access, place: *mut u8) {
    if access.check {
        let access = Access { strong: true, ..access };
        note(warp, Noted { reads: true, writes: true, ..noted(lane, access, place) });
    }
}

fn noted(lane: usize, access: Access, place: *mut u8) -> Noted {
    let Access { strong, acquire, release, .. } = access;
    let (size, reads, writes, bytes) = (access.bytes(), false, false, None);
    Noted { lane, place, size, reads, writes, strong, acquire, release, bytes }
}

fn note(warp: &Warp, noted: Noted) {
    // SAFETY: helpers are called by running warps only.
    unsafe { warp.host() }.note_access(warp, noted);
}

/// The warp has come to a fence.
pub(super) unsafe extern "C" fn fence(warp: *mut Warp) {
    // SAFETY: compiled code passes its warp, which runs.
    unsafe { run(warp, |warp| warp.host().note_fence()) }
}

/// Lanes have waited for each other.
pub(super) unsafe extern "C" fn synchronize(warp: *mut Warp, lanes: u64) {
    // SAFETY: as above.
    unsafe { run(warp, |warp| warp.host().note_meeting(warp, lanes as u32)) }
}
