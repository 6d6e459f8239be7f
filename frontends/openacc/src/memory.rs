//! Device memory of the program's (OpenACC 3.3 sections 3.2.16, 3.2.17, 3.2.26 to 3.2.28, 3.2.30).

use crate::device::{self, place_of};
use crate::device_type::SYNC;
use crate::failure::{done, mistake};
use crate::present::{Found, find};
use crate::profiling::ErrorCode;
use crate::queues;
use crate::thread::{self, Place};
use crate::words::OpenAcc;
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, OPENACC_3_3};
use gangway_frontend::message;
use gangway_frontend::state::routine;
use gangway_frontend::words::Told;
use gangway_runtime::Device;
use gangway_runtime::memory::{self, Place as Side};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What [`acc_malloc`] has allocated, by device and address: its size.
static ALLOCATED: Mutex<BTreeMap<(i32, usize), usize>> = Mutex::new(BTreeMap::new());

fn allocated() -> MutexGuard<'static, BTreeMap<(i32, usize), usize>> {
    ALLOCATED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    allocated()
}

/// Allocates device memory; null if there is no room.
pub extern "C" fn acc_malloc<H: Host>(size: usize) -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        if size == 0 {
            return std::ptr::null_mut();
        }
        let current = device::current::<H>();
        let Place::Device(device) = current.place else {
            // SAFETY: plain allocation.
            return unsafe { libc::malloc(size) };
        };
        let _scope = device::scope(&current, SYNC);
        match memory::allocate(device, size, AllocationKind::Device, &routine()) {
            Ok(address) => {
                allocated().insert((device.number(), address.0), size);
                address.0 as *mut c_void
            }
            Err(error) => {
                message::debug(format_args!("{}", Told(&error, &OpenAcc)));
                std::ptr::null_mut()
            }
        }
    })
}

/// Frees what [`acc_malloc`] has allocated.
///
/// # Safety
/// The memory is not in use.
pub unsafe extern "C" fn acc_free<H: Host>(address: *mut c_void) {
    guard((), || {
        if address.is_null() {
            return;
        }
        let current = device::current::<H>();
        let Place::Device(device) = current.place else {
            // SAFETY: the caller's promise.
            return unsafe { libc::free(address) };
        };
        let _scope = device::scope(&current, SYNC);
        if let Some(host) = memory::host_address(device, DevicePtr(address.addr())) {
            let size = match find(device, host, 1) {
                Found::Whole(mapped) | Found::Part(mapped) => mapped.begin + mapped.size - host,
                Found::Nothing => 0,
            };
            mistake(
                ErrorCode::Present,
                format_args!(
                    "acc_free: refusing to free device memory space at {address:p} that is still mapped at \
                     [{host:#x},+{size}]\n  help: acc_unmap_data it before"
                ),
            );
        }
        if allocated().remove(&(device.number(), address.addr())).is_none() {
            mistake(
                ErrorCode::InvalidArgument,
                format_args!(
                    "acc_free: invalid device address {address:p}: acc_malloc has not given it, or it has been \
                     freed before"
                ),
            );
        }
        let address = DevicePtr(address.addr());
        // SAFETY: the caller's promise.
        done(unsafe { memory::free(device, address, AllocationKind::Device, &routine()) });
    });
}

/// Which way a copy goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ToDevice,
    FromDevice,
    Inside,
}

