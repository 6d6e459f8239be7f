//! How many teams and threads a launch of a kernel of clang's gets.
//!
//! What the program asks for is honoured as far as the kernel and the device can. What it
//! leaves open follows the trip count: a thread per iteration while the device has room
//! for more, then as many teams as the device can run at the same time, several times
//! over. Pure arithmetic, called by every launch.

use super::environment::Configuration;
use crate::launch::{Asked, DeviceLimits, Geometry, Wishes};
use gangway_backend::ExecutionMode;

/// Threads of a team that nobody has said anything about, as in LLVM's runtime: kernels
/// without a bound of their own are compiled for so many.
const DEFAULT_THREADS: u32 = 128;

/// Teams of a long loop, at least, as in LLVM's runtime, on a device that needs few waves for them.
const DEFAULT_TEAMS: u32 = 3200;

/// Waves of teams, at most: enough that teams of different length balance. More of them start more
/// teams than they help, and on small devices [`DEFAULT_TEAMS`] are a hundred waves.
const MOST_WAVES: u32 = 4;

/// Bytes of a list of reductions from which on it is long: an array, most often. Each thread has a copy of
/// it in its own memory, sets it up and combines it with others word by word, once in each round of a warp.
const LONG_REDUCTION: u32 = 128;

/// Bytes of private copies that a multiprocessor works on at the same time: about what its cache holds.
const PRIVATE_COPIES: u32 = 128 << 10;

/// So many iterations for each word of a thread's copy make up for what it costs: setting it up twice, and five rounds
/// of an exchange, three accesses and a combination. That is as much as a few dozen iterations of a histogram.
const TRIPS_FOR_A_WORD: u64 = 64;

/// The same where more threads are of use only because multiprocessors end at different times.
const MORE_TRIPS_FOR_A_WORD: u64 = 256;

/// What a kernel wants of its launches, worked out once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelBounds {
    mode: ExecutionMode,
    one_iteration_per_thread: bool,
    /// Threads in a team: at most, and if nobody says anything.
    max_threads: u32,
    preferred_threads: u32,
    /// Teams at most.
    max_teams: u32,
    /// Threads that a team needs besides those that work: the main thread's warp.
    extra_threads: u32,
    warp: u32,
    multiprocessors: u32,
    threads_at_once: u32,
    /// Bytes of what a thread reduces over teams.
    reduction: u32,
}

impl KernelBounds {
    /// The bounds of a kernel whose code can run with `function_threads` threads.
    pub fn new(configuration: &Configuration, function_threads: u32, device: &DeviceLimits) -> Self {
        let bound = |most: u32, wish: u32| if wish == 0 { most } else { most.min(wish) };
        let max_threads = bound(device.threads.min(function_threads.max(1)), configuration.max_threads);
        let generic = configuration.mode == ExecutionMode::Generic;
        let extra_threads = if generic { device.warp } else { 0 };
        let preferred = DEFAULT_THREADS.max(configuration.min_threads) + extra_threads;
        Self {
            mode: configuration.mode,
            one_iteration_per_thread: configuration.one_iteration_per_thread,
            max_threads,
            preferred_threads: preferred.min(max_threads),
            max_teams: bound(device.teams, configuration.max_teams),
            extra_threads,
            warp: device.warp,
            multiprocessors: device.multiprocessors,
            threads_at_once: device.threads_at_once.max(1),
            reduction: configuration.reduction_data_size,
        }
    }

    /// Threads that a team can have.
    pub const fn max_threads(&self) -> u32 {
        self.max_threads
    }

    /// The shape of a launch. `teams_at_once` says how many teams of so many threads the
    /// device runs at the same time; it is asked only if it matters.
    #[inline]
    pub fn geometry(
        &self,
        asked: &Asked,
        wishes: &Wishes,
        teams_at_once: impl FnOnce(u32) -> u32,
    ) -> Geometry {
        if self.mode == ExecutionMode::Bare {
            return Geometry::as_asked(asked);
        }
        let mut threads = self.threads(asked.threads[0], wishes);
        let teams = match asked.teams[0] {
            0 => self.teams(asked, &mut threads, wishes, teams_at_once),
            teams => teams.min(self.max_teams),
        };
        Geometry { teams: [teams, 1, 1], threads: [threads, 1, 1] }
    }

