//! The back end on the virtual GPU: images, kernels, launches, memory, streams.

mod support;

use gangway_backend::{AllocationKind, Backend, Completion, Device, Error, ExecutionMode, Module, Session};
use gangway_backend::{DevicePtr, Kernel, SourceText, Stream};
use std::sync::mpsc;
use support::ptx::{self, Environment, GENERIC, SPMD};
use support::{Block, Shape, backend, counting, launch, open, request_of, turn};

fn image(parts: &[String]) -> Vec<u8> {
    (ptx::header("sm_80") + &parts.concat()).into_bytes()
}

/// A kernel that tells its shape.
fn teller(environment: Environment) -> Vec<u8> {
    image(&[ptx::environment("tell", environment), ptx::shape("tell")])
}

fn load(device: &dyn Device, image: &[u8], kernel: &str) -> (Box<dyn Module>, Kernel) {
    assert!(backend().recognises(image));
    let module = device.load(image).unwrap();
    let kernel = module.kernel(kernel).unwrap();
    (module, kernel)
}

/// Teams, threads, shared memory and launch environment of a launch.
fn told(device: &dyn Device, kernel: &Kernel, shape: Shape) -> (u32, u32, u32, u64) {
    let stream = device.open_stream().unwrap();
    let out = Block::new(device, 24);
    launch(kernel, &*stream, shape, &[out.word()]).unwrap();
    let words = out.read(&*stream);
    stream.close().unwrap();
    let (teams, threads) = (words[0] as u32, (words[0] >> 32) as u32);
    // Those who watch are told the same before.
    let announced = device.launch_shape(&request_of(kernel, shape, SourceText::NONE)).unwrap();
    assert_eq!((announced.teams[0], announced.threads[0]), (teams, threads));
    (teams, threads, words[1] as u32, words[2])
}

#[test]
fn devices_are_counted_described_and_told_apart() {
    let _turn = turn();
    let backend = backend();
    assert_eq!((backend.name(), backend.device_count()), ("cuda", support::DEVICES));
    assert_eq!(backend.why_absent(), None);
    assert!(backend.unique_id(0).starts_with("GPU-") && backend.unique_id(0) != backend.unique_id(1));
    let device = open(0);
    assert_eq!(device.architecture(), "sm_90");
    let lines = device.describe();
    assert!(lines.iter().any(|(key, value)| key == "Compute capability" && value == "9.0"), "{lines:?}");
    assert!(backend.open(support::DEVICES).is_err());
}

#[test]
fn launches_have_the_shape_that_was_asked_for() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) = load(&*device, &teller(Environment::of(SPMD)), "tell");
    assert_eq!(kernel.mode, Some(ExecutionMode::Spmd));
    assert!(kernel.environment.is_some());
    assert_eq!(told(&*device, &kernel, Shape::of(7, 96)), (7, 96, 0, u64::MAX));
    assert_eq!(told(&*device, &kernel, Shape { trip_count: 100, ..Shape::OPEN }).0, 4);
    // More shared memory than a kernel gets without asking.
    assert_eq!(told(&*device, &kernel, Shape { shared: 100 << 10, ..Shape::of(1, 32) }).2, 100 << 10);
    assert_eq!(kernel.limits.dynamic_group_memory, Some(227 << 10));
    let bounded = Environment { max_threads: 64, max_teams: 3, ..Environment::of(SPMD) };
    let (_module, kernel) = load(&*device, &teller(bounded), "tell");
    // A team of the virtual GPU is a warp; cards have more at once.
    let open = told(&*device, &kernel, Shape { trip_count: 1 << 30, ..Shape::OPEN });
    assert_eq!(open, (3, 32, 0, u64::MAX));
    assert_eq!(told(&*device, &kernel, Shape::of(3, 64)), (3, 64, 0, u64::MAX));
}

#[test]
fn generic_kernels_get_a_warp_for_their_main_thread() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) = load(&*device, &teller(Environment::of(GENERIC)), "tell");
    assert_eq!(kernel.mode, Some(ExecutionMode::Generic));
    assert_eq!(told(&*device, &kernel, Shape::of(2, 64)).1, 96);
    assert_eq!(told(&*device, &kernel, Shape::of(2, 5000)).1, 1024);
}

