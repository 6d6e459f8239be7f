//! What each of the program's tasks that move data knows, by the moment at which it was made.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;

/// So many tasks are remembered. Who follows an older one counts as one that follows all.
const MOST: usize = 1 << 10;

/// What a task knows.
#[derive(Clone, Debug)]
pub(crate) struct TaskKnown {
    /// What its operations come after, and in the end what it has waited for.
    pub clock: Arc<Clock>,
    /// What the program has done in tasks up to this moment comes before it.
    pub since: u64,
}

static ALL: Mutex<BTreeMap<u64, TaskKnown>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<u64, TaskKnown>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task is made by somebody who knows so much.
pub(crate) fn made(moment: u64, clock: Arc<Clock>) {
    let mut all = all();
    all.insert(moment, TaskKnown { clock, since: moment });
    if all.len() > MOST {
        all.pop_first();
    }
}

/// A task knows this from now on.
pub(crate) fn learns(moment: u64, other: &Clock) {
    if let Some(task) = all().get_mut(&moment) {
        Arc::make_mut(&mut task.clock).join(other);
    }
}

/// What the program has done in tasks up to a moment comes before a task.
pub(crate) fn begins(moment: u64, since: u64) {
    if let Some(task) = all().get_mut(&moment) {
        task.since = since;
    }
}

pub(crate) fn get(moment: u64) -> Option<TaskKnown> {
    all().get(&moment).cloned()
}