    fn threads(&self, limit: u32, wishes: &Wishes) -> u32 {
        if limit > 0 {
            return limit.saturating_add(self.extra_threads).min(self.max_threads);
        }
        match wishes.thread_limit {
            None => self.preferred_threads,
            Some(limit) => self
                .preferred_threads
                .min(limit.get().saturating_add(self.extra_threads))
                .min(self.max_threads),
        }
    }

    fn teams(
        &self,
        asked: &Asked,
        threads: &mut u32,
        wishes: &Wishes,
        teams_at_once: impl FnOnce(u32) -> u32,
    ) -> u32 {
        let most = wishes.num_teams.map_or(self.max_teams, |teams| teams.get().min(self.max_teams));
        let trips = asked.trip_count;
        if self.one_iteration_per_thread {
            // An upper bound of the user's would leave iterations out.
            return at_most(trips.div_ceil(u64::from(*threads)).max(1), self.max_teams);
        }
        let enough = u64::from(full_waves(teams_at_once(*threads)));
        if trips == 0 {
            return at_most(enough, most);
        }
        let wanted = match self.mode {
            ExecutionMode::Spmd => {
                if asked.threads[0] == 0 && wishes.thread_limit.is_none() {
                    *threads = self.threads_for(trips, *threads, enough, wishes);
                    // A team's part of an array is walked through by one warp after the other: with several of them
                    // each line is fetched as many times, or each warp takes what is between those of the others.
                    if self.runs_a_warp_at_once() && *threads <= DEFAULT_THREADS {
                        *threads = self.warp.min(*threads);
                    }
                }
                let all = trips.div_ceil(u64::from(*threads));
                self.teams_for_reduction(trips, *threads).map_or(all, |most| all.min(most))
            }
            // A team takes one iteration of the outer loop; its threads share an inner one.
            _ => trips,
        };
        let wanted = if wishes.fewer_teams_for_long_loops { wanted.min(enough) } else { wanted };
        at_most(wanted, most)
    }

    const fn reduces_much(&self) -> bool {
        self.reduction >= LONG_REDUCTION
    }

    /// Whether more warps on a multiprocessor only run one after the other: nothing is hidden by them.
    const fn runs_a_warp_at_once(&self) -> bool {
        self.threads_at_once <= self.warp
    }

    /// How many teams of so many threads a loop with a long reduction is worth, at most. More threads than
    /// a multiprocessor's cache has copies for are of use only if they have much to do besides.
    fn teams_for_reduction(&self, trips: u64, threads: u32) -> Option<u64> {
        if !self.reduces_much() {
            return None;
        }
        let (each, trips_for_a_word) = match self.runs_a_warp_at_once() {
            // A team.
            true => (threads, MORE_TRIPS_FOR_A_WORD),
            false => (PRIVATE_COPIES / self.reduction, TRIPS_FOR_A_WORD),
        };
        let everywhere = u64::from(each.max(self.threads_at_once)) * u64::from(self.multiprocessors);
        let worthwhile = trips / (u64::from(self.reduction / 4) * trips_for_a_word);
        Some(everywhere.max(worthwhile).div_ceil(u64::from(threads.max(1))).max(1))
    }

    /// Threads per team such that a loop that is too short to fill `enough` full teams
    /// still reaches many multiprocessors.
    fn threads_for(&self, trips: u64, threads: u32, enough: u64, wishes: &Wishes) -> u32 {
        if trips >= enough * u64::from(threads) {
            return threads;
        }
        let least = wishes.threads_for_short_loops.next_multiple_of(self.warp).min(threads);
        // Whole warps, and a power of two so that teams divide a multiprocessor evenly.
        let each = u32::try_from(trips.div_ceil(enough).next_power_of_two()).unwrap_or(threads);
        each.clamp(least, threads)
    }
}

