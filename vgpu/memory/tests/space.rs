//! The space as a whole: limits, texts of reports, and many threads at once. `ranges` has the
//! properties against a simple model. All tests share the one space of the process, so each has
//! devices of its own.

use std::sync::atomic::{AtomicBool, Ordering};

use gangway_device_memory::{Allocation, AllocationKind, DeviceHeap, Error, Fault, Request};

mod common;
use common::{space, use_all};

fn allocate(device: u32, size: u64) -> u64 {
    space().allocate(&Request::new(device, size, AllocationKind::Device)).expect("memory")
}

#[test]
fn new_memory_is_zero_also_where_other_memory_was() {
    for round in 0..600 {
        let address = allocate(1, 5000);
        let mut bytes = [1; 5000];
        // SAFETY: the test owns the allocation.
        unsafe { space().read(address, &mut bytes) }.expect("it is allocated");
        assert_eq!(bytes, [0; 5000], "round {round}");
        use_all(address, 5000, 0xee);
        space().free(address).expect("it is allocated");
    }
}

#[test]
fn freed_addresses_rest() {
    let first = allocate(2, 300);
    space().free(first).expect("it is allocated");
    for _ in 0..100 {
        let other = allocate(2, 300);
        assert_ne!(other, first);
        space().free(other).expect("it is allocated");
    }
}

#[test]
fn limits_are_kept() {
    let space = space();
    space.set_limit(3, 1 << 20).expect("there is a device 3");
    let half = allocate(3, 1 << 19);
    let refused = space.allocate(&Request::new(3, (1 << 19) + 1, AllocationKind::Device));
    let expected = Error::LimitExceeded { device: 3, size: (1 << 19) + 1, used: 1 << 19, limit: 1 << 20 };
    assert_eq!(refused, Err(expected));
    assert_eq!((space.used(3), space.available(3)), (Ok(1 << 19), Ok(1 << 19)));
    let pinned = space.allocate(&Request::new(3, 1 << 20, AllocationKind::Pinned)).expect("not counted");
    let rest = allocate(3, 1 << 19);
    assert_eq!(space.available(3), Ok(0));
    [half, pinned, rest].into_iter().for_each(|address| space.free(address).expect("it is allocated"));
    assert_eq!(space.used(3), Ok(0));
    assert_eq!(space.set_limit(64, 1), Err(Error::NoSuchDevice(64)));
}

#[test]
fn what_cannot_be_allocated_is_refused() {
    let request = Request::new(4, 8, AllocationKind::Device);
    for align in [3, 384, 1 << 31] {
        assert_eq!(space().allocate(&request.align(align)), Err(Error::BadAlignment(align)));
    }
    for size in [1 << 42, 1 << 62, u64::MAX] {
        let refused = space().allocate(&Request::new(4, size, AllocationKind::Device));
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
    }
    assert_eq!(space().used(4), Ok(0));
}

#[test]
fn large_memory_is_used_and_given_back() {
    // Larger than any slot; only its ends are touched.
    let size = (3 << 30) + 12345;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let address = allocate(5, size);
        assert!(!seen.contains(&address));
        seen.push(address);
        // SAFETY: the test owns the allocation.
        unsafe {
            space().write(address, &[1, 2, 3]).expect("it is allocated");
            space().write(address + size - 3, &[4, 5, 6]).expect("it is allocated");
        }
        assert!(space().check(address + size - 1, 2, false).is_err());
        assert_eq!(space().find(address + (2 << 30)).map(|found| found.address), Some(address));
        space().free(address).expect("it is allocated");
        assert!(space().check(address + (2 << 30), 1, false).is_err());
    }
}

#[test]
fn more_allocations_than_the_kernel_has_mappings() {
    let request = Request::new(6, 1000, AllocationKind::Device);
    let addresses: Vec<u64> = (0..70_000).map(|_| space().allocate(&request).expect("memory")).collect();
    for (index, &address) in addresses.iter().enumerate().step_by(7) {
        let bytes = index.to_le_bytes();
        // SAFETY: the test owns the allocations.
        unsafe { space().write(address + 992, &bytes) }.expect("it is allocated");
        assert!(space().check(address + 993, 8, true).is_err(), "its end is known to the byte");
    }
    for (index, &address) in addresses.iter().enumerate() {
        let mut bytes = [0; 8];
        // SAFETY: as above.
        unsafe { space().read(address + 992, &mut bytes) }.expect("it is allocated");
        let expected = if index % 7 == 0 { index } else { 0 };
        assert_eq!(usize::from_le_bytes(bytes), expected);
        space().free(address).expect("it is allocated");
    }
    assert_eq!(space().used(6), Ok(0));
}

