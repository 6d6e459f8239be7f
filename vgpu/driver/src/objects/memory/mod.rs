//! Memory that programs allocate: whose it is, and taking it back.
//!
//! Addresses are unique in the process, whatever device or context they belong to, so most
//! of what is asked about a pointer is answered by `gangway-device-memory`. Here is what it
//! does not know: the context that allocated, and with which flags.

pub mod leaks;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use gangway_device_memory::{Allocation, Error, Hold, Kind, Request, Space, is_device_address};
use gangway_streams::Failure;

use crate::abi::status::{Result, Status};
use crate::abi::types::CUcontext;
use crate::objects::context::Context;
use crate::objects::process::report::report;

/// Who allocated or registered something.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub context: CUcontext,
    context_id: u64,
    /// The flags of the call.
    pub flags: u32,
    /// Host memory that was registered, not allocated.
    registered: bool,
}

const SHARDS: usize = 64;

/// By start address, in many maps so that threads seldom meet.
static OWNERS: [Mutex<Option<HashMap<u64, Owner>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn owners<T>(address: u64, work: impl FnOnce(&mut HashMap<u64, Owner>) -> T) -> T {
    // The bits above a page's: neighbours go to different shards.
    let shard = &OWNERS[(address >> 12) as usize % SHARDS];
    work(shard.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

pub fn space() -> Result<&'static Space> {
    Ok(Space::get()?)
}

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        match error {
            Error::NotReserved(_) | Error::LimitExceeded { .. } | Error::OutOfMemory { .. } => {
                Status::OUT_OF_MEMORY
            }
            Error::NoSuchDevice(_) => Status::INVALID_DEVICE,
            Error::AlreadyRegistered { .. } => Status::HOST_MEMORY_ALREADY_REGISTERED,
            Error::NotRegistered(_) => Status::HOST_MEMORY_NOT_REGISTERED,
            Error::BadAlignment(_) | Error::NotAnAllocation { .. } | Error::BadHostRange { .. } => {
                Status::INVALID_VALUE
            }
        }
    }
}

/// Allocates in the name of a context. Zero bytes are refused, as every function that allocates does.
pub fn allocate(context: &Context, size: usize, kind: Kind, flags: u32, call: &str) -> Result<u64> {
    if size == 0 {
        return Err(Status::INVALID_VALUE);
    }
    let request = Request::new(context.device.ordinal(), size as u64, kind).name(call);
    let address = space()?.allocate(&request)?;
    let owner = Owner { context: context.handle, context_id: context.id, flags, registered: false };
    owners(address, |owners| owners.insert(address, owner));
    // Another thread may have destroyed the context, and what it had, in between.
    if let Err(status) = context.usable() {
        let _ = free(address, &[kind]);
        return Err(status);
    }
    Ok(address)
}

/// Frees what starts at an address and is of one of these kinds.
pub fn free(address: u64, kinds: &[Kind]) -> Result {
    let space = space()?;
    let allocation =
        space.find(address).filter(|found| found.address == address && kinds.contains(&found.kind));
    if allocation.is_none() {
        return Err(Status::INVALID_VALUE);
    }
    owners(address, |owners| owners.remove(&address));
    Ok(space.free(address)?)
}

pub fn register(context: &Context, address: u64, size: usize, flags: u32) -> Result {
    if !is_mapped(address, size) {
        return Err(Status::INVALID_VALUE);
    }
    space()?.register_host(address, size as u64)?;
    let owner = Owner { context: context.handle, context_id: context.id, flags, registered: true };
    owners(address, |owners| owners.insert(address, owner));
    Ok(())
}

pub fn unregister(address: u64) -> Result {
    space()?.unregister_host(address)?;
    owners(address, |owners| owners.remove(&address));
    Ok(())
}

/// Whether the process has memory at all of a range of host addresses.
fn is_mapped(address: u64, size: usize) -> bool {
    const PAGE: u64 = 4096;
    let Some(end) = address.checked_add(size as u64).and_then(|end| end.checked_next_multiple_of(PAGE))
    else {
        return false;
    };
    let start = address & !(PAGE - 1);
    // SAFETY: this changes nothing; it fails with ENOMEM where nothing is mapped.
    let answer = unsafe { libc::msync(start as *mut libc::c_void, (end - start) as usize, libc::MS_ASYNC) };
    answer == 0
}

/// Who allocated what starts at an address.
pub fn owner(address: u64) -> Option<Owner> {
    owners(address, |owners| owners.get(&address).copied())
}

/// Frees everything that a context has allocated, for the context's end.
pub fn release_all(context: &Context) {
    let Ok(space) = space() else { return };
    let mut left = Vec::new();
    for shard in &OWNERS {
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(owners) = shard.as_mut() else { continue };
        owners.retain(|&address, owner| {
            if owner.context_id != context.id {
                return true;
            }
            // Nothing is to be done about a failure: the context is gone in any case.
            if owner.registered {
                let _ = space.unregister_host(address);
            } else {
                left.extend(space.find(address).filter(|_| context.device.checks()));
                let _ = space.free(address);
            }
            false
        });
    }
    leaks::tell(space, &left);
}

/// Memory as a device sees it.
#[derive(Clone, Debug)]
pub enum Found {
    Allocation(Allocation),
    /// Registered host memory.
    Registered {
        address: u64,
        size: u64,
    },
}

impl Found {
    pub fn address(&self) -> u64 {
        match self {
            Found::Allocation(allocation) => allocation.address,
            Found::Registered { address, .. } => *address,
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            Found::Allocation(allocation) => allocation.size,
            Found::Registered { size, .. } => *size,
        }
    }

    /// Whether it is memory of the host that devices may use.
    pub fn is_host(&self) -> bool {
        match self {
            Found::Allocation(allocation) => allocation.kind == Kind::Pinned,
            Found::Registered { .. } => true,
        }
    }

    pub fn is_managed(&self) -> bool {
        matches!(self, Found::Allocation(Allocation { kind: Kind::Managed, .. }))
    }
}

/// What an address belongs to; `None` for ordinary host memory and for what is nothing.
pub fn find(address: u64) -> Option<Found> {
    let space = space().ok()?;
    if is_device_address(address) {
        return space.find(address).map(Found::Allocation);
    }
    space.find_host(address).map(|(address, size)| Found::Registered { address, size })
}

/// Where the host reads and writes what devices have at an address: constants are read-only at their own.
pub fn host_address(address: u64) -> u64 {
    space().map_or(address, |space| space.host_address(address))
}

/// Whether a device may use all of a range, `CUDA_ERROR_INVALID_VALUE` if not.
pub fn check_device_range(address: u64, size: u64) -> Result {
    let space = space()?;
    let fine = if is_device_address(address) {
        space.is_allocated(address, size)
    } else {
        space.is_host_registered(address, size)
    };
    if fine { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// Holds a range that an operation is about to work on: it stays until that is done. What has been freed, or is
/// not registered any more, since the operation was submitted makes it fail as a kernel's access to it would.
pub fn hold(address: u64, size: u64, write: bool) -> std::result::Result<Hold<'static>, Failure> {
    let illegal = Failure::known(Status::ILLEGAL_ADDRESS.0);
    let space = space().map_err(|_| illegal)?;
    space.hold(address, size).ok_or_else(|| {
        match space.check(address, size, write) {
            Err(violation) => report!("an operation of a stream fails: {violation}"),
            // It is freed, and somebody else holds it a little longer.
            Ok(()) => {
                report!("an operation of a stream fails: {size} bytes at {address:#x} are not allocated")
            }
        }
        illegal
    })
}
