//! Device memory routines (OpenMP 6.0 chapter 25).

use crate::devices::{Named, named, omp_get_initial_device};
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_frontend::state::routine;
use gangway_frontend::words::Told;
use gangway_frontend::{message, policy};
use gangway_runtime::memory::{self, Place, Volume};
use gangway_runtime::present::NotAssociated;
use gangway_runtime::{Error, ErrorKind, allocations};
use std::ffi::c_void;

/// What the routines return on success.
pub const SUCCESS: i32 = 0;
/// What they return on failure: nonzero.
pub const FAILURE: i32 = !0;

/// Allocates `size` bytes of a kind of memory on a device or the host; null if there is no
/// room.
pub fn allocate<H: Host>(size: usize, device: i32, kind: AllocationKind) -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        if size == 0 {
            return std::ptr::null_mut();
        }
        match named::<H>(device) {
            // SAFETY: plain allocation.
            Named::Host => unsafe { libc::malloc(size) },
            Named::Device(device) => match memory::allocate(device, size, kind, &routine()) {
                Ok(pointer) => pointer.0 as *mut c_void,
                // The routine's way to say so is null; why is said on request.
                Err(error) => {
                    message::debug(format_args!("{}", Told(&error, H::WORDS)));
                    std::ptr::null_mut()
                }
            },
            Named::Nothing => std::ptr::null_mut(),
        }
    })
}

/// Frees what [`allocate`] allocated.
///
/// # Safety
/// The pointer came from [`allocate`] for the same device and kind, or is null.
pub unsafe fn free<H: Host>(pointer: *mut c_void, device: i32, kind: AllocationKind) {
    guard((), || {
        if pointer.is_null() {
            return;
        }
        match named::<H>(device) {
            Named::Host => {
                if let Err(mistake) = allocations::freeing_on_host(pointer.addr()) {
                    let error = Error::new(ErrorKind::WrongFree(mistake), -1, None);
                    policy::terminate(&error, H::WORDS);
                }
                // SAFETY: the caller's promise.
                unsafe { libc::free(pointer) }
            }
            Named::Device(device) => {
                // SAFETY: the caller's promise.
                let freed = unsafe { memory::free(device, DevicePtr(pointer.addr()), kind, &routine()) };
                if let Err(error) = freed {
                    policy::terminate(&error, H::WORDS);
                }
            }
            Named::Nothing => {}
        }
    });
}

/// Allocates `size` bytes of device memory; null if there is no room.
pub extern "C" fn omp_target_alloc<H: Host>(size: usize, device: i32) -> *mut c_void {
    allocate::<H>(size, device, AllocationKind::Device)
}

/// Frees what [`omp_target_alloc`] allocated.
///
/// # Safety
/// The memory is not in use.
pub unsafe extern "C" fn omp_target_free<H: Host>(pointer: *mut c_void, device: i32) {
    // SAFETY: the caller's promise.
    unsafe { free::<H>(pointer, device, AllocationKind::Device) }
}

/// Whether a host address has storage on a device (on the host: always).
pub extern "C" fn omp_target_is_present<H: Host>(pointer: *const c_void, device: i32) -> i32 {
    guard(0, || {
        if pointer.is_null() {
            return 0;
        }
        match named::<H>(device) {
            Named::Host => 1,
            Named::Device(device) => i32::from(memory::mapped_address(device, pointer.addr()).is_some()),
            Named::Nothing => 0,
        }
    })
}

/// Whether a device can access `size` bytes at an address in its address space (OpenMP 6.0
/// section 25.2): its own memory, pinned memory, and all of the host's if it has unified memory.
pub extern "C" fn omp_target_is_accessible<H: Host>(pointer: *const c_void, size: usize, device: i32) -> i32 {
    guard(0, || {
        if pointer.is_null() || size == 0 {
            return 0;
        }
        match named::<H>(device) {
            Named::Host => 1,
            Named::Device(device) => i32::from(memory::reaches(device, DevicePtr(pointer.addr()), size)),
            Named::Nothing => 0,
        }
    })
}

