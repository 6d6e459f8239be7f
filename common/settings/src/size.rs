//! Sizes of memory: as users write them, and what the machine has.

/// `1048576`, `8M`, `64 MiB`, `2g`, `1.5GiB` in bytes; units are powers of 1024.
#[must_use]
pub fn size(text: &str) -> Option<u64> {
    parse_size::Config::new().with_binary().parse_size(text).ok()
}

/// The size of a device's memory. Less than 1 MiB is no device.
#[must_use]
pub fn device_size(text: &str) -> Option<u64> {
    size(text).filter(|&bytes| bytes >= 1 << 20)
}

/// The machine's memory in bytes.
#[must_use]
pub fn host_memory() -> u64 {
    // SAFETY: these calls have no preconditions.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    u64::try_from(pages).unwrap_or(0).saturating_mul(u64::try_from(page).unwrap_or(0))
}

/// What a virtual device has if nobody says how much: three quarters of the machine's memory, in whole GiB. Pages are only
/// taken when they are used.
#[must_use]
pub fn default_device_size() -> u64 {
    const GIB: u64 = 1 << 30;
    (host_memory() / 4 * 3 / GIB).max(1) * GIB
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [("1048576", 1 << 20), ("8M", 8 << 20), ("16g", 16 << 30), ("1.5 GiB", 3 << 29)]
        {
            assert_eq!(device_size(text), Some(bytes), "{text}");
        }
        for wrong in ["", "lots", "-1", "1023K", "8Q", "99999999999999999999"] {
            assert_eq!(device_size(wrong), None, "{wrong}");
        }
        assert_eq!(size("1023K"), Some(1023 << 10));
    }

    #[test]
    fn a_device_has_whole_gibs() {
        let size = default_device_size();
        assert!(size >= 1 << 30 && size.is_multiple_of(1 << 30));
    }
}