/// The fewest full waves of teams that are [`DEFAULT_TEAMS`] or more, up to [`MOST_WAVES`]: a last
/// wave that is not full leaves multiprocessors idle.
fn full_waves(at_once: u32) -> u32 {
    let at_once = at_once.max(1);
    at_once.saturating_mul(DEFAULT_TEAMS.div_ceil(at_once).min(MOST_WAVES))
}

fn at_most(wanted: u64, most: u32) -> u32 {
    u32::try_from(wanted).unwrap_or(most).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    const DEVICE: DeviceLimits = DeviceLimits::CARD;
    /// Sixteen teams of 128 threads on each of 132 multiprocessors.
    const AT_ONCE: u32 = 2112;
    const WAVES: u32 = 2 * AT_ONCE;

    fn configuration(mode: ExecutionMode) -> Configuration {
        Configuration { mode, ..Configuration::BARE }
    }

    fn launch(configuration: Configuration, asked: Asked, wishes: Wishes) -> (u32, u32) {
        let bounds = KernelBounds::new(&configuration, 1024, &DEVICE);
        let geometry = bounds.geometry(&asked, &wishes, |_| AT_ONCE);
        assert_eq!((&geometry.teams[1..], &geometry.threads[1..]), (&[1, 1][..], &[1, 1][..]));
        (geometry.teams[0], geometry.threads[0])
    }

    fn asked(teams: u32, threads: u32, trip_count: u64) -> Asked {
        Asked { teams: [teams, 1, 1], threads: [threads, 1, 1], trip_count }
    }

    fn spmd(teams: u32, threads: u32, trips: u64) -> (u32, u32) {
        launch(configuration(ExecutionMode::Spmd), asked(teams, threads, trips), Wishes::default())
    }

    #[test]
    fn clauses_are_honoured_up_to_what_there_is() {
        assert_eq!(spmd(7, 96, 1 << 30), (7, 96));
        assert_eq!(spmd(7, 4096, 1 << 30), (7, 1024));
        assert_eq!(spmd(u32::MAX, 1, 0), (i32::MAX as u32, 1));
        let generic =
            |threads| launch(configuration(ExecutionMode::Generic), asked(3, threads, 0), Wishes::default());
        // The main thread has a warp of its own.
        assert_eq!((generic(64), generic(1024), generic(0)), ((3, 96), (3, 1024), (3, 160)));
    }

    #[test]
    fn short_loops_spread_over_many_small_teams() {
        assert_eq!(spmd(0, 0, 1), (1, 32));
        assert_eq!(spmd(0, 0, 100), (4, 32));
        assert_eq!(spmd(0, 0, 32 * u64::from(WAVES)), (WAVES, 32));
        assert_eq!(spmd(0, 0, 64 * u64::from(WAVES)), (WAVES, 64));
        // With a limit by the user the threads are the user's.
        assert_eq!(spmd(0, 256, 100), (1, 256));
    }

    #[test]
    fn long_loops_fill_whole_waves() {
        assert_eq!(spmd(0, 0, 1 << 40), (WAVES, 128));
        assert_eq!(spmd(0, 0, 0), (WAVES, 128));
        let many = Wishes { fewer_teams_for_long_loops: false, ..Wishes::default() };
        let bounds = KernelBounds::new(&configuration(ExecutionMode::Spmd), 1024, &DEVICE);
        let geometry = bounds.geometry(&asked(0, 0, 1 << 24), &many, |_| AT_ONCE);
        assert_eq!(geometry.teams[0], 1 << 17);
    }

    /// Long lists are combined by few teams, unless their threads have much to do. Teams of cards keep their threads:
    /// programs that have been linked before rely on that for one region in each team.
    #[test]
    fn long_reductions_get_fewer_teams() {
        let kernel =
            |reduction_data_size| Configuration { reduction_data_size, ..configuration(ExecutionMode::Spmd) };
        let open = |bytes, trips| launch(kernel(bytes), asked(0, 0, trips), Wishes::default());
        // Scalars change nothing.
        for bytes in [0, 4, 16, 64] {
            assert_eq!(open(bytes, 1 << 20), spmd(0, 0, 1 << 20), "{bytes}");
        }
        assert_eq!(open(1024, 1 << 20), (132, 128));
        assert_eq!(open(1 << 20, 1 << 20), (132, 128));
        assert_eq!(open(256, 1 << 20), (132 * 4, 128));
        assert_eq!(open(1024, 100), (4, 32));
        assert_eq!(open(1024, 1 << 40), (WAVES, 128));
        // Clauses are the program's.
        let asked_for =
            |teams, threads| launch(kernel(1024), asked(teams, threads, 1 << 20), Wishes::default());
        assert_eq!((asked_for(999, 64), asked_for(0, 64)), ((999, 64), (132 * 2, 64)));
    }

    /// A device of a few multiprocessors is soon full. What more threads cost has to be little of what the loop does.
    #[test]
    fn long_reductions_of_long_loops_get_more_teams() {
        let kernel = Configuration { reduction_data_size: 1024, ..configuration(ExecutionMode::Spmd) };
        let shape = |threads_at_once, asked| {
            let device = DeviceLimits { multiprocessors: 2, threads_at_once, ..DEVICE };
            let bounds = KernelBounds::new(&kernel, 1024, &device);
            let geometry = bounds.geometry(&asked, &Wishes::default(), |_| 32);
            (geometry.teams[0], geometry.threads[0])
        };
        let open = |trips| asked(0, 0, trips);
        let card = [1 << 20, 1 << 22, 1 << 23, 1 << 25].map(|trips| shape(128, open(trips)));
        assert_eq!(card, [(2, 128), (2, 128), (4, 128), (16, 128)]);
        let virtual_gpu = [100, 1 << 20, 1 << 23, 1 << 25].map(|trips| shape(32, open(trips)));
        assert_eq!(virtual_gpu, [(2, 32), (2, 32), (4, 32), (16, 32)]);
        // Clauses are the program's.
        assert_eq!(shape(32, asked(0, 64, 1 << 20)), (2, 64));
        assert_eq!(shape(32, asked(9, 64, 1 << 20)), (9, 64));
    }

    /// Where warps run one after the other, as on the virtual GPU, a team is a warp: it walks through memory in order.
    #[test]
    fn a_team_is_a_warp_where_no_more_run_at_once() {
        let shape = |mode, threads_at_once, asked, wishes| {
            let device = DeviceLimits { multiprocessors: 2, threads_at_once, ..DEVICE };
            let geometry =
                KernelBounds::new(&configuration(mode), 1024, &device).geometry(&asked, &wishes, |_| 16);
            (geometry.teams[0], geometry.threads[0])
        };
        let (spmd, open) = (ExecutionMode::Spmd, Wishes::default());
        let trips = [1, 100, 1 << 10, 1 << 30];
        assert_eq!(
            trips.map(|trips| shape(spmd, 32, asked(0, 0, trips), open)),
            [(1, 32), (4, 32), (32, 32), (64, 32)]
        );
        assert_eq!(shape(spmd, 128, asked(0, 0, 1 << 30), open), (64, 128));
        // What the program or its user has said is kept, and what kernels rely on.
        assert_eq!(shape(spmd, 32, asked(0, 96, 1 << 30), open), (64, 96));
        assert_eq!(shape(spmd, 32, asked(5, 0, 1 << 30), open), (5, 128));
        let wishes = Wishes { thread_limit: NonZeroU32::new(64), ..open };
        assert_eq!(shape(spmd, 32, asked(0, 0, 1 << 30), wishes), (64, 64));
        assert_eq!(shape(ExecutionMode::Generic, 32, asked(0, 0, 1 << 30), open), (64, 160));
        assert_eq!(shape(spmd, 32, asked(0, 0, 0), open), (64, 128));
    }

    /// Devices of a few multiprocessors run teams several times over, and not a hundred times.
    #[test]
    fn small_devices_get_few_waves() {
        let bounds = KernelBounds::new(&configuration(ExecutionMode::Spmd), 1024, &DEVICE);
        let teams = |at_once| {
            let wishes = Wishes::default();
            bounds.geometry(&asked(0, 0, 1 << 24), &wishes, |_| at_once).teams[0]
        };
        assert_eq!([0, 1, 32, 800].map(teams), [4, 4, 128, 3200]);
        assert_eq!([801, 1600, 3200, 5000].map(teams), [3204, 3200, 3200, 5000]);
    }

    #[test]
    fn every_iteration_has_a_thread_where_the_kernel_relies_on_it() {
        let kernel = Configuration { one_iteration_per_thread: true, ..configuration(ExecutionMode::Spmd) };
        let few = Wishes { num_teams: NonZeroU32::new(2), ..Wishes::default() };
        for trips in [0, 1, 128, 129, 1 << 26] {
            let (teams, threads) = launch(kernel, asked(0, 0, trips), few);
            assert!(u64::from(teams) * u64::from(threads) >= trips && teams >= 1, "{trips}");
        }
    }

    #[test]
    fn outer_loops_of_generic_kernels_get_a_team_for_each_iteration() {
        let kernel = configuration(ExecutionMode::Generic);
        assert_eq!(launch(kernel, asked(0, 0, 77), Wishes::default()), (77, 160));
        assert_eq!(launch(kernel, asked(0, 0, 1 << 30), Wishes::default()), (WAVES, 160));
    }

    #[test]
    fn the_environment_bounds_what_no_clause_says() {
        let wishes =
            Wishes { num_teams: NonZeroU32::new(5), thread_limit: NonZeroU32::new(48), ..Wishes::default() };
        let kernel = configuration(ExecutionMode::Spmd);
        assert_eq!(launch(kernel, asked(0, 0, 1 << 30), wishes), (5, 48));
        assert_eq!(launch(kernel, asked(9, 64, 1 << 30), wishes), (9, 64));
        let generic = configuration(ExecutionMode::Generic);
        assert_eq!(launch(generic, asked(0, 0, 1 << 30), wishes), (5, 80));
    }

    #[test]
    fn a_kernel_has_bounds_of_its_own() {
        let kernel = Configuration {
            max_threads: 64,
            max_teams: 10,
            min_threads: 256,
            ..configuration(ExecutionMode::Spmd)
        };
        assert_eq!(launch(kernel, asked(0, 0, 1 << 30), Wishes::default()), (10, 64));
        let larger = Configuration { min_threads: 256, ..configuration(ExecutionMode::Spmd) };
        assert_eq!(launch(larger, asked(0, 0, 1 << 30), Wishes::default()).1, 256);
        let registers = KernelBounds::new(&larger, 192, &DEVICE);
        assert_eq!(registers.max_threads(), 192);
    }

    #[test]
    fn bare_kernels_have_the_shape_that_the_program_says() {
        let bounds = KernelBounds::new(&Configuration::BARE, 1024, &DEVICE);
        let asked = Asked { teams: [4, 3, 2], threads: [8, 4, 2], trip_count: 99 };
        let geometry = bounds.geometry(&asked, &Wishes::default(), |_| unreachable!());
        assert_eq!(geometry, Geometry { teams: [4, 3, 2], threads: [8, 4, 2] });
    }

    /// Whatever is asked, there is something to launch within all bounds.
    #[test]
    fn launches_are_never_empty_nor_too_large() {
        let modes = [ExecutionMode::Generic, ExecutionMode::Spmd, ExecutionMode::GenericSpmd];
        let numbers = [0, 1, 31, 32, 33, 1000, 1 << 20, u32::MAX];
        for mode in modes {
            for (teams, threads) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
                for trips in [0, 1, 31, 4095, 1 << 33, u64::MAX] {
                    let (t, n) = launch(configuration(mode), asked(teams, threads, trips), Wishes::default());
                    assert!((1..=DEVICE.teams).contains(&t), "{mode:?} {teams} {threads} {trips}");
                    assert!((1..=1024).contains(&n), "{mode:?} {teams} {threads} {trips}");
                }
            }
        }
    }
}
