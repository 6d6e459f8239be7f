//! The space against a map of ranges. It is alone in its process: the steps look at addresses
//! beside their own allocations, where another test would have some.

use std::collections::BTreeMap;

use gangway_device_memory::{AllocationKind, Error, Request, is_device_address};
use proptest::prelude::*;

mod common;
use common::{space, use_all};

#[derive(Clone, Debug)]
enum Step {
    Allocate { size: u64, align: u64 },
    Free { which: usize },
    FreeWrong { which: usize, offset: u64 },
    Look { which: usize, offset: i64, size: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![0..600u64, 4000..4200u64, 1..100_000u64, (1 << 21) - 5000..(1u64 << 21) + 5000];
    let align = (0..17u32).prop_map(|power| 1u64 << power);
    let step = prop_oneof![
        3 => (size, align).prop_map(|(size, align)| Step::Allocate { size, align }),
        2 => any::<usize>().prop_map(|which| Step::Free { which }),
        1 => (any::<usize>(), 1..5000u64).prop_map(|(which, offset)| Step::FreeWrong { which, offset }),
        4 => (any::<usize>(), -300..5000i64, 0..64u64)
            .prop_map(|(which, offset, size)| Step::Look { which, offset, size }),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn behaves_as_a_map_of_ranges(steps in steps()) {
        const DEVICE: u32 = 40;
        let mut model: BTreeMap<u64, u64> = BTreeMap::new();
        for step in steps {
            let chosen = |which: usize| {
                model.iter().nth(which % model.len().max(1)).map(|(&address, &size)| (address, size))
            };
            match step {
                Step::Allocate { size, align } => {
                    let request = Request::new(DEVICE, size, AllocationKind::Device).align(align);
                    let address = space().allocate(&request).expect("memory");
                    prop_assert!(address.is_multiple_of(align.max(256)) && is_device_address(address));
                    let before = model.range(..=address).next_back();
                    prop_assert!(before.is_none_or(|(start, length)| start + length < address));
                    prop_assert!(model.range(address..).next().is_none_or(|(&start, _)| address + size < start));
                    use_all(address, size, size as u8);
                    model.insert(address, size);
                }
                Step::Free { which } => {
                    let Some((address, _)) = chosen(which) else { continue };
                    space().free(address).expect("it is allocated");
                    prop_assert!(space().find(address).is_none());
                    let twice = space().free(address);
                    prop_assert!(matches!(twice, Err(Error::NotAnAllocation { .. })), "freed twice");
                    model.remove(&address);
                }
                Step::FreeWrong { which, offset } => {
                    let Some((address, _)) = chosen(which) else { continue };
                    if !model.contains_key(&(address + offset)) {
                        prop_assert!(space().free(address + offset).is_err());
                    }
                }
                Step::Look { which, offset, size } => {
                    let Some((address, _)) = chosen(which) else { continue };
                    let at = address.wrapping_add_signed(offset);
                    let owner = model.range(..=at).next_back();
                    let owner = owner.filter(|&(&start, &length)| at < start + length || at == start && length == 0);
                    let found = space().find(at);
                    prop_assert_eq!(found.map(|found| (found.address, found.size)), owner.map(|(&a, &s)| (a, s)));
                    let fits = owner.is_some_and(|(&start, &length)| at + size <= start + length);
                    prop_assert_eq!(space().is_allocated(at, size), fits);
                    if size > 0 {
                        prop_assert_eq!(space().check(at, size, true).is_ok(), fits, "{} {}", at, size);
                    }
                    prop_assert!(!space().describe(at).is_empty());
                }
            }
            let pages: u64 = model.values().map(|size| size.next_multiple_of(4096)).sum();
            prop_assert_eq!(space().used(DEVICE), Ok(pages));
        }
        for &address in model.keys() {
            space().free(address).expect("it is allocated");
        }
        prop_assert_eq!(space().used(DEVICE), Ok(0));
    }
}
