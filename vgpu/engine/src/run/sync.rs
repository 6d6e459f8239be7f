//! What is found of threads that wait for each other, in words.

use std::sync::{Mutex, OnceLock, PoisonError};

use gangway_findings::{Finding, Side, Source};
use gangway_interpreter::Memory;

use super::extent::Extent;
use super::standstill::Standstill;
use crate::abi::LANES;
use crate::fault::Place;
use crate::program::Program;

/// A rule that threads have broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Threads of a block, or of a warp, come to different instructions that must be one.
    Apart,
    /// Threads of a team of OpenMP come to different constructs.
    Team,
    /// They come to the barrier of that number with different counts.
    Counts(u32),
    /// Some reduce there, and others do not.
    Mixed(u32),
    /// Threads come to it again before it is complete.
    Twice(u32),
    /// It is complete without lanes of warps that have come.
    Short(u32),
    /// A barrier for a number of threads that the block cannot have.
    BadCount(u32),
    /// Lanes wait for those of a mask that they are not in.
    NotInMask,
    /// All wait, and nobody can wake them.
    Deadlock,
    /// Threads of the grid have ended that others wait for at its barrier.
    Grid,
}

/// What threads do where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Come,
    Wait,
    WaitFor(u32),
    WaitForAll,
    WaitAtEnd,
    WaitForLanes(u32),
    WaitForGrid,
    WaitForLock,
    WaitForTeam,
    Run,
    Ended,
}

/// Threads that stand at one place.
#[derive(Clone, Debug)]
struct Group {
    doing: Doing,
    place: Place,
    /// The warps that they are of, and which lanes.
    lanes: Vec<(usize, u32)>,
}

/// Where the threads of a block stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups(Vec<Group>);

/// How a kernel of LLVM's begins: with one thread, or with all of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Generic,
    Spmd,
}

/// A launch, as it is told of.
#[derive(Clone, Copy)]
pub(crate) struct Launched<'a> {
    pub program: &'a Program,
    pub kernel: &'a str,
    pub extent: &'a Extent,
}

/// What has been found in a launch.
#[derive(Debug, Default)]
pub(crate) struct Found {
    mode: OnceLock<Option<Mode>>,
    noted: Mutex<Vec<(Rule, Groups, Finding)>>,
    pub standstill: Standstill,
}

/// What names of the variables end with that say how a kernel of LLVM's begins.
const KERNEL_ENVIRONMENT: &str = "_kernel_environment";
/// The variable's byte that says it (LLVM's `ConfigurationEnvironmentTy`).
const EXECUTION_MODE: u64 = 2;
const GENERIC: u8 = 1;
/// The barriers of Gangway's device runtime for teams, `device/gpu/src/synchronize.rs`: of the whole block, and of
/// whole warps of it. Workers wait at the first one, too.
const BLOCK_BARRIER: u32 = 8;
const TEAM_BARRIER: u32 = 1;
/// So many different things are told of a launch.
const MOST: usize = 256;
/// So many ranges of threads are told of a group.
const RANGES: usize = 3;

impl Mode {
    /// That of the launch's kernel, if it is one of LLVM's for OpenMP.
    fn of(Launched { program, kernel, .. }: Launched<'_>) -> Option<Self> {
        let variable = program.global(&format!("{kernel}{KERNEL_ENVIRONMENT}"))?;
        let mut mode = [0];
        program.device().checked().ok()?.read(variable.address + EXECUTION_MODE, &mut mode).ok()?;
        Some(if mode == [GENERIC] { Mode::Generic } else { Mode::Spmd })
    }

    /// Whether threads of a team meet at a barrier of that number, and no others.
    pub fn is_team_barrier(self, barrier: u32, counted: bool) -> bool {
        counted && barrier == TEAM_BARRIER || self == Mode::Spmd && !counted && barrier == BLOCK_BARRIER
    }
}

impl Groups {
    pub fn add(&mut self, doing: Doing, place: Place, warp: usize, lanes: u32) {
        let same = |group: &&mut Group| group.doing == doing && is_same(&group.place, &place);
        match self.0.iter_mut().find(same) {
            Some(group) => group.lanes.push((warp, lanes)),
            None => self.0.push(Group { doing, place, lanes: vec![(warp, lanes)] }),
        }
    }

    /// Whether they are of one warp.
    fn are_of_a_warp(&self) -> bool {
        let mut warps = self.0.iter().flat_map(|group| &group.lanes).map(|&(warp, _)| warp);
        let first = warps.next();
        warps.all(|warp| Some(warp) == first)
    }

    /// Whether others stand at the same places.
    fn stand_as(&self, other: &Self) -> bool {
        let same = |one: &Group, other: &Group| one.doing == other.doing && is_same(&one.place, &other.place);
        let is_in = |group: &Group, others: &Self| others.0.iter().any(|other| same(group, other));
        self.0.iter().all(|group| is_in(group, other)) && other.0.iter().all(|group| is_in(group, self))
    }

