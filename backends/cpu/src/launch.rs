//! Calling a kernel.
//!
//! A kernel of an x86-64 device image is a plain C function with one
//! pointer-sized parameter per argument, however many. [`call`] takes them
//! straight from the session's table: six to registers, the rest to the stack.
//! clang 23's kernels have one parameter, which leads to the addresses of the arguments:
//! [`call_by_address`] lays those on the stack.
//! It must never allocate or lock: this is the floor of what a launch costs.

use crate::activity::{Activity, ActivityKind};
use crate::{crash, elf, thread};
use gangway_backend::Launch;

/// Which device, and whether its crashes are reported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub device: usize,
    pub catch_signals: bool,
    /// Images stay in files for `perf`.
    pub keep_images: bool,
}

/// Runs `body` as `kind`, so that a crash in it is reported as such.
#[inline]
pub(crate) fn during<R>(place: Place, kind: ActivityKind<'_>, body: impl FnOnce() -> R) -> R {
    let activity = Activity { device: place.device, kind };
    // Without an entry (the thread is ending) only the report is poorer.
    let Some(thread) = thread::current() else { return body() };
    if place.catch_signals && thread.starts_watch() {
        crash::watch(thread);
    }
    let prior = thread.enter(&activity);
    let result = body();
    thread.leave(prior);
    result
}

/// Runs the kernel of `launch`.
///
/// # Safety
/// The kernel is loaded and `arguments` are what it expects.
#[inline]
pub(crate) unsafe fn run(place: Place, launch: &Launch<'_>, arguments: &[u64]) {
    during(place, ActivityKind::Kernel(launch), || {
        let escape = Escape(launch);
        // Flang's kernels take the arguments themselves, whatever clang's of the same release do.
        let form =
            if launch.by_address && launch.kernel.environment.is_none() { call_by_address } else { call };
        // SAFETY: the caller's promise.
        unsafe { form(arguments.as_ptr(), arguments.len(), launch.kernel.handle.0) };
        std::mem::forget(escape);
    });
}

/// The name by which device code asks for the `thread_limit` of its launch: `gangway-host-openmp`, in Fortran's
/// images. In clang's the value is an argument of the kernel.
const THREAD_LIMIT: &[u8] = b"gangway_launch_thread_limit";

/// The limit of the launch that the calling thread is in; 0 if it has none.
extern "C" fn thread_limit() -> i32 {
    let activity = thread::current().map_or(std::ptr::null(), thread::Thread::activity);
    // SAFETY: the activity is this thread's, which has not left it.
    match unsafe { activity.as_ref() } {
        Some(Activity { kind: ActivityKind::Kernel(launch), .. }) => {
            i32::try_from(launch.thread_limit[0]).unwrap_or(0)
        }
        _ => 0,
    }
}

/// Makes a checked image that is about to be loaded ask for the limits of its launches.
pub(crate) fn tie_in(image: &mut [u8]) {
    elf::define(image, THREAD_LIMIT, thread_limit as *const () as u64);
}

/// Dropped only when a C++ exception leaves a kernel, which OpenMP does not
/// allow: no code above may carry on with a half-finished launch.
struct Escape<'a>(&'a Launch<'a>);

impl Drop for Escape<'_> {
    #[cold]
    fn drop(&mut self) {
        crash::report::exception(self.0);
        std::process::abort();
    }
}

/// Calls `kernel` with `count` 64-bit arguments from `arguments`.
///
/// The frame pointer and the call frame information are kept, so that debuggers
/// and profilers see the launch below the kernel, and an exception finds its way
/// to [`Escape`].
///
/// # Safety
/// `kernel` is a C function with that many pointer-sized parameters.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call(arguments: *const u64, count: usize, kernel: usize) {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov r11, rdx",
        "mov r10, rdi",
        "cmp rsi, 6",
        "jbe 3f",
        // An odd number of stack arguments would leave the stack misaligned at the call.
        "test sil, 1",
        "jz 2f",
        "push 0",
        "2:",
        "push qword ptr [r10 + 8*rsi - 8]",
        "dec rsi",
        "cmp rsi, 6",
        "ja 2b",
        "3:",
        // Six or fewer are left, and no more than those may be read.
        "je 6f",
        "cmp rsi, 3",
        "ja 4f",
        "je 9f",
        "cmp rsi, 1",
        "ja 8f",
        "je 7f",
        "jmp 20f",
        "4:",
        "cmp rsi, 4",
        "je 5f",
        "mov r8, [r10 + 32]",
        "jmp 5f",
        "6:",
        "mov r9, [r10 + 40]",
        "mov r8, [r10 + 32]",
        "5:",
        "mov rcx, [r10 + 24]",
        "9:",
        "mov rdx, [r10 + 16]",
        "8:",
        "mov rsi, [r10 + 8]",
        "7:",
        "mov rdi, [r10]",
        "20:",
        "call r11",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Calls `kernel` with the address of a list: the addresses of `count` 64-bit arguments from `arguments`.
