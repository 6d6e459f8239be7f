//! The back end on the virtual AMD GPU: devices, memory, copies, images, launches, and what it asks of the library.

mod support;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use gangway_backend::{
    AllocationKind, Backend, DevicePtr, Error, ForeignRuntimeKind, Module, Stream, Vendor,
};
use gangway_image::gcn_object;
use support::{Block, DEVICES, Job, PROCESSOR, backend, counting, function, image, open, turn};

/// The first kernel of `kernels.c`.
const ADDS: &str = "main._omp_fn.0";

fn nowhere(_: &[u64]) -> DevicePtr {
    panic!("the table stands in the kernel's arguments");
}

fn count(calls: &[(String, u64)], name: &str) -> u64 {
    calls.iter().find(|(called, _)| called == name).map_or(0, |(_, count)| *count)
}

#[test]
fn devices_are_counted_described_and_told_apart() {
    let _turn = turn();
    let backend = backend();
    assert_eq!((backend.name(), backend.device_count(), backend.why_absent()), ("hsa", DEVICES, None));
    assert_ne!(backend.unique_id(0), backend.unique_id(1));
    let device = open(0);
    assert_eq!(device.architecture(), PROCESSOR);
    let lines = device.describe();
    assert!(lines.iter().any(|(key, value)| key == "processor" && value == PROCESSOR), "{lines:?}");
    assert_eq!(device.properties().unwrap().memory, 1 << 30);
    assert!(backend.open(DEVICES).is_err());
}

#[test]
fn memory_of_all_kinds_is_allocated_copied_and_freed() {
    let _turn = turn();
    let device = open(0);
    let stream = device.open_stream().unwrap();
    let words: Vec<u64> = (0..1000).collect();
    let (first, second) = (Block::new(&*device, 8000), Block::new(&*device, 8000));
    first.write(&*stream, &words);
    // SAFETY: both blocks are there, and the copy is waited for.
    unsafe { stream.copy_between(0, second.address, first.address, 8000) }.unwrap();
    assert_eq!(second.read(&*stream), words);
    for kind in [AllocationKind::Host, AllocationKind::Shared] {
        let pointer = device.allocate(4096, kind, false).unwrap();
        assert!(device.reaches(pointer, 4096));
        // SAFETY: host memory of this size, which nobody else uses.
        unsafe {
            std::ptr::with_exposed_provenance_mut::<u8>(pointer.0).write_bytes(7, 4096);
            device.deallocate(pointer, kind).unwrap();
        }
    }
    assert!(device.reaches(first.address, 8000) && !device.reaches(DevicePtr(0x10), 8));
    let refused = device.allocate(1 << 40, AllocationKind::Device, false);
    assert_eq!(refused, Err(Error::OutOfMemory { requested: 1 << 40 }));
}

#[test]
fn host_memory_is_pinned_and_unpinned() {
    let _turn = turn();
    let device = open(0);
    let mut host = vec![0_u8; 8192];
    // SAFETY: the memory stays until it is unpinned.
    unsafe {
        let address = device.pin_host(host.as_mut_ptr(), host.len()).unwrap();
        assert!(device.reaches(address, host.len()));
        device.unpin_host(host.as_mut_ptr()).unwrap();
    }
}

#[test]
fn images_for_other_processors_and_damaged_ones_are_refused() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    assert!(backend().recognises(&image) && device.fitness(&image).is_ok());
    let mut other = image.clone();
    // The number of the processor in the ELF header's flags: that of gfx900.
    other[16 + 48] = 0x2c;
    let Err(Error::InvalidImage { reason }) = device.fitness(&other) else { panic!("not refused") };
    assert!(reason.contains("it is for gfx900"), "{reason}");
    let code = gcn_object::parts(&image).unwrap().code;
    let part = gcn_object::joined(&code[..code.len() / 16], &[]);
    assert!(matches!(device.load(&part), Err(Error::InvalidImage { .. })));
}

#[test]
fn kernels_get_variables_and_run_in_order() {
    let _turn = turn();
    let device = open(1);
    let Some(image) = image("kernels.c") else { return };
    let module = device.load(&image).unwrap();
    let kernel = module.kernel(ADDS).unwrap();
    assert!(matches!(module.kernel("none"), Err(Error::NoSuchSymbol { .. })));
    let stream = device.open_stream().unwrap();
    let sums = Block::new(&*device, 16);
    sums.write(&*stream, &[3, 4]);
    let mut jobs: Vec<_> = (0..5).map(|_| Job::new(&*device)).collect();
    for job in &mut jobs {
        job.launch(&kernel, &*stream, &[sums.address.0 as u64], &mut nowhere).unwrap();
    }
    assert_eq!(sums.read(&*stream), [28, 29]);
    assert!(stream.is_idle().unwrap() && device.is_quiet());
    jobs.iter_mut().for_each(Job::end);
    // The variable, by its place in the program's table.
    let variable = module.global(&gcn_object::variable_name(0), 8).unwrap();
    // SAFETY: the variable has 8 bytes, and the copy is waited for.
    unsafe { stream.copy_to_device(variable, 100_u64.to_le_bytes().as_ptr(), 8) }.unwrap();
    let mut job = Job::new(&*device);
    job.launch(&kernel, &*stream, &[sums.address.0 as u64], &mut nowhere).unwrap();
    assert_eq!(sums.read(&*stream), [128, 129]);
    job.end();
    assert!(matches!(module.global("none", 8), Err(Error::NoSuchSymbol { .. })));
}

