//! The clocks that kernels read.

use std::sync::LazyLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// How fast `%clock64` counts, in kHz: what the driver says is the device's clock rate.
/// Programs wait by counting so many cycles, whatever the host's processor does.
pub const CLOCK_KHZ: u32 = 1_980_000;

/// `%clock64`: cycles of the device since somebody first asked.
pub(crate) fn cycles() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    (START.elapsed().as_nanos() * u128::from(CLOCK_KHZ) / 1_000_000) as u64
}

/// `%globaltimer`: nanoseconds since 1970.
pub(crate) fn nanoseconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{CLOCK_KHZ, cycles};

    #[test]
    fn cycles_pass_at_the_rate_of_the_device() {
        let (start, from) = (Instant::now(), cycles());
        std::thread::sleep(Duration::from_millis(20));
        let (counted, most) = (cycles() - from, start.elapsed());
        let milliseconds = counted / u64::from(CLOCK_KHZ);
        assert!((20..=most.as_millis() as u64).contains(&milliseconds), "{counted} cycles in {most:?}");
    }
}
