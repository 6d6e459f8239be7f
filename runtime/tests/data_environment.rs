//! Random constructs on a device, compared after every step with the model of
//! the specification: outcome, reference counts, host memory, device memory.

mod support;

use gangway_runtime::{DataOperation, MapKind};
use proptest::prelude::*;
use support::cases;
use support::clauses::{Step, any_step};
use support::comparison::compare_with_model;
use support::construct::{ListItem, World};
use support::device::Options;

fn compare(options: Options, steps: &[Step]) -> Result<(), TestCaseError> {
    let (world, mock) = World::mock(options);
    compare_with_model(&world, &*mock, steps)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), max_shrink_iters: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn synchronous_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::SYNCHRONOUS, &steps)?;
    }

    #[test]
    fn lazy_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::LAZY, &steps)?;
    }

    #[test]
    fn lazy_device_with_a_pool(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::LAZY_POOLED, &steps)?;
    }

    #[test]
    fn lazy_device_that_packs(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::LAZY_PACKED, &steps)?;
    }

    #[test]
    fn lazy_device_with_memory_in_stream_order(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::LAZY_IN_STREAM, &steps)?;
    }

    #[test]
    fn lazy_device_without_events(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::LAZY_WITHOUT_EVENTS, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn device_with_a_thread(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::WORKER, &steps)?;
    }

    #[test]
    fn device_with_a_thread_that_packs(steps in prop::collection::vec(any_step(), 1..24)) {
        compare(Options::WORKER_PACKED, &steps)?;
    }
}

/// Device pointers lead where the host's do, by each way of mapping them.
#[test]
fn attached_pointers() {
    for options in Options::ALL {
        for pointee_first in [false, true] {
            let (world, mock) = World::mock(options);
            let data = [7u8; 64];
            let mut pointer = Box::new(data.as_ptr().addr());
            let place = (&raw const *pointer).addr();
            let section = ListItem { base: *pointer, ..ListItem::section(*pointer + 16, 32, MapKind::TO) };
            let holder = ListItem::section(place, 8, MapKind::TO | MapKind::FROM);
            let attach = ListItem { base: place, ..ListItem::section(section.begin, 8, MapKind::ATTACH) };
            if pointee_first {
                world.data(DataOperation::Begin, &[section]).unwrap();
                world.data(DataOperation::Begin, &[holder, section, attach]).unwrap();
            } else {
                world.data(DataOperation::Begin, &[holder]).unwrap();
                world.data(DataOperation::Begin, &[section, attach]).unwrap();
            }
            let address = |host| gangway_runtime::memory::mapped_address(world.device, host).unwrap();
            let on_device = || usize::from_ne_bytes(mock.read(address(place), 8).try_into().unwrap());
            assert_eq!(on_device(), address(section.begin).0 - 16, "{options:?}");
            // Copies carry no addresses, in neither direction.
            let update = ListItem { kind: MapKind::TO | MapKind::FROM, ..holder };
            world.data(DataOperation::Update, &[update]).unwrap();
            assert_eq!(on_device(), address(section.begin).0 - 16);
            assert_eq!(*pointer, data.as_ptr().addr());
            // Moved on the host, attached again on demand only.
            *pointer += 8;
            world.data(DataOperation::Begin, &[section, attach]).unwrap();
            assert_eq!(on_device(), address(section.begin).0 - 16);
            let always = ListItem { kind: MapKind::ATTACH | MapKind::ALWAYS, ..attach };
            world.data(DataOperation::Begin, &[always]).unwrap();
            assert_eq!(on_device(), address(section.begin).0 - 8);
            let expected = *pointer;
            world.data(DataOperation::End, &[holder, section.deleted()]).unwrap();
            assert_eq!(*pointer, expected);
            mock.assert_all_freed();
        }
    }
}

/// What becomes present as zeros has no other byte, whichever way it is made; what is present stays as it is.
#[test]
fn zeros() {
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let (small, large, present) = ([7u8; 24], vec![7u8; 100_000], [7u8; 64]);
        let section = |of: &[u8], kind| ListItem::section(of.as_ptr().addr(), of.len(), kind);
        let items = [
            section(&small, MapKind::ZERO),
            section(&large, MapKind::ZERO),
            section(&present, MapKind::ZERO),
        ];
        world.data(DataOperation::Begin, &[section(&present, MapKind::TO)]).unwrap();
        world.data(DataOperation::Begin, &items).unwrap();
        world.data(DataOperation::Begin, &items).unwrap();
        for (item, byte) in items.iter().zip([0, 0, 7]) {
            let address = gangway_runtime::memory::mapped_address(world.device, item.begin).unwrap();
            assert!(
                mock.read(address, item.size).iter().all(|found| *found == byte),
                "{options:?}: {item:?}"
            );
        }
        world.data(DataOperation::End, &items.map(|item| item.deleted())).unwrap();
        mock.assert_all_freed();
    }
}

/// `use_device_ptr` gets the device address of the base, also through a pointer.
#[test]
fn returned_addresses() {
    let (world, mock) = World::mock(Options::SYNCHRONOUS);
    let data = [7u8; 64];
    let pointer = Box::new(data.as_ptr().addr());
    let place = (&raw const *pointer).addr();
    let holder = ListItem::section(place, 8, MapKind::TO);
    let section = ListItem::section(*pointer + 16, 32, MapKind::TO);
    world.data(DataOperation::Begin, &[holder, section]).unwrap();
    let address = gangway_runtime::memory::mapped_address(world.device, section.begin).unwrap().0;
    let absent = [0u8; 16];
    let items = [
        ListItem { base: *pointer, kind: MapKind::RETURN_ADDRESS, ..section },
        ListItem { base: place, kind: MapKind::RETURN_ADDRESS | MapKind::POINTER_AND_POINTEE, ..section },
        ListItem::section(absent.as_ptr().addr(), 0, MapKind::RETURN_ADDRESS),
    ];
    let list = support::construct::List::of(&items, false);
    let site = gangway_runtime::events::Site::NONE;
    world.runtime.data_and_wait(world.device, site, DataOperation::Begin, &list).unwrap();
    assert_eq!(list.bases(), [address - 16, address - 16, absent.as_ptr().addr()]);
    world.data(DataOperation::End, &[holder.deleted(), section.deleted()]).unwrap();
    mock.assert_all_freed();
}