/// More launches than a queue has room for, without a wait.
#[test]
fn launches_beyond_a_queues_room_wait_for_the_oldest() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    let module = device.load(&image).unwrap();
    let kernel = module.kernel(ADDS).unwrap();
    let stream = device.open_stream().unwrap();
    let sums = Block::new(&*device, 16);
    sums.write(&*stream, &[0, 0]);
    let mut jobs: Vec<_> = (0..600).map(|_| Job::new(&*device)).collect();
    for job in &mut jobs {
        job.launch(&kernel, &*stream, &[sums.address.0 as u64], &mut nowhere).unwrap();
    }
    assert_eq!(sums.read(&*stream), [3000, 3000]);
    jobs.iter_mut().for_each(Job::end);
}

/// One stream's kernel after another's copy: an event between them.
#[test]
fn streams_wait_for_events_of_others() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    let module = device.load(&image).unwrap();
    let kernel = module.kernel(ADDS).unwrap();
    let streams = [device.open_stream().unwrap(), device.open_stream().unwrap()];
    let sums = Block::new(&*device, 16);
    sums.write(&*streams[0], &[0, 0]);
    let mut jobs = Vec::new();
    for round in 0..10 {
        let (stream, other) = (&streams[round % 2], &streams[(round + 1) % 2]);
        let mut job = Job::new(&*device);
        job.launch(&kernel, &**stream, &[sums.address.0 as u64], &mut nowhere).unwrap();
        jobs.push(job);
        let event = stream.record().unwrap();
        other.wait(event).unwrap();
        device.destroy_event(event).unwrap();
    }
    assert_eq!(sums.read(&*streams[0]), [50, 50]);
    jobs.iter_mut().for_each(Job::end);
}

/// What a program puts into a stream's queue by itself, through the library.
struct Foreign {
    queue: *mut c_void,
    signal_create: unsafe extern "C" fn(i64, u32, *const u64, *mut u64) -> u32,
    signal_store: unsafe extern "C" fn(u64, i64),
    add_write_index: unsafe extern "C" fn(*mut c_void, u64) -> u64,
}

impl Foreign {
    fn new(stream: &dyn Stream) -> Self {
        // SAFETY: the functions have these types in `hsa.h`.
        unsafe {
            Self {
                queue: std::ptr::with_exposed_provenance_mut(stream.foreign()),
                signal_create: function("hsa_signal_create"),
                signal_store: function("hsa_signal_store_screlease"),
                add_write_index: function("hsa_queue_add_write_index_screlease"),
            }
        }
    }

    fn signal(&self) -> u64 {
        let mut signal = 0;
        // SAFETY: there is room for a handle.
        assert_eq!(unsafe { (self.signal_create)(1, 0, std::ptr::null(), &raw mut signal) }, 0);
        signal
    }

    fn set(&self, signal: u64, value: i64) {
        // SAFETY: the signal is never destroyed.
        unsafe { (self.signal_store)(signal, value) };
    }

    /// A barrier packet (`hsa_barrier_and_packet_t`) that waits for a signal.
    fn wait_for(&self, signal: u64) {
        // SAFETY: `hsa_queue_t` has the packets' address at 8, the doorbell at 16, the number of packets at 24.
        unsafe {
            let base = *self.queue.byte_add(8).cast::<*mut [u64; 8]>();
            let (doorbell, size) =
                (*self.queue.byte_add(16).cast::<u64>(), *self.queue.byte_add(24).cast::<u32>());
            let index = (self.add_write_index)(self.queue, 1);
            let place = base.add((index % u64::from(size)) as usize).cast::<u64>();
            place.add(1).copy_from_nonoverlapping([signal, 0, 0, 0, 0, 0, 0].as_ptr(), 7);
            AtomicU64::from_ptr(place).store(3 | 1 << 8, Ordering::Release);
            (self.signal_store)(doorbell, index.cast_signed());
        }
    }
}