/// Frame pointer and call frame information as in [`call`].
///
/// # Safety
/// `kernel` is a C function with one parameter, the list.
#[unsafe(naked)]
unsafe extern "C-unwind" fn call_by_address(arguments: *const u64, count: usize, kernel: usize) {
    std::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "test sil, 1",
        "jz 2f",
        "push 0",
        "2:",
        // From the last one on, so that the first one is at the stack's end.
        "lea rax, [rdi + 8*rsi]",
        "jmp 4f",
        "3:",
        "sub rax, 8",
        "push rax",
        "4:",
        "cmp rax, rdi",
        "jne 3b",
        "mov rdi, rsp",
        "call rdx",
        "leave",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    static SEEN: Mutex<Vec<u64>> = Mutex::new(Vec::new());
    /// Held by a test that looks at [`SEEN`].
    static ALONE: Mutex<()> = Mutex::new(());

    macro_rules! kernel {
        ($name:ident: $($argument:ident)*) => {
            extern "C" fn $name($($argument: u64),*) {
                let mut seen = SEEN.lock().unwrap();
                seen.clear();
                seen.extend([$($argument),*] as [u64; kernel!(@count $($argument)*)]);
            }
        };
        (@count) => { 0 };
        (@count $head:ident $($tail:ident)*) => { 1 + kernel!(@count $($tail)*) };
    }
    kernel!(k0:);
    kernel!(k1: a);
    kernel!(k2: a b);
    kernel!(k3: a b c);
    kernel!(k4: a b c d);
    kernel!(k5: a b c d e);
    kernel!(k6: a b c d e f);
    kernel!(k7: a b c d e f g);
    kernel!(k8: a b c d e f g h);
    kernel!(k9: a b c d e f g h i);

    /// Notes the arguments up to one that is zero.
    extern "C" fn by_address(list: *const *const u64) {
        let mut seen = SEEN.lock().unwrap();
        seen.clear();
        for index in 0.. {
            // SAFETY: there are arguments up to one that is zero.
            let argument = unsafe { **list.add(index) };
            seen.push(argument);
            if argument == 0 {
                assert_eq!(list.addr() % 16, 0, "the stack is aligned at calls");
                break;
            }
        }
    }

    #[test]
    fn addresses_of_arguments_arrive_in_order() {
        let _alone = ALONE.lock().unwrap();
        for count in [0, 1, 2, 5, 6, 7, 1000] {
            let arguments: Box<[u64]> = (1..=count).chain([0]).collect();
            // SAFETY: the kernel takes a list.
            unsafe {
                call_by_address(arguments.as_ptr(), arguments.len(), by_address as *const () as usize);
            }
            assert_eq!(*SEEN.lock().unwrap(), *arguments, "{count} arguments");
        }
    }

    #[test]
    fn few_arguments_arrive_in_order() {
        let _alone = ALONE.lock().unwrap();
        let kernels = [
            k0 as *const (),
            k1 as _,
            k2 as _,
            k3 as _,
            k4 as _,
            k5 as _,
            k6 as _,
            k7 as _,
            k8 as _,
            k9 as _,
        ];
        for (count, kernel) in kernels.into_iter().enumerate() {
            // Exactly as long as the kernel needs: reading on would be out of bounds.
            let arguments: Box<[u64]> = (100..100 + count as u64).collect();
            // SAFETY: the kernel has `count` parameters.
            unsafe { call(arguments.as_ptr(), count, kernel.addr()) };
            assert_eq!(*SEEN.lock().unwrap(), *arguments, "{count} arguments");
        }
    }
}
