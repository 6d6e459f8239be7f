//! Signals that compiled code raises: an access to what is not allocated, an overflow of
//! the stack.
//!
//! The handlers are installed when device memory is first allocated, or the first kernel launched.
//! They act only on a thread that is inside a kernel, with its stack pointer on the warp's fiber,
//! or inside a copy of [`guard`]. Every other signal goes to the handler that was there before. A
//! handler writes down what happened, and lets the fiber end in place of the instruction;
//! everything else is done by the thread afterwards.

use std::cell::{Cell, OnceCell};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use corosensei::trap::CoroutineTrapHandler;

use super::fiber::End;
use super::host_access;
use crate::guard;

/// The signals that compiled code can raise.
const SIGNALS: [c_int; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

/// Bytes of the stack that handlers run on.
const STACK: usize = 64 << 10;

/// What a signal said.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trap {
    pub signal: c_int,
    /// The address of the access, for signals of memory.
    pub address: usize,
    /// Of the instruction.
    pub pc: usize,
}

/// The fiber that a thread runs.
pub(crate) struct Running {
    pub handler: CoroutineTrapHandler<End>,
    /// Where the signal is noted that the warp raises which the fiber is at.
    pub notes: Cell<*const Cell<Option<Trap>>>,
}

thread_local! {
    /// Null outside of kernels.
    static RUNNING: Cell<*const Running> = const { Cell::new(ptr::null()) };
    /// This thread's stack for handlers, where it had none.
    static SIGNAL_STACK: OnceCell<Option<SignalStack>> = const { OnceCell::new() };
}

/// Who handled each of [`SIGNALS`] before.
static PREVIOUS: [OnceLock<libc::sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

/// Makes this thread ready to run kernels.
pub(crate) fn prepare() {
    catch_signals();
    let kept = SIGNAL_STACK.try_with(|stack| {
        stack.get_or_init(SignalStack::install);
    });
    if kept.is_err() {
        // The thread is ending, and has destroyed its data: a region in the destructor of a global
        // object. Nothing is left that could free the stack, so it stays until the process ends.
        // The thread has it from now on, so there is one at most.
        std::mem::forget(SignalStack::install());
    }
}

/// Says what this thread runs from now on; null when it leaves the kernel.
pub(crate) fn enter(running: *const Running) {
    RUNNING.set(running);
}

/// Says that the fiber which this thread runs goes on with another warp.
pub(crate) fn go_on(notes: *const Cell<Option<Trap>>) {
    // SAFETY: it is alive while the thread is in a kernel.
    if let Some(running) = unsafe { RUNNING.get().as_ref() } {
        running.notes.set(notes);
    }
}

/// Installs the handlers of signals, unless they are, which otherwise the first kernel does. From
/// then on copies under [`guard`] end with an answer, and it is told when the host dies of an
/// access to addresses of the device. A handler of the program's goes before.
pub fn catch_signals() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(install);
}

fn install() {
    for (&signal, previous) in SIGNALS.iter().zip(&PREVIOUS) {
        // SAFETY: all zeros is a `sigaction`, and both calls get valid pointers. The old action is
        // in its place before the new one can need it.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, ptr::null(), &raw mut old) != 0 {
                continue;
            }
            let _ = previous.set(old);
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handle as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigaction(signal, &raw const new, ptr::null_mut());
        }
    }
}

/// Runs when one of [`SIGNALS`] is raised, on the signal stack. Only what is safe in a signal
/// handler.
unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let running = RUNNING.get();
    let registers = context.cast::<libc::ucontext_t>();
    // SAFETY: the kernel gave the context; `running` is alive while the thread is in a kernel.
    unsafe {
        let general = &mut (*registers).uc_mcontext.gregs;
        let stack = general[libc::REG_RSP as usize] as usize;
        // First: a copy may be a kernel's, and hold memory that it has to let go.
        if let Some((address, stack)) = guard::landing(signal, stack) {
            general[libc::REG_RIP as usize] = address as i64;
            general[libc::REG_RSP as usize] = stack as i64;
            return;
        }
        if !running.is_null() && (*running).handler.stack_ptr_in_bounds(stack) {
            let pc = general[libc::REG_RIP as usize] as usize;
            let trap = Trap { signal, address: (*info).si_addr() as usize, pc };
            (*(*running).notes.get()).set(Some(trap));
            // The fiber's stack is abandoned: what runs on it holds nothing that needs dropping.
            let next = (*running).handler.setup_trap_handler(|| End::Trapped);
            for (register, value) in [
                (libc::REG_RIP, next.rip),
                (libc::REG_RSP, next.rsp),
                (libc::REG_RBP, next.rbp),
                (libc::REG_RDI, next.rdi),
                (libc::REG_RSI, next.rsi),
            ] {
                general[register as usize] = value as i64;
            }
            return;
        }
        pass_on(signal, info, context);
    }
}

