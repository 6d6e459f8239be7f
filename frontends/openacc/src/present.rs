//! What is on the device (OpenACC 3.3 sections 3.2.21 to 3.2.25).

use crate::device;
use crate::failure::{done, mistake};
use crate::profiling::ErrorCode;
use crate::thread::{self, Place};
use gangway_backend::DevicePtr;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, OPENACC_3_3};
use gangway_frontend::state::routine;
use gangway_runtime::present::{EntryRef, Relation};
use gangway_runtime::{Device, HostRange, memory};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::{Bound, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A mapped range of the host's.
#[derive(Clone, Copy)]
pub(crate) struct Mapped {
    pub begin: usize,
    pub size: usize,
    /// Nobody's reference keeps it: a variable of the program's, or data of [`acc_map_data`].
    pub is_permanent: bool,
}

/// How a range of the host's is mapped.
pub(crate) enum Found {
    Whole(Mapped),
    Part(Mapped),
    Nothing,
}

/// How `size` bytes are mapped; none at all are where there is data around them.
pub(crate) fn find(device: &'static Device, host: usize, size: usize) -> Found {
    let (entry, whole) = match device.table.lookup(host, size) {
        Relation::Contained(entry) => (entry, true),
        Relation::Partial(entry) => (entry, false),
        Relation::Absent => return Found::Nothing,
    };
    if !entry.wait_allocated() {
        return Found::Nothing;
    }
    let Some(counts) = entry.snapshot() else { return Found::Nothing };
    let (begin, end) = (entry.host_begin(), entry.host_end());
    if size == 0 && !(begin < host && host < end) {
        return Found::Nothing;
    }
    let mapped = Mapped { begin, size: end - begin, is_permanent: counts.is_infinite() };
    if whole { Found::Whole(mapped) } else { Found::Part(mapped) }
}

/// What is on the device of a range of the host's.
pub enum Parts {
    Nothing,
    /// All of it, or parts as far from each other as on the host: it would begin there.
    Of(usize),
    /// Two parts that are not.
    Apart(HostRange, HostRange),
}

/// The entries that have a part of a range of the host's, in order.
fn entries_of(device: &'static Device, range: &Range<usize>) -> impl Iterator<Item = EntryRef<'static>> {
    let Range { start: mut next, end } = *range;
    std::iter::from_fn(move || {
        let size = end.checked_sub(next).filter(|size| *size > 0)?;
        let (Relation::Contained(entry) | Relation::Partial(entry)) = device.table.lookup(next, size) else {
            return None;
        };
        next = entry.host_end();
        Some(entry)
    })
}

/// Whether something of a range of the host's is on the device for no longer than until a queue has got there.
#[must_use]
pub fn is_leaving(device: &'static Device, range: &Range<usize>) -> bool {
    entries_of(device, range).any(|entry| entry.snapshot().is_some_and(|counts| counts.total() == 0))
}

/// What is on the device of a range of the host's: which parts of it, and where.
pub fn entries_in(
    device: &'static Device,
    range: &Range<usize>,
) -> impl Iterator<Item = (Range<usize>, DevicePtr)> {
    let Range { start, end } = *range;
    let there = entries_of(device, range).filter(|entry| entry.wait_allocated());
    there.map(move |entry| {
        let begin = entry.host_begin().max(start);
        (begin..entry.host_end().min(end), entry.translate(begin))
    })
}

/// What is on the device of an object, of which clauses may have named members.
#[must_use]
pub fn parts_of(device: &'static Device, object: &Range<usize>) -> Parts {
    let mut found: Option<(usize, HostRange)> = None;
    for entry in entries_of(device, object).filter(|entry| entry.wait_allocated()) {
        let begin = entry.translate(object.start).0;
        let size = entry.host_end() - entry.host_begin();
        let part = HostRange { begin: entry.host_begin(), size, label: entry.label() };
        match found {
            None => found = Some((begin, part)),
            Some((known, first)) if known != begin => return Parts::Apart(part, first),
            Some(_) => {}
        }
    }
    found.map_or(Parts::Nothing, |(begin, _)| Parts::Of(begin))
}

/// The members that a range consists of, where each has come by itself and all stand on the device as on the host.
#[must_use]
pub fn members_of(device: &'static Device, object: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let begin = |entry: EntryRef<'static>| entry.translate(object.start).0;
    let mut entries = entries_of(device, object).peekable();
    // Mostly nothing is there, or one entry is.
    let first = *entries.peek().filter(|first| first.host_end() < object.end)?;
    let mut next = object.start;
    let mut members = Vec::new();
    for entry in entries {
        let member = entry.host_begin()..entry.host_end();
        let fits = member.start == next && member.end <= object.end && entry.wait_allocated();
        if !fits || begin(entry) != begin(first) {
            return None;
        }
        next = member.end;
        members.push(member);
    }
    (next == object.end).then_some(members)
}

/// The bytes of present data that begins at an address, if its lifetime may end.
#[must_use]
pub fn bytes_from(device: &'static Device, host: usize) -> Option<usize> {
    match find(device, host, 1) {
        Found::Whole(Mapped { begin, size, is_permanent: false }) if begin == host => Some(size),
        _ => None,
    }
}

/// Data of [`acc_map_data`], by device and address on the host: address on the device, and size.
static MAPPED: Mutex<BTreeMap<(i32, usize), (usize, usize)>> = Mutex::new(BTreeMap::new());

fn mapped() -> MutexGuard<'static, BTreeMap<(i32, usize), (usize, usize)>> {
    MAPPED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    mapped()
}

/// The device address of a host address; null if there is none.
pub extern "C" fn acc_deviceptr<H: Host>(host: *mut c_void) -> *mut c_void {
    guard(std::ptr::null_mut(), || match device::current::<H>().place {
        Place::Host => host,
        Place::Device(device) => memory::mapped_address(device, host.addr())
            .map_or(std::ptr::null_mut(), |address| address.0 as *mut c_void),
    })
}

/// The host address of a device address; null if there is none.
pub extern "C" fn acc_hostptr<H: Host>(address: *mut c_void) -> *mut c_void {
    guard(std::ptr::null_mut(), || match device::current::<H>().place {
        Place::Host => address,
        Place::Device(device) => memory::host_address(device, DevicePtr(address.addr()))
            .map_or(std::ptr::null_mut(), |host| host as *mut c_void),
    })
}

/// Whether all of a range is on the device; of no bytes, whether the address is there. libgomp says of that, and of
/// null, that it is not; now no bytes at null are everywhere.
pub extern "C" fn acc_is_present<H: Host>(host: *mut c_void, size: usize) -> i32 {
    guard(0, || {
        if host.is_null() || size == 0 && H::OPENACC < OPENACC_3_3 {
            return (size == 0 && H::OPENACC >= OPENACC_3_3).into();
        }
        let size = size.max(1);
        match device::current::<H>().place {
            Place::Host => 1,
            Place::Device(device) => i32::from(matches!(find(device, host.addr(), size), Found::Whole(_))),
        }
    })
}

/// Ties a range of the host's to device memory of the program's.
pub extern "C" fn acc_map_data<H: Host>(host: *mut c_void, address: *mut c_void, size: usize) {
    guard((), || {
        let current = device::current::<H>();
        let Place::Device(device) = current.place else {
            if host != address {
                mistake(
                    ErrorCode::WrongDeviceType,
                    format_args!(
                        "acc_map_data: cannot map data on shared-memory system\n  \
                         help: the host is the device, which has only one address for data"
                    ),
                );
            }
            return;
        };
        if host.is_null() || address.is_null() || size == 0 {
            let is_null = host.is_null() || address.is_null();
            let code = if is_null { ErrorCode::InvalidNullPointer } else { ErrorCode::InvalidDataSection };
            mistake(
                code,
                format_args!("acc_map_data: [{host:p},+{size}]->[{address:p},+{size}] is a bad map"),
            );
        }
        if !matches!(find(device, host.addr(), size), Found::Nothing) {
            mistake(
                ErrorCode::Present,
                format_args!(
                    "acc_map_data: host address [{host:p}, +{size}] is already mapped\n  \
                     help: acc_unmap_data it before, or end what has mapped it"
                ),
            );
        }
        if memory::host_address(device, DevicePtr(address.addr())).is_some() {
            mistake(
                ErrorCode::Present,
                format_args!("acc_map_data: device address [{address:p}, +{size}] is already mapped"),
            );
        }
        let _scope = device::scope(&current, crate::device_type::SYNC);
        let storage = DevicePtr(address.addr());
        done(memory::associate(device, host.addr(), storage, size, &routine()));
        mapped().insert((device.number(), host.addr()), (address.addr(), size));
    });
}

/// Undoes [`acc_map_data`].
pub extern "C" fn acc_unmap_data<H: Host>(host: *mut c_void) {
    guard((), || {
        let current = match thread::current().or_else(device::if_started) {
            Some(current) => current,
            // libgomp does nothing before a device is used.
            None if H::OPENACC < OPENACC_3_3 => return,
            None => device::current::<H>(),
        };
        let Place::Device(device) = current.place else { return };
        let (begin, size, is_permanent) = match find(device, host.addr(), 1) {
            Found::Whole(found) | Found::Part(found) => (found.begin, found.size, found.is_permanent),
            Found::Nothing => {
                let code = if host.is_null() { ErrorCode::InvalidNullPointer } else { ErrorCode::NotPresent };
                mistake(code, format_args!("acc_unmap_data: {host:p} is not a mapped block"))
            }
        };
        if begin != host.addr() {
            mistake(
                ErrorCode::InvalidArgument,
                format_args!(
                    "acc_unmap_data: [{begin:#x},{size}] surrounds {host:p}\n  \
                     help: give the address that acc_map_data was given"
                ),
            );
        }
        if !is_permanent {
            mistake(
                ErrorCode::InvalidArgument,
                format_args!(
                    "acc_unmap_data: refusing to unmap block [{host:p},+{size}] that has not been mapped by \
                     'acc_map_data'"
                ),
            );
        }
        if mapped().get(&(device.number(), host.addr())).is_none() {
            mistake(
                ErrorCode::InvalidArgument,
                format_args!(
                    "acc_unmap_data: cannot unmap target block [{host:p},+{size}], which is a variable on the device"
                ),
            );
        }
        let _scope = device::scope(&current, crate::device_type::SYNC);
        let undone = memory::disassociate(device, host.addr(), &routine());
        // libgomp lets it leave at once.
        if undone.is_err() && H::OPENACC >= OPENACC_3_3 {
            mistake(
                ErrorCode::Present,
                format_args!(
                    "acc_unmap_data: [{host:p},+{size}] is in use by a data construct\n  help: unmap it behind the construct"
                ),
            );
        }
        mapped().remove(&(device.number(), host.addr()));
    });
}

/// Undoes what [`acc_map_data`] has done on a device.
pub(crate) fn unmap_all(device: &'static Device) {
    let number = device.number();
    let range = (Bound::Included((number, 0)), Bound::Included((number, usize::MAX)));
    let hosts: Vec<usize> = mapped().range(range).map(|((_, host), _)| *host).collect();
    for host in hosts {
        let _ = memory::disassociate(device, host, &routine());
        mapped().remove(&(number, host));
    }
}
