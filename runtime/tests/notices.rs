//! What a device is told of the ranges of the host that are mapped, if it asks.

mod support;

use gangway_backend::{Described, DevicePtr, RangeChange, RangeNotice};
use gangway_runtime::events::Site;
use gangway_runtime::queue::Queue;
use gangway_runtime::{
    DataOperation, EntryKind, HostEntry, MapKind, Registration, Requirements, Shape, memory,
};
use support::construct::{Access, List, ListItem, REGION, World};
use support::device::{Call, Mock, Options};

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

/// A notice of a range without a name.
fn notice(begin: usize, size: usize, change: RangeChange) -> RangeNotice {
    RangeNotice { begin, size, change, variable: Described::default() }
}

/// Runs `test` on each type of device that asks for notices.
fn each(test: impl Fn(&World, &Mock, Options)) {
    for options in Options::ALL {
        let options = Options { notices: true, ..options };
        let (world, mock) = World::mock(options);
        mock.notices();
        test(&world, &mock, options);
        mock.assert_all_freed();
    }
}

/// How often ranges are mapped, after these notices and what was before.
fn mapped(notices: &[RangeNotice]) -> isize {
    let change = |notice: &RangeNotice| match notice.change {
        RangeChange::Mapped(_) => 1,
        RangeChange::Unmapped(_) => -1,
        RangeChange::UsedInPlace => 0,
    };
    notices.iter().map(change).sum()
}

#[test]
fn a_range_is_told_when_it_is_mapped_and_when_it_no_longer_is() {
    each(|world, mock, options| {
        let array = vec![1u8; 5000];
        world.data(DataOperation::Begin, &[section(&array, MapKind::TO)]).unwrap();
        let device = memory::mapped_address(world.device, array.as_ptr().addr()).unwrap();
        let begin = array.as_ptr().addr();
        let told = |change| [notice(begin, 5000, change)];
        assert_eq!(mock.notices(), told(RangeChange::Mapped(device)), "{options:?}");

        // What is present is nothing new.
        for _ in 0..3 {
            world.launch(&[section(&array, BOTH).parameter(Access::Increment)]).unwrap();
            world.data(DataOperation::Begin, &[section(&array[..100], MapKind::TO)]).unwrap();
            world.data(DataOperation::Update, &[section(&array, MapKind::TO)]).unwrap();
            world.data(DataOperation::End, &[section(&array[..100], MapKind::ALLOC)]).unwrap();
        }
        assert_eq!(mock.notices(), []);
        world.data(DataOperation::End, &[section(&array, MapKind::FROM)]).unwrap();
        assert_eq!(mock.notices(), told(RangeChange::Unmapped(device)), "{options:?}");
    });
}

#[test]
fn regions_map_and_unmap_what_is_fresh() {
    each(|world, mock, options| {
        let (small, large) = ([1u8; 64], vec![1u8; 100_000]);
        let items = [&small[..], &large].map(|array| section(array, BOTH).parameter(Access::Increment));
        world.launch(&items).unwrap();
        let notices = mock.notices();
        assert_eq!((notices.len(), mapped(&notices)), (4, 0), "{options:?}: {notices:?}");
        for array in [&small[..], &large] {
            let own: Vec<_> = notices.iter().filter(|n| n.begin == array.as_ptr().addr()).collect();
            let [first, last] = own[..] else { panic!("{own:?}") };
            assert!(first.size == array.len() && last.size == array.len());
            assert!(matches!(
                (first.change, last.change),
                (RangeChange::Mapped(a), RangeChange::Unmapped(b)) if a == b
            ));
        }
    });
}

/// Whatever fails, as many ranges are told to be unmapped as were mapped.
#[test]
fn faults() {
    for base in Options::ALL {
        for call in Call::ALL {
            for successes in 0.. {
                let (world, mock) = World::mock(Options { notices: true, ..base });
                let arrays = [vec![1u8; 64], vec![1u8; 10_000], vec![1u8; 64]];
                let items = arrays.each_ref().map(|a| section(a, BOTH).parameter(Access::Increment));
                mock.fail(call, successes);
                let result = world.launch(&items);
                let failed = mock.stop_failing();
                assert_eq!(result.is_err(), failed, "{base:?}: {call:?} {successes}");
                assert_eq!(mapped(&mock.notices()), 0, "{base:?}: {call:?} {successes}");
                mock.assert_all_freed();
                if !failed {
                    break;
                }
            }
        }
    }
}

