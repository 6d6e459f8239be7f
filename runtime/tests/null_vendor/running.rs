//! What a program does with devices, on the vendor's cards.

use crate::program::{BOTH, FACTOR, FACTOR_ON_CARD, Program, parameter, region, value};
use crate::support::clauses::any_step;
use crate::support::comparison::{Inspected, compare_with_model};
use crate::support::construct::{Access, List, ListItem, REGION};
use crate::support::{cases, within};
use gangway_backend::{AllocationKind, DevicePtr};
use gangway_runtime::events::Site;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::queue::Queue;
use gangway_runtime::{DataOperation, Job, MapKind, Shape, host_calls};
use proptest::prelude::*;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

fn increment(data: &[u8]) -> ListItem {
    ListItem::section(data.as_ptr().addr(), data.len(), BOTH).parameter(Access::Increment)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    /// The data environment is the specification's.
    #[test]
    fn random_constructs(steps in prop::collection::vec(any_step(), 1..24)) {
        let program = Program::without_globals();
        compare_with_model(&program.world, &program, &steps)?;
    }
}

/// Parameters of several sizes in a packed segment, one of them the driver's own; a global, which a
/// kernel of the image has changed when it was loaded, and which the host changes.
#[test]
fn kernels_read_their_arguments_from_a_segment() {
    let program = Program::new();
    let shape = Shape { teams: [7, 1, 1], ..Shape::default() };
    let global = ListItem::section((&raw const FACTOR).addr(), 4, MapKind::TO);
    for factor in [FACTOR_ON_CARD, FACTOR.load(Ordering::Relaxed)] {
        let data: Vec<u32> = (0..16).collect();
        let items = [parameter(&data, BOTH), value(data.len()), value(5)];
        program.issue(Site::NONE, c"scale", &items, &shape).unwrap().complete().unwrap();
        let expected: Vec<u32> = (0..16).map(|number| number * 5 * factor + 7).collect();
        assert_eq!(data, expected);
        program.world.data(DataOperation::Update, &[global]).unwrap();
    }
    program.assert_all_freed();
}

#[test]
fn a_launch_has_the_shape_that_is_asked_for_as_far_as_the_kernel_can() {
    let program = Program::new();
    for (teams, threads, expected) in [
        ([0; 3], [0; 3], [4, 1, 1, 64, 1, 1]),
        ([9, 2, 0], [32, 2, 0], [9, 2, 1, 32, 2, 1]),
        ([1, 1, 1], [1000, 1, 1], [1, 1, 1, 256, 1, 1]),
    ] {
        let counts = [0_u32; 6];
        let shape = Shape { teams, thread_limit: threads, ..Shape::default() };
        let items = [parameter(&counts, MapKind::FROM)];
        program.issue(Site::NONE, c"shape", &items, &shape).unwrap().complete().unwrap();
        assert_eq!(counts, expected);
    }
    program.assert_all_freed();
}

#[test]
fn a_construct_returns_before_the_card_has_begun() {
    let program = Program::new();
    let data = [1; 64];
    program.card().hold();
    let mut job = program.world.issue(&[increment(&data)]).unwrap();
    assert!(program.card().is_busy() && !job.is_idle());
    assert_eq!(data, [1; 64]);
    program.card().go_on();
    job.complete().unwrap();
    assert_eq!(data, [2; 64]);
    program.assert_all_freed();
}

/// Regions in streams of their own that share data: the second one waits for a signal.
#[test]
fn a_stream_waits_for_what_another_one_has_copied() {
    let program = Program::new();
    let data = [1; 64];
    program.card().hold();
    let jobs = [(); 2].map(|()| program.world.issue(&[increment(&data)]).unwrap());
    program.card().go_on();
    jobs.into_iter().for_each(|job| job.complete().unwrap());
    assert_eq!(data, [3; 64]);
    assert_eq!(program.card().done().waits, 1);
    program.assert_all_freed();
}

#[test]
fn copies_of_data_constructs_are_asynchronous_as_well() {
    let program = Program::new();
    let data = vec![1; 100_000];
    let item = ListItem::section(data.as_ptr().addr(), data.len(), BOTH);
    let card = program.card();
    let issue = |operation| {
        card.hold();
        let job: Box<Job> = program.world.issue_data(operation, &[item]).unwrap();
        let (copies, busy) = (card.done().copies, card.is_busy());
        card.go_on();
        job.complete().unwrap();
        assert_eq!((busy, card.done().copies), (true, copies + 1));
    };
    issue(DataOperation::Begin);
    program.world.launch(&[increment(&data)]).unwrap();
    assert_eq!(data, vec![1; 100_000]);
    issue(DataOperation::End);
    assert_eq!(data, vec![2; 100_000]);
    program.assert_all_freed();
}

/// Whoever has issued a job is told of its end by the card.
#[test]
fn jobs_that_nobody_waits_for() {
    let program = Program::new();
    let arrays: Vec<Vec<u8>> = (0..20).map(|number| vec![number; 3000]).collect();
    let (send, told) = channel();
    for array in &arrays {
        let send = send.clone();
        let issued = program.world.issue(&[increment(array)]).unwrap();
        assert!(issued.complete_later(move |outcome| send.send(outcome).unwrap()).is_ok());
    }
    for _ in &arrays {
        told.recv_timeout(PATIENCE).unwrap().unwrap();
    }
    assert!((1..).zip(&arrays).all(|(number, array)| *array == [number; 3000]));
    program.assert_all_freed();
}

