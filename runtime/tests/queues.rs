//! Queues that the program owns: constructs return when they have been issued, take
//! effect in order, and end when the queue has got there.

mod support;

use gangway_runtime::events::Site;
use gangway_runtime::queue::Queue;
use gangway_runtime::{DataOperation, ErrorKind, MapKind, Result, Shape, memory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use support::construct::{Access, List, ListItem, REGION, World};
use support::device::{Call, Mock, Options, Timing};
use support::within;

/// Every type of device, with and without completion callbacks.
fn devices() -> impl Iterator<Item = Options> {
    let with_completions = |options: Options| [options, Options { completions: true, ..options }];
    Options::ALL.into_iter().flat_map(with_completions)
}

fn asynchronous() -> impl Iterator<Item = Options> {
    devices().filter(|options| options.timing != Timing::Synchronous)
}

fn launch_in(world: &World, queue: &Queue, items: &[ListItem]) -> Result<()> {
    world.runtime.run_in(queue, Site::NONE, REGION, &List::of(items, true), &Shape::default())
}

fn data_in(world: &World, queue: &Queue, operation: DataOperation, items: &[ListItem]) -> Result<()> {
    world.runtime.data_in(queue, Site::NONE, operation, &List::of(items, false))
}

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

fn increment(memory: &[u8], kind: MapKind) -> ListItem {
    section(memory, kind).parameter(Access::Increment)
}

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

/// Waits without a driver's help, as a program does that asks now and then.
fn wait_by_asking(queue: &Queue, mock: &Mock, options: &Options) {
    if options.timing == Timing::Lazy {
        // Nothing happens on such a device unless somebody waits.
        assert!(!queue.test().unwrap());
        return queue.synchronize().unwrap();
    }
    let began = Instant::now();
    while !queue.test().unwrap() {
        assert!(began.elapsed().as_secs() < 60, "{:?}", mock.queues().leftovers());
        std::thread::yield_now();
    }
}

#[test]
fn constructs_take_effect_in_order_and_end_when_the_queue_gets_there() {
    for options in devices() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory = vec![1; 64];
        data_in(&world, &queue, DataOperation::Begin, &[section(&memory, MapKind::TO)]).unwrap();
        for _ in 0..3 {
            launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
        }
        data_in(&world, &queue, DataOperation::End, &[section(&memory, MapKind::FROM)]).unwrap();
        // For the program nothing is mapped any more, whatever the device does still.
        assert!(world.device.table.is_empty(), "{options:?}");
        if options.timing == Timing::Lazy {
            assert_eq!(memory, [1; 64], "it has been waited for");
        }
        queue.synchronize().unwrap();
        assert_eq!(memory, [4; 64], "{options:?}");
        mock.assert_all_freed();
        assert_eq!(queue.has_stream(), options.timing != Timing::Synchronous);
        queue.destroy().unwrap();
        mock.assert_rules_kept();
    }
}

/// What the first construct has unmapped is mapped anew by the second, whose kernel
/// begins with what the host has by then.
#[test]
fn a_range_is_mapped_anew_behind_the_construct_that_unmapped_it() {
    for options in devices() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let (memory, constant) = (vec![1; 32], vec![7; 16]);
        for _ in 0..4 {
            let items = [increment(&memory, BOTH), increment(&constant, MapKind::TO)];
            launch_in(&world, &queue, &items).unwrap();
        }
        // Each kernel has had a copy of its own of the constant.
        launch_in(&world, &queue, &[increment(&constant, BOTH)]).unwrap();
        wait_by_asking(&queue, &mock, &options);
        assert_eq!((memory, constant), (vec![5; 32], vec![8; 16]), "{options:?}");
        mock.assert_all_freed();
    }
}

/// An item that a construct names several times is used once by the time that it leaves.
#[test]
fn several_items_may_share_what_leaves_the_table() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory = vec![1; 32];
        let items = [increment(&memory, BOTH), section(&memory[..8], BOTH), section(&memory[16..], BOTH)];
        launch_in(&world, &queue, &items).unwrap();
        assert!(world.device.table.is_empty());
        queue.synchronize().unwrap();
        assert_eq!(memory, [2; 32]);
        mock.assert_all_freed();
    }
}