/// What a construct in a queue unmaps is told when the queue has got there: the next one has
/// mapped it again by then.
#[test]
fn queues() {
    each(|world, mock, options| {
        let queue = Queue::create(world.device).unwrap();
        let array = vec![1u8; 3000];
        let items = List::of(&[section(&array, BOTH).parameter(Access::Increment)], true);
        for _ in 0..5 {
            world.runtime.run_in(&queue, Site::NONE, REGION, &items, &Shape::default()).unwrap();
        }
        queue.synchronize().unwrap();
        let notices = mock.notices();
        assert_eq!((notices.len(), mapped(&notices)), (10, 0), "{options:?}");
        queue.destroy().unwrap();
        assert_eq!(array, [6; 3000]);
    });
}

#[test]
fn storage_that_is_associated() {
    each(|world, mock, _| {
        let array = [1u8; 256];
        let (begin, size) = (array.as_ptr().addr(), array.len());
        let storage = memory::allocate(world.device, size, Default::default(), &Site::NONE).unwrap();
        let told = |change| [notice(begin, size, change)];
        for _ in 0..2 {
            memory::associate(world.device, begin, storage, size, &Site::NONE).unwrap();
        }
        assert_eq!(mock.notices(), told(RangeChange::Mapped(storage)), "twice the same is once");
        memory::disassociate(world.device, begin, &Site::NONE).unwrap();
        assert!(memory::disassociate(world.device, begin, &Site::NONE).is_err());
        assert_eq!(mock.notices(), told(RangeChange::Unmapped(storage)));
        // SAFETY: nobody uses it.
        unsafe { memory::free(world.device, storage, Default::default(), &Site::NONE) }.unwrap();
    });
}

#[test]
fn globals() {
    each(|world, mock, _| {
        let counter = 7u64;
        let begin = std::ptr::from_ref(&counter).addr();
        let name = c"counter";
        world.runtime.register(Registration {
            key: 2,
            images: vec![b"MOCK"],
            entries: vec![HostEntry { kind: EntryKind::Global, address: begin, name, size: 8 }],
            ..Registration::default()
        });
        world.runtime.device(0, &Site::NONE).unwrap();
        let [RangeNotice { begin: told, size: 8, change: RangeChange::Mapped(device), variable }] =
            mock.notices()[..]
        else {
            panic!("one global is mapped")
        };
        assert_eq!((told, variable.name), (begin, Some("counter")));
        world.runtime.unregister(2);
        let change = RangeChange::Unmapped(device);
        assert_eq!(mock.notices(), [notice(begin, 8, change)]);
    });
}

/// With unified shared memory nothing is mapped; the device is told what will be used.
#[test]
fn memory_that_host_and_device_share() {
    let options = Options { notices: true, unified_memory: true, ..Options::SYNCHRONOUS };
    let (world, mock) = World::mock(options);
    world.runtime.require(Requirements::UNIFIED_SHARED_MEMORY).unwrap();
    let array = vec![1u8; 5000];
    world.data(DataOperation::Begin, &[section(&array, BOTH)]).unwrap();
    let used = notice(array.as_ptr().addr(), 5000, RangeChange::UsedInPlace);
    assert_eq!(mock.notices(), [used]);
    world.data(DataOperation::End, &[section(&array, BOTH)]).unwrap();
    assert_eq!(mock.notices(), []);
}

/// Any address is one, 0 too.
#[test]
fn device_memory_at_address_zero() {
    for base in Options::ALL {
        let (world, mock) = World::mock(Options { notices: true, ..base });
        mock.notices();
        mock.queues().memory.go_on_at(0);
        let array = vec![1u8; 1000];
        let items = [section(&array, BOTH).parameter(Access::Increment)];
        world.data(DataOperation::Begin, &items[..1]).unwrap();
        let device = memory::mapped_address(world.device, array.as_ptr().addr()).unwrap();
        assert_eq!(device, DevicePtr(0), "{base:?}");
        world.launch(&items).unwrap();
        world.data(DataOperation::End, &items[..1]).unwrap();
        assert_eq!(array, [2; 1000], "{base:?}");
        let begin = array.as_ptr().addr();
        let told = [RangeChange::Mapped(device), RangeChange::Unmapped(device)];
        let told = told.map(|change| notice(begin, 1000, change));
        assert_eq!(mock.notices(), told, "{base:?}");
        mock.assert_all_freed();
    }
}
