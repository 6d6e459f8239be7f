//! What is known of an address (AMD's extension).

use super::entry::{Call, entry};
use crate::abi::handle::Handle;
use crate::abi::number::{global, pointer};
use crate::abi::pointer::Opaque;
use crate::abi::structure::PointerInfo;
use crate::abi::{Out, Result, Status};
use crate::objects::agent::{self, Agent};
use crate::objects::memory::{self, locked};

/// The caller's function that allocates memory for a list of agents.
type Allocate = Option<extern "C" fn(usize) -> Opaque>;

/// What an address is in, and which agents may access it.
#[entry]
fn hsa_amd_pointer_info(
    _: &Call,
    address: Opaque,
    info: Opaque,
    allocate: Allocate,
    count: Out<u32>,
    list: Out<Opaque>,
) -> Result {
    if address.is_null() || info.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    // The caller says how much room there is: the structure has grown over the years.
    let size = Out::<u32>::from(info).get()? as usize;
    let size = size.min(size_of::<PointerInfo>());
    if size == 0 {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    let (mut found, accessible) = look(address.address());
    found.size = size as u32;
    let from = std::ptr::from_ref(&found).cast::<u8>();
    // SAFETY: the caller promises that the structure has as many bytes as it says.
    unsafe { std::ptr::copy_nonoverlapping(from, info.0.cast::<u8>(), size) };

    let Some(allocate) = allocate.filter(|_| !count.is_null() && !list.is_null()) else { return Ok(()) };
    let handles: Vec<Handle> = accessible.iter().map(|agent| agent.handle()).collect();
    let memory = allocate(size_of::<Handle>() * handles.len());
    if memory.is_null() {
        return Err(Status::ERROR_OUT_OF_RESOURCES);
    }
    // SAFETY: the caller's function has returned so much memory.
    unsafe { std::ptr::copy_nonoverlapping(handles.as_ptr(), memory.0.cast(), handles.len()) };
    count.put(handles.len() as u32)?;
    list.put(memory)
}

/// What is there, and for whom.
fn look(address: u64) -> (PointerInfo, Vec<&'static Agent>) {
    let of = |kind, base, bytes: u64, owner, flags| PointerInfo {
        size: 0,
        kind,
        agent_base: base,
        host_base: base,
        bytes: bytes as usize,
        user_data: 0,
        owner,
        global_flags: flags,
        registered: 0,
    };
    let all = || agent::all().iter();
    if let Some(found) = memory::find(address) {
        let owner = found.region.agent.handle();
        let info = of(pointer::HSA, found.address, found.size, owner, found.region.flags());
        let accessible = all().filter(|agent| found.accessible >> agent.number() & 1 != 0);
        return (PointerInfo { user_data: found.user_data, ..info }, accessible.collect());
    }
    if let Some((base, size)) = locked::find(address) {
        let owner = agent::processor().map_or(Handle::NULL, Agent::handle);
        return (of(pointer::LOCKED, base, size, owner, global::FINE_GRAINED), all().collect());
    }
    // Code, variables, signals, queues: the runtime's own.
    if let Some(found) = agent::space().ok().and_then(|space| space.find(address)) {
        let owner = all().nth(found.device as usize + 1).map_or(Handle::NULL, Agent::handle);
        return (of(pointer::HSA, found.address, found.size, owner, global::COARSE_GRAINED), all().collect());
    }
    (of(pointer::UNKNOWN, 0, 0, Handle::NULL, 0), Vec::new())
}

/// Keeps a pointer of the program's with an allocation.
#[entry]
fn hsa_amd_pointer_info_set_userdata(_: &Call, address: Opaque, data: Opaque) -> Result {
    if address.is_null() {
        return Err(Status::ERROR_INVALID_ARGUMENT);
    }
    memory::set_user_data(address.address(), data.address())
}