#[test]
fn kernels_without_an_environment_are_bare() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) = load(&*device, &image(&[ptx::shape("tell")]), "tell");
    assert_eq!((kernel.mode, kernel.environment), (Some(ExecutionMode::Bare), None));
    assert_eq!(told(&*device, &kernel, Shape { teams: [0; 3], ..Shape::of(0, 0) }), (1, 1, 0, u64::MAX));
}

#[test]
fn reductions_begin_with_counters_at_zero_and_room_for_every_team() {
    let _turn = turn();
    let device = open(0);
    let environment = Environment { reduction: (8, 1024), ..Environment::of(SPMD) };
    let larger = Environment { reduction: (256, 1024), ..Environment::of(SPMD) };
    let image = image(&[
        ptx::environment("count", environment),
        ptx::counter("count"),
        ptx::environment("larger", larger),
        ptx::counter("larger"),
    ]);
    let (module, kernel) = load(&*device, &image, "count");
    let larger = module.kernel("larger").unwrap();
    let stream = device.open_stream().unwrap();
    let out = Block::new(&*device, 24);
    let mut seen = Vec::new();
    for kernel in [&kernel, &kernel, &larger, &kernel] {
        out.fill(&*stream, 0);
        launch(kernel, &*stream, Shape::of(1000, 32), &[out.word()]).unwrap();
        let words = out.read(&*stream);
        assert_eq!(words[0] as u32, 999);
        assert_eq!(words[2] % 256, 0, "the buffer is aligned for any element");
        seen.push((words[1], words[2]));
    }
    assert_eq!(seen[0], seen[1], "the memory is used again");
    assert_ne!(seen[1], seen[2], "a larger one takes its place");
    assert_eq!(seen[2], seen[3]);
    stream.close().unwrap();
}

/// What the driver is asked by regions that have run before.
#[test]
fn launches_and_copies_are_one_call_each() {
    let _turn = turn();
    let device = open(0);
    let reduction = Environment { reduction: (8, 1024), ..Environment::of(SPMD) };
    let image = image(&[
        ptx::environment("nothing", Environment::of(SPMD)),
        ptx::empty("nothing"),
        ptx::environment("count", reduction),
        ptx::counter("count"),
    ]);
    let (module, kernel) = load(&*device, &image, "nothing");
    let count = module.kernel("count").unwrap();
    let stream = device.open_stream().unwrap();
    let out = Block::new(&*device, 4096);
    out.fill(&*stream, 0);
    let open = Shape { trip_count: 1000, ..Shape::OPEN };
    let region = || {
        launch(&kernel, &*stream, open, &[]).unwrap();
        stream.synchronize().unwrap();
    };
    let call = |name: &str, count| (name.to_owned(), count);
    region();
    assert_eq!(counting::calls(region), [call("cuLaunchKernel", 1), call("cuStreamSynchronize", 1)]);
    let reduce = || launch(&count, &*stream, open, &[out.word()]).unwrap();
    reduce();
    assert_eq!(counting::calls(reduce), [call("cuLaunchKernel", 1), call("cuMemcpyHtoDAsync_v2", 1)]);
    let mut host = vec![0_u8; 4096];
    // SAFETY: both sides have so many bytes, and are waited for.
    let copies = counting::calls(|| unsafe {
        stream.copy_to_device(out.address, host.as_ptr(), host.len()).unwrap();
        stream.copy_from_device(host.as_mut_ptr(), out.address, host.len()).unwrap();
    });
    assert_eq!(copies, [call("cuMemcpyHtoDAsync_v2", 1), call("cuMemcpyDtoHAsync_v2", 1)]);
    let other = device.open_stream().unwrap();
    let order = || {
        let event = stream.record().unwrap();
        other.wait(event).unwrap();
        other.synchronize().unwrap();
        device.destroy_event(event).unwrap();
    };
    order();
    assert_eq!(
        counting::calls(order),
        [call("cuStreamSynchronize", 1), call("cuStreamWaitEvent", 1), call("cuEventRecord", 1)]
    );
    let blocks = || {
        let block = stream.allocate_in_order(1 << 20).unwrap();
        // SAFETY: nothing uses it.
        unsafe { stream.deallocate_in_order(block) }.unwrap();
    };
    blocks();
    assert_eq!(counting::calls(blocks), [call("cuMemAllocFromPoolAsync", 1), call("cuMemFreeAsync", 1)]);
    for stream in [stream, other] {
        stream.synchronize().unwrap();
        stream.close().unwrap();
    }
}

