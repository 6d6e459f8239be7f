//! How many blocks of a kernel a multiprocessor could hold, by the limits of the device's
//! compute capability. Programs choose their block sizes by it.

use gangway_engine::Kernel;

use super::function::Function;
use crate::objects::device::Device;
use crate::objects::device::attribute::{MAX_THREADS_PER_BLOCK, REGISTERS, WARP};

/// Registers are given out to warps in units of so many.
const REGISTER_UNIT: u32 = 256;

/// Blocks of one multiprocessor; 0 if not even one fits.
#[must_use]
pub fn blocks(device: &Device, kernel: &Kernel, threads: u32, shared: u32) -> u32 {
    if threads == 0 || threads > MAX_THREADS_PER_BLOCK.min(kernel.max_threads) {
        return 0;
    }
    let limits = device.limits();
    let warps = threads.div_ceil(WARP);
    let by_threads = limits.threads_per_multiprocessor / (warps * WARP);
    let per_warp = (kernel.registers.max(1) * WARP).next_multiple_of(REGISTER_UNIT);
    let by_registers = REGISTERS / (per_warp * warps);
    let used = kernel.static_shared.saturating_add(shared);
    if used > limits.shared_opt_in {
        return 0;
    }
    let with_reserved = used + limits.shared_reserved;
    let by_shared = limits.shared_per_multiprocessor.checked_div(with_reserved).unwrap_or(u32::MAX);
    limits.blocks_per_multiprocessor.min(by_threads).min(by_registers).min(by_shared)
}

/// The block size that keeps most threads busy, and the grid that then fills the device.
/// `shared` says how much dynamic shared memory a block size needs.
pub fn best_block(
    device: &Device,
    function: &Function,
    limit: u32,
    mut shared: impl FnMut(u32) -> u32,
) -> Option<(u32, u32)> {
    let kernel = function.described();
    let most = kernel.max_threads.min(MAX_THREADS_PER_BLOCK);
    let most = if limit == 0 { most } else { most.min(limit) };
    // Threads that are busy, blocks, and the size of a block.
    let mut best: Option<(u32, u32, u32)> = None;
    let mut size = most;
    while size > 0 {
        let dynamic = shared(size);
        let blocks =
            if dynamic > function.max_dynamic_shared() { 0 } else { blocks(device, kernel, size, dynamic) };
        let busy = blocks * size;
        if blocks > 0 && best.is_none_or(|(most, ..)| busy > most) {
            best = Some((busy, blocks, size));
        }
        // Down to the next whole number of warps.
        size = (size - 1) / WARP * WARP;
    }
    best.map(|(_, blocks, size)| (blocks * device.multiprocessors(), size))
}

/// Dynamic shared memory that a block may use when so many are to be on a multiprocessor.
#[must_use]
pub fn available_shared(device: &Device, kernel: &Kernel, blocks_wanted: u32, threads: u32) -> Option<u32> {
    if blocks_wanted == 0 || blocks(device, kernel, threads, 0) < blocks_wanted {
        return None;
    }
    let limits = device.limits();
    let each = (limits.shared_per_multiprocessor / blocks_wanted).saturating_sub(limits.shared_reserved);
    let each = each.min(limits.shared_opt_in).saturating_sub(kernel.static_shared);
    // Shared memory is given out in units of 128 bytes.
    Some(each / 128 * 128)
}
