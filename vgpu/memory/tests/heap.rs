//! The device's heap: against a simple model, and from many threads at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use gangway_device_memory::{DeviceHeap, Error, Fault, Space};
use proptest::prelude::*;

fn heap(size: u64) -> Arc<DeviceHeap> {
    let space = Space::get().expect("the addresses of device memory");
    DeviceHeap::new(space, 20, size).expect("memory")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn blocks_do_not_meet(
        steps in prop::collection::vec((any::<bool>(), prop_oneof![0..2100u64, 1..40_000u64], any::<usize>()), 1..300)
    ) {
        const SIZE: u64 = 1 << 20;
        let heap = heap(SIZE);
        let (base, _) = heap.range();
        let mut model: BTreeMap<u64, u64> = BTreeMap::new();
        for (allocate, size, which) in steps {
            if allocate {
                let Some(address) = heap.malloc(size) else {
                    let live: u64 = model.values().sum();
                    prop_assert!(live + size > SIZE / 8, "no room for {size} bytes with {live} in use");
                    continue;
                };
                prop_assert!(address.is_multiple_of(16));
                prop_assert!(address >= base && address + size <= base + SIZE);
                let before = model.range(..=address).next_back();
                prop_assert!(before.is_none_or(|(start, length)| start + length.max(&1) <= address));
                let after = model.range(address..).next();
                prop_assert!(after.is_none_or(|(&start, _)| address + size.max(1) <= start));
                model.insert(address, size);
            } else if !model.is_empty() {
                let address = *model.keys().nth(which % model.len()).expect("it is not empty");
                if !model.contains_key(&(address + 1)) {
                    prop_assert!(heap.free(address + 1).is_err());
                }
                heap.free(address).expect("it is allocated");
                let twice = heap.free(address);
                    prop_assert!(matches!(twice, Err(Error::NotAnAllocation { .. })), "freed twice");
                model.remove(&address);
            }
            prop_assert_eq!(heap.used(), model.values().sum::<u64>());
        }
        let blocks: BTreeMap<u64, u64> = heap.blocks().iter().map(|block| (block.address, block.size)).collect();
        prop_assert_eq!(&blocks, &model);
        for &address in model.keys() {
            heap.free(address).expect("it is allocated");
        }
        // Everything is one run again.
        prop_assert!(heap.malloc(SIZE).is_some());
    }
}

#[test]
fn exhaustion_is_no_error() {
    let heap = heap(64 << 10);
    assert_eq!(heap.malloc((64 << 10) + 1), None);
    assert_eq!(heap.malloc(u64::MAX), None);
    let all: Vec<u64> = std::iter::from_fn(|| heap.malloc(1000)).collect();
    assert_eq!(all.len(), 64, "four in each page");
    assert_eq!(heap.malloc(1), None);
    heap.free(all[17]).expect("it is allocated");
    assert_eq!(heap.malloc(1000), Some(all[17]));
    assert_eq!(heap.free(0), Ok(()), "null is fine");
}

#[test]
fn accesses_are_checked_to_the_byte() {
    let space = Space::get().expect("the addresses of device memory");
    let heap = heap(1 << 20);
    let block = heap.malloc(100).expect("room");
    assert_eq!(space.check(block, 100, true), Ok(()));
    let wrong = space.check(block + 96, 8, true).expect_err("it reaches over the end");
    let text = format!(
        "write of 8 bytes at {:#x}: just after the end of the 100-byte block at {block:#x}, \
         allocated by malloc on device 20",
        block + 96
    );
    assert_eq!((wrong.fault, wrong.to_string()), (Fault::OutOfBounds, text));
    heap.free(block).expect("it is allocated");
    assert!(space.check(block, 1, false).is_err());
    let (base, size) = heap.range();
    drop(heap);
    assert!(space.find(base).is_none() && space.check(base + size - 1, 1, false).is_err());
}

#[test]
fn many_threads_share_it() {
    let heap = heap(8 << 20);
    std::thread::scope(|scope| {
        for worker in 0..4u64 {
            let heap = &heap;
            scope.spawn(move || {
                let mut own = Vec::new();
                for round in 0..20_000u64 {
                    let size = (round * 131 + worker) % 900;
                    own.push(heap.malloc(size).expect("room"));
                    if own.len() > 100 {
                        heap.free(own.swap_remove(round as usize % 100)).expect("it is allocated");
                    }
                }
                own.into_iter().for_each(|address| heap.free(address).expect("it is allocated"));
            });
        }
    });
    assert_eq!((heap.used(), heap.blocks().len()), (0, 0));
}
