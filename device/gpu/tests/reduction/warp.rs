//! One warp: every number of lanes from 0 on, every set of 8 lanes, and random ones of 32.

use std::cell::RefCell;
use std::ffi::c_void;

use gangway_gpu::reduction::callbacks::Reduction;
use gangway_gpu::reduction::warp;

use crate::simulation::{BYTES, Launch, Random, Value, copy, shuffle};

/// The values of a test, one per lane, with sums that show the order of additions.
fn values() -> Vec<Value> {
    (0..32).map(|lane| Value::of(lane, 1.0 + 1e-4 * (lane * lane) as f32)).collect()
}

/// Runs `body` in the given lanes, and returns who claims the result and all values after it.
fn run<F>(lanes: &[u32], body: F) -> (Vec<u32>, Vec<Value>)
where
    F: Fn(&Reduction, u32) -> bool + Copy + 'static,
{
    let mut values = values();
    let list = values.as_mut_ptr() as usize;
    let launch = Launch { blocks: 1, resident: 1, lanes, random: Random(88172645463325252) };
    let claims = launch.run(move |_, thread| {
        let list = (list as *mut Value).wrapping_add(thread as usize).cast();
        body(&Reduction { list, bytes: BYTES, shuffle, copy }, thread)
    });
    let claims = lanes.iter().zip(&claims[0]).filter(|(_, claim)| **claim).map(|(lane, _)| *lane);
    (claims.collect(), values)
}

#[test]
fn a_full_warp_is_halved() {
    let lanes: Vec<u32> = (0..32).collect();
    let (_, after) = run(&lanes, |reduction, _| {
        // SAFETY: the list and the functions belong together; all lanes call.
        unsafe { warp::full(reduction) };
        false
    });
    let mut tree: Vec<f32> = values().iter().map(|value| value.sum).collect();
    while tree.len() > 1 {
        let half = tree.split_off(tree.len() / 2);
        tree.iter_mut().zip(half).for_each(|(mine, other)| *mine += other);
    }
    assert_eq!(after[0].members[0], 0xffff_ffff);
    assert_eq!(after[0].sum.to_bits(), tree[0].to_bits());
}

#[test]
fn any_number_of_lanes_from_the_first_on() {
    for size in 1..=32u32 {
        let lanes: Vec<u32> = (0..size).collect();
        let (_, after) = run(&lanes, move |reduction, lane| {
            // SAFETY: as above.
            unsafe { warp::contiguous(reduction, lane, size) };
            false
        });
        let mut tree: Vec<f32> = values()[..size as usize].iter().map(|value| value.sum).collect();
        while tree.len() > 1 {
            let half = tree.len() / 2;
            for lane in 0..half {
                tree[lane] += tree[lane + half];
            }
            if tree.len() % 2 == 1 {
                tree[half] = tree[2 * half];
            }
            tree.truncate(tree.len().div_ceil(2));
        }
        assert_eq!(after[0].members[0], (1u64 << size) - 1, "{size} lanes");
        assert_eq!(after[0].sum.to_bits(), tree[0].to_bits(), "{size} lanes");
    }
}

#[test]
fn further_lanes_do_no_harm() {
    for size in 0..=32u32 {
        let lanes: Vec<u32> = (0..32).collect();
        let (_, after) = run(&lanes, move |reduction, lane| {
            // SAFETY: as above.
            unsafe { warp::contiguous(reduction, lane, size) };
            false
        });
        let members = (1u64 << size.max(1)) - 1;
        assert_eq!(after[0].members[0], members, "{size} lanes");
    }
}

thread_local! {
    static VERSIONS: RefCell<Vec<(i16, i16)>> = const { RefCell::new(Vec::new()) };
}

/// As `shuffle`, and notes what lane 0 is asked for.
unsafe extern "C" fn noting(list: *mut c_void, lane: i16, offset: i16, version: i16) {
    if lane == 0 {
        VERSIONS.with_borrow_mut(|versions| versions.push((offset, version)));
    }
    // SAFETY: the caller's promise.
    unsafe { shuffle(list, lane, offset, version) }
}

/// Lanes take different ways only where a list has to move, as their number is odd.
#[test]
fn lanes_part_where_their_number_is_odd() {
    for (size, wanted) in
        [(32, &[(16, 0), (8, 0), (4, 0), (2, 0), (1, 0)][..]), (7, &[(3, 1), (2, 0), (1, 0)])]
    {
        VERSIONS.with_borrow_mut(Vec::clear);
        let lanes: Vec<u32> = (0..32).collect();
        let (_, after) = run(&lanes, move |reduction, lane| {
            let reduction = Reduction { shuffle: noting, ..*reduction };
            // SAFETY: as above.
            unsafe { warp::contiguous(&reduction, lane, size) };
            false
        });
        assert_eq!(VERSIONS.with_borrow(Vec::clone), wanted, "{size} lanes");
        assert_eq!(after[0].members[0], (1u64 << size) - 1, "{size} lanes");
    }
}

/// Combines the lanes of `mask`, and compares with the same done in a list of lanes.
fn check_dispersed(mask: u32) {
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    let (claims, after) = run(&lanes, move |reduction, lane| {
        // SAFETY: as above.
        unsafe { warp::dispersed(reduction, lane, mask) }
    });
    let mut tree: Vec<f32> = values().iter().map(|value| value.sum).collect();
    tree = lanes.iter().map(|&lane| tree[lane as usize]).collect();
    while tree.len() > 1 {
        tree = tree.chunks(2).map(|pair| pair.iter().copied().reduce(|a, b| a + b).unwrap()).collect();
    }
    let first = lanes[0];
    assert_eq!(claims, [first], "mask {mask:#x}");
    assert_eq!(after[first as usize].members[0], u64::from(mask), "mask {mask:#x}");
    assert_eq!(after[first as usize].sum.to_bits(), tree[0].to_bits(), "mask {mask:#x}");
}

#[test]
fn every_set_of_eight_lanes() {
    for mask in 1..256 {
        for place in [0, 5, 24] {
            check_dispersed(mask << place);
        }
    }
}

#[test]
fn random_sets_of_lanes() {
    let mut random = Random(0x9e3779b97f4a7c15);
    for _ in 0..2000 {
        let mask = random.below(1 << 32) as u32;
        if mask != 0 {
            check_dispersed(mask);
        }
    }
    check_dispersed(u32::MAX);
}
