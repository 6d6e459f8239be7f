//! Copies of the host's memory that may go away meanwhile.
//!
//! The program may unmap what it has registered while a copy of it is queued or runs, or a kernel
//! uses it. The driver's copies of host memory and the accesses of the interpreter go through
//! [`copy`]. A fault there ends the copy with an answer, and not the process.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// Where a copy that faults goes on.
#[derive(Debug)]
#[repr(C)]
struct Frame {
    stack: usize,
    landing: usize,
}

/// What `memmove` may have on the stack when it faults: farther away is somebody else, a signal
/// handler of the program.
const NEAR: usize = 512;

thread_local! {
    /// Null outside of copies.
    static COPYING: Cell<*const Frame> = const { Cell::new(ptr::null()) };
}

/// Copies bytes; ranges may overlap. `false` if a part of them is not mapped, after a part has been
/// copied.
///
/// Nothing is caught before the first kernel of the process or
/// [`catch_signals`](crate::catch_signals) has had the handlers installed.
///
/// # Safety
/// Nothing else relies on what is at `to`, as far as it is mapped.
#[must_use]
pub unsafe fn copy(to: *mut u8, from: *const u8, length: usize) -> bool {
    // SAFETY: the caller's promise.
    unsafe { run(to.cast(), from.cast(), length, libc::memmove) }
}

/// Copies a word of 4 or 8 bytes, or answers `false` as [`copy`] does. There is one access to each
/// side, and other threads see the one to `to` in the order of all sequentially consistent ones.
///
/// # Safety
/// Both are aligned. Other threads access `to` by atomic operations only, as far as it is mapped.
///
/// # Panics
/// If `size` is neither 4 nor 8.
#[must_use]
pub unsafe fn copy_word(to: *mut u8, from: *const u8, size: usize) -> bool {
    let move_word: Move = match size {
        4 => move_4,
        8 => move_8,
        _ => panic!("a word of {size} bytes"),
    };
    // SAFETY: the caller's promise.
    unsafe { run(to.cast(), from.cast(), size, move_word) }
}

/// What is done under guard: `memmove`, or something that is called like it. It may leave nothing
/// behind that would have to be undone after a fault.
type Move = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;

unsafe fn run(to: *mut c_void, from: *const c_void, length: usize, work: Move) -> bool {
    let mut frame = Frame { stack: 0, landing: 0 };
    let frame = &raw mut frame;
    let outer = COPYING.replace(frame);
    // SAFETY: the caller's promise; a fault comes back here, as the frame says.
    let faulted = unsafe { guarded(frame, to, from, length, work) };
    COPYING.set(outer);
    faulted == 0
}

#[unsafe(naked)]
unsafe extern "C" fn move_4(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
    std::arch::naked_asm!("mov eax, [rsi]", "xchg [rdi], eax", "mov rax, rdi", "ret")
}

#[unsafe(naked)]
unsafe extern "C" fn move_8(to: *mut c_void, from: *const c_void, length: usize) -> *mut c_void {
    std::arch::naked_asm!("mov rax, [rsi]", "xchg [rdi], rax", "mov rax, rdi", "ret")
}

/// Where a thread goes on whose copy has raised a signal: the address and the stack pointer. For
/// signal handlers.
pub(crate) fn landing(signal: c_int, stack: usize) -> Option<(usize, usize)> {
    // SAFETY: a frame outlives the copy that it is of.
    let frame = unsafe { COPYING.get().as_ref() }?;
    let near = frame.stack.checked_sub(stack).is_some_and(|distance| distance <= NEAR);
    (near && matches!(signal, libc::SIGSEGV | libc::SIGBUS)).then_some((frame.landing, frame.stack))
}

/// Calls `work`, having noted where to go on if that faults: 0 if not, 1 if so.
///
/// What a caller may rely on after a call is on the stack meanwhile, so the landing finds it there.
#[unsafe(naked)]
unsafe extern "C" fn guarded(
    frame: *mut Frame,
    to: *mut c_void,
    from: *const c_void,
    length: usize,
    work: Move,
) -> u32 {
    std::arch::naked_asm!(
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov [rdi], rsp",
        "lea rax, [rip + 2f]",
        "mov [rdi + 8], rax",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "mov rdx, rcx",
        "call r8",
        "xor eax, eax",
        "jmp 3f",
        "2:",
        "cld",
        "mov eax, 1",
        "3:",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}
