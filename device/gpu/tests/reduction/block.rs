//! One block: every number of threads from 1 to 1024.

use gangway_gpu::reduction::block;
use gangway_gpu::reduction::callbacks::Reduction;

use crate::simulation::{BYTES, Launch, Random, Value, copy, shuffle};

/// The sum of `values` in the order of a block, as loops over lists.
pub fn tree(values: &[f32]) -> f32 {
    let warps: Vec<f32> = values.chunks(32).map(contiguous).collect();
    contiguous(&warps)
}

/// The order of a warp; for 32 values it is that of a full one.
fn contiguous(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let half = values.len() / 2;
        for lane in 0..half {
            values[lane] += values[lane + half];
        }
        values.drain(half..2 * half);
    }
    values[0]
}

/// Reduces over a team of `threads` threads, as for variables of so many bytes.
fn check(threads: u32, bytes: u64) {
    let mut values: Vec<Value> =
        (0..threads).map(|thread| Value::of(thread as usize, 1.0 + 1e-5 * (thread % 97) as f32)).collect();
    let sums: Vec<f32> = values.iter().map(|value| value.sum).collect();
    let list = values.as_mut_ptr() as usize;
    let lanes: Vec<u32> = (0..threads).collect();
    let random = Random(u64::from(threads) << 32 | 0x2545f491);
    let launch = Launch { blocks: 1, resident: 1, lanes: &lanes, random };
    let claims = launch.run(move |_, thread| {
        let list = (list as *mut Value).wrapping_add(thread as usize).cast();
        // SAFETY: the list and the functions belong together; all threads call.
        unsafe { block::reduce(&Reduction { list, bytes, shuffle, copy }, thread, threads) }
    });
    let text = format!("{threads} threads, {bytes} bytes");
    assert!(claims[0].iter().enumerate().all(|(thread, claim)| *claim == (thread == 0)), "{text}");
    let members: u32 = values[0].members.iter().map(|word| word.count_ones()).sum();
    assert_eq!(members, threads, "{text}");
    assert!(!values[0].poison, "{text}");
    let last = (threads - 1) as usize;
    assert_eq!(values[0].members[last / 64] >> (last % 64), 1, "{text}");
    assert_eq!(values[0].sum.to_bits(), tree(&sums).to_bits(), "{text}");
}

#[test]
fn every_number_of_threads() {
    for threads in 1..=1024 {
        check(threads, BYTES);
        check(threads, 4096);
    }
}
