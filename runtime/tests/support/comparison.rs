//! Steps of a program on a device, compared after each of them with what the specification says:
//! outcome, reference counts, host memory, device memory.

use super::clauses::{Addresses, Arena, Step, compute};
use super::construct::{ListItem, World};
use super::device::Mock;
use super::model::{Failure, Model};
use gangway_backend::DevicePtr;
use gangway_runtime::present::EntryRef;
use gangway_runtime::{DataOperation, ErrorKind, MapKind};
use proptest::prelude::*;

/// A device that a test can look into.
pub trait Inspected {
    /// The contents of device memory.
    fn read(&self, pointer: DevicePtr, size: usize) -> Vec<u8>;

    /// What has been done against the rules of the back-end interface since the last time.
    fn violations(&self) -> Vec<String>;

    /// Nothing was done against the rules, and nothing is left over.
    fn assert_all_freed(&self);

    /// What is not mapped may be memory that the runtime keeps: makes it look like new memory.
    fn poison_except(&self, _mapped: &[(DevicePtr, usize)]) {}
}

impl Inspected for Mock {
    fn read(&self, pointer: DevicePtr, size: usize) -> Vec<u8> {
        self.read(pointer, size)
    }

    fn violations(&self) -> Vec<String> {
        std::mem::take(&mut self.queues().memory.violations)
    }

    fn assert_all_freed(&self) {
        self.assert_all_freed();
    }

    fn poison_except(&self, mapped: &[(DevicePtr, usize)]) {
        if self.is_pooled() {
            self.queues().memory.poison_except(mapped);
        }
    }
}

fn failure(kind: &ErrorKind) -> Failure {
    match kind {
        ErrorKind::PartlyPresent { .. } => Failure::PartlyPresent,
        ErrorKind::NotPresent { .. } => Failure::NotPresent,
        ErrorKind::UnknownKind { .. } => Failure::UnknownKind,
        other => panic!("not an error of the specification's: {other}"),
    }
}

/// Runs the steps, and unmaps what they have left.
pub fn compare_with_model(
    world: &World,
    inspected: &impl Inspected,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let mut arena = Box::new(Arena(std::array::from_fn(|i| i as u8)));
    let address = arena.0.as_ptr().addr();
    compute(&mut arena.0, address, 5, 0);
    let arena: *mut [u8] = &raw mut arena.0;
    // SAFETY: the arena lives to the end of the function; between constructs
    // nobody else uses it.
    let host = || unsafe { &mut *arena };
    let mut model = Model::new(host());
    for (number, step) in steps.iter().enumerate() {
        let storage = |entry: &EntryRef<'_>| {
            (entry.translate(entry.host_begin()), entry.host_end() - entry.host_begin())
        };
        let mapped: Vec<_> = world.device.table.entries().iter().map(storage).collect();
        inspected.poison_except(&mapped);
        let (got, expected) = perform(world, &mut model, arena, step);
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
            let data = inspected.read(storage, range.data.len());
            for (offset, (&got, &expected)) in data.iter().zip(&range.data).enumerate() {
                let at = range.begin + offset;
                if !range.pointers.iter().any(|&pointer| (pointer..pointer + 8).contains(&at)) {
                    let byte = at - address;
                    prop_assert_eq!(got, expected, "device byte {} after step {}: {:?}", byte, number, step);
                }
            }
        }
        let violations = inspected.violations();
        prop_assert!(violations.is_empty(), "step {}: {:?}: {:#?}", number, step, violations);
    }
    for (begin, end, dynamic, hold) in world.mapped() {
        let item = |bits| ListItem::section(begin, end - begin, bits);
        let mut items = vec![item(MapKind::HOLD); hold as usize];
        items.extend((dynamic > 0).then_some(item(MapKind::DELETE)));
        world.data(DataOperation::End, &items).unwrap();
    }
    inspected.assert_all_freed();
    Ok(())
}

/// An outcome, or what the specification says that it is.
type Outcome = Result<(), Failure>;

/// What a step leads to, and what it has to.
fn perform(world: &World, model: &mut Model, arena: *mut [u8], step: &Step) -> (Outcome, Outcome) {
    let address = arena.addr();
    let addresses = Addresses(address);
    // Beginnings do not delete.
    let (begin, any) = (MapKind::DELETE, MapKind::ALLOC);
    let (got, expected) = match step {
        Step::Host { variable, value } => {
            // SAFETY: the arena is the caller's, and no construct is under way.
            compute(unsafe { &mut *arena }, address, *variable, *value);
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
    (got.map_err(|error| failure(&error.kind)), expected)
}
