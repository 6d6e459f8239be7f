//! Making and ending queues (HSA runtime 1.2, 2.5).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{feature, queue as kind};
use crate::abi::pointer::Opaque;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::agent::region::Region;
use crate::objects::queue::{self, Callback, Wish};
use crate::objects::signal::Signal;

fn check(size: u32, wanted: u32, out: Out<Opaque>) -> Result {
    out.check()?;
    let known = matches!(wanted, kind::MULTI | kind::SINGLE | kind::COOPERATIVE);
    if !size.is_power_of_two() || !known { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(()) }
}

/// Makes a queue of an agent's.
#[entry]
fn hsa_queue_create(
    _: &Call,
    agent: Handle,
    size: u32,
    wanted: u32,
    callback: Option<Callback>,
    data: Opaque,
    _private_segment_size: u32,
    _group_segment_size: u32,
    out: Out<Opaque>,
) -> Result {
    check(size, wanted, out)?;
    let agent = Agent::get(agent)?;
    // The processor has none, and nothing makes all work-groups of a grid run at once.
    if !agent.is_gpu() || wanted == kind::COOPERATIVE {
        return Err(Status::ERROR_INVALID_QUEUE_CREATION);
    }
    let wish = Wish { size, kind: wanted, features: feature::KERNEL_DISPATCH, callback, data };
    out.put(Opaque::from_address(queue::create(agent, &wish)?))
}

/// Makes a queue that the program processes itself.
#[entry]
fn hsa_soft_queue_create(
    _: &Call,
    region: Handle,
    size: u32,
    wanted: u32,
    features: u32,
    doorbell: Handle,
    out: Out<Opaque>,
) -> Result {
    check(size, wanted, out)?;
    Region::get(region)?;
    let all = feature::KERNEL_DISPATCH | feature::AGENT_DISPATCH;
    if doorbell == Handle::NULL || features == 0 || features & !all != 0 || wanted == kind::COOPERATIVE {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let wish = Wish { size, kind: wanted, features, callback: None, data: Opaque(std::ptr::null_mut()) };
    out.put(Opaque::from_address(queue::create_soft(&wish, Signal::get(doorbell)?)?))
}

/// The address of a queue, which is not null.
fn address(pointer: Opaque) -> Result<u64> {
    if pointer.is_null() { Err(Status::ERROR_INVALID_ARGUMENT) } else { Ok(pointer.address()) }
}

/// Destroys a queue.
#[entry]
fn hsa_queue_destroy(_: &Call, pointer: Opaque) -> Result {
    queue::destroy(address(pointer)?)
}

/// Ends a queue's processing; its memory stays.
#[entry]
fn hsa_queue_inactivate(_: &Call, pointer: Opaque) -> Result {
    queue::get(address(pointer)?)?.inactivate();
    Ok(())
}