/// Gives a signal that is not ours to the handler that was there before.
///
/// # Safety
/// The arguments are those of the handler.
unsafe fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let number = SIGNALS.iter().position(|&known| known == signal);
    let previous = number.and_then(|number| PREVIOUS[number].get());
    // SAFETY: the previous action was in force, so its handler is one for these arguments.
    unsafe {
        match previous {
            Some(action) if action.sa_sigaction == libc::SIG_IGN => {}
            Some(action) if action.sa_sigaction != libc::SIG_DFL => {
                if action.sa_flags & libc::SA_SIGINFO != 0 {
                    type Handler = unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);
                    let handler: Handler = std::mem::transmute(action.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: unsafe extern "C" fn(c_int) = std::mem::transmute(action.sa_sigaction);
                    handler(signal);
                }
            }
            // The instruction runs again and ends the process as if we were not there.
            _ => {
                if signal == libc::SIGSEGV && (*info).si_code > 0 {
                    host_access::tell((*info).si_addr() as u64);
                }
                libc::signal(signal, libc::SIG_DFL);
                if (*info).si_code <= 0 {
                    libc::raise(signal);
                }
            }
        }
    }
}

/// Memory for signal handlers of one thread.
#[derive(Debug)]
struct SignalStack {
    start: *mut c_void,
}

impl SignalStack {
    /// Gives this thread a stack for handlers, unless it has one that is large enough.
    fn install() -> Option<Self> {
        // SAFETY: all zeros is a `stack_t`, and the calls get valid pointers.
        unsafe {
            let mut old: libc::stack_t = std::mem::zeroed();
            let known = libc::sigaltstack(ptr::null(), &raw mut old) == 0;
            if known && old.ss_flags & libc::SS_DISABLE == 0 && old.ss_size >= STACK / 4 {
                return None;
            }
            let (access, flags) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let start = libc::mmap(ptr::null_mut(), STACK, access, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return None;
            }
            let new = libc::stack_t { ss_sp: start, ss_flags: 0, ss_size: STACK };
            libc::sigaltstack(&raw const new, ptr::null_mut());
            Some(SignalStack { start })
        }
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        // SAFETY: the thread ends. Its handlers' stack is ours unless somebody has installed
        // another.
        unsafe {
            let mut now: libc::stack_t = std::mem::zeroed();
            libc::sigaltstack(ptr::null(), &raw mut now);
            if now.ss_sp == self.start {
                let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
                libc::sigaltstack(&raw const none, ptr::null_mut());
            }
            libc::munmap(self.start, STACK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{copy, copy_word};

    const PAGE: usize = 4096;

    /// Two pages, of which only the first can be used.
    fn half_mapped() -> *mut u8 {
        // SAFETY: new mappings, which nothing else knows.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(ptr::null_mut(), 2 * PAGE, access, flags, -1, 0);
            assert_ne!(start, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(start.add(PAGE), PAGE, libc::PROT_NONE), 0);
            start.cast()
        }
    }

    #[test]
    fn words_are_copied_or_refused() {
        catch_signals();
        let start = half_mapped();
        let (mut four, mut eight) = (0x0102_0304_u32, 0x0506_0708_090a_0b0c_u64);
        // SAFETY: the words and the mapping are this test's.
        unsafe {
            let (four, eight) = ((&raw mut four).cast::<u8>(), (&raw mut eight).cast::<u8>());
            assert!(copy_word(start.add(4), four, 4) && copy_word(start.add(PAGE - 8), eight, 8));
            assert_eq!(start.add(4).cast::<u32>().read(), 0x0102_0304);
            assert_eq!(start.cast::<u32>().read(), 0, "its neighbour stays");
            assert_eq!(start.add(PAGE - 8).cast::<u64>().read(), 0x0506_0708_090a_0b0c);
            for (word, size) in [(four, 4), (eight, 8)] {
                assert!(!copy_word(start.add(PAGE), word, size), "writing {size} bytes");
                assert!(!copy_word(word, start.add(PAGE), size), "reading {size} bytes");
            }
            libc::munmap(start.cast(), 2 * PAGE);
        }
    }

    #[test]
    fn what_is_not_mapped_ends_the_copy_only() {
        catch_signals();
        let mut own = vec![1_u8; 2 * PAGE];
        let start = half_mapped();
        for length in [1, 7, 64, 1000, PAGE, 2 * PAGE] {
            let at = start.wrapping_add(PAGE - length.min(PAGE) + 1);
            // SAFETY: the bytes are this test's, as far as there are any.
            unsafe {
                assert!(!copy(at, own.as_ptr(), length), "writing {length} bytes");
                assert!(!copy(own.as_mut_ptr(), at, length), "reading {length} bytes");
                assert!(copy(start, own.as_ptr(), PAGE.min(length)), "all of it is mapped");
            }
        }
        // SAFETY: the mapping is this test's.
        unsafe { libc::munmap(start.cast(), 2 * PAGE) };
    }
}