#[test]
fn reports_say_what_is_near() {
    let space = space();
    let named = |size, kind, name| space.allocate(&Request::new(7, size, kind).name(name)).expect("memory");
    let near = |address| space.describe(address);

    let a = named(400, AllocationKind::Device, "cuMemAlloc_v2");
    let of_a = format!("the 400-byte allocation at {a:#x}, allocated by cuMemAlloc on device 7");
    assert_eq!(near(a), of_a);
    assert_eq!(near(a + 8), format!("8 bytes into {of_a}"));
    assert_eq!(near(a + 400), format!("just after the end of {of_a}"));
    assert_eq!(near(a + 432), format!("32 bytes after the end of {of_a}"));
    assert_eq!(near(a - 1), format!("1 byte before {of_a}"));
    let wrong = space.check(a + 398, 4, true).expect_err("it reaches over the end");
    let text = format!("write of 4 bytes at {:#x}: just after the end of {of_a}", a + 398);
    assert_eq!((wrong.fault, wrong.to_string()), (Fault::OutOfBounds, text));
    assert_eq!((space.first_wrong(a + 398, 4), space.first_wrong(a + 396, 4)), (a + 400, a + 396));
    space.free(a).expect("it is allocated");
    assert_eq!(near(a + 8), format!("8 bytes into freed memory of {of_a}"));
    let wrong = space.check(a + 8, 1, false).expect_err("it is freed");
    let text = format!("read of 1 byte at {:#x}: 8 bytes into freed memory of {of_a}", a + 8);
    assert_eq!((wrong.fault, wrong.to_string()), (Fault::Freed, text));
    let twice = space.free(a).expect_err("it is freed").to_string();
    assert_eq!(twice, format!("{a:#x} is not the start of an allocation; it is freed memory of {of_a}"));

    let table = named(64, AllocationKind::Constant, "table");
    let wrong = space.check(table + 4, 4, true).expect_err("it is constant").to_string();
    let of_table = format!("the 64-byte constant 'table' at {table:#x} on device 7");
    let text =
        format!("write of 4 bytes at {:#x}: 4 bytes into {of_table}, which kernels cannot write", table + 4);
    assert_eq!(wrong, text);
    assert_eq!(space.check(table + 4, 4, false), Ok(()));
    space.free(table).expect("it is allocated");

    assert_eq!(near(0), "a null pointer");
    assert_eq!(near(24), "24 bytes after null");
    assert_eq!(near(gangway_device_memory::FUNCTIONS), "the address of a function");
    let host = [0u8; 64];
    let at = host.as_ptr().addr() as u64;
    let stack = near(at);
    assert!(
        stack.starts_with("a host pointer, in ") && stack.ends_with(", that is not mapped on the device"),
        "{stack}"
    );
    let constant = near("text".as_ptr().addr() as u64);
    let file = std::env::current_exe().expect("a program").display().to_string();
    assert_eq!(constant, format!("a host pointer, in {file}, that is not mapped on the device"));
    assert_eq!(near(1 << 62), "an address where neither the device nor the host has memory");
    assert_eq!(space.check(at, 4, false).expect_err("not registered").fault, Fault::Host);
    space.register_host(at, 64).expect("not registered yet");
    assert_eq!(near(at + 1), format!("in the 64 bytes of registered host memory at {at:#x}"));
    assert!(space.check(at, 64, true).is_ok() && space.is_host_registered(at, 64));
    assert!(space.check(at, 65, true).is_err() && !space.is_host_registered(at, 65));
    assert_eq!(space.unregister_host(at), Ok(64));
}

#[test]
fn leaks_are_what_the_program_has_not_freed() {
    let module = space().allocate(&Request::new(8, 10, AllocationKind::Module).name("x")).expect("memory");
    let kept = space()
        .allocate(&Request::new(8, 20, AllocationKind::Managed).name("cuMemAllocManaged"))
        .expect("memory");
    let freed = allocate(8, 30);
    space().free(freed).expect("it is allocated");
    let leaks: Vec<Allocation> = space().leaks().into_iter().filter(|leak| leak.device == 8).collect();
    let [leak] = &leaks[..] else { panic!("{leaks:?}") };
    assert_eq!(
        (leak.address, leak.size, leak.kind, leak.name),
        (kept, 20, AllocationKind::Managed, Some("cuMemAllocManaged"))
    );
    let more = [allocate(8, 400), allocate(8, 400)];
    let heap = DeviceHeap::new(space(), 8, 1 << 16).expect("memory");
    let block = heap.malloc(5).expect("room");
    let report = format!(
        "825 bytes in 4 allocations were never freed:\n  \
           2 of 400 bytes, allocated by cuMemAlloc on device 8, the first at {:#x}\n  \
           20 bytes, allocated by cuMemAllocManaged on device 8, at {kept:#x}\n  \
           5 bytes, allocated by malloc on device 8, at {block:#x}\n",
        more[0].min(more[1])
    );
    let leaks =
        || -> Vec<Allocation> { space().leaks().into_iter().filter(|leak| leak.device == 8).collect() };
    assert_eq!(space().leak_report(&leaks()), Some(report));
    more.into_iter().for_each(|address| space().free(address).expect("it is allocated"));
    drop(heap);
    [module, kept].into_iter().for_each(|address| space().free(address).expect("it is allocated"));
    assert_eq!(space().leak_report(&leaks()), None);
}

