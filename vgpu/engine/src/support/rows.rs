//! Loads and stores of consecutive elements, and of those at equal steps, whose places compiled
//! code has checked.

use super::lanes::{each_lane, narrow};
use crate::abi::{LANES, Warp};

/// The last lane of a mask, whose value stays where lanes store to one place.
pub(super) fn last_lane(mask: u32) -> u32 {
    if mask == 0 { 0 } else { 1 << mask.ilog2() }
}

/// Stores the warp's first `values` for the lanes of `mask`, which is in memory that may be
/// written, `step` bytes from lane to lane.
pub(super) unsafe extern "C" fn store_row(warp: *mut Warp, mask: u64, first: *mut u8, step: u64, size: u64) {
    // SAFETY: compiled code passes its warp, and has checked where it goes.
    unsafe {
        let (mask, values) = (mask as u32, &(*warp).values[0]);
        let mask = if step == 0 { last_lane(mask) } else { mask };
        let to = |lane: usize| first.wrapping_offset((step as i64 * lane as i64) as isize);
        match size {
            1 => each_lane(mask, |lane| to(lane).write_volatile(narrow(values)[lane] as u8)),
            2 => each_lane(mask, |lane| to(lane).cast::<u16>().write_volatile(narrow(values)[lane] as u16)),
            4 if step == 4 => store_consecutive(mask, narrow(values), first.cast()),
            4 => each_lane(mask, |lane| to(lane).cast::<u32>().write_volatile(narrow(values)[lane])),
            8 if step == 8 => store_consecutive(mask, values, first.cast()),
            _ => each_lane(mask, |lane| to(lane).cast::<u64>().write_volatile(values[lane])),
        }
    }
}

/// Loads consecutive elements of 4 or 8 bytes for the lanes of `mask`, which are in device memory
/// from `first` on, and puts them where those of lane 0 on are to be.
pub(super) unsafe extern "C" fn load_row(_: *mut Warp, mask: u64, first: *const u8, to: *mut u8, size: u64) {
    // SAFETY: compiled code has checked where it goes, and has room for what all lanes load.
    unsafe {
        let mask = mask as u32;
        match size {
            4 => each_lane(mask, |lane| {
                let value = first.cast::<u32>().wrapping_add(lane).read_volatile();
                to.cast::<u32>().add(lane).write(value);
            }),
            _ => each_lane(mask, |lane| {
                let value = first.cast::<u64>().wrapping_add(lane).read_volatile();
                to.cast::<u64>().add(lane).write(value);
            }),
        }
    }
}

/// Loads an element for each lane, one behind the other.
///
/// # Safety
/// `first` is where lane 0 loads from, and the memory of all lanes may be read.
#[inline(always)]
pub(super) unsafe fn load_consecutive<T: Copy>(values: &mut [T; LANES], first: *const T) {
    let (quads, _) = values.as_chunks_mut::<4>();
    for (number, quad) in quads.iter_mut().enumerate() {
        // SAFETY: by the caller. Elements are as aligned as they have to be, which four of them are not.
        *quad = unsafe { first.wrapping_add(4 * number).cast::<[T; 4]>().read_unaligned() };
    }
}

/// Stores consecutive elements for the lanes of a mask.
///
/// # Safety
/// `first` is where lane 0 stores to, and the memory of all lanes in the mask may be written.
#[inline(always)]
pub(super) unsafe fn store_consecutive<T: Copy>(mask: u32, values: &[T; LANES], first: *mut T) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 4 && is_x86_feature_detected!("avx512vl") {
        // SAFETY: by the caller; elements of four bytes are words.
        unsafe { store_masked(mask, &*std::ptr::from_ref(values).cast(), first.cast()) };
        return;
    }
    let (quads, _) = values.as_chunks::<4>();
    for (number, quad) in quads.iter().enumerate() {
        let (mask, to) = (mask >> (4 * number) & 0xf, first.wrapping_add(4 * number));
        if mask == 0xf {
            // SAFETY: by the caller. Elements are as aligned as they have to be, which four of them
            // are not.
            unsafe { to.cast::<[T; 4]>().write_unaligned(*quad) };
        } else if mask != 0 {
            for (lane, &value) in quad.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0) {
                // SAFETY: as above.
                unsafe { to.wrapping_add(lane).write_volatile(value) };
            }
        }
    }
}

/// As [`store_consecutive`], without a branch: masks are different each time, and no processor
/// foretells them. Memory of other lanes is neither touched nor has to be there.
///
/// # Safety
/// As there; the processor has AVX-512VL.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
unsafe fn store_masked(mask: u32, values: &[i32; LANES], first: *mut i32) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_mask_storeu_epi32};
    // Four at a time, as they have just been written: what is read in larger parts has to wait.
    for (number, four) in values.as_chunks::<4>().0.iter().enumerate() {
        let chosen = (mask >> (4 * number)) as u8 & 0xf;
        // SAFETY: four values, and the memory of the lanes that are chosen, by the caller.
        unsafe {
            let four = _mm_loadu_si128(four.as_ptr().cast());
            _mm_mask_storeu_epi32(first.wrapping_add(4 * number), chosen, four);
        }
    }
}
