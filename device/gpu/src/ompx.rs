//! The functions of clang's `ompx.h`: a kernel language within OpenMP.

use crate::grid::shuffle_down_64;
use crate::target::{self, Axis, Mask};

const fn axis(number: i32) -> Axis {
    match number {
        1 => Axis::Y,
        2 => Axis::Z,
        _ => Axis::X,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_thread_id(number: i32) -> i32 {
    target::thread_id_along(axis(number)).cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_block_dim(number: i32) -> i32 {
    target::threads_along(axis(number)).cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_block_id(number: i32) -> i32 {
    target::block_id_along(axis(number)).cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_grid_dim(number: i32) -> i32 {
    target::blocks_along(axis(number)).cast_signed()
}

/// All threads of the block meet; a barrier of the hardware orders their memory in every order that
/// can be asked for.
#[unsafe(no_mangle)]
pub extern "C" fn ompx_sync_block(_ordering: i32) {
    target::barrier_aligned();
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_sync_block_acq_rel() {
    target::barrier_aligned();
}

/// The same where threads of a warp come at different times.
#[unsafe(no_mangle)]
pub extern "C" fn ompx_sync_block_divergent(_ordering: i32) {
    target::barrier();
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_ballot_sync(mask: u64, predicate: i32) -> u64 {
    target::ballot(mask as Mask, predicate != 0).into()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_shfl_down_sync_i(mask: u64, value: i32, delta: u32, width: i32) -> i32 {
    target::shuffle_down(mask as Mask, value.cast_unsigned(), delta, width.cast_unsigned()).cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_shfl_down_sync_f(mask: u64, value: f32, delta: u32, width: i32) -> f32 {
    f32::from_bits(target::shuffle_down(mask as Mask, value.to_bits(), delta, width.cast_unsigned()))
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_shfl_down_sync_l(mask: u64, value: i64, delta: u32, width: i32) -> i64 {
    shuffle_down_64(mask as Mask, value.cast_unsigned(), delta, width.cast_unsigned()).cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn ompx_shfl_down_sync_d(mask: u64, value: f64, delta: u32, width: i32) -> f64 {
    f64::from_bits(shuffle_down_64(mask as Mask, value.to_bits(), delta, width.cast_unsigned()))
}
