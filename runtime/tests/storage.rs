//! Device memory and streams that the runtime keeps: how often it asks the driver, and
//! that all of it goes back in the end.

mod support;

use gangway_backend::AllocationKind;
use gangway_runtime::events::Site;
use gangway_runtime::{DataOperation, ErrorKind, MapKind, memory};
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Options};

fn section(memory: &[u8]) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), MapKind::TO)
}

#[test]
fn small_data_comes_and_goes_without_the_driver() {
    for options in [Options::LAZY_POOLED, Options::WORKER_POOLED] {
        let (world, mock) = World::mock(options);
        let arrays = [vec![EXPECTED; 64], vec![EXPECTED; 4000], vec![EXPECTED; 100_000]];
        let items = [0, 1, 2].map(|number| section(&arrays[number]).parameter(Access::Check));
        world.launch(&items).unwrap();
        let before = mock.made(Call::Allocate);
        for _ in 0..100 {
            world.launch(&items).unwrap();
            world.data(DataOperation::Begin, &items[1..]).unwrap();
            world.data(DataOperation::End, &items[1..]).unwrap();
        }
        assert_eq!(mock.made(Call::Allocate), before, "{options:?}");
        assert_eq!(mock.made(Call::Deallocate), 0, "{options:?}");
        mock.assert_all_freed();
        // It can be used as before.
        world.launch(&items).unwrap();
        mock.assert_all_freed();
    }
}

/// What is kept for small data is given up for large data, mapped or the program's.
#[test]
fn what_is_kept_makes_room() {
    const MEMORY: usize = 1 << 20;
    for options in [Options::LAZY_POOLED, Options::WORKER_POOLED] {
        for mapped in [true, false] {
            let (world, mock) = World::mock(Options { memory: MEMORY, ..options });
            let (small, large) = (vec![EXPECTED; 100], vec![EXPECTED; MEMORY]);
            world.launch(&[section(&small).parameter(Access::Check)]).unwrap();
            if mapped {
                world.launch(&[section(&large).parameter(Access::Check)]).unwrap();
            } else {
                let memory =
                    memory::allocate(world.device, MEMORY, AllocationKind::Device, &Site::NONE).unwrap();
                let error = world.launch(&[section(&small)]).unwrap_err();
                assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
                // SAFETY: allocated above, and not used.
                unsafe { memory::free(world.device, memory, AllocationKind::Device, &Site::NONE) }.unwrap();
            }
            world.launch(&[section(&small).parameter(Access::Check)]).unwrap();
            mock.assert_all_freed();
        }
    }
}

/// The last bytes of a device are used, too.
#[test]
fn a_pool_without_room_for_a_chunk() {
    let (world, mock) = World::mock(Options { memory: 1000, ..Options::LAZY_POOLED });
    let (small, other) = (vec![EXPECTED; 600], vec![EXPECTED; 400]);
    let items = [&small, &other].map(|array| section(array).parameter(Access::Check));
    world.launch(&items).unwrap();
    mock.assert_all_freed();
}

/// A program that frees mapped data by mistake does no harm to other data.
#[test]
fn mapped_data_is_not_the_programs_to_free() {
    let (world, mock) = World::mock(Options::LAZY_POOLED);
    let array = vec![EXPECTED; 64];
    world.data(DataOperation::Begin, &[section(&array)]).unwrap();
    let storage = memory::mapped_address(world.device, array.as_ptr().addr()).unwrap();
    // SAFETY: refused, which is what is tested.
    let freed = unsafe { memory::free(world.device, storage, AllocationKind::Device, &Site::NONE) };
    assert!(freed.unwrap_err().to_string().contains("the address belongs to mapped data"));
    world.launch(&[section(&array).parameter(Access::Check)]).unwrap();
    world.data(DataOperation::End, &[section(&array)]).unwrap();
    mock.assert_all_freed();
}

