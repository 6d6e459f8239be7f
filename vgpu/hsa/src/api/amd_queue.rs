//! AMD's additions to queues, and the handler of system events.

use std::sync::atomic::Ordering;

use super::entry::{Call, entry};
use crate::abi::pointer::Opaque;
use crate::abi::structure::QUEUE_PROFILING;
use crate::abi::{List, Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::fault::{self, Handler};
use crate::objects::queue::{self, Queue};

/// The queue of an agent at an address.
fn queue_of(pointer: Opaque) -> Result<(std::sync::Arc<Queue>, &'static Agent)> {
    if pointer.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let found = queue::get(pointer.address())?;
    let agent = found.agent().ok_or(Status::ERROR_INVALID_QUEUE)?;
    Ok((found, agent))
}

/// Says how urgent a queue is: all have a thread of their own, so it makes no difference.
#[entry]
fn hsa_amd_queue_set_priority(_: &Call, pointer: Opaque, priority: u32) -> Result {
    queue_of(pointer)?;
    if priority > 2 { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

/// Says which compute units a queue's kernels use. It is remembered, and makes no difference.
#[entry]
fn hsa_amd_queue_cu_set_mask(_: &Call, pointer: Opaque, bits: u32, mask: List<u32>) -> Result {
    let (queue, agent) = queue_of(pointer)?;
    if !bits.is_multiple_of(32) || (bits > 0 && mask.is_null()) {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let wanted = mask.get(bits as usize / 32)?;
    let there: Vec<u32> = unit_mask(agent.units(), wanted.len());
    let used: Vec<u32> = wanted.iter().zip(&there).map(|(wanted, there)| wanted & there).collect();
    let reduced = used != wanted;
    *queue.units() = used;
    if reduced { Err(Status::CU_MASK_REDUCED) } else { Ok(()) }
}

/// A mask of so many units, in so many words.
fn unit_mask(units: u32, words: usize) -> Vec<u32> {
    let word = |at: usize| match units.saturating_sub(32 * at as u32) {
        left @ 0..32 => (1 << left) - 1,
        _ => u32::MAX,
    };
    (0..words).map(word).collect()
}

/// Which compute units a queue's kernels use.
#[entry]
fn hsa_amd_queue_cu_get_mask(_: &Call, pointer: Opaque, bits: u32, mask: Opaque) -> Result {
    let (queue, agent) = queue_of(pointer)?;
    if bits == 0 || !bits.is_multiple_of(32) || mask.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let words = bits as usize / 32;
    let set = queue.units().clone();
    let used = if set.is_empty() { unit_mask(agent.units(), words) } else { set };
    for at in 0..words {
        let place = Opaque::from_address(mask.address() + 4 * at as u64);
        Out::from(place).put(used.get(at).copied().unwrap_or(0))?;
    }
    Ok(())
}

/// Notes times for a queue's packets. They always are noted; the queue's structure says it.
#[entry]
fn hsa_amd_profiling_set_profiler_enabled(_: &Call, pointer: Opaque, enable: i32) -> Result {
    let (queue, _) = queue_of(pointer)?;
    let properties = &queue.memory().queue_properties;
    match enable {
        0 => properties.fetch_and(!QUEUE_PROFILING, Ordering::Relaxed),
        _ => properties.fetch_or(QUEUE_PROFILING, Ordering::Relaxed),
    };
    Ok(())
}

/// Has a function told of memory faults.
#[entry]
fn hsa_amd_register_system_event_handler(_: &Call, handler: Option<Handler>, data: Opaque) -> Result {
    fault::add_handler(handler.ok_or(Status::ERROR_INVALID_ARGUMENT)?, data);
    Ok(())
}
