//! Random constructs on a device, compared after every step with the model of
//! the specification: outcome, reference counts, host memory, device memory.

mod support;

use gangway_runtime::present::EntryRef;
use gangway_runtime::{DataOperation, ErrorKind, MapKind};
use proptest::prelude::*;
use support::cases;
use support::clauses::{Addresses, Arena, Step, any_step, compute};
use support::construct::{ListItem, World};
use support::device::Options;
use support::model::{Failure, Model};

fn failure(kind: &ErrorKind) -> Failure {
    match kind {
        ErrorKind::PartlyPresent { .. } => Failure::PartlyPresent,
        ErrorKind::NotPresent { .. } => Failure::NotPresent,
        ErrorKind::UnknownKind { .. } => Failure::UnknownKind,
        other => panic!("not an error of the specification's: {other}"),
    }
}

fn compare_with_model(options: Options, steps: &[Step]) -> Result<(), TestCaseError> {
    let (world, mock) = World::mock(options);
    let mut arena = Box::new(Arena(std::array::from_fn(|i| i as u8)));
    let address = arena.0.as_ptr().addr();
    compute(&mut arena.0, address, 5, 0);
    let arena: *mut [u8] = &raw mut arena.0;
    // SAFETY: the arena lives to the end of the function; between constructs
    // nobody else uses it.
    let host = || unsafe { &mut *arena };
    let mut model = Model::new(host());
    let addresses = Addresses(address);
    // Beginnings do not delete.
    let (begin, any) = (MapKind::DELETE, MapKind::ALLOC);
    for (number, step) in steps.iter().enumerate() {
        if options.pooled {
            let storage = |entry: &EntryRef<'_>| {
                (entry.translate(entry.host_begin()), entry.host_end() - entry.host_begin())
            };
            let mapped: Vec<_> = world.device.table.entries().iter().map(storage).collect();
            mock.queues().memory.poison_except(&mapped);
        }
        let (got, expected) = match step {
            Step::Host { variable, value } => {
                compute(host(), address, *variable, *value);
                compute(&mut model.host, address, *variable, *value);
                (Ok(()), Ok(()))
            }
            Step::Begin(clauses) => {
                let items = addresses.items(clauses, begin, false);
                (world.data(DataOperation::Begin, &items), model.enter(&items).map(|_| ()))
            }
            Step::End(clauses) => {
                let items = addresses.items(clauses, any, false);
                (world.data(DataOperation::End, &items), model.exit(&items, None))
            }
            Step::Update(clauses) => {
                let items = addresses.items(clauses, any, false);
                (world.data(DataOperation::Update, &items), model.update(&items))
            }
            Step::Launch(clauses) => {
                let items = addresses.items(clauses, begin, true);
                (world.launch(&items), model.launch(&items))
            }
        };
        let got = got.map_err(|error| failure(&error.kind));
        prop_assert_eq!(got, expected, "outcome of step {}: {:?}", number, step);
        prop_assert_eq!(world.mapped(), model.mapped(), "counts after step {}: {:?}", number, step);
        for byte in 0..host().len() {
            prop_assert_eq!(
                host()[byte],
                model.host[byte],
                "host byte {} after step {}: {:?}",
                byte,
                number,
                step
            );
        }
        for range in &model.ranges {
            let storage = gangway_runtime::memory::mapped_address(world.device, range.begin).unwrap();
            let data = mock.read(storage, range.data.len());
            for (offset, (&got, &expected)) in data.iter().zip(&range.data).enumerate() {
                let at = range.begin + offset;
                if !range.pointers.iter().any(|&pointer| (pointer..pointer + 8).contains(&at)) {
                    let byte = at - address;
                    prop_assert_eq!(got, expected, "device byte {} after step {}: {:?}", byte, number, step);
                }
            }
        }
        let violations = std::mem::take(&mut mock.queues().memory.violations);
        prop_assert!(violations.is_empty(), "step {}: {:?}: {:#?}", number, step, violations);
    }
    for (begin, end, dynamic, hold) in world.mapped() {
        let item = |bits| ListItem::section(begin, end - begin, bits);
        let mut items = vec![item(MapKind::HOLD); hold as usize];
        items.extend((dynamic > 0).then_some(item(MapKind::DELETE)));
        world.data(DataOperation::End, &items).unwrap();
    }
    mock.assert_all_freed();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(400), max_shrink_iters: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn synchronous_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::SYNCHRONOUS, &steps)?;
    }

    #[test]
    fn lazy_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY, &steps)?;
    }

    #[test]
    fn lazy_device_with_a_pool(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY_POOLED, &steps)?;
    }

    #[test]
    fn lazy_device_that_packs(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY_PACKED, &steps)?;
    }

    #[test]
    fn lazy_device_with_memory_in_stream_order(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY_IN_STREAM, &steps)?;
    }

    #[test]
    fn lazy_device_without_events(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY_WITHOUT_EVENTS, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn device_with_a_thread(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::WORKER, &steps)?;
    }

    #[test]
    fn device_with_a_thread_that_packs(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::WORKER_PACKED, &steps)?;
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
