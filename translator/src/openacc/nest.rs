//! The loops of a construct as a tree, and which levels of parallelism each gets.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign};

use super::directive::{Clause, Directive, Name};
use super::index::{Index, Key, range_of};
use crate::ast::Node;

/// Levels of parallelism: gangs, which have up to three dimensions, workers, vector lanes (OpenACC 3.3 section
/// 1.2). What is further out has a lower bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Levels(u8);

impl Levels {
    pub const NONE: Self = Self(0);
    /// The gangs of the other dimensions.
    pub const GANG_3: Self = Self(1);
    pub const GANG_2: Self = Self(2);
    /// The gangs of dimension 1, which is meant where no clause names one.
    pub const GANG: Self = Self(4);
    pub const WORKER: Self = Self(8);
    pub const VECTOR: Self = Self(16);
    pub const ALL: Self = Self(31);
    /// The gangs of every dimension, each with its number.
    pub const DIMENSIONS: [(Self, usize); 3] = [(Self::GANG, 1), (Self::GANG_2, 2), (Self::GANG_3, 3)];
    const GANGS: Self = Self(7);
    /// What loops get whose clauses name none.
    const UNNAMED: Self = Self(28);

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether gangs of some dimension are among them.
    pub const fn has_gangs(self) -> bool {
        self.0 & Self::GANGS.0 != 0
    }

    /// Those that are gangs.
    pub const fn gangs(self) -> Self {
        Self(self.0 & Self::GANGS.0)
    }

    /// These but others.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Those within all of these.
    const fn inside(self) -> Self {
        let bits = u8::BITS - self.0.leading_zeros();
        Self(Self::ALL.0 >> bits << bits)
    }

    /// Those around all of these.
    const fn outside(self) -> Self {
        match self.is_empty() {
            true => Self::ALL,
            false => Self(self.outermost().0 - 1),
        }
    }

    /// The outermost of them.
    const fn outermost(self) -> Self {
        Self(self.0 & self.0.wrapping_neg())
    }
}

impl BitOr for Levels {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Levels {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Levels {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::GANG_3, "gang (dim:3)"),
            (Self::GANG_2, "gang (dim:2)"),
            (Self::GANG, "gang"),
            (Self::WORKER, "worker"),
            (Self::VECTOR, "vector"),
        ];
        let mut said = names.iter().filter(|(level, _)| self.has(*level)).map(|(_, name)| *name);
        f.write_str(said.next().unwrap_or("seq"))?;
        said.try_for_each(|name| write!(f, " {name}"))
    }
}

/// A loop with a directive.
#[derive(Debug)]
pub struct Loop {
    /// The byte of its directive.
    pub at: usize,
    /// What its clauses say.
    said: Levels,
    iterations: Iterations,
    children: Vec<Loop>,
    /// The levels of routines that it calls.
    called: Levels,
}

/// How the iterations of a loop may follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iterations {
    Independent,
    /// It says `seq`: it is left alone unless its clauses name levels.
    Sequential,
    /// The same, and what one does the next one has to see. Gangs cannot wait for each other, so they cannot
    /// share a loop inside of it.
    InOrder,
}

/// What makes the iterations of loops independent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Independent {
    /// Variables whose values are put together, with the operators.
    pub reductions: Vec<(Key, &'static str)>,
    /// Variables that lead to data which must not overlap.
    pub apart: BTreeSet<(Key, Key)>,
}

/// Why it is not so: what a note says.
pub type Reason = String;

/// What a construct's loops have been given.
#[derive(Debug, Default)]
pub struct Assigned {
    pub levels: HashMap<usize, Levels>,
    /// All levels that loops and called routines of the construct have.
    pub all: Levels,
    /// Some loop is partitioned to workers without lanes.
    pub separate_workers: bool,
}

/// The levels that a directive's clauses name.
pub fn said(directive: &Directive) -> Levels {
    let level = |name: &str, level| if directive.clause(name).is_some() { level } else { Levels::NONE };
    let gangs = gangs(directive).unwrap_or(Levels::GANG);
    level("gang", gangs) | level("worker", Levels::WORKER) | level("vector", Levels::VECTOR)
}

/// The dimension that `gang(dim: n)` names (sections 2.9.2 and 2.15.1). `None`: it is spelt as no number.
pub fn gangs(directive: &Directive) -> Option<Levels> {
    let arguments = directive.clause("gang").map(Clause::named).unwrap_or_default();
    match arguments.into_iter().find(|(name, _)| *name == "dim") {
        None => Some(Levels::GANG),
        Some((_, [number])) => {
            let number: usize = number.text.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?;
            Levels::DIMENSIONS.iter().find(|(_, dimension)| *dimension == number).map(|(level, _)| *level)
        }
        Some(_) => None,
    }
}

/// Reads the tree below a node. `iterations` says whether those of a loop are independent.
pub fn loops(
    node: Node<'_>,
    index: &Index<'_>,
    directives: &HashMap<usize, &Directive>,
    iterations: &dyn Fn(&Directive) -> Iterations,
    routines: &HashMap<Key, Levels>,
) -> Vec<Loop> {
    let mut found = Vec::new();
    collect(node, index, directives, iterations, routines, &mut found);
    found
}

