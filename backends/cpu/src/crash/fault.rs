//! What the system tells the signal handler about a fault.

use crate::memory::looks_poisoned;

/// In the processor's code for a page fault: it was a write.
const WRITE: i64 = 2;

/// What the kernel tells about a fault.
pub(super) struct Crash {
    signal: i32,
    code: i32,
    pub address: usize,
    /// By the system's numbers.
    registers: [u64; 16],
    writes: bool,
    pub pc: usize,
    pub sp: usize,
}

impl Crash {
    /// # Safety
    /// The arguments are those of a signal handler.
    pub unsafe fn new(signal: i32, info: &libc::siginfo_t, context: &libc::ucontext_t) -> Self {
        let all = &context.uc_mcontext.gregs;
        let mut registers = [0; 16];
        for (to, from) in registers.iter_mut().zip(all) {
            *to = *from as u64;
        }
        Self {
            signal,
            code: info.si_code,
            // SAFETY: these signals carry an address.
            address: unsafe { info.si_addr() }.addr(),
            registers,
            writes: all[libc::REG_ERR as usize] & WRITE != 0,
            pc: all[libc::REG_RIP as usize] as usize,
            sp: all[libc::REG_RSP as usize] as usize,
        }
    }

    /// The address that was touched, where the processor tells it: for addresses
    /// that no program can have, it does not.
    pub fn touched(&self) -> Option<usize> {
        const SI_KERNEL: i32 = 0x80;
        let tells = matches!(self.signal, libc::SIGSEGV | libc::SIGBUS);
        (tells && self.code > 0 && self.code != SI_KERNEL).then_some(self.address)
    }

    /// The address, if it is there and may not be touched in this way.
    pub fn forbidden(&self) -> Option<usize> {
        const SEGV_ACCERR: i32 = 2;
        (self.signal == libc::SIGSEGV && self.code == SEGV_ACCERR).then_some(self.address)
    }

    /// Whether it was a write.
    pub const fn writes(&self) -> bool {
        self.writes
    }

    /// A register, by the system's number.
    pub fn register(&self, number: i32) -> u64 {
        self.registers.get(number as usize).copied().unwrap_or_default()
    }

    /// Where the stack's bytes begin that functions may use: below the stack pointer is the
    /// red zone.
    pub const fn lowest(&self) -> usize {
        self.sp.saturating_sub(128)
    }

    /// The signal, and what it means.
    pub fn what(&self) -> (&'static str, &'static str) {
        match (self.signal, self.code) {
            (libc::SIGSEGV, 2) => ("SIGSEGV", "memory that it may not touch in this way"),
            (libc::SIGSEGV, _) => ("SIGSEGV", "memory that is not there"),
            (libc::SIGBUS, 1) => ("SIGBUS", "misaligned access"),
            (libc::SIGBUS, _) => ("SIGBUS", "memory that cannot be had, or a file that has become shorter"),
            (libc::SIGFPE, 1) => ("SIGFPE", "integer division by zero, or overflow in one"),
            (libc::SIGFPE, _) => ("SIGFPE", "floating-point exception that the program has made fatal"),
            (libc::SIGILL, _) => ("SIGILL", "illegal instruction: a trap, or built for another processor"),
            _ => ("signal", "unknown"),
        }
    }

    /// What to look for.
    pub fn hint(&self) -> Option<&'static str> {
        let poisoned = self.touched().is_some_and(|a| looks_poisoned(a as u64))
            || self.registers.iter().any(|r| looks_poisoned(*r));
        let touched = self.touched();
        if poisoned {
            Some(
                "this looks like poisoned device memory: a value was read that was never written, \
                 or was unmapped before; look for a variable or pointer that lacks a map(to: ...)",
            )
        } else if touched.is_some_and(|a| a < 4096) {
            Some(
                "a null pointer was followed: what a pointer leads to has to be mapped as well, \
                 as in map(to: p[0:n])",
            )
        } else if touched.is_some_and(|a| a.abs_diff(self.sp) < 64 << 10) {
            Some(
                "the stack is used up: raise it with ulimit -s or OMP_STACKSIZE, or move large arrays to the heap",
            )
        } else if touched.is_some() {
            Some(
                "an index may be beyond the section that was mapped, or the pointer beyond what it pointed to",
            )
        } else {
            None
        }
    }
}
