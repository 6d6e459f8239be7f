//! Random constructs on a device, compared after every step with the model of
//! the specification: outcome, reference counts, host memory, device memory.

mod support;

use gangway_runtime::map_type as bit;
use gangway_runtime::{DataOperation, ErrorKind};
use proptest::prelude::*;
use support::construct::{Access, ListItem, World};
use support::device::Options;
use support::model::{Failure, Model};

/// The host's memory: four variables of 64 bytes with gaps, and a structure of a
/// pointer, a field `x` of 8 bytes and a field `y` of 16.
#[repr(align(64))]
struct Arena([u8; 448]);

const VARIABLE: usize = 64;
const SPACING: usize = 96;
const STRUCTURE: usize = 384;
const STRUCTURE_SIZE: usize = 32;
const POINTEE_VARIABLE: usize = 3;

/// Offset and size in a variable. The last one reaches into what follows.
const SECTIONS: [(usize, usize); 8] =
    [(0, 64), (0, 32), (32, 32), (16, 16), (0, 0), (20, 0), (64, 0), (48, 64)];

/// Something a map clause says.
#[derive(Debug, Clone)]
enum Clause {
    /// A section of a variable.
    Section { variable: usize, section: usize, bits: u64 },
    /// A variable as a structure of which one part is mapped too.
    Member { variable: usize, section: usize, whole: u64, part: u64 },
    /// The structure, its `x`, and what its pointer points to.
    Structure { bits: u64, x: u64, pointee: usize, pointee_bits: u64, form: PointerForm },
    /// A map type from the future.
    Unknown { variable: usize },
}

#[derive(Debug, Clone, Copy)]
enum PointerForm {
    None,
    Attach,
    AttachAlways,
    PointerAndPointee,
}

#[derive(Debug, Clone)]
enum Step {
    Begin(Vec<Clause>),
    End(Vec<Clause>),
    Update(Vec<Clause>),
    Launch(Vec<Clause>),
    /// The host computes: changes a variable, the structure's fields, the pointer.
    Host {
        variable: usize,
        value: u8,
    },
}

/// Where the parts of the arena are.
#[derive(Clone, Copy)]
struct Addresses(usize);

impl Addresses {
    fn variable(self, number: usize) -> usize {
        self.0 + number * SPACING
    }

    fn items(self, clauses: &[Clause], allowed: u64, kernel: bool) -> Vec<ListItem> {
        let mut items = Vec::new();
        for clause in clauses {
            self.add(clause, allowed, kernel, &mut items);
        }
        items
    }

    fn add(self, clause: &Clause, allowed: u64, kernel: bool, items: &mut Vec<ListItem>) {
        let member_of = ((items.len() + 1) as u64) << 48;
        let section = |variable: usize, section: usize, bits: u64| {
            let ((offset, size), base) = (SECTIONS[section], self.variable(variable));
            ListItem { base, ..ListItem::section(base + offset, size, bits & allowed) }
        };
        // A kernel that keeps to what is mapped: implicit maps may be larger than that.
        let parameter = |item: ListItem| {
            let reachable = item.map_type & bit::IMPLICIT == 0;
            match (kernel, reachable) {
                (false, _) => item,
                (true, true) => item.parameter(Access::Increment),
                (true, false) => item.parameter(Access::None),
            }
        };
        match *clause {
            Clause::Section { variable, section: number, bits } => {
                items.push(parameter(section(variable, number, bits)));
            }
            Clause::Member { variable, section: number, whole, part } => {
                items.push(section(variable, 0, whole));
                let part = section(variable, number, part);
                items.push(parameter(ListItem { map_type: part.map_type | member_of, ..part }));
            }
            Clause::Structure { bits, x, pointee, pointee_bits, form } => {
                let structure = self.0 + STRUCTURE;
                items.push(ListItem::section(structure, STRUCTURE_SIZE, bits & allowed));
                let x = ListItem::section(structure + 8, 8, x & allowed | member_of);
                items.push(parameter(ListItem { base: structure, ..x }));
                let target = section(POINTEE_VARIABLE, pointee, pointee_bits);
                match form {
                    PointerForm::None => {}
                    PointerForm::PointerAndPointee => {
                        let map_type = target.map_type | bit::PTR_AND_OBJ | member_of;
                        let pair = ListItem { base: structure, map_type, ..target };
                        // SAFETY: the structure begins with the pointer.
                        let pointer = unsafe { *(structure as *const usize) };
                        // Copying back what was never written leaves no good pointer.
                        let good = (self.0..structure).contains(&pointer);
                        items.push(if good { parameter(pair) } else { pair });
                    }
                    PointerForm::Attach | PointerForm::AttachAlways => {
                        items.push(parameter(target));
                        let always = if matches!(form, PointerForm::AttachAlways) { bit::ALWAYS } else { 0 };
                        let attach = ListItem::section(target.begin, 8, bit::ATTACH | always);
                        items.push(ListItem { base: structure, ..attach });
                    }
                }
            }
            Clause::Unknown { variable } => {
                let item = section(variable, 0, bit::TO);
                items.push(ListItem { map_type: item.map_type | 1 << 20, ..item });
            }
        }
    }
}

/// Map types: some bits often, some rarely.
fn any_bits() -> impl Strategy<Value = u64> {
    let rare = |bit: u64| prop_oneof![7 => Just(0), 1 => Just(bit)];
    let common = prop_oneof![
        Just(0),
        Just(bit::TO),
        Just(bit::FROM),
        Just(bit::TO | bit::FROM),
        Just(bit::TO | bit::FROM)
    ];
    let rest =
        (rare(bit::ALWAYS), rare(bit::PRESENT), rare(bit::HOLD), rare(bit::IMPLICIT), rare(bit::DELETE));
    (common, rest).prop_map(|(a, (b, c, d, e, f))| a | b | c | d | e | f)
}

