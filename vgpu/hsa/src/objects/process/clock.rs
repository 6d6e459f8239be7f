//! The system clock of HSA: what timestamps and timeouts count.

/// Ticks a second (`HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY`).
pub const FREQUENCY: u64 = 1_000_000_000;

/// The clock's value (`HSA_SYSTEM_INFO_TIMESTAMP`): it goes on while the machine sleeps.
#[must_use]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    time.tv_sec as u64 * FREQUENCY + time.tv_nsec as u64
}
