//! Memory that programs allocate: whose it is, and taking it back.
//!
//! Addresses are unique in the process, whatever device or context they belong to. So most of what
//! is asked about a pointer is answered by `gangway-device-memory`. Here is what it does not know:
//! the context that allocated, and with which flags.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Arguments;
use std::sync::{Arc, Mutex, PoisonError};

use gangway_device_memory::{Allocation, AllocationKind, Error, Hold, Request, Space, is_device_address};
use gangway_streams::Failure;
use gangway_trace::{Kind, Span};

use crate::abi::{CUcontext, Result, Status};
use crate::objects::device::{Device, host, leaks, names};
use crate::objects::process::report::report;
use crate::objects::process::{state, trace};

/// The context that allocated or registered something.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub context: CUcontext,
    /// Unique in the process, which a handle is not: that of a primary context comes again.
    pub context_id: u64,
    /// The flags of the call.
    pub flags: u32,
}

#[derive(Clone, Copy, Debug)]
struct Owned {
    owner: Owner,
    /// Host memory that was registered, not allocated.
    registered: bool,
}

const SHARDS: usize = 64;

/// By start address, in many maps so that threads seldom meet.
static OWNERS: [Mutex<Option<HashMap<u64, Owned>>>; SHARDS] = [const { Mutex::new(None) }; SHARDS];

fn owners<T>(address: u64, work: impl FnOnce(&mut HashMap<u64, Owned>) -> T) -> T {
    // The bits above a page's: neighbours go to different shards.
    let shard = &OWNERS[(address >> 12) as usize % SHARDS];
    work(shard.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

pub fn space() -> Result<&'static Space> {
    Ok(Space::get()?)
}

impl From<Error> for Status {
    fn from(error: Error) -> Self {
        match error {
            Error::NotReserved(_) | Error::LimitExceeded { .. } | Error::OutOfMemory { .. } => {
                Self::OUT_OF_MEMORY
            }
            Error::NoSuchDevice(_) => Self::INVALID_DEVICE,
            Error::AlreadyRegistered { .. } => Self::HOST_MEMORY_ALREADY_REGISTERED,
            Error::NotRegistered(_) => Self::HOST_MEMORY_NOT_REGISTERED,
            Error::BadAlignment(_) | Error::NotAnAllocation { .. } | Error::BadHostRange { .. } => {
                Self::INVALID_VALUE
            }
        }
    }
}

/// Allocates in the name of a context. Zero bytes are refused, as every function that allocates
/// does. The caller sees to it that the context has not gone meanwhile.
pub fn allocate(request: &Request<'_>, owner: Owner) -> Result<u64> {
    let address = obtain(request)?;
    let owned = Owned { owner, registered: false };
    owners(address, |owners| owners.insert(address, owned));
    Ok(address)
}

/// What a program may free that starts at an address: an allocation of one of these kinds that
/// a context has. Pools and graphs keep account of theirs by themselves.
pub fn owned_allocation(address: u64, kinds: &[AllocationKind]) -> Result<Option<Allocation>> {
    let found = space()?.find(address);
    let found = found.filter(|found| found.address == address && kinds.contains(&found.kind));
    Ok(found.filter(|_| owner(address).is_some()))
}

/// Frees what starts at an address and is of one of these kinds.
pub fn free(address: u64, kinds: &[AllocationKind]) -> Result {
    owned_allocation(address, kinds)?.ok_or(Status::INVALID_VALUE)?;
    // Of several threads that free it, or of one and its context's end, one gets the owner.
    owners(address, |owners| owners.remove(&address)).ok_or(Status::INVALID_VALUE)?;
    give_back(address)
}

/// Memory of the system's, and the trace hears of it.
pub fn obtain(request: &Request<'_>) -> Result<u64> {
    let (device, name) = (request.device as i32, request.name.unwrap_or(""));
    let span = Span { bytes: request.size, ..Span::new(Kind::Allocate, device, name, 0) };
    let begun = trace::begin(|| span);
    let address = space()?.allocate(request)?;
    if let Some(device) = Device::all().get(request.device as usize) {
        device.forget_accesses(address, request.size);
    }
    if matches!(request.kind, AllocationKind::Pinned | AllocationKind::Managed) {
        host::watch(address, request.size);
    }
    if let Some(begun) = begun {
        begun.end(&span);
    }
    Ok(address)
}

/// Gives memory back to the system, and the trace hears of it.
pub fn give_back(address: u64) -> Result {
    let space = space()?;
    names::forget(address, 1);
    leaks::forget(address);
    let freed = if gangway_trace::enabled() { space.find(address) } else { None };
    let span = freed.as_ref().map(|freed| {
        let name = freed.name.unwrap_or("");
        Span { bytes: freed.size, ..Span::new(Kind::Free, freed.device as i32, name, 0) }
    });
    let begun = span.and_then(|span| trace::begin(|| span));
    space.free(address)?;
    if let (Some(begun), Some(span)) = (begun, span) {
        begun.end(&span);
    }
    Ok(())
}

/// Variables of modules that the program has asked for, by address; only while a trace or a report
/// is made.
static VARIABLES: Mutex<BTreeMap<u64, (u64, Arc<str>)>> = Mutex::new(BTreeMap::new());

/// The program has been told where a variable is.
pub fn note_variable(address: u64, size: u64, name: &str) {
    if gangway_trace::enabled() {
        VARIABLES.lock().unwrap_or_else(PoisonError::into_inner).insert(address, (size, name.into()));
    }
}

/// The device whose memory an address is of, and the variable, if it is one of a module's; `None`
/// for the host's. For traces and reports.
#[must_use]
pub fn on_device(address: u64) -> Option<(i32, Arc<str>)> {
    let found = space().ok()?.find(address).filter(|_| is_device_address(address))?;
    let mut name = None;
    match found.kind {
        AllocationKind::Pinned => return None,
        AllocationKind::Constant | AllocationKind::Module => {
            let variables = VARIABLES.lock().unwrap_or_else(PoisonError::into_inner);
            let before = variables.range(..=address).next_back();
            let within = before.filter(|(start, (size, _))| address - **start < *size);
            name = within.map(|(_, (_, name))| Arc::clone(name));
        }
        _ => {}
    }
    Some((found.device as i32, name.unwrap_or_default()))
}

/// Registers host memory in the name of a context.
pub fn register(address: u64, size: usize, owner: Owner) -> Result {
    if !is_mapped(address, size) {
        return Err(Status::INVALID_VALUE);
    }
    space()?.register_host(address, size as u64)?;
    let owned = Owned { owner, registered: true };
    owners(address, |owners| owners.insert(address, owned));
    Ok(())
}

pub fn unregister(address: u64) -> Result {
    // Taken first: as soon as the range is free, another thread may register it as its own.
    let taken = owners(address, |owners| {
        let registered = owners.get(&address).is_some_and(|owned| owned.registered);
        if registered { owners.remove(&address) } else { None }
    });
    let outcome = space()?.unregister_host(address);
    if let (Err(_), Some(owned)) = (&outcome, taken) {
        owners(address, |owners| owners.insert(address, owned));
    }
    outcome?;
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

/// The context that allocated or registered what starts at an address.
#[must_use]
pub fn owner(address: u64) -> Option<Owner> {
    owners(address, |owners| owners.get(&address).map(|owned| owned.owner))
}

/// Frees everything that a context has allocated, for the context's end; `tell` tells of it.
pub fn release_all(context_id: u64, tell: bool) {
    let Ok(space) = space() else { return };
    let mut left = Vec::new();
    for shard in &OWNERS {
        // Freed after the lock: to unregister host memory waits for operations that hold it.
        let mut gone = Vec::new();
        if let Some(owners) = shard.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            gone.extend(owners.extract_if(|_, owned| owned.owner.context_id == context_id));
        }
        for (address, owned) in gone {
            // Nothing is to be done about a failure: the context is gone in any case.
            if owned.registered {
                let _ = space.unregister_host(address);
            } else {
                left.extend(space.find(address).filter(|_| tell));
                let _ = give_back(address);
            }
        }
    }
    leaks::tell(space, left);
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
    #[must_use]
    pub fn address(&self) -> u64 {
        match self {
            Self::Allocation(allocation) => allocation.address,
            Self::Registered { address, .. } => *address,
        }
    }

    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::Allocation(allocation) => allocation.size,
            Self::Registered { size, .. } => *size,
        }
    }

    /// Whether it is memory of the host that devices may use.
    #[must_use]
    pub fn is_host(&self) -> bool {
        match self {
            Self::Allocation(allocation) => allocation.kind == AllocationKind::Pinned,
            Self::Registered { .. } => true,
        }
    }

    #[must_use]
    pub fn is_managed(&self) -> bool {
        matches!(self, Self::Allocation(Allocation { kind: AllocationKind::Managed, .. }))
    }
}