fn collect(
    node: Node<'_>,
    index: &Index<'_>,
    directives: &HashMap<usize, &Directive>,
    iterations: &dyn Fn(&Directive) -> Iterations,
    routines: &HashMap<Key, Levels>,
    found: &mut Vec<Loop>,
) {
    let Some(range) = range_of(node) else { return };
    let directive = directives.get(&range.start).filter(|_| index.constructs.contains_key(&range.start));
    let is_loop =
        directive.is_some_and(|directive| directive.is_loop && range.len() == directive.range.len());
    if let (true, Some(directive)) = (is_loop, directive) {
        let mut children = Vec::new();
        for child in node.children() {
            collect(child, index, directives, iterations, routines, &mut children);
        }
        let iterations = iterations(directive);
        // What clauses name is a wish where the loop says `auto`.
        let said = match iterations == Iterations::InOrder && directive.clause("auto").is_some() {
            true => Levels::NONE,
            false => said(directive),
        };
        let inside = node.children().last().and_then(|child| range_of(*child)).unwrap_or_default();
        let called = called(index, &inside, routines);
        found.push(Loop { at: range.start, said, iterations, children, called });
        return;
    }
    for child in node.children() {
        collect(child, index, directives, iterations, routines, found);
    }
}

/// The levels of the routines that a range calls.
pub fn called(index: &Index<'_>, range: &std::ops::Range<usize>, routines: &HashMap<Key, Levels>) -> Levels {
    let calls = index.calls.iter().filter(|call| range.contains(&call.range.start));
    calls.filter_map(|call| routines.get(&call.function)).fold(Levels::NONE, |all, level| all | *level)
}

/// The levels that are used from one on: what a routine of that level may use.
pub fn from(level: Levels) -> Levels {
    level | level.inside()
}

impl Assigned {
    /// Gives each loop its levels: what its clauses say, or what is free between the loops around and the
    /// loops inside it. The outermost loop gets the outermost level, the innermost all that is left.
    pub fn new(loops: &[Loop], free: Levels, called: Levels) -> Self {
        let mut assigned = Self { all: called, ..Self::default() };
        for one in loops {
            assigned.assign(one, free);
        }
        assigned
    }

    /// The same loops in one thread.
    pub fn in_sequence(&self) -> Self {
        let levels = self.levels.keys().map(|at| (*at, Levels::NONE)).collect();
        Self { levels, ..Self::default() }
    }

    fn assign(&mut self, one: &Loop, free: Levels) {
        let inner = Self::inner(one);
        let levels = if !one.said.is_empty() {
            // Gangs have one dimension: it is the routine's whose loops are of a lower one (section 2.9.2).
            let of_routines = one.called & Levels::GANG;
            (one.said & free).without(of_routines)
        } else if one.iterations != Iterations::Independent {
            Levels::NONE
        } else {
            let candidates = free & inner.outside() & Levels::UNNAMED;
            match Self::depth(one) {
                1 => candidates,
                2 if candidates.has(Levels::UNNAMED) => Levels::GANG | Levels::WORKER,
                _ => candidates.outermost(),
            }
        };
        self.all |= levels;
        self.separate_workers |= levels.has(Levels::WORKER) && !levels.has(Levels::VECTOR);
        self.levels.insert(one.at, levels);
        let free = match levels.is_empty() {
            true if one.iterations == Iterations::InOrder => free.without(Levels::GANGS),
            true => free,
            false => free & levels.inside(),
        };
        for child in &one.children {
            self.assign(child, free);
        }
    }

    /// The levels that clauses and routines inside a loop name.
    fn inner(one: &Loop) -> Levels {
        let inside = one.children.iter().map(|child| child.said | Self::inner(child));
        inside.fold(one.called, |all, levels| all | levels)
    }

    /// How many loops in each other wait for levels.
    fn depth(one: &Loop) -> usize {
        let own = usize::from(one.said.is_empty() && one.iterations == Iterations::Independent);
        own + one.children.iter().map(Self::depth).max().unwrap_or(0)
    }
}

/// Whether loops of a construct are independent unless they say otherwise (sections 2.9.6 and 2.9.7).
pub fn independent(directive: &Directive) -> bool {
    directive.name != Name::Kernels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_in_each_other() {
        let (gangs, lanes) = (Levels::GANG, Levels::VECTOR);
        assert_eq!(Levels::NONE.inside(), Levels::ALL);
        assert_eq!(Levels::GANG_3.inside(), Levels::ALL.without(Levels::GANG_3));
        assert_eq!(Levels::GANG_2.inside(), gangs | Levels::WORKER | lanes);
        assert_eq!((gangs | Levels::WORKER).inside(), lanes);
        assert_eq!(lanes.inside(), Levels::NONE);
        assert_eq!(Levels::NONE.outside(), Levels::ALL);
        assert_eq!(lanes.outside(), Levels::ALL.without(lanes));
        assert_eq!((gangs | lanes).outside(), Levels::GANG_2 | Levels::GANG_3);
        assert_eq!(from(Levels::GANG_2), Levels::ALL.without(Levels::GANG_3));
        assert_eq!(Levels::GANGS | Levels::UNNAMED, Levels::ALL);
        assert_eq!((Levels::GANG_2 | lanes).to_string(), "gang (dim:2) vector");
    }
}
