//! What reaches the kernel: every parameter, of constructs that have more list
//! items than parameters, around the number of slots that a session has itself.

mod support;

use gangway_runtime::MapKind;
use support::construct::{Access, ListItem, World};
use support::device::Options;

const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

/// Each parameter of a test's kernel takes two slots: address and extent.
const SLOTS_OF_A_PARAMETER: usize = 2;

/// Some items are parameters, wherever they stand among the others. An earlier
/// region has left its arguments behind.
#[test]
fn kernels_get_their_own_arguments() {
    for options in Options::ALL {
        let (world, mock) = World::mock(options);
        let others = [[0u8; 8]; 40];
        let earlier: Vec<_> =
            others.iter().map(|other| section(other, BOTH).parameter(Access::Increment)).collect();
        let mut rounds = 0;
        for requested in [2usize, 30, 31, 32, 33, 34, 40, 64, 200] {
            for slots in [2, 30, 32, 34, 64] {
                let parameters = slots / SLOTS_OF_A_PARAMETER;
                let Some(items) = requested.checked_sub(parameters).filter(|&items| items >= parameters)
                else {
                    continue;
                };
                world.launch(&earlier).unwrap();
                rounds += 1;
                let memory = vec![[1u8; 16]; items];
                let list: Vec<_> = memory
                    .iter()
                    .enumerate()
                    .map(|(number, array)| {
                        let item = section(array, BOTH);
                        let parameter = number * parameters / items != (number + 1) * parameters / items;
                        if parameter { item.parameter(Access::Increment) } else { item }
                    })
                    .collect();
                world.launch(&list).unwrap();
                for (item, array) in list.iter().zip(&memory) {
                    let expected = if item.kind.has(MapKind::PARAMETER) { 2 } else { 1 };
                    assert_eq!(*array, [expected; 16], "{options:?}: {slots} of {requested} slots");
                }
            }
        }
        assert!(others.as_flattened().iter().all(|&byte| byte == rounds), "{options:?}");
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
}

/// One structure of which many members are mapped singly: one parameter.
#[test]
fn many_members_of_one_structure() {
    for options in Options::ALL {
        for members in [30usize, 31, 32, 33, 40, 300] {
            let (world, mock) = World::mock(options);
            let others = [[0u8; 8]; 4];
            let earlier: Vec<_> =
                others.iter().map(|other| section(other, BOTH).parameter(Access::Increment)).collect();
            world.launch(&earlier).unwrap();
            let structure = vec![5u8; members * 4];
            let mut items = vec![section(&structure, MapKind::ALLOC).parameter(Access::Increment)];
            items.extend(structure.chunks(4).map(|member| section(member, BOTH.member_of(0))));
            world.launch(&items).unwrap();
            assert!(structure.iter().all(|&byte| byte == 6), "{options:?}: {members} members");
            mock.assert_all_freed();
        }
    }
}
