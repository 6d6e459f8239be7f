//! What the compiler asks of the hardware.

use crate::target::{self, Mask};

#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_get_hardware_thread_id_in_block() -> u32 {
    target::thread_id()
}

#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_get_hardware_num_threads_in_block() -> u32 {
    target::threads_in_block()
}

#[unsafe(no_mangle)]
#[inline(never)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub extern "C" fn __kmpc_get_hardware_num_blocks() -> u32 {
    target::blocks_in_grid()
}

/// Whether the thread of that number runs the body of a generic kernel.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_is_generic_main_thread_id(thread: u32) -> i8 {
    i8::from(!crate::kernel::is_spmd() && thread == crate::kernel::main_thread())
}

/// The value of the lane `delta` further on in the segment of `width` lanes; all lanes of the warp
/// that run take part.
#[must_use]
#[inline(always)]
pub fn shuffle_down_64(mask: Mask, value: u64, delta: u32, width: u32) -> u64 {
    let low = target::shuffle_down(mask, value as u32, delta, width);
    let high = target::shuffle_down(mask, (value >> 32) as u32, delta, width);
    u64::from(high) << 32 | u64::from(low)
}
