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

/// Flags of [`Dependence`], of tasks that have no order among each other: those that read, those of `mutexinoutset`, of
/// which one runs at a time, and those of `inoutset`.
const IN: u8 = 1;
const EXCLUSIVE: u8 = 4;
const SET: u8 = 8;
/// All memory.
const ALL_MEMORY: u8 = 0x80;

/// Addresses, and tasks with one, that are kept.
const MOST: usize = 1 << 12;

/// The last tasks with each address.
#[derive(Debug, Default)]
pub struct Graph {
    last: BTreeMap<usize, Last>,
    /// Those of `mutexinoutset` that have begun, by the address: one begins when others have ended.
    begun: BTreeMap<usize, Vec<Maker>>,
    /// Everything comes after something from now on.
    all: bool,
}

/// The last tasks with an address that say the same of it: one that writes, or several without an order.
#[derive(Debug, Default)]
struct Last {
    flags: u8,
    tasks: Vec<Maker>,
    /// Those that all of them come after.
    before: Vec<Maker>,
}

impl Last {
    fn add(&mut self, task: Maker, flags: u8) {
        if is_writer(flags) {
            // Who comes after it comes after what was before it.
            *self = Self { flags, tasks: vec![task], before: Vec::new() };
        } else if flags == self.flags {
            push(&mut self.tasks, task);
        } else {
            *self = Self { flags, tasks: vec![task], before: std::mem::take(&mut self.tasks) };
        }
    }

    /// What comes before another task with the address.
    fn before(&self, flags: u8) -> impl Iterator<Item = Maker> {
        let joins = flags == self.flags && !is_writer(flags);
        self.before.iter().chain(self.tasks.iter().filter(move |_| !joins)).copied()
    }
}

fn is_writer(flags: u8) -> bool {
    ![IN, EXCLUSIVE, SET].contains(&flags)
}

fn push(tasks: &mut Vec<Maker>, task: Maker) {
    if tasks.len() < MOST {
        tasks.push(task);
    } else {
        *tasks = vec![ALL];
    }
}

impl Graph {
    pub const fn new() -> Self {
        Self { last: BTreeMap::new(), begun: BTreeMap::new(), all: false }
    }

    /// A task is handed over: those that it comes after.
    pub fn add(&mut self, task: Maker, dependences: &[Dependence]) -> Vec<Maker> {
        self.all |= dependences.iter().any(is_all_memory) || self.last.len() > MOST;
        if self.all {
            self.last.clear();
            self.begun.clear();
        }
        let found = self.before(dependences);
        // Only now: a task may name an address twice.
        for &Dependence { address, flags, .. } in dependences.iter().filter(|_| !self.all) {
            self.last.entry(address).or_default().add(task, flags);
        }
        found
    }

    /// What comes before something that depends on these.
    pub fn before(&self, dependences: &[Dependence]) -> Vec<Maker> {
        if self.all || dependences.iter().any(is_all_memory) {
            return vec![ALL];
        }
        let of_one = |&Dependence { address, flags, .. }: &Dependence| {
            self.last.get(&address).into_iter().flat_map(move |last| last.before(flags))
        };
        let mut found: Vec<_> = dependences.iter().flat_map(of_one).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A task begins that excludes others by these addresses: those that have run before it.
    pub fn begin(&mut self, task: Maker, exclusive: &[usize]) -> Vec<Maker> {
        let mut found = Vec::new();
        for &address in exclusive.iter().filter(|_| !self.all) {
            let begun = self.begun.entry(address).or_default();
            found.extend(&*begun);
            push(begun, task);
        }
        found
    }
}

/// The addresses by which a task excludes others.
pub fn exclusive(dependences: &[Dependence]) -> Vec<usize> {
    let exclusive = dependences.iter().filter(|dependence| dependence.flags == EXCLUSIVE);
    exclusive.map(|dependence| dependence.address).collect()
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
    fn a_set_has_no_order_and_is_before_and_behind_others() {
        let mut graph = Graph::new();
        assert_eq!(graph.add(1, &[on(8, 3)]), []);
        let exclusive = [on(8, EXCLUSIVE)];
        assert_eq!((graph.add(2, &exclusive), graph.add(3, &exclusive)), (vec![1], vec![1]));
        let set = [on(8, SET)];
        assert_eq!((graph.add(4, &set), graph.add(5, &set)), (vec![1, 2, 3], vec![2, 3]));
        assert_eq!(graph.add(6, &[on(8, IN)]), [2, 3, 4, 5]);
    }

    #[test]
    fn who_excludes_others_comes_after_those_that_have_run() {
        let mut graph = Graph::new();
        let alone = [on(8, EXCLUSIVE), on(16, 3)];
        assert_eq!(exclusive(&alone), [8]);
        assert_eq!(graph.begin(2, &exclusive(&alone)), []);
        assert_eq!(graph.begin(1, &[8]), [2]);
        assert_eq!(graph.begin(3, &[8, 24]), [2, 1]);
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
