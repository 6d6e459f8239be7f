//! What is said before the process dies of an access of the host's own to addresses of the device.
//!
//! The usual case is `free` of what `omp_target_alloc` has returned: the C library looks for its own
//! notes before the memory. It runs in a signal handler, so nothing here allocates or takes a lock.

use std::fmt::Write;

use gangway_device_memory::{BASE, Space, is_device_address};

/// Bytes of the message at most.
const LENGTH: usize = 512;

/// A text without memory of its own. What does not fit in is cut off.
struct Text {
    bytes: [u8; LENGTH],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = LENGTH.min(self.length + text.len());
        self.bytes[self.length..end].copy_from_slice(&text.as_bytes()[..end - self.length]);
        self.length = end;
        Ok(())
    }
}

/// Prints the message, if the address is one of the device's.
pub(super) fn tell(address: u64) {
    let Some(near) = near(address) else { return };
    let text = message(address, Space::get().ok().and_then(|space| space.beside(near)));
    // SAFETY: a part of an array. If it cannot be written, nobody can be told.
    unsafe { libc::write(libc::STDERR_FILENO, text.bytes.as_ptr().cast(), text.length) };
}

/// An address of the device that an access is at, or just before: the first allocation may begin where the
/// device's addresses do.
fn near(address: u64) -> Option<u64> {
    let after = BASE.saturating_sub(address);
    is_device_address(address).then_some(address).or((1..=64).contains(&after).then_some(BASE))
}

/// The message. `beside` is the next allocation: where it begins, its size, and whether it has been freed.
fn message(address: u64, beside: Option<(u64, u64, bool)>) -> Text {
    let mut text = Text { bytes: [0; LENGTH], length: 0 };
    let _ = write!(text, "gangway: the host has used {address:#x}, which is an address of a virtual GPU");
    if let Some((start, size, freed)) = beside {
        let _ = match (address.checked_sub(start), address.checked_sub(start + size)) {
            (None, _) => write!(text, ": {} bytes before", start - address),
            (_, Some(after)) => write!(text, ": {after} bytes after the end of"),
            (Some(into), None) => write!(text, ": {into} bytes into"),
        };
        let what = if freed { "freed memory" } else { "memory" };
        let _ = write!(text, " {what} of {size} bytes at {start:#x}");
    }
    let _ = text.write_str(
        "\n  help: free() and other functions of the host cannot use memory of a device; omp_target_free, \
         omp_target_memcpy and kernels can\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(address: u64, beside: Option<(u64, u64, bool)>) -> String {
        let text = message(address, beside);
        String::from_utf8(text.bytes[..text.length].to_vec()).expect("text")
    }

    #[test]
    fn what_is_just_before_the_first_allocation_is_near_it() {
        let places = [BASE, BASE + 1, BASE - 8, BASE - 65, 0].map(near);
        assert_eq!(places, [Some(BASE), Some(BASE + 1), Some(BASE), None, None]);
    }

    #[test]
    fn the_message_names_the_memory_that_is_next() {
        let help = "\n  help: free() and other functions of the host cannot use memory of a device; omp_target_free, \
                    omp_target_memcpy and kernels can\n";
        let used = "gangway: the host has used 0x200000000ff8, which is an address of a virtual GPU";
        let at = |start, freed| said(0x2000_0000_0ff8, Some((start, 64, freed)));
        assert_eq!(said(0x2000_0000_0ff8, None), format!("{used}{help}"));
        assert_eq!(
            at(0x2000_0000_1000, false),
            format!("{used}: 8 bytes before memory of 64 bytes at 0x200000001000{help}")
        );
        assert_eq!(
            at(0x2000_0000_0ff0, true),
            format!("{used}: 8 bytes into freed memory of 64 bytes at 0x200000000ff0{help}")
        );
        let after = format!("{used}: 8 bytes after the end of memory of 64 bytes at 0x200000000fb0{help}");
        assert_eq!(at(0x2000_0000_0fb0, false), after);
    }
}
