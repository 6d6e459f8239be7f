//! Memory that a program has not freed: told in check mode, `GANGWAY_VGPU_CHECK=memory`, when its
//! context is destroyed and when the process ends.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Once;

use gangway_device_memory::{Allocation, Space};

/// How many are told one by one.
const TOLD: usize = 20;

/// Has what is left at the end of the process told.
pub fn watch() {
    static ONCE: Once = Once::new();
    extern "C" fn at_exit() {
        if let Ok(space) = Space::get() {
            tell(&space.leaks());
        }
    }
    // SAFETY: a function without parameters that may run at any exit.
    ONCE.call_once(|| unsafe {
        libc::atexit(at_exit);
    });
}

/// Tells of allocations that nobody can free any more.
pub fn tell(left: &[Allocation]) {
    // The end of a process is no place to fail in.
    let _ = std::io::stderr().write_all(report(left).as_bytes());
}

fn report(left: &[Allocation]) -> String {
    let mut text = String::new();
    if left.is_empty() {
        return text;
    }
    let total: u64 = left.iter().map(|allocation| allocation.size).sum();
    let blocks = if left.len() == 1 { "allocation" } else { "allocations" };
    let _ = writeln!(text, "gangway: {total} bytes in {} {blocks} were never freed:", left.len());
    for allocation in left.iter().take(TOLD) {
        let Allocation { address, size, kind, device, name, .. } = allocation;
        let by = name.unwrap_or("the program");
        let _ = writeln!(text, "  {size} bytes of {kind} at {address:#x} on device {device}, from {by}");
    }
    if left.len() > TOLD {
        let _ = writeln!(text, "  and {} more", left.len() - TOLD);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_device_memory::Kind;

    #[test]
    fn leaks_are_told_with_their_sizes() {
        assert_eq!(report(&[]), "");
        let one =
            Allocation { address: 0x1000, size: 8, kind: Kind::Device, device: 0, name: Some("f"), id: 1 };
        let text = report(std::slice::from_ref(&one));
        assert_eq!(
            text,
            "gangway: 8 bytes in 1 allocation were never freed:\n  8 bytes of device memory at 0x1000 on device 0, from f\n"
        );
        assert!(report(&vec![one; 25]).ends_with("  and 5 more\n"));
    }
}
