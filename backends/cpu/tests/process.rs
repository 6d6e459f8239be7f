//! Forks and ending threads: nothing may hang or be lost.

mod support;

use gangway_backend::AllocationKind;
use support::{image, load};

#[test]
fn a_fork_can_allocate_and_launch_whatever_other_threads_were_doing() {
    let basic = load(0, &image("basic.c", &[]));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    for size in [8, 700, 9000, 40_000] {
                        let block = basic.device.allocate(size, AllocationKind::Device, false).unwrap();
                        // SAFETY: allocated above.
                        unsafe { basic.device.deallocate(block, AllocationKind::Device) }.unwrap();
                    }
                }
            });
        }
        for i in 0..50 {
            // SAFETY: the child does what is being tested, and ends without unwinding.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let x = basic.allocate(4);
                basic.put(x, i);
                // A kernel without a parallel region: the OpenMP library is not ours to test.
                basic.run(0, &[0, x.0 as u64]);
                let right = basic.get::<i32>(x) == i + 5;
                // SAFETY: ends the child.
                unsafe { libc::_exit(if right { 42 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: waits for the child just made.
            unsafe { libc::waitpid(child, &mut status, 0) };
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 42, "{status:#x}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn blocks_outlive_the_thread_that_allocated_them() {
    let basic = load(1, &image("basic.c", &[]));
    let basic = &basic;
    for round in 0..20_i64 {
        let blocks = std::thread::scope(|scope| {
            scope
                .spawn(move || {
                    let x = basic.allocate(4);
                    basic.put(x, 1_i32);
                    basic.run(0, &[0, x.0 as u64]);
                    (0..100)
                        .map(|i| {
                            let block = basic.allocate(100);
                            basic.put(block, i + round);
                            block
                        })
                        .collect::<Vec<_>>()
                })
                .join()
                .unwrap()
        });
        for (i, block) in blocks.into_iter().enumerate() {
            assert_eq!(basic.get::<i64>(block), i as i64 + round);
            // SAFETY: allocated by the thread.
            unsafe { basic.device.deallocate(block, AllocationKind::Device) }.unwrap();
        }
    }
}