/// What an address belongs to; `None` for ordinary host memory and for what is nothing.
#[must_use]
pub fn find(address: u64) -> Option<Found> {
    let space = space().ok()?;
    if is_device_address(address) {
        return space.find(address).map(Found::Allocation);
    }
    space.find_host(address).map(|(address, size)| Found::Registered { address, size })
}

/// Where the host reads and writes what devices have at an address: constants are read-only at
/// their own.
#[must_use]
pub fn host_address(address: u64) -> u64 {
    space().map_or(address, |space| space.host_address(address))
}

/// Whether a device may use all of a range, `CUDA_ERROR_INVALID_VALUE` if not.
pub fn check_device_range(address: u64, size: u64) -> Result {
    let space = space()?;
    let fine = if is_device_address(address) {
        space.is_allocated(address, size)
    } else {
        space.is_host_usable(address, size)
    };
    if fine { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// Whether all of a range is host memory that the program has registered.
#[must_use]
pub fn is_registered(address: u64, size: u64) -> bool {
    space().is_ok_and(|space| space.is_host_registered(address, size))
}

/// Whether a range is the host's memory, which devices may use as it is.
#[must_use]
pub fn is_shared(address: u64, size: u64) -> bool {
    space().is_ok_and(|space| space.shares_host() && space.is_host_usable(address, size))
}

/// How an operation fails that has found host memory gone: nobody has told the driver.
#[must_use]
pub fn unmapped(operation: Arguments<'_>) -> Failure {
    report!("an operation of a stream fails: {operation} finds host memory unmapped");
    state::set_failed();
    Failure::known(Status::ILLEGAL_ADDRESS.0)
}

/// Holds a range that an operation is about to work on: it stays until that is done. The
/// operation fails, as a kernel's access would, if the range has been freed or is not
/// registered any more since the operation was submitted.
///
/// Registered host memory can still be unmapped at any moment: it is only accessed through
/// [`gangway_engine::guard`].
pub fn hold(address: u64, size: u64, write: bool) -> std::result::Result<Hold<'static>, Failure> {
    let illegal = Failure::known(Status::ILLEGAL_ADDRESS.0);
    let space = space().map_err(|_| illegal)?;
    if !is_device_address(address) {
        gangway_engine::catch_signals();
    }
    space.hold(address, size).ok_or_else(|| {
        state::set_failed();
        match space.check(address, size, write) {
            Err(violation) => report!("an operation of a stream fails: {violation}"),
            // It is freed, and another operation holds it a little longer.
            Ok(()) => {
                report!("an operation of a stream fails: {size} bytes at {address:#x} are not allocated")
            }
        }
        illegal
    })
}
