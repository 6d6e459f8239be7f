//! How long allocating, freeing and finding take. `cargo bench -p gangway-device-memory`

use std::hint::black_box;

use divan::Bencher;
use gangway_device_memory::{AllocationKind, DeviceHeap, Request, Space};

fn main() {
    divan::main();
}

fn space() -> &'static Space {
    Space::get().expect("the addresses of device memory")
}

/// Allocates and frees without touching the memory.
#[divan::bench(args = [400, 64 << 10, 1 << 20, 256 << 20, 4u64 << 30], threads = [1, 2])]
fn allocate_and_free(bencher: Bencher, size: u64) {
    let request = Request::new(0, size, AllocationKind::Device);
    bencher.bench(|| {
        let address = space().allocate(&request).expect("memory");
        space().free(address).expect("allocated above");
    });
}

/// The same, with memory that is written once: what page faults cost.
#[divan::bench(args = [64 << 10, 1 << 20, 64u64 << 20])]
fn allocate_fill_and_free(bencher: Bencher, size: u64) {
    let request = Request::new(0, size, AllocationKind::Device);
    bencher.counter(divan::counter::BytesCount::new(size)).bench(|| {
        let address = space().allocate(&request).expect("memory");
        // SAFETY: nothing else knows the allocation.
        unsafe { space().fill(address, 1, size) }.expect("all of it is allocated");
        space().free(address).expect("allocated above");
    });
}

/// An access check among a thousand allocations.
#[divan::bench(threads = [1, 2])]
fn check(bencher: Bencher) {
    let request = Request::new(0, 400, AllocationKind::Device);
    let addresses: Vec<u64> = (0..1000).map(|_| space().allocate(&request).expect("memory")).collect();
    let middle = addresses[500];
    bencher.bench(|| space().check(black_box(middle + 4), 4, false));
    addresses.iter().for_each(|&address| space().free(address).expect("allocated above"));
}

#[divan::bench(args = [16, 200, 10_000], threads = [1, 2])]
fn device_malloc_and_free(bencher: Bencher, size: u64) {
    let heap = DeviceHeap::new(space(), 0, 64 << 20).expect("memory");
    bencher.bench(|| {
        let address = heap.malloc(black_box(size)).expect("room");
        heap.free(address).expect("allocated above");
    });
}