/// A program may make another context current; two devices do it all the time.
#[test]
fn operations_find_their_context() {
    let _turn = turn();
    let devices = [open(0), open(1)];
    let parts = devices.each_ref().map(|device| {
        let (module, kernel) = load(&**device, &teller(Environment::of(SPMD)), "tell");
        (module, kernel, device.open_stream().unwrap(), Block::new(&**device, 24))
    });
    for round in 1..4 {
        for (_, kernel, stream, out) in &parts {
            launch(kernel, &**stream, Shape::of(round, 32), &[out.word()]).unwrap();
            assert_eq!(out.read(&**stream)[0] as u32, round);
        }
    }
    // SAFETY: the driver's function, as the driver API declares it.
    unsafe {
        let set = support::library()
            .get::<unsafe extern "C" fn(*mut std::ffi::c_void) -> i32>(b"cuCtxSetCurrent\0")
            .unwrap();
        assert_eq!(set(std::ptr::null_mut()), 0);
    }
    let (_, kernel, stream, out) = &parts[1];
    launch(kernel, &**stream, Shape::of(9, 32), &[out.word()]).unwrap();
    assert_eq!(out.read(&**stream)[0] as u32, 9);
    let _ = Block::new(&*devices[0], 8);
    // On another thread, too.
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(told(&*devices[0], &parts[0].1, Shape::of(5, 64)).0, 5));
    });
}

#[test]
fn images_that_cannot_run_are_refused_with_the_reason() {
    let _turn = turn();
    let device = open(0);
    let refused = |result: Result<(), Error>| match result {
        Err(Error::InvalidImage { reason }) => reason,
        other => panic!("{other:?}"),
    };
    let newer = (ptx::header("sm_100") + &ptx::empty("k")).into_bytes();
    assert_eq!(refused(device.fitness(&newer).map(drop)), "the image is PTX for sm_100, the device is sm_90");
    let damaged = (ptx::header("sm_80") + ".visible .entry k()\n{\nnonsense.u32 %r1;\n}\n").into_bytes();
    let reason = refused(device.load(&damaged).map(drop));
    assert!(reason.starts_with("the driver refuses it: ") && reason.contains("nonsense"), "{reason}");
    let (module, _) = load(&*device, &teller(Environment::of(SPMD)), "tell");
    let missing = Error::NoSuchSymbol { name: "other".to_owned() };
    assert_eq!(module.kernel("other").err(), Some(missing.clone()));
    assert_eq!(module.global("other", 8).err(), Some(missing));
    let strange = Environment { mode: 9, ..Environment::of(9) };
    let strange = device.load(&teller(strange)).unwrap();
    assert_eq!(
        refused(strange.kernel("tell").map(drop)),
        "`tell_kernel_environment` says execution mode 9, expected 0 to 7"
    );
}