/// Device address of a mapped host address; null if it is not mapped.
pub extern "C" fn omp_get_mapped_ptr<H: Host>(pointer: *const c_void, device: i32) -> *mut c_void {
    guard(std::ptr::null_mut(), || {
        if pointer.is_null() || device > omp_get_initial_device::<H>() {
            return std::ptr::null_mut();
        }
        match named::<H>(device) {
            Named::Host => pointer.cast_mut(),
            Named::Device(device) => memory::mapped_address(device, pointer.addr())
                .map_or(std::ptr::null_mut(), |address| address.0 as *mut c_void),
            Named::Nothing => std::ptr::null_mut(),
        }
    })
}

fn place<H: Host>(pointer: *const c_void, device: i32) -> Option<Place> {
    let device = match named::<H>(device) {
        Named::Host => None,
        Named::Device(device) => Some(device),
        Named::Nothing => return None,
    };
    Some(Place { device, address: pointer.addr() })
}

fn report<H: Host>(result: gangway_runtime::Result<()>) -> i32 {
    match result {
        Ok(()) => SUCCESS,
        Err(error) => {
            message::print_line(format_args!("gangway: error: {}", Told(&error, H::WORDS)));
            FAILURE
        }
    }
}

/// Copies `length` bytes between any two devices (or the host).
///
/// # Safety
/// Both ranges are valid where they are.
pub unsafe extern "C" fn omp_target_memcpy<H: Host>(
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: i32,
    from_device: i32,
) -> i32 {
    guard(FAILURE, || {
        if length == 0 {
            return SUCCESS;
        }
        if to.is_null() || from.is_null() {
            return FAILURE;
        }
        let (Some(to), Some(from)) = (place::<H>(to, to_device), place::<H>(from, from_device)) else {
            return FAILURE;
        };
        let to = Place { address: to.address.wrapping_add(to_offset), ..to };
        let from = Place { address: from.address.wrapping_add(from_offset), ..from };
        // SAFETY: the caller's promise.
        report::<H>(unsafe { memory::copy(to, from, length, &routine()) })
    })
}

/// Copies a rectangular subvolume. Called with both pointers null it answers the
/// number of dimensions it can do: any.
///
/// # Safety
/// Both volumes are valid where they are; the arrays have `dimensions` elements.
pub unsafe extern "C" fn omp_target_memcpy_rect<H: Host>(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dimensions: i32,
    extent: *const usize,
    to_offset: *const usize,
    from_offset: *const usize,
    to_dimensions: *const usize,
    from_dimensions: *const usize,
    to_device: i32,
    from_device: i32,
) -> i32 {
    guard(FAILURE, || {
        let arrays = [extent, to_offset, from_offset, to_dimensions, from_dimensions];
        // SAFETY: the caller's promise.
        match unsafe { rectangle(to, from, element, dimensions, arrays) } {
            // SAFETY: the caller's promise.
            Ok(arrays) => unsafe { copy_rectangle::<H>(to, from, element, arrays, to_device, from_device) },
            Err(answer) => answer,
        }
    })
}

/// The arrays of a rectangular copy: extent, offsets of the destination and the source, their
/// dimensions.
pub(crate) type Rectangle<'a> = [&'a [usize]; 5];

/// The arrays of a rectangular copy, if its arguments make one.
///
/// # Safety
/// The arrays have `dimensions` elements, or are null.
///
/// # Errors
/// What the routine answers without copying anything.
pub(crate) unsafe fn rectangle<'a>(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    dimensions: i32,
    arrays: [*const usize; 5],
) -> Result<Rectangle<'a>, i32> {
    if to.is_null() && from.is_null() {
        return Err(i32::MAX);
    }
    let null = to.is_null() || from.is_null() || arrays.iter().any(|array| array.is_null());
    if null || element == 0 || dimensions < 1 {
        return Err(FAILURE);
    }
    // SAFETY: the caller's promise.
    let arrays = arrays.map(|array| unsafe { std::slice::from_raw_parts(array, dimensions as usize) });
    if has_bytes(element, &arrays) { Ok(arrays) } else { Err(FAILURE) }
}

