//! Who computes: the mode of a piece of code, and who has to wait for whom where modes change.
//!
//! In gang-redundant, worker-single and vector-single mode one thread computes for those that the code is
//! not partitioned over yet (OpenACC 3.3 section 1.2): lane 0 of worker 0, or of each worker. The others
//! go along and wait.

use super::nest::Levels;

/// How many workers a gang has and lanes a worker, where that is known when the code is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub workers: Option<u64>,
    pub lanes: Option<u64>,
    /// Nobody has said how many workers: where the program runs there may be fewer than `workers`.
    pub open: bool,
}

/// Lanes that act together without a barrier of the block.
pub const WARP: u64 = 32;
/// The most workers that a gang can have where each has a warp.
pub const WORKERS: u64 = 32;

/// The threads among which one computes for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Each computes for itself.
    Thread,
    /// The lanes of one warp.
    Warp,
    /// The lanes of a worker, in several warps.
    Worker,
    Gang,
}

/// What has been computed since the threads of a scope have last waited for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Since {
    Nothing,
    /// By the thread that computes for all.
    One,
    /// By all of them.
    All,
}

impl Sizes {
    pub const ONE: Self = Self { workers: Some(1), lanes: Some(1), open: false };

    /// How many workers there are, where it is known for certain.
    pub const fn known_workers(self) -> Option<u64> {
        if self.open { None } else { self.workers }
    }

    /// The threads for which one computes in a mode.
    pub const fn scope(self, mode: Levels) -> Scope {
        let lanes = match self.lanes {
            _ if mode.has(Levels::VECTOR) => Scope::Thread,
            Some(1) => Scope::Thread,
            Some(2..=WARP) => Scope::Warp,
            _ => Scope::Worker,
        };
        if mode.has(Levels::WORKER) || matches!(self.workers, Some(1)) {
            return match lanes {
                Scope::Worker if matches!(self.workers, Some(1)) => Scope::Gang,
                lanes => lanes,
            };
        }
        // Lanes of all workers are partitioned, and workers are not: worker 0 is alone then.
        Scope::Gang
    }

    /// The condition under which a thread is the one that computes; nothing if all do.
    pub fn one(self, mode: Levels) -> Option<&'static str> {
        let worker = !mode.has(Levels::WORKER) && self.workers != Some(1);
        let lane = !mode.has(Levels::VECTOR) && self.lanes != Some(1);
        match (worker, lane) {
            (true, true) => Some("__gangway_acc_worker() == 0 && __gangway_acc_lane() == 0"),
            (true, false) => Some("__gangway_acc_worker() == 0"),
            (false, true) => Some("__gangway_acc_lane() == 0"),
            (false, false) => None,
        }
    }
}

impl Scope {
    /// The statement with which its threads wait for each other.
    pub const fn barrier(self) -> &'static str {
        match self {
            Self::Thread => "",
            Self::Warp => "__gangway_acc_warp_barrier();",
            Self::Worker => "__gangway_acc_worker_barrier();",
            Self::Gang => "__gangway_acc_gang_barrier();",
        }
    }
}