    /// Whether others stand at two of these places at least.
    fn share_two(&self, other: &Self) -> bool {
        let is_in = |group: &&Group| other.0.iter().any(|other| is_same(&group.place, &other.place));
        self.0.iter().filter(is_in).count() >= 2
    }

    /// Those who wait come last, and of them the fewest: they are mostly those that should not be there.
    fn sorted(mut self) -> Self {
        let count = |group: &Group| group.lanes.iter().map(|(_, lanes)| lanes.count_ones()).sum::<u32>();
        let waits = |group: &Group| !matches!(group.doing, Doing::Ended | Doing::Run);
        let first =
            |group: &Group| group.lanes.iter().map(|&(warp, lanes)| (warp, lanes.trailing_zeros())).min();
        self.0.sort_by_key(|group| (waits(group), u32::MAX - count(group), first(group)));
        self
    }
}

fn is_same(one: &Place, other: &Place) -> bool {
    (&one.function, &one.instruction, &one.source) == (&other.function, &other.instruction, &other.source)
}

impl Found {
    pub fn mode(&self, launched: Launched<'_>) -> Option<Mode> {
        *self.mode.get_or_init(|| Mode::of(launched))
    }

    /// Whether a kernel may have teams of OpenMP.
    fn has_teams(&self, launched: Launched<'_>) -> bool {
        self.mode(launched).is_some() || launched.program.module().function("GOMP_barrier").is_some()
    }

    /// A rule has been broken in a block.
    pub fn note(&self, launched: Launched<'_>, rule: Rule, block: [u32; 3], groups: Groups) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        // Where teams have come out of step, they meet in many ways.
        let same = |known: &Groups| known.stand_as(&groups) || rule == Rule::Team && known.share_two(&groups);
        let known = noted.iter_mut().find(|(other, known, _)| *other == rule && same(known));
        if let Some((.., finding)) = known {
            finding.count += 1;
        } else if noted.len() < MOST {
            let finding = told(launched, self.has_teams(launched), rule, block, &groups.clone().sorted());
            noted.push((rule, groups, finding));
        }
    }

    /// All that has been found.
    pub fn take(&self) -> Vec<Finding> {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.drain(..).map(|(.., finding)| finding).collect()
    }
}

/// What OpenMP has of barriers.
const OF_TEAMS: &str = "help: a `barrier`, as the end of a worksharing construct, is for all threads of a team or for \
     none: it stands in no worksharing loop, `single`, `masked` or `critical`, and nowhere where only some threads come \
     (OpenMP 5.2 sections 15.3.1 and 17.1)";

fn told(
    launched: Launched<'_>,
    has_teams: bool,
    rule: Rule,
    [x, y, z]: [u32; 3],
    groups: &Groups,
) -> Finding {
    let block = format!("block ({x}, {y}, {z})");
    let who = if groups.are_of_a_warp() { "lanes of a warp" } else { "threads" };
    let message = match rule {
        Rule::Apart => format!("{who} of {block} come to different barriers"),
        Rule::Team => format!("threads of a team, {block}, come to different barriers"),
        Rule::Counts(barrier) => format!("{who} of {block} come to barrier {barrier} with different counts"),
        Rule::Mixed(barrier) => {
            format!("some {who} of {block} reduce at barrier {barrier}, others only come to it")
        }
        Rule::Twice(barrier) => {
            format!("{who} of {block} come to barrier {barrier} again before all others have come")
        }
        Rule::Short(barrier) => {
            format!("barrier {barrier} of {block} is complete without all lanes of the warps that come")
        }
        Rule::BadCount(count) => {
            format!("a barrier is for {count} threads, which {block} cannot have in whole warps")
        }
        Rule::NotInMask => format!("a lane of {block} is not in the mask of those that it waits for"),
        Rule::Deadlock => format!("{who} of {block} wait for each other for ever"),
        Rule::Grid => "threads of the grid have ended that others wait for at its barrier".to_owned(),
    };
    let note = match rule {
        Rule::Team => OF_TEAMS,
        Rule::Apart | Rule::Deadlock | Rule::BadCount(_) if has_teams => OF_TEAMS,
        Rule::Apart => {
            "help: all threads of a block that have not ended come to one and the same `__syncthreads()`, which is an \
             aligned barrier (PTX ISA 9.0 section 9.7.13.1)"
        }
        Rule::Counts(_) => {
            "help: all that meet at a barrier name the same number of threads (PTX ISA 9.0 section 9.7.13.1)"
        }
        Rule::Mixed(_) => {
            "help: `barrier.red` does not meet `barrier.sync` and `barrier.arrive` (PTX ISA 9.0 section 9.7.13.1)"
        }
        Rule::Twice(_) => {
            "help: behind a `barrier.arrive`, a warp comes to that barrier again when it has been complete (PTX ISA \
             9.0 section 9.7.13.1)"
        }
        Rule::Short(_) => {
            "help: a count is of whole warps, whose lanes all come (PTX ISA 9.0 section 9.7.13.1)"
        }
        Rule::BadCount(_) => "help: a count is a multiple of 32 (PTX ISA 9.0 section 9.7.13.1)",
        Rule::NotInMask => {
            "help: who calls a `.sync` instruction is in its mask (PTX ISA 9.0 section 9.7.13.2)"
        }
        Rule::Deadlock => {
            "help: a barrier waits for all threads of its block that have not ended, or for as many as it says; an \
             instruction with a mask for all lanes of the mask that have not ended, at one of the same form and mask"
        }
        Rule::Grid => {
            "help: all threads of the grid come to its barrier; those that have nothing to do wait, too"
        }
    };
    let sides = groups.0.iter().map(|group| side(group, launched.extent)).collect();
    let (check, kernel) = ("sync".to_owned(), launched.kernel.to_owned());
    Finding { check, message, kernel, sides, notes: vec![note.to_owned()], count: 1 }
}