#[test]
fn what_another_queue_uses_is_not_freed() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let (first, second) = (Queue::create(world.device).unwrap(), Queue::create(world.device).unwrap());
        let memory = vec![1; 64];
        data_in(&world, &first, DataOperation::Begin, &[section(&memory, MapKind::TO)]).unwrap();
        launch_in(&world, &first, &[increment(&memory, BOTH)]).unwrap();
        second.wait_for(&first).unwrap();
        data_in(&world, &second, DataOperation::End, &[section(&memory, MapKind::FROM)]).unwrap();
        second.synchronize().unwrap();
        assert_eq!(memory, [2; 64], "{options:?}");
        first.synchronize().unwrap();
        mock.assert_all_freed();
    }
}

/// The construct that waits comes when the kernel is done, and nobody has been told of that.
#[test]
fn a_construct_that_waits_leaves_nothing_that_queues_have_used() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let (first, second) = (Queue::create(world.device).unwrap(), Queue::create(world.device).unwrap());
        let mut memory = vec![1; 64];
        for (value, begun_in_queue) in [(5, true), (8, true), (11, false), (14, false)] {
            memory.fill(value);
            let data = [section(&memory, MapKind::TO)];
            match begun_in_queue {
                true => data_in(&world, &first, DataOperation::Begin, &data).unwrap(),
                // Where small data is packed, part of a block.
                false => world.data(DataOperation::Begin, &data).unwrap(),
            }
            launch_in(&world, &first, &[increment(&memory, BOTH)]).unwrap();
            data_in(&world, &first, DataOperation::Update, &[section(&memory, MapKind::FROM)]).unwrap();
            second.wait_for(&first).unwrap();
            second.synchronize().unwrap();
            world.data(DataOperation::End, &[section(&memory, MapKind::FROM)]).unwrap();
            assert!(world.device.table.is_empty(), "{options:?}");
            assert_eq!(memory, [value + 1; 64], "{options:?}");
            mock.assert_all_freed();
        }
    }
}

#[test]
fn queues_and_constructs_that_wait_are_ordered_by_markers() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queues: Vec<Queue> = (0..4).map(|_| Queue::create(world.device).unwrap()).collect();
        let memory = vec![1; 64];
        data_in(&world, &queues[0], DataOperation::Begin, &[section(&memory, MapKind::TO)]).unwrap();
        for step in 0..12 {
            let (before, after) = (&queues[step % 4], &queues[(step + 1) % 4]);
            launch_in(&world, before, &[increment(&memory, BOTH)]).unwrap();
            after.wait_for_marker(&before.mark().unwrap()).unwrap();
        }
        // A construct that waits, in a stream of the pool, behind a point in a queue.
        queues[0].mark().unwrap().wait().unwrap();
        world.data(DataOperation::End, &[section(&memory, MapKind::FROM)]).unwrap();
        assert_eq!(memory, [13; 64], "{options:?}");
        queues.into_iter().for_each(|queue| queue.destroy().unwrap());
        mock.assert_all_freed();
    }
}

/// Data, a kernel and a copy, none of which is in a queue: each comes behind two that are.
#[test]
fn what_waits_comes_behind_blocking_queues() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queues = [(); 2].map(|()| Queue::create_blocking(world.device).unwrap());
        let memory = [vec![1; 64], vec![1; 8000]];
        let queued = || {
            for (queue, memory) in queues.iter().zip(&memory) {
                launch_in(&world, queue, &[increment(memory, BOTH)]).unwrap();
            }
        };
        let all = |kind| memory.each_ref().map(|memory| section(memory, kind));
        world.data(DataOperation::Begin, &all(MapKind::TO)).unwrap();
        queued();
        world.data(DataOperation::Update, &all(MapKind::FROM)).unwrap();
        assert_eq!((memory[0][63], memory[1][7999]), (2, 2), "{options:?}");
        queued();
        let expected =
            memory.each_ref().map(|memory| memory.iter().map(|value| value + 1).collect::<Vec<u8>>());
        let mut copy = vec![0; 8000];
        let from = memory::mapped_address(world.device, memory[1].as_ptr().addr()).unwrap();
        let device = memory::Place { device: Some(world.device), address: from.0 };
        let host = memory::Place { device: None, address: copy.as_mut_ptr().addr() };
        // SAFETY: the one is mapped, and the other of the same size.
        unsafe { memory::copy(host, device, copy.len(), &Site::NONE) }.unwrap();
        assert_eq!(copy, expected[1], "{options:?}");
        queued();
        world.launch(&memory.each_ref().map(|memory| increment(memory, BOTH))).unwrap();
        world.data(DataOperation::End, &all(MapKind::FROM)).unwrap();
        assert_eq!((memory[0][63], memory[1][7999]), (5, 5), "{options:?}");
        queues.into_iter().for_each(|queue| queue.destroy().unwrap());
        mock.assert_all_freed();
    }
}

