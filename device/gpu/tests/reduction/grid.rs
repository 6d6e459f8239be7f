//! All teams of a launch, with more and with fewer teams than slots, in random order.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use gangway_gpu::reduction::callbacks::{Buffer, Reduction};
use gangway_gpu::reduction::grid::{self, Counters, Place};

use crate::block::tree;
use crate::simulation::{BYTES, Launch, Random, Simulated, Value, copy, shuffle};

/// The slots of the buffer, which hold nothing before a team has written.
unsafe extern "C" fn store(buffer: *mut c_void, slot: i32, list: *mut c_void) {
    // SAFETY: the buffer has that slot, and simulated threads run one at a time.
    unsafe { (*buffer.cast::<Value>().add(slot as usize)).clone_from(&*list.cast::<Value>()) };
}

unsafe extern "C" fn combine_into(buffer: *mut c_void, slot: i32, list: *mut c_void) {
    // SAFETY: as above.
    unsafe { (*buffer.cast::<Value>().add(slot as usize)).combine(&*list.cast::<Value>()) };
}

unsafe extern "C" fn load(buffer: *mut c_void, slot: i32, list: *mut c_void) {
    // SAFETY: as above.
    unsafe { (*list.cast::<Value>()).clone_from(&*buffer.cast::<Value>().add(slot as usize)) };
}

unsafe extern "C" fn combine_from(buffer: *mut c_void, slot: i32, list: *mut c_void) {
    // SAFETY: as above.
    unsafe { (*list.cast::<Value>()).combine(&*buffer.cast::<Value>().add(slot as usize)) };
}

fn term(team: usize) -> f32 {
    1.0 + 1e-4 * (team % 89) as f32
}

/// Runs one launch and returns the sum's bits.
fn launch(teams: usize, threads: u32, slots: u32, resident: usize, seed: u64) -> u32 {
    let text = format!("{teams} teams of {threads} threads, {slots} slots, seed {seed}");
    let mut lists: Vec<Value> = (0..teams * threads as usize)
        // Only thread 0 of a team has its value; the others hold what nobody may count.
        .map(|index| match index % threads as usize {
            0 => Value::of(index / threads as usize, term(index / threads as usize)),
            _ => Value { members: [0; 16], sum: 1e9, poison: false },
        })
        .collect();
    let mut slots_memory = vec![Value::POISON; slots as usize];
    let words = [AtomicU32::new(0), AtomicU32::new(0)];
    let (list, start) = (lists.as_mut_ptr() as usize, slots_memory.as_mut_ptr() as usize);
    let at = &raw const words as usize;
    let lanes: Vec<u32> = (0..threads).collect();
    let random = Random(seed);
    let run = Launch { blocks: teams, resident, lanes: &lanes, random };
    let claims = run.run(move |team, thread| {
        let list = (list as *mut Value).wrapping_add(team * threads as usize + thread as usize);
        let reduction = Reduction { list: list.cast(), bytes: BYTES, shuffle, copy };
        let start = start as *mut c_void;
        let buffer = Buffer { start, slots, store, combine_into, load, combine_from };
        // SAFETY: the words outlive the launch.
        let [done, complete] = unsafe { &*(at as *const [AtomicU32; 2]) };
        let counters = Counters { done, complete };
        let place = Place { thread, threads, team: team as u32, teams: teams as u32 };
        // SAFETY: all threads of all teams call, with what belongs together.
        unsafe { grid::reduce(Simulated, &reduction, &buffer, counters, place) }
    });
    let winners: Vec<usize> = (0..teams).filter(|&team| claims[team].contains(&true)).collect();
    assert_eq!(winners.len(), 1, "{text}");
    assert_eq!(claims[winners[0]].iter().filter(|claim| **claim).count(), 1, "{text}");
    assert!(claims[winners[0]][0], "{text}");
    let result = &lists[winners[0] * threads as usize];
    assert!(!result.poison, "{text}");
    let members: u32 = result.members.iter().map(|word| word.count_ones()).sum();
    assert_eq!(members as usize, teams, "{text}");
    assert_eq!(words[0].load(Ordering::Relaxed), 0, "{text}");
    assert_eq!(words[1].load(Ordering::Relaxed), 0, "{text}");
    assert_eq!(result.sum.to_bits(), expected(teams, threads, slots).to_bits(), "{text}");
    result.sum.to_bits()
}

/// The sum in the order that the numbers of teams, threads and slots imply.
fn expected(teams: usize, threads: u32, slots: u32) -> f32 {
    if teams == 1 {
        return term(0);
    }
    let (slots, threads) = (slots as usize, threads as usize);
    let sum = |terms: Vec<f32>| terms.into_iter().reduce(|a, b| a + b).unwrap();
    let used = teams.min(slots);
    let slot = |slot: usize| sum((slot..teams).step_by(slots).map(term).collect());
    let held = (0..threads.min(used)).map(|t| sum((t..used).step_by(threads).map(slot).collect()));
    tree(&held.collect::<Vec<f32>>())
}

#[test]
fn the_same_bits_in_any_order_of_teams() {
    for (teams, threads, slots) in
        [(1, 64, 8), (2, 1, 8), (7, 33, 8), (40, 128, 64), (100, 32, 64), (300, 1, 64), (65, 7, 64)]
    {
        let bits: Vec<u32> = (1..20).map(|seed| launch(teams, threads, slots, 12, seed * 7919)).collect();
        assert!(bits.windows(2).all(|pair| pair[0] == pair[1]), "{teams} {threads} {slots}");
    }
}

#[test]
fn random_launches() {
    let mut random = Random(0xa0761d6478bd642f);
    for seed in 1..400 {
        let teams = 1 + random.below(200);
        let threads = 1 + random.below(140) as u32;
        let slots = 1 + random.below(100) as u32;
        launch(teams, threads, slots, 1 + random.below(40), seed);
    }
}