/// Segments belong to sessions: there are as many as launches at a time, and all come back.
#[test]
fn threads_share_segments() {
    const THREADS: usize = 6;
    within(60, || {
        let program = Program::new();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let (one, other) = ([0; 40], [0; 100]);
                    for round in 1..=100 {
                        program.world.launch(&[increment(&one), increment(&other)]).unwrap();
                        assert_eq!((one, other), ([round; 40], [round; 100]));
                    }
                });
            }
        });
        let (used, made) = program.card().kernargs.lock().unwrap().counts();
        assert!(used == 0 && made <= THREADS, "{used} of {made} segments");
        assert_eq!(program.card().done().dispatches, THREADS * 100 + 1, "and the constructor");
        program.assert_all_freed();
    });
}

/// Queues of the program's take more constructs than a ring has room for, in order, and wait for
/// each other.
#[test]
fn queues_of_the_program() {
    within(60, || {
        let program = Program::new();
        let data = vec![0_u32; 256];
        let (runtime, device) = (program.world.runtime, program.world.device);
        let queues = [(); 2].map(|()| Queue::create(device).unwrap());
        let bytes = ListItem::section(data.as_ptr().addr(), 4 * 256, BOTH);
        let in_queue = |queue: &Queue, operation, item: ListItem| {
            runtime.data_in(queue, Site::NONE, operation, &List::of(&[item], false)).unwrap();
        };
        in_queue(&queues[0], DataOperation::Begin, bytes);
        let list = List::of(&[bytes.parameter(Access::Increment)], true);
        for _ in 0..50 {
            runtime.run_in(&queues[0], Site::NONE, REGION, &list, &Shape::default()).unwrap();
        }
        queues[1].wait_for(&queues[0]).unwrap();
        let scaled = List::of(&[parameter(&data, MapKind::TO), value(256), value(2)], false);
        let shape = Shape { teams: [1; 3], ..Shape::default() };
        runtime.run_in(&queues[1], Site::NONE, region(c"scale"), &scaled, &shape).unwrap();
        in_queue(&queues[1], DataOperation::End, bytes);
        queues[1].synchronize().unwrap();
        let incremented = u32::from_ne_bytes([50; 4]);
        let expected = incremented.wrapping_mul(2).wrapping_mul(FACTOR_ON_CARD).wrapping_add(1);
        assert_eq!(data, [expected; 256]);
        queues.into_iter().for_each(|queue| queue.destroy().unwrap());
        program.assert_all_freed();
    });
}

/// A kernel has a function of the host run, which uses the card meanwhile.
#[test]
fn kernels_call_the_host() {
    within(60, || {
        let program = Program::new();
        let device = program.world.device;
        let secret = 1000_u64;
        let here = Place { device: None, address: (&raw const secret).addr() };
        let memory = memory::allocate(device, 8, AllocationKind::Device, &Site::NONE).unwrap();
        let there = Place { device: Some(device), address: memory.0 };
        // SAFETY: 8 bytes are there and here.
        unsafe { memory::copy(there, here, 8, &Site::NONE) }.unwrap();
        let number = 0x4e55_4c4c;
        assert!(host_calls::register(number, move |call| {
            let mut found = 0_u64;
            let here = Place { device: None, address: (&raw mut found).addr() };
            // SAFETY: 8 bytes are there and here.
            unsafe { memory::copy(here, there, 8, &Site::NONE) }.unwrap();
            call.words()[0] += found;
        }));
        let word = [7_u64];
        program.run(c"ask", &[parameter(&word, BOTH), value(number as usize)]).unwrap();
        assert_eq!(word, [1007]);
        assert!(host_calls::unregister(number));
        // SAFETY: nobody uses it any more.
        unsafe { memory::free(device, memory, AllocationKind::Device, &Site::NONE) }.unwrap();
        program.assert_all_freed();
    });
}

/// Each card has memory, globals and images of its own. What they cannot do, the runtime does.
#[test]
fn several_cards() {
    let program = Program::with_cards(2);
    let (runtime, first) = (program.world.runtime, program.world.device);
    let second = runtime.device(1, &Site::NONE).unwrap();
    assert_eq!((first.ordinal(), second.ordinal(), runtime.device_count()), (0, 1, 2));
    let places = [first, second].map(|device| {
        let memory = memory::allocate(device, 4000, AllocationKind::Device, &Site::NONE).unwrap();
        Place { device: Some(device), address: memory.0 }
    });
    let mut data = [0_u8; 4000];
    let here = Place { device: None, address: data.as_mut_ptr().addr() };
    // SAFETY: all places have room for so many bytes.
    unsafe {
        memory::fill(places[0], 9, 4000, &Site::NONE).unwrap();
        memory::copy(places[1], places[0], 4000, &Site::NONE).unwrap();
        memory::copy(here, places[1], 4000, &Site::NONE).unwrap();
    }
    assert_eq!(data, [9; 4000]);
    let words = [1_u32; 8];
    let items = [parameter(&words, BOTH), value(8), value(1)];
    let (list, shape) = (List::of(&items, false), Shape { teams: [1; 3], ..Shape::default() });
    runtime.run(second, Site::NONE, region(c"scale"), &list, &shape).unwrap().complete().unwrap();
    assert_eq!(words, [FACTOR_ON_CARD + 1; 8]);
    for (device, place) in [first, second].into_iter().zip(places) {
        let memory = DevicePtr(place.address);
        // SAFETY: nobody uses it any more.
        unsafe { memory::free(device, memory, AllocationKind::Device, &Site::NONE) }.unwrap();
    }
    second.release_idle();
    program.assert_all_freed();
}

/// An image goes with its kernel objects and its globals.
#[test]
fn a_library_that_is_closed() {
    let program = Program::new();
    program.world.launch(&[increment(&[1; 8])]).unwrap();
    program.world.runtime.unregister(1);
    assert_eq!(program.card().memory().buffers(), 0);
    assert_eq!(program.card().handles()[2], 0);
    assert_eq!(program.card().violations(), [""; 0]);
}