/// A construct without an operation waits for nobody, and queues do not wait for each other.
#[test]
fn what_does_nothing_does_not_wait_for_blocking_queues() {
    let options = asynchronous().find(|options| options.timing == Timing::Lazy).unwrap();
    let (world, mock) = World::mock(options);
    let queues = [(); 2].map(|()| Queue::create_blocking(world.device).unwrap());
    let memory = [vec![1; 64], vec![1; 64]];
    let all = |kind| memory.each_ref().map(|memory| section(memory, kind));
    world.data(DataOperation::Begin, &all(MapKind::TO)).unwrap();
    launch_in(&world, &queues[0], &[increment(&memory[0], BOTH)]).unwrap();
    world.data(DataOperation::Begin, &all(MapKind::TO)).unwrap();
    world.data(DataOperation::End, &all(MapKind::FROM)).unwrap();
    launch_in(&world, &queues[1], &[increment(&memory[1], BOTH)]).unwrap();
    queues[1].synchronize().unwrap();
    assert!(!queues[0].test().unwrap());
    world.data(DataOperation::End, &all(MapKind::FROM)).unwrap();
    assert_eq!(memory, [[2; 64]; 2]);
    queues.into_iter().for_each(|queue| queue.destroy().unwrap());
    mock.assert_all_freed();
}

/// What a region makes private is the caller's again when the region has been issued.
#[test]
fn private_values_are_taken_along() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let mut value = vec![support::construct::EXPECTED; 5000];
        let item = section(&value, MapKind::TO | MapKind::PRIVATE).parameter(Access::Check);
        launch_in(&world, &queue, &[item]).unwrap();
        value.fill(0);
        queue.synchronize().unwrap();
        mock.assert_all_freed();
    }
}

#[test]
fn a_failure_in_a_queue_is_told_once_to_whoever_waits() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory = vec![1; 16];
        let items = [increment(&memory, BOTH)];
        for kernels in [1, 3] {
            for _ in 0..kernels {
                launch_in(&world, &queue, &items).unwrap();
            }
            mock.fail(Call::Synchronize, 0);
            let error = queue.synchronize().unwrap_err();
            let source = gangway_backend::Error::Device {
                code: 7,
                message: "Synchronize was made to fail".to_owned(),
            };
            let kernel = "increment".to_owned();
            assert_eq!(
                error.kind,
                match kernels {
                    1 => ErrorKind::Launch { kernel, source },
                    _ => ErrorKind::Queue { kernels: vec![kernel; 3], source },
                }
            );
            queue.synchronize().unwrap();
            assert!(queue.test().unwrap());
            mock.assert_all_freed();
        }
        // Bad luck at any other point leaves nothing behind, either.
        for call in Call::ALL {
            for successes in 0..4 {
                mock.fail(call, successes);
                let launched = launch_in(&world, &queue, &items);
                let marked = queue.mark();
                if mock.stop_failing() && call == Call::Launch {
                    assert!(matches!(launched.unwrap_err().kind, ErrorKind::Launch { .. }));
                }
                drop(marked);
                let _ = queue.synchronize();
                mock.assert_all_freed();
            }
        }
    }
}

#[test]
fn a_queue_takes_its_stream_with_it() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let before = mock.queues().streams();
        let memory = vec![1; 16];
        for round in 0..10 {
            let queue = Queue::create(world.device).unwrap();
            launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
            match round % 2 {
                0 => queue.destroy().unwrap(),
                _ => drop(queue),
            }
            assert_eq!(memory, [2 + round; 16]);
        }
        assert_eq!(mock.queues().streams(), before);
        mock.assert_all_freed();
    }
}

/// A construct that leaves nothing to free ends without another stream.
#[test]
fn a_stream_to_free_memory_in_is_taken_only_if_there_is_some() {
    for stream_ordered in [Options::LAZY_IN_STREAM, Options::WORKER_POOLED] {
        let (world, mock) = World::mock(stream_ordered);
        let queue = Queue::create(world.device).unwrap();
        // Larger than what comes from the pool.
        let memory = vec![1; 1 << 20];
        world.data(DataOperation::Begin, &[section(&memory, MapKind::TO)]).unwrap();
        world.device.release_idle();
        let before = mock.made(Call::CreateStream);
        launch_in(&world, &queue, &[increment(&memory, MapKind::ALLOC)]).unwrap();
        queue.synchronize().unwrap();
        assert_eq!(mock.made(Call::CreateStream), before, "{stream_ordered:?}");
        let own = vec![1; 1 << 20];
        launch_in(&world, &queue, &[increment(&own, BOTH)]).unwrap();
        queue.synchronize().unwrap();
        assert_eq!((own[9], mock.made(Call::CreateStream)), (2, before + 1), "{stream_ordered:?}");
        world.data(DataOperation::End, &[section(&memory, MapKind::FROM)]).unwrap();
        mock.assert_all_freed();
    }
}