#[test]
fn globals_are_found_and_their_sizes_checked() {
    let _turn = turn();
    let device = open(0);
    let module =
        device.load(&image(&[".visible .global .align 8 .u64 g[3] = {1, 2, 3};\n".to_owned()])).unwrap();
    let stream = device.open_stream().unwrap();
    let address = module.global("g", 24).unwrap();
    let mut words = [0_u64; 3];
    // SAFETY: the variable has three words, and the copy is waited for.
    unsafe { stream.copy_from_device(words.as_mut_ptr().cast(), address, 24) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(words, [1, 2, 3]);
    let reason = module.global("g", 32).unwrap_err().to_string();
    assert!(reason.contains("`g` has 24 bytes on the device, the program expects 32"), "{reason}");
    stream.close().unwrap();
}

#[test]
fn the_device_runtime_learns_of_its_device() {
    let _turn = turn();
    let device = open(2);
    device.numbered(7, 9);
    let module = device.load(&image(&[ptx::device_environment(48)])).unwrap();
    let address = module.global("__omp_rtl_device_environment", 48).unwrap();
    let stream = device.open_stream().unwrap();
    let mut words = [0_u32; 12];
    // SAFETY: the variable has so many words, and the copy is waited for.
    unsafe { stream.copy_from_device(words.as_mut_ptr().cast(), address, 48) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(words[..4], [0, 9, 7, 0]);
    assert!(words[4] > 0 && words[10] > 0, "clock and parallelism: {words:?}");
    let pairs = [(0x1000, DevicePtr(0x2000)), (0x1008, DevicePtr(0x3000))];
    module.indirect_calls(&pairs).unwrap();
    let mut fields = [0_u64; 2];
    let mut table = [0_u64; 4];
    // SAFETY: the fields are there, and lead to so many words; the copies are waited for.
    unsafe {
        let at = address.offset(24);
        stream.copy_from_device(fields.as_mut_ptr().cast(), at, 16).unwrap();
        stream.synchronize().unwrap();
        let at = DevicePtr(fields[0] as usize);
        stream.copy_from_device(table.as_mut_ptr().cast(), at, 32).unwrap();
    }
    stream.synchronize().unwrap();
    assert_eq!((fields[1], table), (2, [0x1000, 0x2000, 0x1008, 0x3000]));
    stream.close().unwrap();
    let older = device.load(&image(&[ptx::device_environment(16)])).err().unwrap().to_string();
    assert!(older.contains("has 16 bytes, expected 48"), "{older}");
}

fn run_alone(device: &dyn Device, kernels: Vec<Kernel>) {
    let stream = device.open_stream().unwrap();
    for kernel in kernels {
        let launch = gangway_backend::Launch {
            kernel: &kernel,
            name: "",
            source: gangway_backend::SourceText::NONE,
            teams: [1; 3],
            thread_limit: [1; 3],
            trip_count: 0,
            dynamic_group_memory: 0,
            replaced_group_memory: None,
            by_address: false,
        };
        let mut session = Session::new();
        let table =
            stream.argument_table(&mut session, &kernel, gangway_backend::TableRequest::EMPTY).unwrap();
        // SAFETY: the kernel takes no arguments.
        unsafe { stream.launch(&launch, table) }.unwrap();
    }
    stream.synchronize().unwrap();
    stream.close().unwrap();
}

#[test]
fn initialisers_run_in_order_and_finalisers_after() {
    let _turn = turn();
    let device = open(0);
    let module = device.load(&image(&[ptx::initialisers()])).unwrap();
    let log = || {
        let stream = device.open_stream().unwrap();
        let mut word = 0_u64;
        let address = module.global("log", 8).unwrap();
        // SAFETY: the variable is a word, and the copy is waited for.
        unsafe { stream.copy_from_device((&raw mut word).cast(), address, 8) }.unwrap();
        stream.synchronize().unwrap();
        stream.close().unwrap();
        word
    };
    run_alone(&*device, module.constructors().unwrap());
    assert_eq!(log(), 12);
    run_alone(&*device, module.destructors().unwrap());
    assert_eq!(log(), 129);
    let none = device.load(&image(&[ptx::empty("k")])).unwrap();
    assert_eq!((none.constructors().unwrap().len(), none.destructors().unwrap().len()), (0, 0));
}

#[test]
fn memory_of_every_kind_is_reached_by_kernels() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) = load(&*device, &teller(Environment::of(SPMD)), "tell");
    let stream = device.open_stream().unwrap();
    for kind in [AllocationKind::Host, AllocationKind::Shared] {
        let block = device.allocate(24, kind, false).unwrap();
        launch(&kernel, &*stream, Shape::of(3, 32), &[block.0 as u64]).unwrap();
        stream.synchronize().unwrap();
        // SAFETY: such memory is the host's as well, and the kernel has written it.
        assert_eq!(unsafe { *std::ptr::with_exposed_provenance::<u32>(block.0) }, 3, "{kind:?}");
        // SAFETY: not in use any more.
        unsafe { device.deallocate(block, kind) }.unwrap();
    }
    let mut mine = vec![0_u64; 512];
    // SAFETY: the memory is there until it is unpinned.
    let pinned = unsafe { device.pin_host(mine.as_mut_ptr().cast(), 4096) }.unwrap();
    launch(&kernel, &*stream, Shape::of(4, 32), &[pinned.0 as u64]).unwrap();
    stream.synchronize().unwrap();
    assert_eq!(mine[0] as u32, 4);
    // SAFETY: not in use any more.
    unsafe { device.unpin_host(mine.as_mut_ptr().cast()) }.unwrap();
    let most = device.allocate(1 << 46, AllocationKind::Device, false);
    assert_eq!(most, Err(Error::OutOfMemory { requested: 1 << 46 }));
    assert!(matches!(stream.allocate_in_order(1 << 46), Err(Error::OutOfMemory { .. })));
    stream.close().unwrap();
}