#[test]
fn threads_do_not_meet() {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4u32)
            .map(|worker| {
                scope.spawn(move || {
                    let mut own = Vec::new();
                    for round in 0..1500u64 {
                        let size = (round * 7919 + u64::from(worker)) % 20_000;
                        let address = allocate(10 + worker, size);
                        // SAFETY: the thread owns the allocation.
                        unsafe { space().fill(address, worker as u8, size) }.expect("it is allocated");
                        own.push((address, size));
                        if own.len() > 50 {
                            let (address, size) = own.swap_remove(round as usize % 50);
                            let mut bytes = vec![0; size as usize];
                            // SAFETY: as above.
                            unsafe { space().read(address, &mut bytes) }.expect("it is allocated");
                            assert!(bytes.iter().all(|&byte| byte == worker as u8));
                            space().free(address).expect("it is allocated");
                        }
                    }
                    own.into_iter().for_each(|(address, _)| space().free(address).expect("it is allocated"));
                })
            })
            .collect();
        // Looks at what the others change: what it finds must be whole.
        let reader = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for allocation in
                    space().allocations().filter(|allocation| (10..14).contains(&allocation.device))
                {
                    assert!(allocation.size < 20_000 && allocation.address.is_multiple_of(256));
                    assert!(!space().describe(allocation.address + 3).is_empty());
                }
            }
        });
        workers.into_iter().for_each(|worker| worker.join().expect("no panic"));
        stop.store(true, Ordering::Relaxed);
        reader.join().expect("no panic");
    });
    (10..14).for_each(|device| assert_eq!(space().used(device), Ok(0)));
}

#[test]
fn what_is_held_stays_when_it_is_freed() {
    const DEVICE: u32 = 41;
    let address = allocate(DEVICE, 10_000);
    use_all(address, 10_000, 7);
    let (one, two) = (space().hold(address, 10_000), space().hold(address + 5000, 1));
    let (one, two) = (one.expect("it is allocated"), two.expect("part of it"));
    space().free(address).expect("it is allocated");
    assert!(
        space().find(address).is_none() && space().hold(address, 1).is_none(),
        "nobody finds it any more"
    );
    assert!(space().free(address).is_err(), "freed twice");
    assert_ne!(space().used(DEVICE), Ok(0), "it is still there");
    drop(two);
    // SAFETY: it is held.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, 10_000) };
    assert!(bytes.iter().all(|&byte| byte == 7), "and what it holds, too");
    drop(one);
    assert_eq!(space().used(DEVICE), Ok(0));
}

#[test]
fn only_what_is_all_allocated_can_be_held() {
    let address = allocate(42, 100);
    assert!(space().hold(address, 101).is_none() && space().hold(address + 100, 1).is_none());
    assert!(space().hold(address - 1, 2).is_none() && space().hold(u64::MAX, 2).is_none());
    assert!(space().hold(address, u64::MAX).is_none() && space().hold(0, 1).is_none());
    assert!(space().hold(0, 0).is_some(), "nothing needs no memory");
    space().free(address).expect("none of the attempts holds it");
}

#[test]
fn registered_memory_does_not_end_while_it_is_held() {
    let memory = vec![0_u8; 300];
    let start = memory.as_ptr() as u64;
    space().register_host(start, 100).expect("free");
    space().register_host(start + 100, 200).expect("free");
    assert!(space().hold(start, 301).is_none());
    let held = space().hold(start + 50, 100).expect("two registrations in a row");
    let released = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            space().unregister_host(start).expect("it is registered");
            assert!(released.load(Ordering::Acquire), "somebody still holds it");
        });
        while space().is_host_registered(start, 1) {
            std::thread::yield_now();
        }
        assert!(space().hold(start, 1).is_none(), "it is about to end");
        released.store(true, Ordering::Release);
        drop(held);
    });
    space().unregister_host(start + 100).expect("the attempt to hold too much holds nothing");
}
