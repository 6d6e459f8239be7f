//! Devices that use all of the host's memory: the same in compiled code and in the interpreter, with
//! and without checks. One test, as this is for the whole process.

mod bench;

use std::sync::atomic::{AtomicU32, Ordering};

use bench::{Bench, options};
use gangway_device_memory::{BASE, Space};
use gangway_engine::{Checks, Execution, Options, Reason};

const START: &str = "
    .reg .u64 %base, %at, %wide, %e; .reg .u32 %i, %a, %b; .reg .pred %p;
    ld.param.u64 %base, [buffer]; mov.u32 %i, %tid.x; mul.wide.u32 %wide, %i, 4; add.u64 %at, %base, %wide;\n";

fn kernel(body: &str) -> String {
    format!(".visible .entry k(.param .u64 buffer) {{ {START} {body} ret; }}")
}

/// A page that can be read only.
fn constant_page() -> u64 {
    // SAFETY: a new mapping, which stays.
    let start = unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, flags, -1, 0)
    };
    assert_ne!(start, libc::MAP_FAILED);
    start as u64
}

fn each_way(work: impl Fn(Options)) {
    for (execution, memory) in [
        (Execution::CompiledOnly, false),
        (Execution::CompiledOnly, true),
        (Execution::Interpreted, false),
        (Execution::Interpreted, true),
    ] {
        work(Options { execution, checks: Checks { memory, ..Checks::NONE }, ..options() });
    }
}

#[test]
fn kernels_use_the_hosts_memory() {
    let doubles = kernel("ld.u32 %a, [%at]; shl.b32 %a, %a, 1; st.global.u32 [%at], %a;");
    let mut words: Vec<u32> = (0..64).collect();
    let start = words.as_mut_ptr().expose_provenance() as u64;
    each_way(|options| {
        let fault = Bench::new(options, &doubles).launch_at(2, [32, 1, 1], false, start);
        assert_eq!(fault.expect_err("it is not shared yet").reason, Reason::IllegalAddress);
    });
    Space::get().expect("memory").share_host();

    each_way(|options| {
        let done = Bench::new(options, &doubles).launch_at(1, [64, 1, 1], false, start);
        assert!(done.is_ok(), "{done:?}");
    });
    assert!((0..64).all(|word| words[word as usize] == 16 * word), "{words:?}");
    // A device's own memory is what it was.
    each_way(|options| {
        let bench = Bench::new(options, &doubles);
        bench.fill(|word| word as u32);
        let done = bench.launch(1, [32, 1, 1], false);
        assert!(done.is_ok() && bench.words()[31] == 62, "{done:?}");
    });

    // With the host at the same time: no addition of either is lost.
    let counter = AtomicU32::new(0);
    let adds = kernel(
        "mov.u32 %b, 0; turn: atom.sys.global.add.u32 %a, [%base], 1; add.u32 %b, %b, 1;
         setp.lt.u32 %p, %b, 500; @%p bra turn;",
    );
    let bench = Bench::new(options(), &adds);
    std::thread::scope(|scope| {
        let host = scope.spawn(|| (0..100_000).for_each(|_| _ = counter.fetch_add(1, Ordering::SeqCst)));
        let done = bench.launch_at(4, [64, 1, 1], false, counter.as_ptr().expose_provenance() as u64);
        assert!(done.is_ok(), "{done:?}");
        host.join().expect("the host adds");
    });
    assert_eq!(counter.load(Ordering::Relaxed), 100_000 + 4 * 64 * 500);

    // Wild addresses are faults all the same, and told.
    let constant = constant_page();
    for (address, told) in [
        (0, "is a null pointer"),
        (128, "is 128 bytes after null"),
        (0x1234_5000, "is an address where neither the device nor the host has memory"),
        (constant, "which the program itself must not access so"),
        (BASE - 4096, "is an address where neither the device nor the host has memory"),
        (1 << 47, "is an address where neither the device nor the host has memory"),
        (0xa5a5_a5a5_a5a5_a500, "is an address where neither the device nor the host has memory"),
    ] {
        for body in ["st.global.u32 [%base], %i;", "st.u32 [%at], %i;"] {
            each_way(|options| {
                let fault = Bench::new(options, &kernel(body)).launch_at(1, [32, 1, 1], false, address);
                let fault = fault.expect_err("nothing is there that may be written");
                assert_eq!(fault.reason, Reason::IllegalAddress, "{fault}");
                assert!(fault.report.contains(told), "{address:#x}: {}", fault.report);
                assert!(fault.report.contains(&body[..6]), "{}", fault.report);
            });
        }
    }
}