/// One stream for constructs one after the other; it goes with the last library.
#[test]
fn idle_streams_are_closed() {
    for options in [Options::LAZY, Options::LAZY_IN_STREAM, Options::WORKER_POOLED] {
        let (world, mock) = World::mock(options);
        let arrays = [[EXPECTED; 64]; 3];
        let items = arrays.each_ref().map(|array| section(array).parameter(Access::Check));
        let before = mock.queues().streams();
        assert_eq!(before, 1, "for the constructor of the image");
        for _ in 0..10 {
            world.launch(&items).unwrap();
        }
        assert_eq!(mock.queues().streams(), 1);
        let jobs = items.map(|item| world.issue(&[item]).unwrap());
        assert_eq!(mock.queues().streams(), 3);
        jobs.into_iter().for_each(|job| job.complete().unwrap());
        assert_eq!(mock.queues().streams(), 3);
        world.runtime.unregister(1);
        assert_eq!(mock.queues().streams(), 0, "{options:?}");
        assert_eq!(mock.queues().memory.alive(), 0, "{options:?}");
        mock.assert_all_freed();
    }
}

/// A program that is refused memory learns which kind is short, and what bounds it.
#[test]
fn refusals_name_the_kind_of_memory() {
    const MEMORY: usize = 1 << 20;
    let (world, _mock) = World::mock(Options { memory: MEMORY, ..Options::LAZY });
    let refusal =
        |kind| memory::allocate(world.device, MEMORY + 1, kind, &Site::NONE).unwrap_err().to_string();
    for (kind, expected, more) in [
        (AllocationKind::Device, "out of device memory: 1048577 bytes wanted", "0 bytes mapped"),
        (AllocationKind::Host, "out of pinned memory of the host: 1048577 bytes wanted", "ulimit -l"),
        (AllocationKind::Shared, "out of memory that host and device share: 1048577", "free what is"),
    ] {
        let message = refusal(kind);
        assert!(message.contains(expected) && message.contains(more), "{message}");
    }
    let bytes = [0u8; 64];
    // SAFETY: the device refuses.
    let refused = unsafe { memory::pin(world.device, bytes.as_ptr().addr(), 64) }.unwrap_err();
    let message = refused.to_string();
    assert!(message.contains(" of 64 bytes cannot be pinned: "), "{message}");
}

/// Nobody destroys a stream while another thread is about to wait for its end.
#[test]
fn a_stream_that_somebody_waits_for_stays() {
    const MEMORY: usize = 1 << 20;
    fn run_out_of_memory(world: &World) {
        let kind = AllocationKind::Device;
        let error = memory::allocate(world.device, MEMORY + 1, kind, &Site::NONE).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::OutOfMemory { .. }), "{error}");
    }
    fn end_the_process(world: &World) {
        world.runtime.trim();
    }
    for options in [Options::LAZY, Options::LAZY_POOLED, Options::LAZY_IN_STREAM] {
        for occasion in [run_out_of_memory, end_the_process] {
            let (world, mock) = World::mock(Options { memory: MEMORY, ..options });
            let array: &'static [u8] = vec![EXPECTED; 64].leak();
            let world: &'static World = Box::leak(Box::new(world));
            let making = world.issue_data(DataOperation::Begin, &[section(array)]).unwrap();
            mock.before(Call::RecordEvent, move || {
                making.complete().unwrap();
                occasion(world);
            });
            world.launch(&[section(array).parameter(Access::Check)]).unwrap();
            world.data(DataOperation::End, &[section(array)]).unwrap();
            mock.assert_all_freed();
        }
    }
}

/// A construct that gets no stream changes nothing, and the next one gets one.
#[test]
fn constructs_without_a_stream() {
    let (world, mock) = World::mock(Options::LAZY);
    let array = [EXPECTED; 64];
    let item = section(&array).parameter(Access::Check);
    for _ in 0..20 {
        let job = world.issue(&[item]).unwrap();
        mock.fail(Call::CreateStream, 0);
        let error = world.launch(&[item]).unwrap_err();
        assert!(matches!(error.kind, ErrorKind::Backend(_)), "{error}");
        assert!(mock.stop_failing());
        job.complete().unwrap();
        assert_eq!(world.mapped(), []);
    }
    assert_eq!(mock.queues().streams(), 1);
    world.launch(&[item]).unwrap();
    mock.assert_all_freed();
}
