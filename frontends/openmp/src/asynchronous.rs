//! The asynchronous memory routines: each is a target task of the host's library that
//! runs the synchronous one when its dependences are fulfilled.

use crate::caller;
use crate::guard::guard;
use crate::host::{Dependences, Host};
use crate::memory::{self, FAILURE, SUCCESS};
use std::ffi::c_void;

/// Addresses in a form that may cross to the helper thread.
#[derive(Clone, Copy)]
struct Address(usize);

impl Address {
    fn of(pointer: *const c_void) -> Self {
        Self(pointer.addr())
    }

    fn pointer(self) -> *mut c_void {
        self.0 as *mut c_void
    }
}

/// Asynchronous [`memory::omp_target_memcpy`].
///
/// # Safety
/// As [`memory::omp_target_memcpy`], until the task is done.
pub unsafe extern "C" fn omp_target_memcpy_async<H: Host>(
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    to_offset: usize,
    from_offset: usize,
    to_device: i32,
    from_device: i32,
    count: i32,
    objects: *const *const c_void,
) -> i32 {
    guard(FAILURE, || {
        if to.is_null() || from.is_null() {
            return FAILURE;
        }
        let (to, from) = (Address::of(to), Address::of(from));
        let caller = Address::of(caller::noted());
        let work = Box::new(move || {
            caller::note(caller.pointer());
            // SAFETY: the caller's promise.
            unsafe {
                memory::omp_target_memcpy::<H>(
                    to.pointer(),
                    from.pointer(),
                    length,
                    to_offset,
                    from_offset,
                    to_device,
                    from_device,
                )
            };
        });
        // SAFETY: the caller's promise.
        if unsafe { H::spawn(work, Dependences { count, objects }) } { SUCCESS } else { FAILURE }
    })
}

/// Asynchronous [`memory::omp_target_memcpy_rect`].
///
/// # Safety
/// As [`memory::omp_target_memcpy_rect`], the volumes until the task is done; the arrays
/// are copied.
pub unsafe extern "C" fn omp_target_memcpy_rect_async<H: Host>(
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
    count: i32,
    objects: *const *const c_void,
) -> i32 {
    guard(FAILURE, || {
        if to.is_null() && from.is_null() {
            return i32::MAX;
        }
        let arrays = [extent, to_offset, from_offset, to_dimensions, from_dimensions];
        let null = to.is_null() || from.is_null() || arrays.iter().any(|array| array.is_null());
        if null || element == 0 || dimensions < 1 {
            return FAILURE;
        }
        let (to, from) = (Address::of(to), Address::of(from));
        // The caller may reuse the arrays as soon as the routine returns.
        // SAFETY: the caller's promise.
        let arrays =
            arrays.map(|array| unsafe { std::slice::from_raw_parts(array, dimensions as usize) }.to_vec());
        let caller = Address::of(caller::noted());
        let work = Box::new(move || {
            caller::note(caller.pointer());
            let [extent, to_offset, from_offset, to_dimensions, from_dimensions] = &arrays;
            // SAFETY: the caller's promise; the arrays are the closure's own.
            unsafe {
                memory::omp_target_memcpy_rect::<H>(
                    to.pointer(),
                    from.pointer(),
                    element,
                    dimensions,
                    extent.as_ptr(),
                    to_offset.as_ptr(),
                    from_offset.as_ptr(),
                    to_dimensions.as_ptr(),
                    from_dimensions.as_ptr(),
                    to_device,
                    from_device,
                )
            };
        });
        // SAFETY: the caller's promise.
        if unsafe { H::spawn(work, Dependences { count, objects }) } { SUCCESS } else { FAILURE }
    })
}

/// Asynchronous [`memory::omp_target_memset`].
///
/// # Safety
/// As [`memory::omp_target_memset`], until the task is done.
pub unsafe extern "C" fn omp_target_memset_async<H: Host>(
    pointer: *mut c_void,
    value: i32,
    size: usize,
    device: i32,
    count: i32,
    objects: *const *const c_void,
) -> *mut c_void {
    guard(pointer, || {
        if pointer.is_null() || size == 0 {
            return pointer;
        }
        let target = Address::of(pointer);
        let caller = Address::of(caller::noted());
        let work = Box::new(move || {
            caller::note(caller.pointer());
            // SAFETY: the caller's promise.
            unsafe { memory::omp_target_memset::<H>(target.pointer(), value, size, device) };
        });
        // SAFETY: the caller's promise.
        let _ = unsafe { H::spawn(work, Dependences { count, objects }) };
        pointer
    })
}
