//! The asynchronous memory routines: each is a target task of the host's library that
//! runs the synchronous one when its dependences are fulfilled.

use crate::memory::{self, FAILURE, SUCCESS};
use gangway_frontend::caller;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Dependences, Host};
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

/// Makes a target task of a routine's work, on behalf of its caller; answers what the routine
/// does.
///
/// # Safety
/// There are `count` depend objects.
unsafe fn spawn<H: Host>(
    work: impl FnOnce() + Send + 'static,
    count: i32,
    objects: *const *const c_void,
) -> i32 {
    let caller = Address::of(caller::noted());
    let work = Box::new(move || {
        caller::note(caller.pointer());
        work();
    });
    // SAFETY: the caller's promise.
    if unsafe { H::spawn(work, Dependences { count, objects }) } { SUCCESS } else { FAILURE }
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
        let work = move || {
            // SAFETY: the caller's promise.
            let _ = unsafe {
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
        };
        // SAFETY: the caller's promise.
        unsafe { spawn::<H>(work, count, objects) }
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
        let arrays = [extent, to_offset, from_offset, to_dimensions, from_dimensions];
        // SAFETY: the caller's promise.
        let arrays = match unsafe { memory::rectangle(to, from, element, dimensions, arrays) } {
            // The caller may reuse the arrays as soon as the routine returns.
            Ok(arrays) => arrays.map(<[usize]>::to_vec),
            Err(answer) => return answer,
        };
        let (to, from) = (Address::of(to), Address::of(from));
        let work = move || {
            let arrays = arrays.each_ref().map(Vec::as_slice);
            let (to, from) = (to.pointer(), from.pointer());
            // SAFETY: the caller's promise.
            let _ = unsafe { memory::copy_rectangle::<H>(to, from, element, arrays, to_device, from_device) };
        };
        // SAFETY: the caller's promise.
        unsafe { spawn::<H>(work, count, objects) }
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
        let work = move || {
            // SAFETY: the caller's promise.
            unsafe { memory::omp_target_memset::<H>(target.pointer(), value, size, device) };
        };
        // SAFETY: the caller's promise.
        let _ = unsafe { spawn::<H>(work, count, objects) };
        pointer
    })
}