#[test]
fn devices_know_what_they_reach() {
    let _turn = turn();
    let (near, far) = (open(0), open(1));
    const SIZE: usize = 1 << 20;
    for kind in [AllocationKind::Device, AllocationKind::Host, AllocationKind::Shared] {
        let block = near.allocate(SIZE, kind, false).unwrap();
        assert!(near.reaches(block, SIZE) && near.reaches(DevicePtr(block.0 + SIZE - 1), 1), "{kind:?}");
        assert!(!near.reaches(block, usize::MAX) && !near.reaches(block, 1 << 50), "{kind:?}");
        assert_eq!(far.reaches(block, SIZE), kind != AllocationKind::Device, "{kind:?}");
        // SAFETY: not in use.
        unsafe { near.deallocate(block, kind) }.unwrap();
        assert!(!near.reaches(block, 1), "{kind:?}");
    }
    let mut mine = vec![0_u64; 512];
    let own = DevicePtr(mine.as_mut_ptr().addr());
    assert!(!near.reaches(own, 4096));
    // SAFETY: the memory is there until it is unpinned.
    let pinned = unsafe { near.pin_host(mine.as_mut_ptr().cast(), 4096) }.unwrap();
    assert!(near.reaches(pinned, 4096));
    // SAFETY: not in use any more.
    unsafe { near.unpin_host(mine.as_mut_ptr().cast()) }.unwrap();
    assert!(!near.reaches(own, 4096));
}

#[test]
fn copies_go_within_a_device_and_to_others() {
    let _turn = turn();
    let (near, far) = (open(0), open(1));
    let stream = near.open_stream().unwrap();
    let (from, to) = (Block::new(&*near, 64), Block::new(&*near, 64));
    from.fill(&*stream, 0x5a);
    // SAFETY: both blocks have so many bytes.
    unsafe { stream.copy_between(0, to.address, from.address, 64) }.unwrap();
    assert_eq!(to.read(&*stream), [0x5a5a_5a5a_5a5a_5a5a; 8]);
    let other = Block::new(&*far, 64);
    // SAFETY: as above.
    unsafe { stream.copy_between(1, other.address, from.address, 64) }.unwrap();
    stream.synchronize().unwrap();
    let far_stream = far.open_stream().unwrap();
    assert_eq!(other.read(&*far_stream), [0x5a5a_5a5a_5a5a_5a5a; 8]);
    // SAFETY: refused.
    let closed = unsafe { stream.copy_between(5, other.address, from.address, 64) };
    assert!(matches!(closed, Err(Error::Unsupported { .. })));
    far_stream.close().unwrap();
    stream.close().unwrap();
}

#[test]
fn streams_run_on_while_the_host_does_something_else() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) =
        load(&*device, &image(&[ptx::environment("wait", Environment::of(SPMD)), ptx::wait("wait")]), "wait");
    let flag = device.allocate(8, AllocationKind::Host, false).unwrap();
    let word = std::ptr::with_exposed_provenance_mut::<u32>(flag.0);
    // SAFETY: host memory of so many bytes.
    unsafe { word.write_volatile(0) };
    let stream = device.open_stream().unwrap();
    launch(&kernel, &*stream, Shape::of(1, 1), &[flag.0 as u64]).unwrap();
    assert!(!stream.is_idle().unwrap());
    let (tell, told) = mpsc::channel();
    stream.on_complete(Completion::new(move || tell.send(()).unwrap())).unwrap();
    assert!(told.recv_timeout(std::time::Duration::from_millis(20)).is_err());
    // SAFETY: as above.
    unsafe { word.write_volatile(1) };
    told.recv_timeout(std::time::Duration::from_secs(30)).unwrap();
    stream.synchronize().unwrap();
    assert!(stream.is_idle().unwrap());
    assert_ne!(stream.foreign(), 0, "programs get the driver's handle");
    assert!(device.foreign_runtime().unwrap().context.is_some());
    stream.close().unwrap();
    // SAFETY: not in use any more.
    unsafe { device.deallocate(flag, AllocationKind::Host) }.unwrap();
}

