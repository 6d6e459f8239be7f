//! The functions of kernels that stand apart: which there are, which registers they are given, and which they give back.
//!
//! Where a kernel calls functions through registers whose values are not known, or is too much code with all that it
//! calls in its place, each function is one of PTX. It takes the registers that it may need and gives back those that
//! it has written and that somebody may need then. What is called by its address are the functions whose addresses
//! data holds or code reads; they all take and give the same registers.

use std::collections::{BTreeMap, BTreeSet};

use crate::demand::{self, Needs, SCALAR, Set};
use crate::graph::{self, Block, Code, Exit};
use crate::state::{VECTOR, Variable};
use crate::{Apart, Kernel, Refusal};

/// Instructions of all functions, at most, and of kernels before there is no other one with them.
const INSTRUCTIONS: usize = 400_000;
const OF_KERNELS: usize = 100_000;

/// A kernel, or a function of it.
pub struct Unit {
    pub entry: u64,
    pub blocks: Vec<Block>,
    /// The blocks that it begins with: if all lanes are on, and if not.
    pub entries: Vec<usize>,
    /// For each block, for each instruction: registers whose values are needed behind it in lanes that are off.
    pub needed: Vec<Vec<Set>>,
    pub takes: Vec<Variable>,
    pub gives: Vec<Variable>,
}

/// Kernels with their functions.
pub struct Functions {
    /// The kernels come first, which are so many.
    pub units: Vec<Unit>,
    pub kernels: usize,
    /// Kernels of which there is no code, by their numbers.
    pub refused: BTreeMap<usize, Refusal>,
    /// By their addresses.
    pub numbers: BTreeMap<u64, usize>,
    /// Those that are called by their addresses.
    pub by_address: BTreeSet<u64>,
    /// The registers with the address to return to.
    pub given: u8,
}

impl Functions {
    /// A kernel of which each call has the function's code for itself.
    pub fn none(code: &mut Code<'_>, kernel: &Kernel<'_>) -> Self {
        let entry = kernel.entry;
        let mut refused = BTreeMap::new();
        let found = graph::blocks(code, entry, &kernel.shape.full(), false);
        let (blocks, entries) = found.unwrap_or_else(|refusal| {
            refused.insert(0, refusal);
            Default::default()
        });
        let needed = demand::of(&blocks);
        let unit = Unit { entry, blocks, entries, needed, takes: Vec::new(), gives: Vec::new() };
        Self {
            units: vec![unit],
            kernels: 1,
            refused,
            numbers: BTreeMap::new(),
            by_address: BTreeSet::new(),
            given: 0,
        }
    }

    /// The function at an address, or one that stands for all that are called by their addresses.
    pub fn called(&self, address: Option<u64>) -> Option<usize> {
        self.numbers.get(address.as_ref().or_else(|| self.by_address.first())?).copied()
    }

    /// Kernels with their functions, but for those that are `refused`; `registers` are those that there are.
    pub fn find(
        code: &mut Code<'_>,
        kernels: &[Kernel<'_>],
        mut refused: BTreeMap<usize, Refusal>,
        registers: Set,
    ) -> Result<Self, Refusal> {
        let Kernel { entry, held, apart, .. } = kernels[0];
        let (mut parts, mut count) = (Vec::new(), 0);
        for (number, kernel) in kernels.iter().enumerate() {
            if refused.contains_key(&number) {
                parts.push(Part::nothing(kernel.entry));
                continue;
            }
            let found = if count > OF_KERNELS {
                Err(too_much(kernel.entry))
            } else {
                Part::of(code, kernel.entry, &kernel.shape.full(), false)
            };
            let part = found.unwrap_or_else(|refusal| {
                refused.insert(number, refusal);
                Part::nothing(kernel.entry)
            });
            count += part.instructions();
            parts.push(part);
        }
        if apart == Apart::Gccs && code.given != Some(graph::GCC) {
            return Err(Refusal { what: graph::NOT_GCC.to_owned(), address: entry });
        }
        let (mut numbers, mut by_address) = (BTreeMap::new(), BTreeSet::new());
        loop {
            if code.unknown {
                by_address.extend(held.iter().chain(&code.taken).copied());
            }
            let wanted: Vec<u64> = code.called.union(&by_address).copied().collect();
            let Some(next) = wanted.into_iter().find(|address| !numbers.contains_key(address)) else { break };
            let part = Part::of(code, next, &[true, false], true)?;
            count += part.instructions();
            if count > INSTRUCTIONS {
                return Err(too_much(entry));
            }
            numbers.insert(next, parts.len());
            parts.push(part);
        }
        let given = code.given.unwrap_or_default();
        let mut flow = Flow { parts, numbers, by_address, given, registers };
        flow.settle();
        Ok(flow.finish(kernels.len(), refused))
    }
}

/// A unit that is looked at.
struct Part {
    entry: u64,
    blocks: Vec<Block>,
    entries: Vec<usize>,
    entering: Vec<Needs>,
    /// What it may write, with all that it calls.
    writes: Set,
    /// What it needs when it begins, and what somebody needs behind it.
    takes: Set,
    after: Set,
}

fn too_much(address: u64) -> Refusal {
    Refusal { what: graph::TOO_MUCH.to_owned(), address }
}

impl Part {
    fn instructions(&self) -> usize {
        self.blocks.iter().map(|block| block.code.len()).sum()
    }