fn side(group: &Group, extent: &Extent) -> Side {
    let Group { doing, place, lanes } = group;
    let (threads, one) = threads(lanes, extent);
    let s = if one { "s" } else { "" };
    let does = match doing {
        Doing::Come => format!("come{s}"),
        Doing::Wait => format!("wait{s}"),
        Doing::WaitFor(count) => format!("wait{s} for {count} threads"),
        Doing::WaitForAll => format!("wait{s} for all threads"),
        Doing::WaitAtEnd => format!("wait{s} at the end of the region"),
        Doing::WaitForLanes(mask) => format!("wait{s} for the lanes {mask:#010x}"),
        Doing::WaitForGrid => format!("wait{s} for the grid"),
        Doing::WaitForLock => format!("wait{s} for a lock"),
        Doing::WaitForTeam => format!("wait{s} for the team"),
        Doing::Run => format!("run{s}"),
        Doing::Ended => format!("{} ended", if one { "has" } else { "have" }),
    };
    let source = place.source.clone().filter(|(_, line, _)| *line != 0);
    Side {
        label: String::new(),
        what: format!("{threads} {does}"),
        function: place.function.clone().unwrap_or_default(),
        instruction: place.instruction.clone().unwrap_or_default(),
        source: source.map(Source::from),
    }
}

/// Threads of a block in words, and whether it is one.
fn threads(lanes: &[(usize, u32)], extent: &Extent) -> (String, bool) {
    let number = |warp: usize, lane: usize| (warp * LANES + lane) as u32;
    let all = |&(warp, lanes): &(usize, u32)| {
        (0..LANES).filter(move |lane| lanes >> lane & 1 != 0).map(move |lane| number(warp, lane))
    };
    let mut numbers: Vec<u32> =
        lanes.iter().flat_map(all).filter(|&thread| thread < extent.threads).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &thread in &numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == thread => *last = thread,
            _ => ranges.push((thread, thread)),
        }
    }
    let is_row = extent.block[1] == 1 && extent.block[2] == 1;
    let word = |&(first, last): &(u32, u32)| {
        let ([x, y, z], [to, upper, back]) = (extent.thread(first), extent.thread(last));
        match (first == last, is_row) {
            (true, _) => format!("({x}, {y}, {z})"),
            (false, true) => format!("({x}..{to}, {y}, {z})"),
            (false, false) => format!("({x}, {y}, {z}) to ({to}, {upper}, {back})"),
        }
    };
    let shown: Vec<String> = ranges.iter().take(RANGES).map(word).collect();
    let left: u32 = ranges.iter().skip(RANGES).map(|(first, last)| last - first + 1).sum();
    let one = numbers.len() == 1;
    let rest = if left > 0 { format!(" and {left} others") } else { String::new() };
    (format!("thread{} {}{rest}", if one { "" } else { "s" }, shown.join(", ")), one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_told_by_ranges() {
        let row = Extent::new([1, 1, 1], [96, 1, 1]);
        let told = |lanes: &[(usize, u32)], extent| threads(lanes, extent).0;
        assert_eq!(told(&[(0, u32::MAX), (1, 1)], &row), "threads (0..32, 0, 0)");
        assert_eq!(told(&[(1, 2)], &row), "thread (33, 0, 0)");
        assert_eq!(told(&[(0, 0x5555)], &row), "threads (0, 0, 0), (2, 0, 0), (4, 0, 0) and 5 others");
        let plane = Extent::new([1, 1, 1], [8, 2, 1]);
        assert_eq!(told(&[(0, u32::MAX)], &plane), "threads (0, 0, 0) to (7, 1, 0)");
    }

    #[test]
    fn teams_meet_at_barriers_of_their_own() {
        assert!(Mode::Spmd.is_team_barrier(8, false) && Mode::Spmd.is_team_barrier(1, true));
        assert!(!Mode::Generic.is_team_barrier(8, false) && Mode::Generic.is_team_barrier(1, true));
        assert!(!Mode::Spmd.is_team_barrier(0, false));
    }
}