#[test]
fn what_a_program_puts_into_a_stream_is_waited_for() {
    let _turn = turn();
    let device = open(0);
    let runtime = device.foreign_runtime().unwrap();
    assert_eq!((runtime.kind, runtime.vendor), (ForeignRuntimeKind::Hsa, Vendor::Amd));
    assert_ne!(runtime.device, None);
    let (stream, other) = (device.open_stream().unwrap(), device.open_stream().unwrap());
    let foreign = Foreign::new(&*stream);
    assert_eq!(stream.foreign(), foreign.queue.addr());
    assert_ne!(stream.foreign(), other.foreign());
    assert!(stream.is_idle().unwrap(), "nothing has been put there");
    let waits: [fn(&dyn Stream, &dyn Stream); 2] = [
        |stream, _| stream.synchronize().unwrap(),
        |stream, other| {
            let event = stream.record().unwrap();
            other.wait(event).unwrap();
            other.synchronize().unwrap();
        },
    ];
    for wait in waits {
        let signal = foreign.signal();
        foreign.wait_for(signal);
        assert!(!stream.is_idle().unwrap());
        assert!(other.is_idle().unwrap());
        let is_done = AtomicBool::new(false);
        scope(|scope| {
            scope.spawn(|| {
                wait(&*stream, &*other);
                is_done.store(true, Ordering::SeqCst);
            });
            sleep(Duration::from_millis(50));
            assert!(!is_done.load(Ordering::SeqCst), "the program's packet has not ended");
            foreign.set(signal, 0);
        });
        stream.synchronize().unwrap();
        assert!(stream.is_idle().unwrap());
    }
}

fn region(job: &mut Job<'_>, kernel: &gangway_backend::Kernel, stream: &dyn Stream, arguments: &[u64]) {
    job.launch(kernel, stream, arguments, &mut nowhere).unwrap();
    stream.synchronize().unwrap();
    job.end();
}

/// A region whose data is present: one packet with its doorbell, one wait, and no allocation and no copy.
#[test]
fn a_region_whose_data_is_present_is_one_packet_and_one_wait() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    let module = device.load(&image).unwrap();
    let kernel = module.kernel(ADDS).unwrap();
    let stream = device.open_stream().unwrap();
    let sums = Block::new(&*device, 16);
    let mut job = Job::new(&*device);
    let arguments = vec![sums.address.0 as u64; 20];
    region(&mut job, &kernel, &*stream, &arguments);
    let calls = counting::calls(|| region(&mut job, &kernel, &*stream, &arguments));
    for name in ["hsa_queue_add_write_index_relaxed", "hsa_signal_store_screlease"] {
        assert_eq!(count(&calls, name), 1, "{calls:?}");
    }
    // Of a kernel that takes long, what it writes is looked at each millisecond.
    let waits = count(&calls, "hsa_signal_wait_scacquire");
    assert!(waits >= 1, "{calls:?}");
    for name in
        ["hsa_amd_memory_pool_allocate", "hsa_memory_copy", "hsa_amd_memory_async_copy", "hsa_signal_create"]
    {
        assert_eq!(count(&calls, name), 0, "{calls:?}");
    }
    let all: u64 = calls.iter().map(|(_, count)| count).sum();
    assert!(all - 3 * (waits - 1) <= 10, "{calls:?}");
}

/// The seed's two tests: a table that has room in the arguments takes nothing, one that has none one allocation.
#[test]
fn a_table_that_does_not_fit_is_one_allocation() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    let module = device.load(&image).unwrap();
    let kernel = module.kernel(ADDS).unwrap();
    let stream = device.open_stream().unwrap();
    let sums = Block::new(&*device, 16);
    let mut job = Job::new(&*device);
    region(&mut job, &kernel, &*stream, &[sums.address.0 as u64]);
    let allocated = |calls: &[(String, u64)]| count(calls, "hsa_amd_memory_pool_allocate");
    for pointers in [1, 64] {
        let arguments = vec![sums.address.0 as u64; pointers];
        let calls = counting::calls(|| region(&mut job, &kernel, &*stream, &arguments));
        assert_eq!(allocated(&calls), 0, "{pointers}: {calls:?}");
    }
    let arguments = vec![sums.address.0 as u64; 5000];
    let mut table = None;
    let calls = counting::calls(|| {
        let mut place = |words: &[u64]| {
            let block = Block::new(&*device, size_of_val(words));
            block.write(&*stream, words);
            table.insert(block).address
        };
        job.launch(&kernel, &*stream, &arguments, &mut place).unwrap();
        stream.synchronize().unwrap();
        job.end();
    });
    assert_eq!(allocated(&calls), 1, "{calls:?}");
}

#[test]
fn heaps_and_their_images_go_together() {
    let _turn = turn();
    let device = open(0);
    let Some(image) = image("kernels.c") else { return };
    // More heaps than the device has memory for, one after the other.
    for _ in 0..20 {
        let module: Box<dyn Module> = device.load(&image).unwrap();
        assert!(module.constructors().unwrap().len() <= 1);
    }
}
