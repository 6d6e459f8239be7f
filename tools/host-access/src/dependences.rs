//! Which of the program's tasks come before which, by what they say that they depend on (OpenMP 5.2 section 15.9.5).
//!
//! Tasks of all parents are taken for siblings: what is ordered too generously hides a race and makes none.

use std::collections::BTreeMap;

/// A task: the moment at which it was made, if it is for a device, or [`OF_PROGRAM`].
pub type Maker = u64;
/// One that runs code of the program.
pub const OF_PROGRAM: Maker = 0;
/// It stands for all tasks that come after one that depends on all memory, or that nobody can keep apart any more.
pub const ALL: Maker = u64::MAX;

/// libomp's `kmp_depend_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Dependence {
    pub address: usize,
    pub length: usize,
    pub flags: u8,
}

/// Flags of [`Dependence`]: a task that only has this one reads.
const IN: u8 = 1;
/// All memory.
const ALL_MEMORY: u8 = 0x80;

/// Addresses, and tasks that read one, that are kept.
const MOST: usize = 1 << 12;

/// The last tasks with each address.
#[derive(Debug, Default)]
pub struct Graph {
    last: BTreeMap<usize, Last>,
    /// Everything comes after something from now on.
    all: bool,
}

#[derive(Debug, Default)]
struct Last {
    writer: Option<Maker>,
    /// Since then.
    readers: Vec<Maker>,
}

impl Graph {
    pub const fn new() -> Self {
        Self { last: BTreeMap::new(), all: false }
    }

    /// A task is handed over: those that it comes after.
    pub fn add(&mut self, task: Maker, dependences: &[Dependence]) -> Vec<Maker> {
        self.all |= dependences.iter().any(is_all_memory) || self.last.len() > MOST;
        if self.all {
            self.last.clear();
        }
        let found = self.before(dependences);
        // Only now: a task may name an address twice.
        for dependence in dependences.iter().filter(|_| !self.all) {
            let last = self.last.entry(dependence.address).or_default();
            if dependence.flags != IN {
                *last = Last { writer: Some(task), readers: Vec::new() };
            } else if last.readers.len() < MOST {
                last.readers.push(task);
            } else {
                last.readers = vec![ALL];
            }
        }
        found
    }

    /// What comes before something that depends on these.
    pub fn before(&self, dependences: &[Dependence]) -> Vec<Maker> {
        if self.all || dependences.iter().any(is_all_memory) {
            return vec![ALL];
        }
        let mut found = Vec::new();
        for dependence in dependences {
            if let Some(last) = self.last.get(&dependence.address) {
                found.extend(last.writer);
                if dependence.flags != IN {
                    found.extend(&last.readers);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn is_all_memory(dependence: &Dependence) -> bool {
    dependence.flags & ALL_MEMORY != 0 || dependence.address == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(address: usize, flags: u8) -> Dependence {
        Dependence { address, length: 8, flags }
    }

    #[test]
    fn who_writes_comes_after_who_reads() {
        let mut graph = Graph::new();
        assert_eq!(graph.add(1, &[on(8, 3)]), []);
        assert_eq!(graph.add(2, &[on(16, 3)]), []);
        assert_eq!(graph.add(3, &[on(8, 1)]), [1]);
        assert_eq!(graph.add(4, &[on(8, 1), on(16, 1)]), [1, 2]);
        assert_eq!(graph.add(5, &[on(8, 2)]), [1, 3, 4]);
        assert_eq!(graph.add(OF_PROGRAM, &[on(8, 1)]), [5]);
        assert_eq!(graph.add(6, &[on(8, 1), on(8, 2)]), [OF_PROGRAM, 5]);
        assert_eq!(graph.add(7, &[on(8, 1)]), [6]);
    }

    #[test]
    fn all_memory_is_before_and_behind_all() {
        let mut graph = Graph::new();
        graph.add(1, &[on(8, 3)]);
        assert_eq!(graph.add(2, &[on(0, ALL_MEMORY)]), [ALL]);
        assert_eq!(graph.add(3, &[on(24, 3)]), [ALL]);
    }

    #[test]
    fn many_readers_are_all() {
        let mut graph = Graph::new();
        (1..=MOST as u64 + 1).for_each(|task| drop(graph.add(task, &[on(8, 1)])));
        assert_eq!(graph.add(1 << 20, &[on(8, 2)]), [ALL]);
    }
}
