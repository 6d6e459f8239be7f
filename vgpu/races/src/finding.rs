//! What has been found: each pair of instructions once, with an example and how often.

use rustc_hash::FxHashMap;

/// An instruction, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    pub kernel: String,
    pub function: String,
    pub instruction: String,
    /// File, line and column.
    pub source: Option<(String, u32, u32)>,
    /// Whose access it is.
    pub by: By,
    /// It is in the compiler's own runtime: what that does between its threads is not the program's.
    pub runtimes: bool,
}

/// Whose access it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum By {
    #[default]
    Kernel,
    /// A copy or fill of memory: `a copy to the device`. `mapped`: it belongs to the mapping of data, which all
    /// constructs do one after the other.
    Copy { what: &'static str, mapped: bool },
    /// The program, which gives memory up: `omp_target_free`.
    Release { what: &'static str },
    /// The program itself, by the instruction at an address.
    Host { code: u64 },
}

impl By {
    /// Whether somebody else orders it with another one's accesses.
    fn comes_in_turn_with(self, other: Self) -> bool {
        matches!((self, other), (Self::Copy { mapped: true, .. }, Self::Copy { mapped: true, .. }))
    }
}

impl Place {
    /// Whether it is a compare and swap.
    fn swaps(&self) -> bool {
        self.instruction.starts_with("atom.") && self.instruction.contains("cas")
    }

    /// Whether one of some places is a compare and swap of the same statement, or of the same function where lines are not
    /// known. What a plain read finds there is only where the loop around that begins, whoever else writes meanwhile: the
    /// next byte of the word, too, for who changes one of them.
    pub fn has_swap<'p>(&self, among: impl IntoIterator<Item = &'p Self>) -> bool {
        let is_there = |other: &Self| match (&self.source, &other.source) {
            (Some((file, line, _)), Some((others_file, others_line, _))) => {
                (file, line) == (others_file, others_line)
            }
            (None, None) => self.function == other.function,
            _ => false,
        };
        among.into_iter().any(|other| other.swaps() && is_there(other))
    }
}

/// One of the two accesses, as an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    pub write: bool,
    pub strong: bool,
    /// Its scope is the block: it is strong towards that alone.
    pub narrow: bool,
    /// The block, and the thread in it, counted as warps have them; `None` for a thread of another launch.
    pub thread: Option<(u32, u32)>,
}

/// One of the two accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    pub place: Place,
    pub example: Example,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The one that came first this time.
    pub earlier: Side,
    pub later: Side,
    /// In shared memory the offset.
    pub address: u64,
    pub shared: bool,
    /// Words of this launch for which it was seen.
    pub count: u64,
}

/// Who raced at first.
#[derive(Debug)]
struct First {
    earlier: Example,
    later: Example,
    address: u64,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub earlier: u16,
    pub later: u16,
    pub shared: bool,
}

/// What has been told, and how often it has been seen.
pub type Told = FxHashMap<Key, u64>;

/// The findings of a launch.
#[derive(Debug, Default)]
pub struct Findings {
    found: FxHashMap<Key, First>,
}

impl Findings {
    pub fn add(&mut self, key: Key, address: u64, earlier: Example, later: Example) {
        // The same two instructions race in either order.
        let turned = Key { earlier: key.later, later: key.earlier, ..key };
        let key = if self.found.contains_key(&turned) { turned } else { key };
        self.found.entry(key).or_insert(First { earlier, later, address, count: 0 }).count += 1;
    }

    /// Those that have not been told yet. All of them are counted, but for what is none of the program. `has_swap`: whether
    /// the statement of a place has a [compare and swap](Place::has_swap).
    #[must_use]
    pub fn new_to(
        mut self,
        told: &mut Told,
        place: impl Fn(u16) -> Place,
        has_swap: impl Fn(&Place) -> bool,
    ) -> Self {
        let is_plain_read = |example: Example| !example.write && !example.strong;
        self.found.retain(|&key, first| {
            let (earlier, later) = (place(key.earlier), place(key.later));
            if earlier.runtimes
                || later.runtimes
                || earlier.by.comes_in_turn_with(later.by)
                || is_plain_read(first.earlier) && first.later.strong && has_swap(&earlier)
                || is_plain_read(first.later) && first.earlier.strong && has_swap(&later)
            {
                return false;
            }
            let turned = Key { earlier: key.later, later: key.earlier, ..key };
            let key = if told.contains_key(&turned) { turned } else { key };
            let is_new = !told.contains_key(&key);
            *told.entry(key).or_default() += first.count;
            is_new
        });
        self
    }

    /// All of them, in an order that does not depend on the run.
    pub fn into_all(self, place: impl Fn(u16) -> Place) -> Vec<Finding> {
        let side = |site, example| Side { place: place(site), example };
        let mut all: Vec<(Key, First)> = self.found.into_iter().collect();
        all.sort_by_key(|(key, _)| (key.earlier, key.later, key.shared));
        let finding = |(key, first): (Key, First)| Finding {
            earlier: side(key.earlier, first.earlier),
            later: side(key.later, first.later),
            address: first.address,
            shared: key.shared,
            count: first.count,
        };
        all.into_iter().map(finding).collect()
    }
}
