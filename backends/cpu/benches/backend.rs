//! What a launch, an allocation, a copy and a load cost below the runtime.
//!
//! `cargo bench -p gangway-cpu`. Wanted: a launch less than 10 ns above the plain
//! call beside it, an allocation and its release less than 60 ns, on any number
//! of threads, copies as fast as the C library's.

use divan::{Bencher, black_box};
use gangway_backend::{
    AllocationKind, Backend, Device, DevicePtr, Kernel, KernelHandle, Launch, Session, SourceText,
    TableRequest,
};
use gangway_commands::Folder;
use gangway_cpu::CpuBackend;

fn main() {
    divan::main();
}

extern "C" fn empty() {}

extern "C" fn five(a: u64, b: u64, c: u64, d: u64, e: u64) {
    black_box(a ^ b ^ c ^ d ^ e);
}

extern "C" fn ten(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64, j: u64) {
    black_box(a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ j);
}

fn device() -> Box<dyn Device> {
    CpuBackend::new().open(0).unwrap()
}

#[divan::bench]
fn plain_call_of_5(bencher: Bencher) {
    let kernel: extern "C" fn(u64, u64, u64, u64, u64) = black_box(five);
    bencher.bench_local(|| kernel(black_box(1), 2, 3, 4, 5));
}

#[divan::bench(args = [0, 5, 10], sample_size = 10000)]
fn launch(bencher: Bencher, arguments: usize) {
    let device = device();
    let kernel = match arguments {
        0 => empty as *const () as usize,
        5 => five as *const () as usize,
        _ => ten as *const () as usize,
    };
    let launch = Launch {
        kernel: &Kernel::new(KernelHandle(kernel)),
        name: "bench",
        source: SourceText::NONE,
        teams: [1, 1, 1],
        thread_limit: [0; 3],
        trip_count: 0,
        dynamic_group_memory: 0,
        replaced_group_memory: None,
        by_address: false,
    };
    let mut session = Session::default();
    let request = TableRequest { leading: 0, arguments, trailing: 0 };
    bencher.bench_local(|| {
        let mut table = device.immediate().argument_table(&mut session, launch.kernel, request).unwrap();
        table.extend(std::iter::repeat_n(black_box(1), arguments));
        // SAFETY: the kernel takes as many arguments as it is given.
        unsafe { device.immediate().launch(&launch, table) }.unwrap();
    });
}

fn allocate_and_free(device: &dyn Device, size: usize, overwritten: bool) {
    let block = device.allocate(black_box(size), AllocationKind::Device, overwritten).unwrap();
    // SAFETY: allocated above.
    unsafe { device.deallocate(black_box(block), AllocationKind::Device) }.unwrap();
}

#[divan::bench(args = [8, 64, 1024, 16384, 65536, 1 << 20, 16 << 20])]
fn allocate_poisoned(bencher: Bencher, size: usize) {
    let device = device();
    bencher.bench_local(|| allocate_and_free(&*device, size, false));
}

#[divan::bench(args = [64, 65536])]
fn allocate_overwritten(bencher: Bencher, size: usize) {
    let device = device();
    bencher.bench_local(|| allocate_and_free(&*device, size, true));
}

#[divan::bench(threads = [1, 2], sample_size = 10000)]
fn allocate_64_on_threads(bencher: Bencher) {
    let device = device();
    bencher.bench(|| allocate_and_free(&*device, 64, false));
}

#[divan::bench(args = [64, 4096, 1 << 20, 64 << 20])]
fn copy_to_device(bencher: Bencher, size: usize) {
    let device = device();
    let source = vec![1_u8; size];
    let to = device.allocate(size, AllocationKind::Device, true).unwrap();
    bencher.counter(divan::counter::BytesCount::new(size)).bench_local(|| {
        // SAFETY: both have `size` bytes.
        unsafe { device.immediate().copy_to_device(black_box(to), source.as_ptr(), size) }.unwrap();
    });
}

#[divan::bench(args = [64, 4096, 1 << 20, 64 << 20])]
fn memcpy(bencher: Bencher, size: usize) {
    let source = vec![1_u8; size];
    let mut to = vec![0_u8; size];
    bencher
        .counter(divan::counter::BytesCount::new(size))
        .bench_local(|| black_box(&mut to).copy_from_slice(&source));
}

/// `a[i] = b[i] + 0.4 * c[i]` over 2^25 doubles, in device memory or plain memory.
#[divan::bench(args = ["device", "malloc"], sample_count = 10, sample_size = 1)]
fn triad(bencher: Bencher, memory: &str) {
    const LENGTH: usize = 1 << 25;
    let device = device();
    let arrays: [*mut f64; 3] = std::array::from_fn(|_| match memory {
        "device" => {
            let DevicePtr(address) = device.allocate(8 * LENGTH, AllocationKind::Device, false).unwrap();
            std::ptr::with_exposed_provenance_mut(address)
        }
        // SAFETY: plain allocation.
        _ => unsafe { libc::malloc(8 * LENGTH) }.cast(),
    });
    // SAFETY: each array has that many elements and is used by this loop only.
    let [a, b, c] = arrays.map(|array| unsafe { std::slice::from_raw_parts_mut(array, LENGTH) });
    b.fill(1.0);
    c.fill(2.0);
    bencher.counter(divan::counter::BytesCount::new(24 * LENGTH)).bench_local(|| {
        for i in 0..LENGTH {
            a[i] = b[i] + 0.4 * c[i];
        }
        black_box(&mut *a);
    });
}

/// A typical image, from memory to a module with one kernel found, and back.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn load_and_unload(bencher: Bencher) {
    let folder = Folder::new();
    folder.write("source.c", "int global = 1; void kernel(int *a) { *a = global; }");
    folder.tool("clang-22", &["-O2", "-g", "-fPIC", "-shared", "source.c", "-o", "object.so"]);
    let image = folder.read("object.so");
    let device = device();
    bencher.bench_local(|| device.load(&image).unwrap().kernel("kernel").unwrap());
}
