//! Checks and traces inside of kernels, which two switches decide: the compiler's
//! (`-fopenmp-target-debug`), without which all of it folds away, and the host's
//! (`GANGWAY_DEVICE_DEBUG`, `LIBOMPTARGET_DEVICE_RTL_DEBUG`).

use crate::environment::Location;
use crate::{device, target};
use core::ffi::{CStr, c_char, c_void};

/// Check what the program and its compiler pass.
pub const ASSERT: u32 = 1;
/// Say which function a thread enters.
pub const TRACE: u32 = 1 << 1;

/// Constants that clang defines in the program's code. These stand in where it does not.
mod compiler {
    #[unsafe(no_mangle)]
    pub static __omp_rtl_debug_kind: u32 = 0;
    #[unsafe(no_mangle)]
    pub static __omp_rtl_assume_teams_oversubscription: u32 = 0;
    #[unsafe(no_mangle)]
    pub static __omp_rtl_assume_threads_oversubscription: u32 = 0;
    #[unsafe(no_mangle)]
    pub static __omp_rtl_assume_no_thread_state: u32 = 0;
    #[unsafe(no_mangle)]
    pub static __omp_rtl_assume_no_nested_parallelism: u32 = 0;
}

/// Whether a kind of check is on.
#[must_use]
#[inline(always)]
pub fn is_on(kind: u32) -> bool {
    let compiled = compiled_kind();
    compiled & kind != 0 && device::environment().debug_kind & kind != 0
}

/// The compiler's switch. Rust takes its own constant for final, so it is not read directly: the
/// build replaces this call by a load that the program's constant decides.
#[inline(always)]
fn compiled_kind() -> u32 {
    // SAFETY: the variable is a constant. Its value is the program's, if that has one.
    unsafe { core::ptr::read_volatile(&raw const compiler::__omp_rtl_debug_kind) }
}

/// What is printed of a thread.
#[repr(C)]
struct Thread {
    block: u32,
    thread: u32,
    text: *const c_char,
}

/// Says that a thread enters a function: block, thread, name.
#[inline(always)]
pub fn trace(name: &CStr) {
    if is_on(TRACE) {
        print_entry(name.as_ptr());
    }
}

#[cold]
#[inline(never)]
fn print_entry(name: *const c_char) {
    let arguments = Thread { block: target::block_id(), thread: target::thread_id(), text: name };
    // SAFETY: the format has these arguments.
    unsafe {
        target::print(c"gangway: block %u thread %u: %s\n".as_ptr(), (&raw const arguments).cast());
    }
}

/// Ends the kernel if a condition does not hold, in checked code. It is looked at there alone.
#[inline(always)]
pub fn check(condition: impl FnOnce() -> bool, message: &CStr) {
    if is_on(ASSERT) && !condition() {
        fail(message.as_ptr());
    }
}

#[cold]
#[inline(never)]
fn fail(message: *const c_char) -> ! {
    let arguments = Thread { block: target::block_id(), thread: target::thread_id(), text: message };
    // SAFETY: the format has these arguments.
    unsafe {
        give_up_with(c"gangway: block %u thread %u: check failed: %s\n", (&raw const arguments).cast());
    }
}

/// Says what is wrong, and ends the kernel.
#[cold]
pub fn give_up(message: &CStr) -> ! {
    // SAFETY: the text ends with a null byte and has no arguments.
    unsafe { target::print(message.as_ptr(), core::ptr::null()) };
    target::trap()
}

/// The same with arguments, a structure of them.
///
/// # Safety
/// The format matches the arguments.
#[cold]
pub unsafe fn give_up_with(message: &CStr, arguments: *const c_void) -> ! {
    // SAFETY: as the caller says.
    unsafe { target::print(message.as_ptr(), arguments) };
    target::trap()
}

/// `num_threads(strict: n)` asks for more threads than there are.
#[cold]
#[inline(never)]
#[allow(clippy::not_unsafe_ptr_arg_deref)] // Locations are the compiler's.
pub fn too_few_threads(location: *const Location, wanted: u32, most: u32) -> ! {
    #[repr(C)]
    struct Arguments {
        text: *const u8,
        wanted: u32,
        most: u32,
    }
    let text = if location.is_null() {
        c";unknown;unknown;0;0;;".as_ptr().cast()
    } else {
        // SAFETY: the compiler passes valid locations.
        unsafe { (*location).text }
    };
    let arguments = Arguments { text, wanted, most };
    // SAFETY: the format has these arguments.
    unsafe {
        target::print(
            c"gangway: %s num_threads(strict: %u) asks for more than the %u threads of the team\n".as_ptr(),
            (&raw const arguments).cast(),
        );
    }
    target::trap()
}
