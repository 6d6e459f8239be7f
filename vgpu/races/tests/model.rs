//! Random programs beside a model that knows each thread, and asks for each pair of accesses whether one comes
//! before the other: as a graph that is walked.

use std::collections::HashSet;

use gangway_races::{Access, Block, Device, Order, Place, Places, Row};
use proptest::prelude::*;

const BASE: u64 = 1 << 45;
const ALL: u32 = u32::MAX;
const BLOCKS: usize = 2;
const WARPS: usize = 2;
/// Rows go from one line of the shadow into the next.
const FIRST: u64 = 128 - 8;
/// Lanes that do something, of each warp.
const LANES: usize = 2;
const THREADS: usize = BLOCKS * WARPS * LANES;
/// Words of device memory, and those with flags behind them.
const WORDS: u64 = 4;
const FLAGS: u64 = 2;

#[derive(Clone, Copy, Debug)]
enum Step {
    Read(usize, u64),
    Write(usize, u64),
    /// The lanes of a thread's warp wait for each other.
    Warp(usize),
    /// The warps of a thread's block do.
    Block(usize),
    Fence(usize),
    /// Reads and writes a flag.
    Atomic(usize, u64, bool),
    /// Both lanes of a warp access memory, from a word on, at so many words from each other.
    Row(usize, u64, u64, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let thread = 0..THREADS;
    prop_oneof![
        3 => (thread.clone(), 0..WORDS).prop_map(|(thread, word)| Step::Read(thread, word)),
        3 => (thread.clone(), 0..WORDS).prop_map(|(thread, word)| Step::Write(thread, word)),
        1 => thread.clone().prop_map(Step::Warp),
        1 => thread.clone().prop_map(Step::Block),
        1 => thread.clone().prop_map(Step::Fence),
        2 => (thread.clone(), 0..FLAGS, any::<bool>()).prop_map(|(thread, flag, both)| Step::Atomic(thread, flag, both)),
        6 => (thread, 0..WORDS - 1, 0..2u64, any::<bool>())
            .prop_map(|(thread, word, step, write)| Step::Row(thread, word, step, write)),
    ]
}

fn warp_of(thread: usize) -> usize {
    thread / LANES
}

fn block_of(thread: usize) -> usize {
    thread / LANES / WARPS
}

/// The numbers of steps that what is looked for finds to race, in pairs.
fn found(steps: &[Step]) -> HashSet<(usize, usize)> {
    let device = Device::new(BASE);
    let launch = device.launch(BLOCKS as u64, WARPS as u32, false, None).expect("few threads");
    let mut blocks: Vec<Block> = (0..BLOCKS as u64)
        .map(|number| {
            let mut block = Block::default();
            block.start(&launch, number, WARPS, 0);
            block
        })
        .collect();
    let mut generations = [0; BLOCKS];
    for (number, &step) in steps.iter().enumerate() {
        let name = || Place { function: number.to_string(), ..Place::default() };
        let site = device.site(0, number as u64, name);
        let access = |thread: usize, address, write| Access {
            warp: warp_of(thread) % WARPS,
            lane: thread % LANES,
            address: BASE + FIRST + 4 * address,
            size: 4,
            shared: false,
            write,
            strong: false,
            bytes: None,
            site,
        };
        match step {
            Step::Read(thread, word) => blocks[block_of(thread)].access(&access(thread, word, false)),
            Step::Write(thread, word) => blocks[block_of(thread)].access(&access(thread, word, true)),
            Step::Warp(thread) => {
                blocks[block_of(thread)].synchronize(warp_of(thread) % WARPS, ALL, ALL);
            }
            Step::Block(thread) => {
                let number = block_of(thread);
                (0..WARPS).for_each(|warp| blocks[number].arrive(warp, 0, generations[number], ALL));
                (0..WARPS).for_each(|warp| blocks[number].pass(warp, 0, generations[number], ALL));
                generations[number] += 1;
            }
            Step::Row(thread, word, step, write) => blocks[block_of(thread)].row(&Row {
                warp: warp_of(thread) % WARPS,
                lanes: (1 << LANES) - 1,
                places: Places::Steps { first: BASE + FIRST + 4 * word, step: 4 * step as i64 },
                size: 4,
                shared: false,
                write,
                strong: false,
                values: None,
                site,
            }),
            Step::Fence(thread) => blocks[block_of(thread)].fence(warp_of(thread) % WARPS),
            Step::Atomic(thread, flag, both) => {
                let access = Access { strong: true, ..access(thread, WORDS + flag, true) };
                let order = Order { acquire: both, release: both };
                blocks[block_of(thread)].access(&access);
                blocks[block_of(thread)].hand_on(&access, order, true);
            }
        }
    }
    let number = |place: &Place| place.function.parse::<usize>().expect("a number");
    let pair = |earlier, later| (number(earlier), number(later));
    launch.end().iter().map(|finding| pair(&finding.earlier.place, &finding.later.place)).collect()
}

/// Whether a thread takes part in a step.
fn is_in(step: Step, thread: usize) -> bool {
    match step {
        Step::Warp(other) => warp_of(other) == warp_of(thread),
        Step::Block(other) => block_of(other) == block_of(thread),
        Step::Read(other, _) | Step::Write(other, _) | Step::Fence(other) | Step::Atomic(other, ..) => {
            other == thread
        }
        Step::Row(..) => unreachable!("the model has what lanes do"),
    }
}

/// What each lane does, with the number of its step.
fn of_lanes(steps: &[Step]) -> Vec<(usize, Step)> {
    let mut all = Vec::new();
    for (number, &step) in steps.iter().enumerate() {
        match step {
            Step::Row(thread, word, step, write) => all.extend((0..LANES).map(|lane| {
                let (thread, word) = (warp_of(thread) * LANES + lane, word + step * lane as u64);
                (number, if write { Step::Write(thread, word) } else { Step::Read(thread, word) })
            })),
            step => all.push((number, step)),
        }
    }
    all
}

/// What a step accesses, and whether it writes.
fn used(step: Step) -> Option<(u64, bool)> {
    match step {
        Step::Read(_, word) => Some((word, false)),
        Step::Write(_, word) => Some((word, true)),
        _ => None,
    }
}

/// Whether a step hands on to a later one.
fn hands_on(steps: &[Step], from: usize, to: usize) -> bool {
    // One thread takes part in both.
    if (0..THREADS).any(|thread| is_in(steps[from], thread) && is_in(steps[to], thread)) {
        return true;
    }
    // What has been published is read. Fences publish, too, which orders more, and makes no race.
    let (Step::Atomic(one, flag, publishes), Step::Atomic(other, same, learns)) = (steps[from], steps[to])
    else {
        return false;
    };
    flag == same && one != other && publishes && learns
}

/// Pairs of accesses of lanes that nothing orders, of which one writes.
fn races(steps: &[Step]) -> HashSet<(usize, usize)> {
    let count = steps.len();
    let mut before = vec![vec![false; count]; count];
    for to in 0..count {
        for from in (0..to).rev() {
            if !before[from][to] && hands_on(steps, from, to) {
                for (earlier, row) in before.iter_mut().enumerate().take(from + 1) {
                    row[to] |= earlier == from || row[from];
                }
            }
        }
    }
    let mut races = HashSet::new();
    for to in 0..count {
        for from in 0..to {
            if let (Some((word, first)), Some((same, then))) = (used(steps[from]), used(steps[to]))
                && word == same
                && (first || then)
                && !before[from][to]
            {
                races.insert((from, to));
            }
        }
    }
    races
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// Nothing is found that is none: what the model orders is ordered.
    #[test]
    fn what_is_found_is_a_race(steps in prop::collection::vec(step(), 1..40)) {
        let (numbers, all): (Vec<usize>, Vec<Step>) = of_lanes(&steps).into_iter().unzip();
        let races: HashSet<_> = races(&all).iter().map(|&(from, to)| (numbers[from], numbers[to])).collect();
        for pair in found(&steps) {
            prop_assert!(races.contains(&pair), "{pair:?} of {steps:?}");
        }
    }

    /// Without flags and fences, all words that have a race have one that is found.
    #[test]
    fn a_word_with_a_race_has_one_that_is_found(steps in prop::collection::vec(step(), 1..40)) {
        let quiet = |step: &Step| !matches!(step, Step::Fence(_) | Step::Atomic(..));
        let steps: Vec<Step> = steps.into_iter().filter(quiet).collect();
        let (numbers, all): (Vec<usize>, Vec<Step>) = of_lanes(&steps).into_iter().unzip();
        let found = found(&steps);
        let races = races(&all);
        for wanted in 0..WORDS {
            // A word that few accesses use, of which no other takes the place.
            let uses = all.iter().filter(|&&step| used(step).is_some_and(|(word, _)| word == wanted)).count();
            let of_word = |&&(_, to): &&(usize, usize)| used(all[to]).is_some_and(|(word, _)| word == wanted);
            let is_found = |&(from, to): &(usize, usize)| {
                let (from, to) = (numbers[from], numbers[to]);
                found.contains(&(from, to)) || found.contains(&(to, from))
            };
            let raced: Vec<_> = races.iter().filter(of_word).collect();
            prop_assert!(
                uses > 3 || raced.is_empty() || raced.into_iter().any(is_found),
                "word {wanted} of {steps:?}"
            );
        }
    }
}