/// Whether the places that a rectangular copy reads and writes have byte offsets at all.
fn has_bytes(element: usize, [extent, to_offset, from_offset, to, from]: &Rectangle<'_>) -> bool {
    let fits = |offset: &[usize], dimensions: &[usize]| {
        let reach = |((extent, offset), size): ((&usize, &usize), &usize)| {
            extent.checked_add(*offset).map(|end| end.max(*size))
        };
        let mut reaches = extent.iter().zip(offset).zip(dimensions).map(reach);
        let bytes = reaches.try_fold(element, |bytes, reach| bytes.checked_mul(reach?.max(1)));
        bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok())
    };
    fits(to_offset, to) && fits(from_offset, from)
}

/// Copies a rectangular subvolume whose arguments have been checked.
///
/// # Safety
/// Both volumes are valid where they are; the arrays are those of [`rectangle`].
pub(crate) unsafe fn copy_rectangle<H: Host>(
    to: *mut c_void,
    from: *const c_void,
    element: usize,
    [extent, to_offset, from_offset, to_dimensions, from_dimensions]: Rectangle<'_>,
    to_device: i32,
    from_device: i32,
) -> i32 {
    let volume = Volume { element, extent, to_offset, from_offset, to_dimensions, from_dimensions };
    let (Some(to), Some(from)) = (place::<H>(to, to_device), place::<H>(from, from_device)) else {
        return FAILURE;
    };
    // SAFETY: the caller's promise.
    report::<H>(unsafe { memory::copy_volume(to, from, &volume, &routine()) })
}

/// Sets `count` bytes to the low byte of `value`; returns `pointer`.
///
/// # Safety
/// The range is valid on the device.
pub unsafe extern "C" fn omp_target_memset<H: Host>(
    pointer: *mut c_void,
    value: i32,
    count: usize,
    device: i32,
) -> *mut c_void {
    guard(pointer, || {
        if !pointer.is_null()
            && count != 0
            && let Some(place) = place::<H>(pointer, device)
        {
            // SAFETY: the caller's promise.
            report::<H>(unsafe { memory::fill(place, value as u8, count, &routine()) });
        }
        pointer
    })
}

/// Ties a host range to device storage the program has allocated.
///
/// # Safety
/// None is needed.
pub unsafe extern "C" fn omp_target_associate_ptr<H: Host>(
    host: *const c_void,
    storage: *const c_void,
    size: usize,
    offset: usize,
    device: i32,
) -> i32 {
    guard(FAILURE, || {
        let Named::Device(device) = named::<H>(device) else { return FAILURE };
        if host.is_null() || storage.is_null() || size == 0 {
            return FAILURE;
        }
        let storage = DevicePtr(storage.addr().wrapping_add(offset));
        report::<H>(memory::associate(device, host.addr(), storage, size, &routine()))
    })
}

/// Undoes [`omp_target_associate_ptr`].
///
/// # Safety
/// None is needed.
pub unsafe extern "C" fn omp_target_disassociate_ptr<H: Host>(host: *const c_void, device: i32) -> i32 {
    guard(FAILURE, || {
        let Named::Device(device) = named::<H>(device) else { return FAILURE };
        if host.is_null() {
            return FAILURE;
        }
        let why = match memory::disassociate(device, host.addr(), &routine()) {
            Ok(()) => return SUCCESS,
            Err(NotAssociated::Absent) => "nothing is associated with it",
            Err(NotAssociated::Mapped) => "it was mapped, not associated",
            Err(NotAssociated::Held) => "a structured data region holds it",
        };
        message::print_line(format_args!(
            "gangway: error: device {}: host address {host:p} cannot be disassociated: {why}\n  \
             help: disassociate the address that was given to omp_target_associate_ptr",
            device.number()
        ));
        FAILURE
    })
}