#[test]
fn a_stream_that_cannot_be_destroyed_is_told() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        mock.fail(Call::DestroyStream, 0);
        let error = queue.destroy().unwrap_err();
        assert!(error.to_string().contains("DestroyStream was made to fail"), "{error}");
        assert!(mock.stop_failing());
    }
}

#[test]
fn an_image_is_unloaded_behind_the_kernels_in_queues() {
    for options in asynchronous() {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory = vec![1; 16];
        launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
        world.runtime.unregister(1);
        mock.assert_all_freed();
        assert_eq!((memory, mock.images()), (vec![2; 16], 0));
        assert!(!mock.unloaded_busy());
        assert!(launch_in(&world, &queue, &[]).is_err());
    }
}

#[test]
fn the_program_is_told_where_the_device_tells() {
    for options in devices() {
        let (world, _mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory = vec![1; 16];
        launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
        let told = Arc::new(AtomicUsize::new(0));
        let tell = told.clone();
        let is_watched = queue.notify(move || _ = tell.fetch_add(1, Ordering::Release)).unwrap();
        assert_eq!(is_watched, options.completions || options.timing == Timing::Synchronous);
        queue.synchronize().unwrap();
        assert_eq!(told.load(Ordering::Acquire), usize::from(is_watched));
    }
}

/// A construct that is done costs nothing further, however many follow and whether or not
/// anybody waits.
#[test]
fn finished_constructs_do_not_pile_up() {
    for options in [Options::WORKER, Options { completions: true, ..Options::WORKER }] {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let memory: Vec<u8> = vec![1; 16];
        for _ in 0..400 {
            launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
            // Lets the device catch up, which is not waiting for the queue.
            while mock.queues().is_busy() {
                std::thread::yield_now();
            }
        }
        assert!(mock.queues().memory.alive() < 40, "memory of finished constructs piles up");
        queue.destroy().unwrap();
        mock.assert_all_freed();
    }
}

/// When memory runs out, what constructs in queues have done with is freed.
#[test]
fn finished_constructs_make_room() {
    const MEMORY: usize = 1 << 20;
    let options = [Options::WORKER, Options { completions: true, ..Options::WORKER }, Options::WORKER_POOLED];
    for options in options.map(|options| Options { memory: MEMORY, ..options }) {
        let (world, mock) = World::mock(options);
        let queue = Queue::create(world.device).unwrap();
        let (memory, large) = (vec![1; MEMORY / 2], vec![1; MEMORY]);
        for round in 0..3 {
            launch_in(&world, &queue, &[increment(&memory, BOTH)]).unwrap();
            while mock.queues().is_busy() {
                std::thread::yield_now();
            }
            world.launch(&[increment(&large, BOTH)]).unwrap();
            assert_eq!((memory[9], large[9]), (2 + round, 2 + round), "{options:?}");
        }
        queue.destroy().unwrap();
        mock.assert_all_freed();
    }
}

#[test]
fn threads_share_a_queue() {
    for options in asynchronous() {
        within(120, move || {
            let (world, mock) = World::mock(options);
            let queue = Queue::create(world.device).unwrap();
            let memory: Vec<Vec<u8>> = (0..4).map(|_| vec![0; 40]).collect();
            std::thread::scope(|scope| {
                for own in &memory {
                    let (world, queue) = (&world, &queue);
                    scope.spawn(move || {
                        for round in 0..50 {
                            launch_in(world, queue, &[increment(own, BOTH)]).unwrap();
                            match round % 10 {
                                3 => drop(queue.test().unwrap()),
                                7 => {
                                    queue.synchronize().unwrap();
                                    assert_eq!(own[..], [round + 1; 40]);
                                }
                                _ => {}
                            }
                        }
                    });
                }
            });
            queue.destroy().unwrap();
            assert!(memory.iter().all(|own| own[..] == [50; 40]));
            mock.assert_all_freed();
        });
    }
}
