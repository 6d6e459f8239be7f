//! The lanes of a mask, and the values that compiled code leaves for each of them.

use crate::abi::LANES;

/// The lanes of a mask, in order.
pub(crate) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros())?;
        rest &= rest - 1;
        Some(lane as usize)
    })
}

/// A value that compiled code has left, in either of its forms.
pub(super) fn value(values: &[u64; 32], wide: bool, lane: usize) -> u64 {
    if wide { values[lane] } else { u64::from(narrow(values)[lane]) }
}

/// Values of up to 32 bits lie densely.
pub(super) fn narrow(values: &[u64; 32]) -> &[u32; 32] {
    // SAFETY: the first half of 32 aligned `u64` is 32 aligned `u32`, of which any bits are valid.
    unsafe { &*values.as_ptr().cast() }
}

pub(super) fn narrow_mut(values: &mut [u64; 32]) -> &mut [u32; 32] {
    // SAFETY: as for `narrow`.
    unsafe { &mut *values.as_mut_ptr().cast() }
}

/// Does something for each lane of a mask, with no test where that is all of them.
#[inline(always)]
pub(super) fn each_lane(mask: u32, mut work: impl FnMut(usize)) {
    if mask == u32::MAX {
        (0..LANES).for_each(work);
    } else {
        lanes(mask).for_each(&mut work);
    }
}
