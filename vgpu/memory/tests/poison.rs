//! Memory in check mode. It has a process of its own: the mode is the whole space's.

use gangway_device_memory::{AllocationKind, DeviceHeap, Request};

mod common;
use common::{space, use_all};

const WORD: u32 = 0x7ff4_dead;

fn read(address: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    // SAFETY: the test owns the allocation.
    unsafe { space().read(address, &mut bytes) }.expect("it is allocated");
    bytes
}

#[test]
fn new_memory_is_no_number_to_its_last_byte() {
    space().set_poison(true);
    let heap = DeviceHeap::new(space(), 0, 1 << 20).expect("memory");
    for size in [0, 1, 2, 3, 4, 7, 8, 13, 4096, 5001, (3 << 20) + 5] {
        let expected: Vec<u8> = WORD.to_le_bytes().into_iter().cycle().take(size as usize).collect();
        for kind in [AllocationKind::Device, AllocationKind::Managed, AllocationKind::Pinned] {
            let address = space().allocate(&Request::new(0, size, kind)).expect("memory");
            assert_eq!(read(address, size as usize), expected, "{kind}, {size} bytes");
            space().free(address).expect("it is allocated");
        }
        // Blocks of the heap are used again, with what the one before has written.
        for _ in 0..300 {
            let Some(block) = heap.malloc(size) else {
                assert!(size > 1 << 20);
                break;
            };
            assert_eq!(read(block, size as usize), expected, "malloc, {size} bytes");
            use_all(block, size, 1);
            heap.free(block).expect("it is allocated");
        }
    }
    large_memory_comes_with_its_use();
    the_largest_memory_leaves_mappings_for_others();
    let [low, high] = [WORD & 0xffff, WORD >> 16];
    assert!(
        f32::from_bits(WORD).is_nan() && f64::from_bits(u64::from(WORD) << 32 | u64::from(WORD)).is_nan()
    );
    assert!(low != 0 && high & 0x7c00 == 0x7c00 && high & 0x3ff != 0, "the upper half is one as well");
    // Variables of modules have what their program says, and the rest is zero.
    for kind in [AllocationKind::Module, AllocationKind::Constant] {
        let address = space().allocate(&Request::new(0, 64, kind)).expect("memory");
        assert_eq!(read(address, 64), [0; 64], "{kind}");
        space().free(address).expect("it is allocated");
    }
}

/// What nobody touches takes no memory, and what comes to be there next is zero.
fn large_memory_comes_with_its_use() {
    let size = (80 << 20) + 5;
    let before = resident();
    let address = space().allocate(&Request::new(0, size, AllocationKind::Device)).expect("memory");
    assert!(resident() < before + (16 << 20), "{} of {before}", resident());
    let words = read(address, size as usize);
    let expected = WORD.to_le_bytes().into_iter().cycle();
    assert!(words.iter().copied().eq(expected.take(size as usize)));
    use_all(address, size, 1);
    assert_eq!(read(address, size as usize), vec![1; size as usize], "it can be written");
    space().free(address).expect("it is allocated");
    let after = space().allocate(&Request::new(0, size, AllocationKind::Module)).expect("memory");
    assert!(read(after, size as usize).iter().all(|&byte| byte == 0));
    space().free(after).expect("it is allocated");
}

fn the_largest_memory_leaves_mappings_for_others() {
    let mappings = || std::fs::read_to_string("/proc/self/maps").expect("Linux has it").lines().count();
    let before = mappings();
    let size = 12 << 30;
    let address = space().allocate(&Request::new(0, size, AllocationKind::Device)).expect("memory");
    let added = mappings() - before;
    assert!((512..1100).contains(&added), "{added}");
    for at in [0, size / 2, size - 8] {
        assert_eq!(read(address + at, 8)[..4], WORD.to_le_bytes());
    }
    space().free(address).expect("it is allocated");
    assert!(mappings() < before + 100);
}

/// Bytes of the process that are in memory.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages = pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    4096 * pages.expect("the second number is that of resident pages")
}
