//! The clocks that kernels read.

use std::time::{SystemTime, UNIX_EPOCH};

/// `%clock64`: cycles of the processor that counts them.
pub(crate) fn cycles() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// `%globaltimer`: nanoseconds since 1970.
pub(crate) fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}
