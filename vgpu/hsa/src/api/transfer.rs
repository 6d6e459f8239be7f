//! Copies that run beside the program (AMD's extension).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::pointer::Opaque;
use crate::abi::structure::{Dim3, Pitched};
use crate::abi::{In, List, Result, Status};
use crate::objects::agent::Agent;
use crate::objects::memory::access;
use crate::objects::signal::Signal;
use crate::objects::transfer::{self, Transfer, Work};

/// What goes before and after a copy.
fn submit(call: &Call, work: Work, count: u32, list: List<Handle>, completion: Handle) -> Result {
    let dependencies = list.get(count as usize)?;
    let dependencies = dependencies.into_iter().map(Signal::get).collect::<Result<_>>()?;
    let completion = Some(Signal::get(completion)?);
    transfer::add(Transfer { work, dependencies, completion, by: call.name() })
}

/// Copies memory once all signals of a list are 0.
#[entry]
fn hsa_amd_memory_async_copy(
    call: &Call,
    to: Opaque,
    to_agent: Handle,
    from: Opaque,
    from_agent: Handle,
    size: usize,
    count: u32,
    list: List<Handle>,
    completion: Handle,
) -> Result {
    copy(call, (to, to_agent), (from, from_agent), size, (count, list), completion)
}

/// The same on a certain engine: they are all alike.
#[entry]
fn hsa_amd_memory_async_copy_on_engine(
    call: &Call,
    to: Opaque,
    to_agent: Handle,
    from: Opaque,
    from_agent: Handle,
    size: usize,
    count: u32,
    list: List<Handle>,
    completion: Handle,
    engine: u32,
    _force: bool,
) -> Result {
    if !engine.is_power_of_two() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    copy(call, (to, to_agent), (from, from_agent), size, (count, list), completion)
}

fn copy(
    call: &Call,
    (to, to_agent): (Opaque, Handle),
    (from, from_agent): (Opaque, Handle),
    size: usize,
    (count, list): (u32, List<Handle>),
    completion: Handle,
) -> Result {
    if to.is_null() || from.is_null() || completion == Handle::NULL {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    Agent::get(to_agent)?;
    Agent::get(from_agent)?;
    // No copy: the completion signal stays as it is, too.
    if size == 0 {
        Signal::get(completion)?;
        return Ok(());
    }
    let work = Work::Bytes { to: to.address(), from: from.address(), size: size as u64 };
    submit(call, work, count, list, completion)
}

/// Which engines are free for copies between two agents.
#[entry]
fn hsa_amd_memory_copy_engine_status(
    _: &Call,
    to: Handle,
    from: Handle,
    engines: crate::abi::Out<u32>,
) -> Result {
    Agent::get(to)?;
    Agent::get(from)?;
    engines.put(0b11)
}

/// Copies a box of bytes, rows and slices.
#[entry]
fn hsa_amd_memory_async_copy_rect(
    call: &Call,
    to: In<Pitched>,
    to_offset: In<Dim3>,
    from: In<Pitched>,
    from_offset: In<Dim3>,
    range: In<Dim3>,
    agent: Handle,
    direction: u32,
    count: u32,
    list: List<Handle>,
    completion: Handle,
) -> Result {
    let place = |place: In<Pitched>, offset: In<Dim3>| {
        let (place, offset) = (place.get()?, offset.get()?);
        if place.base == 0 {
            return Err(Status::ERROR_INVALID_ARGUMENT);
        }
        Ok(access::Pitched {
            base: place.base,
            pitch: place.pitch as u64,
            slice: place.slice as u64,
            offset: [offset.x, offset.y, offset.z],
        })
    };
    let (to, from, range) = (place(to, to_offset)?, place(from, from_offset)?, range.get()?);
    if completion == Handle::NULL || direction > 3 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    Agent::get(agent)?;
    submit(call, Work::Box { to, from, range: [range.x, range.y, range.z] }, count, list, completion)
}
