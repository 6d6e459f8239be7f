//! Random programs beside a model that knows each thread, and asks for each pair of accesses whether one comes
//! before the other: as a graph that is walked.

use std::collections::HashSet;

use gangway_races::{Access, Block, Device, Order, Pattern, Place, Places, Row};
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
    /// For the block alone, or for all.
    Fence(usize, bool),
    /// Reads and writes a flag: with an order, and for the block alone.
    Atomic(usize, u64, bool, bool),
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
        2 => (thread.clone(), any::<bool>()).prop_map(|(thread, narrow)| Step::Fence(thread, narrow)),
        3 => (thread.clone(), 0..FLAGS, any::<bool>(), any::<bool>())
            .prop_map(|(thread, flag, both, narrow)| Step::Atomic(thread, flag, both, narrow)),
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
            narrow: false,
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
                narrow: false,
                values: None,
                site,
            }),
            Step::Fence(thread, narrow) => blocks[block_of(thread)].fence(warp_of(thread) % WARPS, narrow),
            Step::Atomic(thread, flag, both, narrow) => {
                let access = Access { strong: true, narrow, ..access(thread, WORDS + flag, true) };
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
        Step::Read(other, _) | Step::Write(other, _) | Step::Fence(other, _) | Step::Atomic(other, ..) => {
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

/// A word, the block and the lane that use it, and whether they write it.
type Used = (u64, (u64, u32), bool);

/// The block of a strong access, and whether its scope is that block.
type Scoped = (usize, bool);

/// What a step accesses, whether it writes, and of what block and scope it is if it is strong.
fn used(step: Step) -> Option<(u64, bool, Option<Scoped>)> {
    match step {
        Step::Read(_, word) => Some((word, false, None)),
        Step::Write(_, word) => Some((word, true, None)),
        Step::Atomic(thread, flag, _, narrow) => Some((WORDS + flag, true, Some((block_of(thread), narrow)))),
        _ => None,
    }
}

/// Whether two operations, of blocks and scopes, are strong towards each other.
fn reach((block, narrow): Scoped, (other, same): Scoped) -> bool {
    block == other || !narrow && !same
}

/// Whether what is written by one of the atomic operations on a flag is observed by a later one: all between
/// have to go on with it.
fn observes(steps: &[Step], from: usize, to: usize, flag: u64) -> bool {
    let mut last = None;
    (from..=to).all(|step| match steps[step] {
        Step::Atomic(thread, same, _, narrow) if same == flag => {
            let own = (block_of(thread), narrow);
            last.replace(own).is_none_or(|last| reach(last, own))
        }
        _ => true,
    })
}

/// Whether a step hands on to a later one.
fn hands_on(steps: &[Step], from: usize, to: usize) -> bool {
    // One thread takes part in both.
    if (0..THREADS).any(|thread| is_in(steps[from], thread) && is_in(steps[to], thread)) {
        return true;
    }
    // What has been published is read: from and to are the fences, or the operations if they have an order.
    let flags_of =
        |step: usize, others: &mut dyn Iterator<Item = usize>| -> Vec<(usize, u64, (usize, bool))> {
            match steps[step] {
                Step::Atomic(thread, flag, true, narrow) => vec![(step, flag, (block_of(thread), narrow))],
                Step::Fence(thread, narrow) => others
                    .filter_map(|other| match steps[other] {
                        Step::Atomic(same, flag, ..) if same == thread => {
                            Some((other, flag, (block_of(thread), narrow)))
                        }
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            }
        };
    let published = flags_of(from, &mut (from + 1..to));
    let learned = flags_of(to, &mut (from + 1..to));
    published.iter().any(|&(write, flag, release)| {
        learned.iter().any(|&(read, same, acquire)| {
            flag == same && write < read && reach(release, acquire) && observes(steps, write, read, flag)
        })
    })
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
            if let (Some((word, first, strong)), Some((same, then, too))) =
                (used(steps[from]), used(steps[to]))
                && word == same
                && (first || then)
                && !strong.zip(too).is_some_and(|(one, other)| reach(one, other))
                && !before[from][to]
            {
                races.insert((from, to));
            }
        }
    }
    races
}

/// A word with a race of which none was found, and that so few accesses use that no other takes their place.
fn missed(steps: &[Step]) -> Option<u64> {
    let (numbers, all): (Vec<usize>, Vec<Step>) = of_lanes(steps).into_iter().unzip();
    let found = found(steps);
    let races = races(&all);
    (0..WORDS + FLAGS).find(|&wanted| {
        let is_wanted = |step: Step| used(step).is_some_and(|(word, ..)| word == wanted);
        let uses = all.iter().filter(|&&step| is_wanted(step)).count();
        let is_found = |&(from, to): &(usize, usize)| {
            let (from, to) = (numbers[from], numbers[to]);
            found.contains(&(from, to)) || found.contains(&(to, from))
        };
        let raced: Vec<_> = races.iter().filter(|&&(_, to)| is_wanted(all[to])).collect();
        // Of atomic operations the last one alone is kept.
        let most = if wanted < WORDS { 3 } else { 2 };
        uses <= most && !raced.is_empty() && !raced.into_iter().any(is_found)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    /// However lanes' places lie, none is forgotten and no other is looked at.
    #[test]
    fn each_lane_of_a_row_is_looked_at(
        rows in prop::array::uniform2((prop::array::uniform32(0..300u64), any::<u32>(), any::<bool>())),
        line_by_line in any::<bool>(),
    ) {
        let device = Device::new(BASE);
        let launch = device.launch(2, 1, false, None).expect("few threads");
        let mut used = Vec::new();
        for ((words, lanes, write), number) in rows.iter().zip(0..) {
            let (lanes, write) = (lanes | 1, *write);
            // Those of some rows stay in a few lines.
            let words = words.map(|word| if line_by_line { word % 40 } else { word });
            let mut block = Block::default();
            block.start(&launch, number, 1, 0);
            let places = words.map(|word| BASE + 4 * word);
            let mut pattern = Pattern::default();
            pattern.fit(lanes, &places);
            let (size, shared, strong, narrow, values, site) = (4, false, false, false, None, 0);
            let places = Places::Alike(&places, &pattern);
            block.row(&Row { warp: 0, lanes, places, size, shared, write, strong, narrow, values, site });
            let of_lanes = words.iter().zip(0..).filter(|(_, lane)| lanes >> lane & 1 != 0);
            used.extend(of_lanes.map(|(&word, lane)| (word, (number, lane), write)));
        }
        let races = |(one, other): (&Used, &Used)| {
            one.0 == other.0 && one.1 < other.1 && (one.2 || other.2)
        };
        let mut pairs = used.iter().flat_map(|one| used.iter().map(move |other| (one, other)));
        prop_assert_eq!(!launch.end().is_empty(), pairs.any(races));
    }

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
        let quiet = |step: &Step| !matches!(step, Step::Fence(..) | Step::Atomic(..));
        let steps: Vec<Step> = steps.into_iter().filter(quiet).collect();
        prop_assert_eq!(missed(&steps), None, "of {:?}", steps);
    }

    /// The same with flags and fences, where a warp has one lane and learns at fences alone: knowledge is kept
    /// for warps, and a barrier makes known what has been read before.
    #[test]
    fn a_scope_that_is_too_narrow_is_found(steps in prop::collection::vec(step(), 1..40)) {
        let alone = |step: Step| match step {
            Step::Read(thread, word) => Some(Step::Read(thread / LANES * LANES, word)),
            Step::Write(thread, word) => Some(Step::Write(thread / LANES * LANES, word)),
            Step::Fence(thread, narrow) => Some(Step::Fence(thread / LANES * LANES, narrow)),
            Step::Atomic(thread, flag, both, narrow) => {
                Some(Step::Atomic(thread / LANES * LANES, flag, both, narrow))
            }
            Step::Warp(_) | Step::Block(_) | Step::Row(..) => None,
        };
        let steps: Vec<Step> = steps.into_iter().filter_map(alone).collect();
        prop_assert_eq!(missed(&steps), None, "of {:?}", steps);
    }
}
