//! Reductions inside one warp. Who takes part decides which of three algorithms runs; each leaves
//! the result in the first lane that takes part.
//!
//! No construct of today's compilers gets to [`dispersed`], and no program has its code. A region with
//! more than one thread is an outermost one, whose threads are the first ones of their block, whatever
//! branch the team has entered it in; a region inside of another one has one thread; and clang runs
//! `simd` in one lane. So lanes that reduce are the first ones of their warp: checked code looks
//! whether they are, and the program `reduction_lanes` tries every shape of regions. The algorithm
//! is for a compiler that reduces over lanes of a `simd` construct or over those that a branch has left.

use super::callbacks::{Reduction, Version};
use crate::target::{Mask, warp_size};

/// All lanes take part. Of 32 lane `i` combines with lane `i + 16`, then with `i + 8`, and so on.
///
/// # Safety
/// As [`Reduction::step`]; all lanes of the warp call it.
#[inline(always)]
pub unsafe fn full(reduction: &Reduction) {
    let mut offset = warp_size() / 2;
    while offset > 0 {
        // SAFETY: the caller's promise is this function's.
        unsafe { reduction.step(0, offset, Version::Full) };
        offset /= 2;
    }
}

/// The lists of the lanes below `size` are combined.
///
/// A list that has no partner, as their number is odd, moves down to the lane behind those that
/// have combined. So the lists that are left are contiguous again. If the number is even none has to
/// move, and all lanes combine: they stay together, and the upper ones' values do not matter. Lanes from
/// `size` on may call along; what they hold does not reach the result.
///
/// # Safety
/// As [`Reduction::step`]; at least the lanes below `size` call it.
#[inline(always)]
pub unsafe fn contiguous(reduction: &Reduction, lane: u32, size: u32) {
    let mut left = size;
    while left > 1 {
        let version = if left.is_multiple_of(2) { Version::Full } else { Version::Contiguous };
        // SAFETY: the caller's promise is this function's.
        unsafe { reduction.step(lane, left / 2, version) };
        left = left.div_ceil(2);
    }
}

/// The lists of the lanes in `participants` are combined, wherever these lanes are.
///
/// Lanes are numbered by how many participants come before them. In each round an even lane
/// combines with the next participant, which is odd and then has no part in later rounds. The
/// lanes that are left are numbered anew. Returns whether the caller has the result.
///
/// # Safety
/// As [`Reduction::step`]; exactly the lanes in `participants` call it.
#[inline(always)]
pub unsafe fn dispersed(reduction: &Reduction, lane: u32, participants: Mask) -> bool {
    let below = ((1 as Mask) << lane) - 1;
    let mut left = participants;
    while left & (left - 1) != 0 {
        let logical = (left & below).count_ones();
        let above = left & !below & !(1 << lane);
        // A lane without a successor fetches its own list and drops it.
        let offset = if above == 0 { 0 } else { above.trailing_zeros() - lane };
        // All participants shuffle in every round, as a shuffle waits for all lanes of its mask.
        // One that has handed its list over passes an odd number, and keeps what it has.
        let number = if left >> lane & 1 == 1 { logical } else { 1 };
        // SAFETY: the caller's promise is this function's.
        unsafe { reduction.step(number, offset, Version::Dispersed) };
        left = even(left);
    }
    lane == participants.trailing_zeros()
}

/// Every other lane of `lanes`, from the first on.
#[inline(always)]
fn even(lanes: Mask) -> Mask {
    // Bit `i` becomes the parity of the bits from 0 up to `i`.
    let mut parity = lanes;
    let mut shift = 1;
    while shift < warp_size() {
        parity ^= parity << shift;
        shift *= 2;
    }
    lanes & parity
}
