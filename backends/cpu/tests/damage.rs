//! Random damage: whatever the bytes, loading ends in a module or in an error,
//! or at the worst (an initialiser is sent astray) in a report.
//!
//! Each damaged image is loaded in a child, as the loader that is to be kept from
//! crashing would take this program with it. A program of its own, so that no
//! other test's threads hold the loader's lock at the fork.

mod support;

use gangway_backend::Backend;
use gangway_cpu::CpuBackend;
use support::image;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

#[test]
fn damaged_images_never_crash_the_loader() {
    let good = image("basic.c", &["-g0"]);
    // What the loader reads: headers and tables, which stand before the code.
    let tables = good.len().min(0x900);
    let device = CpuBackend::new().open(0).unwrap();
    let mut random =
        Random(std::env::var("GANGWAY_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1));
    let (mut refused, mut loaded) = (0, 0);
    for round in 0..150 {
        let mut bad = good.clone();
        let mut changes = Vec::new();
        for _ in 0..1 + random.below(3) {
            let at = random.below(tables);
            let value = [0, 0xff, 0x7f, 0x80, 1, random.below(256) as u8][random.below(6)];
            changes.push((at, bad[at], value));
            bad[at] = value;
        }
        // SAFETY: the child loads and ends without unwinding.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // As in a C program; and an image that makes the loader hang is a failure.
            // SAFETY: restores defaults, before our handlers are installed.
            unsafe {
                libc::signal(libc::SIGSEGV, libc::SIG_DFL);
                libc::signal(libc::SIGBUS, libc::SIG_DFL);
                libc::alarm(20);
            }
            let result = device.load(&bad);
            let status = i32::from(result.is_err());
            // Whatever the finalisers would do is not the loader's doing.
            std::mem::forget(result);
            // SAFETY: ends the child.
            unsafe { libc::_exit(status) };
        }
        let mut status = 0;
        // SAFETY: waits for the child just made.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert!(libc::WIFEXITED(status), "round {round}: status {status:#x} after {changes:x?}");
        if libc::WEXITSTATUS(status) == 0 { loaded += 1 } else { refused += 1 }
    }
    // Damage that matters is found, and what does not matter is let pass.
    assert!(refused > 30 && loaded > 30, "{refused} refused, {loaded} loaded");
}