/// Copies between the host and the thread's device, or inside of that.
///
/// # Safety
/// Both ranges are valid where they are, until the copy is done.
unsafe fn copy<H: Host>(name: &str, to: *mut c_void, from: *mut c_void, size: usize, way: Way, queue: i32) {
    let current = match thread::current().or_else(device::if_started) {
        Some(current) => current,
        None if H::OPENACC >= OPENACC_3_3 => device::current::<H>(),
        None => mistake(ErrorCode::DeviceUnavailable, format_args!("{name}: no device active")),
    };
    let Place::Device(device) = current.place else {
        if H::OPENACC >= OPENACC_3_3 && size > 0 {
            check_host(name, to);
            check_host(name, from);
        }
        let _ = queues::key(queue);
        // SAFETY: the caller's promise; the two may overlap.
        return unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
    };
    if size == 0 {
        return;
    }
    let _scope = device::scope(&current, queue);
    for (side, is_host) in [(to, way == Way::FromDevice), (from, way == Way::ToDevice)] {
        if is_host { check_host(name, side) } else { check(name, device.number(), side, size) }
    }
    if to == from && way != Way::Inside {
        mistake(
            ErrorCode::InvalidArgument,
            format_args!("{name}: invalid host or device address: both are {to:p}"),
        );
    }
    let side = |on_host: bool, address: *mut c_void| Side {
        device: (!on_host).then_some(device),
        address: address.addr(),
    };
    let (to, from) = (side(way == Way::FromDevice, to), side(way == Way::ToDevice, from));
    // SAFETY: the caller's promise.
    done(unsafe {
        match queues::get(device, queue) {
            None => memory::copy(to, from, size, &routine()),
            Some(queue) => memory::copy_in(&queue, to, from, size, &routine()),
        }
    });
}

/// Ends the program where the host's side of a copy cannot be right.
fn check_host(name: &str, host: *mut c_void) {
    if host.is_null() {
        mistake(ErrorCode::InvalidNullPointer, format_args!("{name}: invalid host address {host:p}"));
    }
}

/// Ends the program where the device's side of a copy cannot be right.
fn check(name: &str, device: i32, address: *mut c_void, size: usize) {
    if address.is_null() {
        mistake(ErrorCode::InvalidNullPointer, format_args!("{name}: invalid device address {address:p}"));
    }
    let before = {
        let allocated = allocated();
        let before = allocated.range(..=(device, address.addr())).next_back();
        before.map(|((of, begin), size)| (*of, *begin, *size))
    };
    if let Some((of, begin, room)) = before
        && of == device
        && address.addr() < begin + room
        && address.addr() + size > begin + room
    {
        let left = begin + room - address.addr();
        mistake(
            ErrorCode::InvalidArgument,
            format_args!(
                "{name}: invalid size {size}: at {address:p} there are {left} bytes of what acc_malloc has given"
            ),
        );
    }
}

/// Copies to the device.
///
/// # Safety
/// Both ranges are valid where they are.
pub unsafe extern "C" fn acc_memcpy_to_device<H: Host>(address: *mut c_void, host: *mut c_void, size: usize) {
    // SAFETY: the caller's promise.
    guard((), || unsafe { copy::<H>("acc_memcpy_to_device", address, host, size, Way::ToDevice, SYNC) });
}

/// As [`acc_memcpy_to_device`], in a queue.
///
/// # Safety
/// As there, until the queue has got there.
pub unsafe extern "C" fn acc_memcpy_to_device_async<H: Host>(
    address: *mut c_void,
    host: *mut c_void,
    size: usize,
    queue: i32,
) {
    // SAFETY: the caller's promise.
    guard((), || unsafe {
        copy::<H>("acc_memcpy_to_device_async", address, host, size, Way::ToDevice, queue)
    });
}

/// Copies from the device.
///
/// # Safety
/// Both ranges are valid where they are.
pub unsafe extern "C" fn acc_memcpy_from_device<H: Host>(
    host: *mut c_void,
    address: *mut c_void,
    size: usize,
) {
    // SAFETY: the caller's promise.
    guard((), || unsafe { copy::<H>("acc_memcpy_from_device", host, address, size, Way::FromDevice, SYNC) });
}

/// As [`acc_memcpy_from_device`], in a queue.
///
/// # Safety
/// As there, until the queue has got there.
pub unsafe extern "C" fn acc_memcpy_from_device_async<H: Host>(
    host: *mut c_void,
    address: *mut c_void,
    size: usize,
    queue: i32,
) {
    // SAFETY: the caller's promise.
    guard((), || unsafe {
        copy::<H>("acc_memcpy_from_device_async", host, address, size, Way::FromDevice, queue)
    });
}

