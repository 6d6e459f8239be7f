//! What kernels want of a launch: each form of arguments on each type of device, and
//! limits.

mod support;

use gangway_backend::{GroupMemory, KernelLimits};
use gangway_runtime::events::Site;
use gangway_runtime::{ErrorKind, MapKind, NoItems, Shape};
use std::num::NonZeroU32;
use support::construct::{Access, ListItem, REGION, World};
use support::device::{Options, Passing};

/// Two addresses and two extents; the places are as the kernel of a packed buffer has
/// them, with extents that are narrower than addresses.
const PACKED: &[(u32, u32)] = &[(0, 8), (8, 8), (16, 4), (20, 4)];
const ARGUMENTS: usize = PACKED.len();

fn items(memory: &[Vec<u8>; 2]) -> [ListItem; 2] {
    let both = MapKind::TO | MapKind::FROM;
    memory
        .each_ref()
        .map(|part| ListItem::section(part.as_ptr().addr(), part.len(), both).parameter(Access::Increment))
}

#[test]
fn kernels_get_their_arguments_in_the_form_that_they_take() {
    let forms = [
        Passing::Slots,
        Passing::Packed(PACKED),
        Passing::Table(ARGUMENTS),
        Passing::VisibleTable(ARGUMENTS),
    ];
    for options in Options::ALL {
        for passing in forms {
            let (world, mock) = World::mock(Options { passing, ..options });
            let memory = [vec![1; 24], vec![5; 100]];
            for round in 1..=3 {
                world.launch(&items(&memory)).unwrap();
                assert_eq!(memory, [vec![1 + round; 24], vec![5 + round; 100]], "{options:?} {passing:?}");
            }
            mock.assert_all_freed();
        }
    }
}

/// Regions without arguments have kernels of the same forms. A table of none is at
/// address null, which the kernel does not read.
#[test]
fn kernels_without_arguments_get_none() {
    for passing in [Passing::Slots, Passing::Packed(&[]), Passing::Table(0), Passing::VisibleTable(0)] {
        let (world, mock) = World::mock(Options { passing, ..Options::SYNCHRONOUS });
        world.launch(&[]).unwrap();
        mock.assert_all_freed();
    }
}

#[test]
fn a_construct_and_a_kernel_that_disagree_are_told_apart() {
    let (world, mock) = World::mock(Options { passing: Passing::Packed(&PACKED[..3]), ..Options::LAZY });
    let memory = [vec![1; 24], vec![5; 100]];
    let error = world.launch(&items(&memory)).unwrap_err();
    assert_eq!(
        error.kind,
        ErrorKind::ArgumentCount { kernel: "increment".to_owned(), given: 4, taken: 3 },
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "device 0: kernel increment takes 3 arguments, but the construct passes 4\n  \
         help: program and image do not belong together; build the program again"
    );
    assert_eq!(memory, [vec![1; 24], vec![5; 100]]);
    mock.assert_all_freed();
}

#[test]
fn a_launch_keeps_within_the_limits_of_its_kernel() {
    let limits = KernelLimits {
        threads: NonZeroU32::new(256),
        group_memory: GroupMemory::Present,
        static_group_memory: 1024,
        dynamic_group_memory: Some(4096),
    };
    let (world, mock) = World::mock(Options { limits, ..Options::LAZY });
    let launch = |shape: &Shape| {
        let job = world.runtime.run(world.device, Site::NONE, REGION, &NoItems, shape);
        job.and_then(|job| job.complete())
    };
    for (wanted, given) in [([0; 3], [0; 3]), ([1000, 1, 1], [256, 1, 1]), ([16, 32, 2], [16, 16, 1])] {
        launch(&Shape { thread_limit: wanted, dynamic_group_memory: 4096, ..Shape::default() }).unwrap();
        assert_eq!(mock.thread_limit(), given);
    }
    let exact = |wanted| launch(&Shape { thread_limit: wanted, is_exact: true, ..Shape::default() });
    exact([16, 16, 1]).unwrap();
    let error = exact([16, 32, 1]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device 0: kernel increment cannot have blocks of 16 x 32 x 1 threads: 256 are the most on this device\n  \
         help: launch it with smaller blocks"
    );
    let error = launch(&Shape { dynamic_group_memory: 4097, ..Shape::default() }).unwrap_err();
    assert_eq!(
        error.to_string(),
        "device 0: kernel increment cannot have 4097 bytes of dynamic group memory per team: the device has 4096 \
         for it, besides 1024 of its own"
    );
    mock.assert_all_freed();
}