fn any_clause() -> impl Strategy<Value = Clause> {
    let variable = 0..4usize;
    let form = prop_oneof![
        Just(PointerForm::None),
        Just(PointerForm::Attach),
        Just(PointerForm::AttachAlways),
        Just(PointerForm::PointerAndPointee)
    ];
    prop_oneof![
        12 => (variable.clone(), 0..SECTIONS.len(), any_bits())
            .prop_map(|(variable, section, bits)| Clause::Section { variable, section, bits }),
        3 => (variable.clone(), 1..4usize, any_bits(), any_bits())
            .prop_map(|(variable, section, whole, part)| Clause::Member { variable, section, whole, part }),
        4 => (any_bits(), any_bits(), 0..5usize, any_bits(), form)
            .prop_map(|(bits, x, pointee, pointee_bits, form)| {
                Clause::Structure { bits, x, pointee, pointee_bits, form }
            }),
        1 => variable.prop_map(|variable| Clause::Unknown { variable }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let clauses = || prop::collection::vec(any_clause(), 1..4);
    prop_oneof![
        4 => clauses().prop_map(Step::Begin),
        4 => clauses().prop_map(Step::End),
        2 => clauses().prop_map(Step::Update),
        3 => clauses().prop_map(Step::Launch),
        3 => (0..6usize, any::<u8>()).prop_map(|(variable, value)| Step::Host { variable, value }),
    ]
}

fn failure(kind: &ErrorKind) -> Failure {
    match kind {
        ErrorKind::PartlyPresent { .. } => Failure::PartlyPresent,
        ErrorKind::NotPresent { .. } => Failure::NotPresent,
        ErrorKind::UnknownMapType { .. } => Failure::UnknownMapType,
        other => panic!("not an error of the specification's: {other}"),
    }
}

/// What the host does between constructs.
fn compute(host: &mut [u8], address: usize, variable: usize, value: u8) {
    match variable {
        0..4 => {
            let begin = variable * SPACING;
            host[begin..begin + VARIABLE].fill(value);
            host[begin] = value.wrapping_add(17);
        }
        4 => host[STRUCTURE + 8..STRUCTURE + STRUCTURE_SIZE].fill(value),
        _ => {
            let target = address + POINTEE_VARIABLE * SPACING + usize::from(value % 2) * 16;
            host[STRUCTURE..STRUCTURE + 8].copy_from_slice(&target.to_ne_bytes());
        }
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
    let (begin, any) = (!bit::DELETE, !0);
    for (number, step) in steps.iter().enumerate() {
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
        let mut items = vec![item(bit::HOLD); hold as usize];
        items.extend((dynamic > 0).then_some(item(bit::DELETE)));
        world.data(DataOperation::End, &items).unwrap();
    }
    mock.assert_all_freed();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn synchronous_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::SYNCHRONOUS, &steps)?;
    }

    #[test]
    fn lazy_device(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY, &steps)?;
    }

    #[test]
    fn lazy_device_without_events(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::LAZY_WITHOUT_EVENTS, &steps)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn device_with_a_thread(steps in prop::collection::vec(any_step(), 1..24)) {
        compare_with_model(Options::WORKER, &steps)?;
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
            let section = ListItem { base: *pointer, ..ListItem::section(*pointer + 16, 32, bit::TO) };
            let holder = ListItem::section(place, 8, bit::TO | bit::FROM);
            let attach = ListItem { base: place, ..ListItem::section(section.begin, 8, bit::ATTACH) };
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
            let update = ListItem { map_type: bit::TO | bit::FROM, ..holder };
            world.data(DataOperation::Update, &[update]).unwrap();
            assert_eq!(on_device(), address(section.begin).0 - 16);
            assert_eq!(*pointer, data.as_ptr().addr());
            // Moved on the host, attached again on demand only.
            *pointer += 8;
            world.data(DataOperation::Begin, &[section, attach]).unwrap();
            assert_eq!(on_device(), address(section.begin).0 - 16);
            let always = ListItem { map_type: bit::ATTACH | bit::ALWAYS, ..attach };
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
    let holder = ListItem::section(place, 8, bit::TO);
    let section = ListItem::section(*pointer + 16, 32, bit::TO);
    world.data(DataOperation::Begin, &[holder, section]).unwrap();
    let address = gangway_runtime::memory::mapped_address(world.device, section.begin).unwrap().0;
    let absent = [0u8; 16];
    let items = [
        ListItem { base: *pointer, map_type: bit::RETURN_PARAM, ..section },
        ListItem { base: place, map_type: bit::RETURN_PARAM | bit::PTR_AND_OBJ, ..section },
        ListItem::section(absent.as_ptr().addr(), 0, bit::RETURN_PARAM),
    ];
    let mut arrays = support::construct::Arrays::of(&items, false);
    let site = gangway_runtime::events::Site::NONE;
    let job =
        arrays.with(|arguments| world.runtime.data(world.device, site, DataOperation::Begin, arguments));
    job.unwrap().complete().unwrap();
    assert_eq!(arrays.bases(), [address - 16, address - 16, absent.as_ptr().addr()]);
    world.data(DataOperation::End, &[holder.deleted(), section.deleted()]).unwrap();
    mock.assert_all_freed();
}