/// Copies inside of the device's memory.
///
/// # Safety
/// Both ranges are valid on the device.
pub unsafe extern "C" fn acc_memcpy_device<H: Host>(to: *mut c_void, from: *mut c_void, size: usize) {
    // SAFETY: the caller's promise.
    guard((), || unsafe { copy::<H>("acc_memcpy_device", to, from, size, Way::Inside, SYNC) });
}

/// As [`acc_memcpy_device`], in a queue.
///
/// # Safety
/// As there, until the queue has got there.
pub unsafe extern "C" fn acc_memcpy_device_async<H: Host>(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    queue: i32,
) {
    // SAFETY: the caller's promise.
    guard((), || unsafe { copy::<H>("acc_memcpy_device_async", to, from, size, Way::Inside, queue) });
}

/// Where the copy of a range of the host's is on a device.
fn copy_on(name: &str, device: &'static Device, host: *mut c_void, size: usize) -> Side {
    let code = match find(device, host.addr(), size) {
        Found::Whole(_) => None,
        Found::Part(_) => Some(ErrorCode::PartlyPresent),
        Found::Nothing => Some(ErrorCode::NotPresent),
    };
    let address = memory::mapped_address(device, host.addr()).filter(|_| code.is_none());
    let Some(address) = address else {
        mistake(
            code.unwrap_or(ErrorCode::NotPresent),
            format_args!(
                "{name}: [{host:p},+{size}] is not mapped as a whole on device {}\n  \
                 help: make it present there before; the addresses are the host's",
                device.number()
            ),
        );
    };
    Side { device: Some(device), address: address.0 }
}

/// Copies from one device's copy of the host's data to another one's.
///
/// # Safety
/// Where the host is the device, both ranges are the program's. What is mapped stays so until the copy is done.
unsafe fn copy_between<H: Host>(
    name: &str,
    (to, to_number): (*mut c_void, i32),
    (from, from_number): (*mut c_void, i32),
    size: usize,
    queue: i32,
) {
    let current = device::current::<H>();
    let places = [to_number, from_number].map(|number| place_of(current.device_type, number));
    let _ = queues::key(queue);
    if size == 0 {
        return;
    }
    check_host(name, to);
    check_host(name, from);
    let [Place::Device(target), Place::Device(source)] = places else {
        // SAFETY: the caller's promise; the two may overlap.
        return unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), size) };
    };
    let _scope = device::scope(&current, queue);
    let (to, from) = (copy_on(name, target, to, size), copy_on(name, source, from, size));
    if to.address == from.address && std::ptr::eq(target, source) {
        return;
    }
    // SAFETY: both are mapped, and the caller's promise.
    done(unsafe {
        match queues::get(source, queue) {
            None => memory::copy(to, from, size, &routine()),
            Some(queue) => memory::copy_in(&queue, to, from, size, &routine()),
        }
    });
}

/// Copies from a device's copy of the host's data at `from` to a device's copy of that at `to`. The numbers are of
/// devices of the thread's type.
///
/// # Safety
/// Where the host is the device, both ranges are the program's.
pub unsafe extern "C" fn acc_memcpy_d2d<H: Host>(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    to_number: i32,
    from_number: i32,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        unsafe { copy_between::<H>("acc_memcpy_d2d", (to, to_number), (from, from_number), size, SYNC) };
    });
}

/// As [`acc_memcpy_d2d`], in a queue of the device that is copied from.
///
/// # Safety
/// As there; the data stays mapped until the queue has got there.
pub unsafe extern "C" fn acc_memcpy_d2d_async<H: Host>(
    to: *mut c_void,
    from: *mut c_void,
    size: usize,
    to_number: i32,
    from_number: i32,
    queue: i32,
) {
    guard((), || {
        // SAFETY: the caller's promise.
        unsafe {
            copy_between::<H>("acc_memcpy_d2d_async", (to, to_number), (from, from_number), size, queue)
        };
    });
}