#[test]
fn a_device_is_quiet_only_while_no_kernel_runs() {
    let _turn = turn();
    let device = open(0);
    let (_module, kernel) =
        load(&*device, &image(&[ptx::environment("wait", Environment::of(SPMD)), ptx::wait("wait")]), "wait");
    let flag = device.allocate(8, AllocationKind::Host, false).unwrap();
    let word = std::ptr::with_exposed_provenance_mut::<u32>(flag.0);
    // SAFETY: host memory of so many bytes.
    let set = |value: u32| unsafe { word.write_volatile(value) };
    let begin = |stream: &dyn Stream| launch(&kernel, stream, Shape::of(1, 1), &[flag.0 as u64]).unwrap();
    let end = || {
        set(1);
        let start = std::time::Instant::now();
        while !device.is_quiet() {
            assert!(start.elapsed() < std::time::Duration::from_secs(30), "the kernel does not end");
            std::thread::yield_now();
        }
    };
    // Asked before the kernel may end, and told when it will: one that runs on would hold the test up.
    let runs = |stream: &dyn Stream| {
        set(0);
        begin(stream);
        let quiet = device.is_quiet();
        set(1);
        !quiet
    };
    let stream = device.open_stream().unwrap();
    assert!(device.is_quiet());
    assert!(runs(&*stream));
    // Nobody has waited for the kernel.
    end();
    stream.synchronize().unwrap();
    assert!(device.is_quiet());
    // The note of a kernel may be gone while it runs, as here that of the stream's other handle.
    // SAFETY: the driver's stream lives longer.
    let adopt = || unsafe { device.adopt_stream(stream.foreign()) }.unwrap();
    set(0);
    let other = adopt();
    begin(&*other);
    other.close().unwrap();
    let quiet = device.is_quiet();
    end();
    assert!(!quiet);
    // A stream of the program's is not asked.
    let other = adopt();
    assert!(device.is_quiet());
    begin(&*other);
    other.synchronize().unwrap();
    assert!(!device.is_quiet());
    other.close().unwrap();
    assert!(device.is_quiet());
    stream.close().unwrap();
    // SAFETY: not in use any more.
    unsafe { device.deallocate(flag, AllocationKind::Host) }.unwrap();
}

/// Packed data of constructs is copied from and to such memory: nobody waits for it.
#[test]
fn copies_from_and_to_pinned_memory_are_only_put_into_the_stream() {
    let _turn = turn();
    let device = open(0);
    assert!(device.capabilities().pinned_staging);
    let (_module, kernel) =
        load(&*device, &image(&[ptx::environment("wait", Environment::of(SPMD)), ptx::wait("wait")]), "wait");
    let host = device.allocate(4096, AllocationKind::Host, false).unwrap();
    let words: *mut u64 = std::ptr::with_exposed_provenance_mut(host.0);
    let block = Block::new(&*device, 8);
    let stream = device.open_stream().unwrap();
    // SAFETY: host memory of so many bytes, which is freed when the stream is idle. The flag
    // is one word; the copies are of others.
    unsafe {
        for (index, word) in [0, 41, 0].into_iter().enumerate() {
            words.add(index).write_volatile(word);
        }
        launch(&kernel, &*stream, Shape::of(1, 1), &[host.0 as u64]).unwrap();
        let flag = words.addr();
        let (release, released) = mpsc::channel::<()>();
        let rescue = std::thread::spawn(move || {
            // A copy that waits for the kernel fails the test instead of hanging it.
            let _ = released.recv_timeout(std::time::Duration::from_secs(60));
            std::ptr::with_exposed_provenance_mut::<u64>(flag).write_volatile(1);
        });
        stream.copy_to_device(block.address, words.add(1).cast(), 8).unwrap();
        stream.copy_from_device(words.add(2).cast(), block.address, 8).unwrap();
        assert!(!stream.is_idle().unwrap(), "a copy has waited for the kernel");
        assert_eq!(words.add(2).read_volatile(), 0);
        release.send(()).unwrap();
        stream.synchronize().unwrap();
        rescue.join().unwrap();
        assert_eq!(words.add(2).read_volatile(), 41);
        stream.close().unwrap();
        device.deallocate(host, AllocationKind::Host).unwrap();
    }
}