    fn of(code: &mut Code<'_>, entry: u64, full: &[bool], is_function: bool) -> Result<Self, Refusal> {
        let (blocks, entries) = graph::blocks(code, entry, full, is_function)?;
        let entering = vec![Needs::default(); blocks.len()];
        let writes = demand::written(&blocks);
        Ok(Self { blocks, entries, entering, writes, ..Self::nothing(entry) })
    }

    /// Without code.
    fn nothing(entry: u64) -> Self {
        let (writes, takes, after) = Default::default();
        Self { entry, blocks: Vec::new(), entries: Vec::new(), entering: Vec::new(), writes, takes, after }
    }
}

struct Flow {
    parts: Vec<Part>,
    numbers: BTreeMap<u64, usize>,
    by_address: BTreeSet<u64>,
    /// The registers with the address to return to.
    given: u8,
    registers: Set,
}

impl Flow {
    /// The functions that an end of a block may call.
    fn called(&self, exit: &Exit) -> Vec<usize> {
        let number = |address: &u64| self.numbers.get(address).copied();
        match exit {
            Exit::Call(_, Some(address), ..) | Exit::Tail(_, Some(address)) => {
                number(address).into_iter().collect()
            }
            Exit::Call(_, None, ..) | Exit::Tail(_, None) => {
                self.by_address.iter().filter_map(number).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What those write, and what they take.
    fn of_called(&self, exit: &Exit, which: impl Fn(&Part) -> Set) -> Set {
        self.called(exit).into_iter().fold(Set::default(), |set, number| set.or(&which(&self.parts[number])))
    }

    fn settle(&mut self) {
        self.settle_writes();
        let callers = self.callers();
        let mut work: BTreeSet<usize> = (0..self.parts.len()).collect();
        while let Some(number) = work.pop_last() {
            let mut entering = std::mem::take(&mut self.parts[number].entering);
            demand::settle(&self.parts[number].blocks, &mut entering, &|block, entering| {
                self.ending(number, block, entering)
            });
            let entries = self.parts[number].entries.iter();
            let takes = entries.fold(self.always(), |set, &entry| set.or(&entering[entry].any()));
            self.parts[number].entering = entering;
            let mut changed = self.tell(number);
            if self.put(number, takes, Set::default()) {
                changed.push(number);
            }
            if changed.iter().any(|number| self.by_address.contains(&self.parts[*number].entry)) {
                changed.extend(self.share());
            }
            for number in changed {
                work.insert(number);
                work.extend(&callers[number]);
            }
        }
    }

    /// Who calls each.
    fn callers(&self) -> Vec<BTreeSet<usize>> {
        let mut callers = vec![BTreeSet::new(); self.parts.len()];
        for (number, part) in self.parts.iter().enumerate() {
            for called in part.blocks.iter().flat_map(|block| self.called(&block.exit)) {
                callers[called].insert(number);
            }
        }
        callers
    }

    fn settle_writes(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for number in (0..self.parts.len()).rev() {
                let exits = self.parts[number].blocks.iter().map(|block| &block.exit);
                let called =
                    exits.fold(Set::default(), |set, exit| set.or(&self.of_called(exit, |part| part.writes)));
                let writes = self.parts[number].writes.or(&called);
                changed |= std::mem::replace(&mut self.parts[number].writes, writes) != writes;
            }
        }
    }

    /// What each function takes.
    fn always(&self) -> Set {
        demand::implied().or(&demand::mask()).or(&demand::pair(self.given))
    }

    fn put(&mut self, number: usize, takes: Set, after: Set) -> bool {
        let part = &mut self.parts[number];
        let after = part.after.or(&after.and(&self.registers).and(&part.writes));
        let takes = part.takes.or(&takes.and(&self.registers));
        let changed = takes != part.takes || after != part.after;
        (part.takes, part.after) = (takes, after);
        changed
    }

    /// Tells functions what is needed behind calls of them. Those for which that is more than before.
    fn tell(&mut self, number: usize) -> Vec<usize> {
        let mut found = Vec::new();
        for block in &self.parts[number].blocks {
            let after = match block.exit {
                Exit::Call(..) => self.behind(number, block),
                Exit::Tail(..) => self.parts[number].after,
                _ => continue,
            };
            found.extend(self.called(&block.exit).into_iter().map(|called| (called, after)));
        }
        found.retain(|(called, after)| self.put(*called, Set::default(), *after));
        found.into_iter().map(|(called, _)| called).collect()
    }

    fn behind(&self, number: usize, block: &Block) -> Set {
        let entering = &self.parts[number].entering;
        block
            .exit
            .successors()
            .into_iter()
            .fold(demand::mask().or(&demand::implied()), |set, to| set.or(&entering[to].any()))
    }

    /// Those that are called by their addresses take and give the same. The ones for which that is more than before.
    fn share(&mut self) -> Vec<usize> {
        let mut numbers: Vec<usize> =
            self.by_address.iter().filter_map(|address| self.numbers.get(address).copied()).collect();
        let all = |which: fn(&Part) -> Set| {
            numbers.iter().fold(Set::default(), |set, &number| set.or(&which(&self.parts[number])))
        };
        let (after, takes) = (all(|part| part.after), all(|part| part.takes.or(&part.after)));
        numbers.retain(|&number| {
            let part = &mut self.parts[number];
            let changed = takes != part.takes || after != part.after;
            (part.takes, part.after) = (takes, after);
            changed
        });
        numbers
    }

    fn ending(&self, number: usize, block: &Block, entering: &[Needs]) -> Needs {
        let part = &self.parts[number];
        let through = |exit: &Exit, behind: Set| {
            let kept = behind.without(&self.of_called(exit, |part| part.writes));
            kept.or(&self.of_called(exit, |part| part.takes))
        };
        match &block.exit {
            exit @ Exit::Call(..) => {
                let behind =
                    exit.successors().into_iter().fold(demand::mask(), |set, to| set.or(&entering[to].any()));
                Needs::all(through(exit, behind))
            }
            exit @ Exit::Tail(register, _) => {
                Needs::all(through(exit, part.after).or(&demand::pair(*register)))
            }
            Exit::Return(register) => Needs::all(part.after.or(&demand::pair(*register))),
            Exit::Given(register, ..) => {
                let needs = demand::ending(block, entering);
                Needs::all(needs.any().or(&demand::pair(*register)))
            }
            _ => demand::ending(block, entering),
        }
    }

    fn finish(mut self, kernels: usize, refused: BTreeMap<usize, Refusal>) -> Functions {
        let mut units = Vec::new();
        for number in 0..self.parts.len() {
            let Part { entry, ref blocks, ref entries, ref entering, takes, after, .. } = self.parts[number];
            let needed =
                demand::each(blocks, entering, &|block, entering| self.ending(number, block, entering));
            let (takes, gives) = (variables(&takes), variables(&after));
            units.push(Unit { entry, blocks: Vec::new(), entries: entries.clone(), needed, takes, gives });
        }
        for (unit, part) in units.iter_mut().zip(&mut self.parts) {
            unit.blocks = std::mem::take(&mut part.blocks);
        }
        let Self { numbers, by_address, given, .. } = self;
        Functions { units, kernels, refused, numbers, by_address, given }
    }
}

fn variables(set: &Set) -> Vec<Variable> {
    let variable = |number: usize| {
        number.checked_sub(SCALAR).map_or(VECTOR + number as Variable, |number| number as Variable)
    };
    set.numbers().map(variable).collect()
}
