//! Whether all threads of a launch wait: some at barriers, the others in loops of a device runtime, for locks that those
//! have, or that nobody gives back, or for a team.
//!
//! Who waits in a loop looks at it again and again, so that no look says that it is for ever. But when all workers
//! have found all their warps in such loops for long, none of them is at anything else.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So often is each worker to find all its warps waiting, and for so long.
const LOOKS: u32 = 32;
const LONG: Duration = Duration::from_millis(300);

/// The workers of a launch.
#[derive(Debug, Default)]
pub(crate) struct Standstill(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Those that run blocks.
    active: u32,
    /// Those whose warps all wait, and how often they have looked since the last of these began.
    looks: Vec<(u32, u32)>,
    since: Option<Instant>,
}

impl Standstill {
    fn with<R>(&self, work: impl FnOnce(&mut State) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A worker begins to run blocks.
    pub fn begin(&self) {
        self.with(|state| state.active += 1);
    }

    /// A worker has no blocks any more.
    pub fn end(&self, worker: u32) {
        self.moves(worker);
        self.with(|state| state.active -= 1);
    }

    /// Not all warps of a worker wait.
    pub fn moves(&self, worker: u32) {
        self.with(|state| state.looks.retain(|&(other, _)| other != worker));
    }

    /// All warps of a worker wait. Whether all of the launch do, and have for long; `running` is how many threads of
    /// the process run blocks, as those of other launches may have the locks.
    pub fn stands(&self, worker: u32, running: u32) -> bool {
        self.with(|state| {
            match state.looks.iter_mut().find(|(other, _)| *other == worker) {
                Some((_, looks)) => *looks += 1,
                None => {
                    state.looks.iter_mut().for_each(|(_, looks)| *looks = 0);
                    state.looks.push((worker, 0));
                    state.since = Some(Instant::now());
                }
            }
            let all = state.looks.len() as u32 == state.active && state.active == running;
            let long = state.since.is_some_and(|since| since.elapsed() >= LONG);
            all && long && state.looks.iter().all(|&(_, looks)| looks >= LOOKS)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_workers_have_to_stand_for_long() {
        let standstill = Standstill::default();
        standstill.begin();
        standstill.begin();
        let stand = |worker, running| (0..LOOKS + 1).any(|_| standstill.stands(worker, running));
        assert!(!stand(0, 2) && !stand(1, 2), "not for long");
        std::thread::sleep(LONG);
        assert!(stand(0, 2) && !stand(0, 3), "others run");
        standstill.moves(1);
        assert!(!stand(0, 2));
        standstill.end(1);
        assert!(stand(0, 1));
    }
}
