//! The asynchronous memory routines: each is a target task of libomp's that runs
//! the synchronous one when its dependences are fulfilled.

use crate::abi::{Dependence, Task};
use crate::caller::{self, entry_points};
use crate::guard::guard;
use crate::libomp::libomp;
use crate::memory::{self, FAILURE, SUCCESS};
use std::ffi::c_void;

/// `kmp_tasking_flags_t` with only `hidden_helper` set.
const HIDDEN_HELPER: i32 = 1 << 7;

/// What a task is to do. Sent between threads as the ABI's plain values.
type Work = Box<dyn FnOnce() + Send>;

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

/// Makes a task of `work`.
///
/// # Safety
/// `objects` has `count` depend objects.
unsafe fn spawn(work: Work, count: i32, objects: *const *const Dependence) -> i32 {
    let omp = libomp();
    let (Some(thread), Some(allocate), Some(enqueue)) =
        (omp.global_thread_num, omp.target_task_alloc, omp.task_with_dependences)
    else {
        // No libomp, no tasks: the routine may as well be done when it returns.
        work();
        return SUCCESS;
    };
    let count = count.max(0) as usize;
    // SAFETY: libomp's functions, called as compilers call them; a depend object
    // is a pointer to its dependence.
    unsafe {
        let dependences: Vec<Dependence> = (0..count).map(|index| **objects.add(index)).collect();
        let thread = thread(std::ptr::null());
        let task = allocate(std::ptr::null(), thread, HIDDEN_HELPER, size_of::<Task>(), 0, run_task, -1);
        if task.is_null() {
            return FAILURE;
        }
        (*task).shared = Box::into_raw(Box::new(work)).cast();
        enqueue(std::ptr::null(), thread, task, count as i32, dependences.as_ptr(), 0, std::ptr::null());
    }
    SUCCESS
}

/// What the task runs.
unsafe extern "C" fn run_task(_thread: i32, task: *mut Task) -> i32 {
    guard(FAILURE, || {
        // SAFETY: `spawn` put a boxed closure there, for this one call.
        let work = unsafe { Box::from_raw((*task).shared.cast::<Work>()) };
        work();
        SUCCESS
    })
}

entry_points! {
    /// Asynchronous [`memory::omp_target_memcpy`].
    ///
    /// # Safety
    /// As [`memory::omp_target_memcpy`], until the task is done.
    pub unsafe extern "C" fn omp_target_memcpy_async(
        to: *mut c_void,
        from: *const c_void,
        length: usize,
        to_offset: usize,
        from_offset: usize,
        to_device: i32,
        from_device: i32,
        count: i32,
        objects: *const *const Dependence,
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
                    memory::omp_target_memcpy::body(
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
            unsafe { spawn(work, count, objects) }
        })
    }
}

entry_points! {
    /// Asynchronous [`memory::omp_target_memcpy_rect`].
    ///
    /// # Safety
    /// As [`memory::omp_target_memcpy_rect`], the volumes until the task is done; the arrays
    /// are copied.
    pub unsafe extern "C" fn omp_target_memcpy_rect_async(
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
        objects: *const *const Dependence,
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
                    memory::omp_target_memcpy_rect::body(
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
            unsafe { spawn(work, count, objects) }
        })
    }
}

entry_points! {
    /// Asynchronous [`memory::omp_target_memset`].
    ///
    /// # Safety
    /// As [`memory::omp_target_memset`], until the task is done.
    pub unsafe extern "C" fn omp_target_memset_async(
        pointer: *mut c_void,
        value: i32,
        size: usize,
        device: i32,
        count: i32,
        objects: *const *const Dependence,
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
                unsafe { memory::omp_target_memset::body(target.pointer(), value, size, device) };
            });
            // SAFETY: the caller's promise.
            unsafe { spawn(work, count, objects) };
            pointer
        })
    }
}
