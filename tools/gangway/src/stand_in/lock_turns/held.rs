//! Where locks are held, and which blocks a lane has to run alone for it.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::code::{Block, Function, call, instruction};
use super::{Nets, cleanups};

/// What a function does with locks, seen from its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Net {
    Takes,
    Gives,
    /// It returns something else than 0 if it has taken the lock.
    Tries,
}

/// Blocks that one lane runs alone.
#[derive(Debug, PartialEq, Eq)]
pub struct Region {
    /// Where a lane begins: all ways into the region lead to it.
    pub entry: String,
    pub blocks: BTreeSet<usize>,
    /// From which block to which it is left.
    pub exits: Vec<(usize, String)>,
}

/// Has each call that matters stand at the beginning of a block, and those that surely take or give a lock alone
/// in it.
pub fn split(function: &mut Function<'_>, nets: &Nets<'_>) {
    cleanups::apart(function);
    let mut number = 0;
    let mut label = || {
        number += 1;
        format!("%gangway.lock.{number}")
    };
    let mut block = 0;
    while block < function.blocks.len() {
        let event = function.blocks[block].code.iter().enumerate().find_map(|(at, line)| {
            let (name, _) = call(line)?;
            Some((at, *nets.get(name)?))
        });
        if let Some((at, net)) = event {
            function.split(block, at, label());
            block += 1;
            if net != Net::Tries {
                function.split(block, 1, label());
            }
        }
        block += 1;
    }
}

/// What a block does with locks: a call at its beginning.
fn of_block(block: &Block, nets: &Nets<'_>) -> Option<Net> {
    nets.get(call(block.code.first()?)?.0).copied()
}

/// Where a block leads to if its call has taken the lock: a condition that asks nothing else.
fn taken(block: &Block) -> Option<&str> {
    let (_, value) = call(block.code.first()?)?;
    let (mut value, mut is_taken) = (value?, true);
    let mut lines = block.code[1..].iter().map(|line| (line, instruction(line)));
    loop {
        let (line, instruction) = lines.next()?;
        let is_next = instruction.contains(&format!(" {value}, ")) || instruction.ends_with(value);
        let compared = instruction.strip_prefix("icmp ").filter(|_| is_next);
        if let Some(condition) = instruction.strip_prefix("br i1 ") {
            let condition = condition.split(',').next()?;
            let way = if is_taken { block.successors().next() } else { block.successors().nth(1) };
            return way.filter(|_| condition == value);
        }
        match compared {
            Some(compared) if compared.contains(", 0") => is_taken ^= compared.starts_with("eq "),
            None if is_next && instruction.starts_with("xor i1 ") && instruction.contains(", true") => {
                is_taken = !is_taken;
            }
            _ => return None,
        }
        value = line.trim_start().split(" = ").next()?;
    }
}

/// How many locks are held where blocks begin, in the order of blocks; `None` for those that nothing leads to.
struct Held {
    before: Vec<Option<i32>>,
    ways: Vec<Vec<Way>>,
}

/// A way from a block to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    to: usize,
    /// The locks that are held on it.
    held: i32,
}

impl Held {
    /// `None` if it is not the same on all ways to a block.
    fn of(function: &Function<'_>, nets: &Nets<'_>) -> Option<Self> {
        let blocks = &function.blocks;
        let places: HashMap<&str, usize> =
            blocks.iter().enumerate().map(|(at, block)| (block.label.as_str(), at)).collect();
        let mut held = Self { before: vec![None; blocks.len()], ways: vec![Vec::new(); blocks.len()] };
        *held.before.first_mut()? = Some(0);
        let mut waiting = vec![0];
        while let Some(at) = waiting.pop() {
            let block = &blocks[at];
            let net = of_block(block, nets);
            let taken = if net == Some(Net::Tries) { taken(block) } else { None };
            let before = held.before[at]?;
            let after = before
                + match net {
                    Some(Net::Takes) => 1,
                    Some(Net::Gives) => -1,
                    Some(Net::Tries) | None => 0,
                };
            let mut ways = Vec::new();
            for label in block.successors() {
                let to = *places.get(label)?;
                let held_there = after + i32::from(taken == Some(label));
                match held.before[to] {
                    None => {
                        held.before[to] = Some(held_there);
                        waiting.push(to);
                    }
                    Some(known) if known != held_there => return None,
                    Some(_) => {}
                }
                ways.push(Way { to, held: held_there });
            }
            held.ways[at] = ways;
        }
        Some(held)
    }

    fn is_entry(&self, at: usize) -> bool {
        self.before[at] == Some(0) && self.ways[at].iter().any(|way| way.held > 0)
    }

    /// The blocks in which locks are held together with those of an entry.
    fn component(&self, entry: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::from([entry]);
        loop {
            let known = found.len();
            for (at, ways) in self.ways.iter().enumerate() {
                for way in ways.iter().filter(|way| way.held > 0) {
                    if found.contains(&at) || found.contains(&way.to) {
                        found.extend([at, way.to]);
                    }
                }
            }
            if found.len() == known {
                return found;
            }
        }
    }

    fn reached(&self, from: usize, without: usize) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop().filter(|_| from != without) {
            if at != without && found.insert(at) {
                waiting.extend(self.ways[at].iter().map(|way| way.to));
            }
        }
        found
    }

    /// The blocks through which all ways to some others lead, the last of them.
    fn dominator(&self, of: &[usize]) -> Option<usize> {
        let dominates = |at: &usize| {
            !of.contains(at) && {
                let others = self.reached(0, *at);
                of.iter().all(|entry| !others.contains(entry))
            }
        };
        let all: Vec<usize> = (0..self.before.len()).filter(|at| self.before[*at].is_some()).collect();
        let dominators: Vec<usize> = all.into_iter().filter(dominates).collect();
        // The last one is behind all others.
        dominators.iter().copied().find(|last| {
            let behind = self.reached(0, *last);
            dominators.iter().all(|other| other == last || behind.contains(other))
        })
    }

    /// The blocks on the ways from one to some others, and among these.
    fn between(&self, from: usize, to: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut reaching = to.clone();
        loop {
            let known = reaching.len();
            for (at, ways) in self.ways.iter().enumerate().filter(|(at, _)| *at != from) {
                if ways.iter().any(|way| reaching.contains(&way.to)) {
                    reaching.insert(at);
                }
            }
            if reaching.len() == known {
                break;
            }
        }
        let mut found = BTreeSet::new();
        let mut waiting = vec![from];
        while let Some(at) = waiting.pop() {
            if found.insert(at) {
                waiting.extend(self.ways[at].iter().map(|way| way.to).filter(|to| reaching.contains(to)));
            }
        }
        found
    }
}

/// Whether a function does something with locks.
pub fn matters(function: &Function<'_>, nets: &Nets<'_>) -> bool {
    let is_event = |line: &String| call(line).is_some_and(|(name, _)| nets.contains_key(name));
    function.blocks.iter().any(|block| block.code.iter().any(is_event))
}

/// What the callers of a function see of its locks; `None` if that is nothing, or is not known.
pub fn net(function: &Function<'_>, nets: &Nets<'_>) -> Option<Net> {
    if !matters(function, nets) {
        return None;
    }
    let mut function = function.clone();
    split(&mut function, nets);
    let held = Held::of(&function, nets)?;
    let mut ends = function.blocks.iter().zip(&held.before).filter(|(block, _)| block.returns());
    let first = *ends.next()?.1;
    let same = ends.all(|(_, before)| *before == first);
    match first {
        Some(1) if same => Some(Net::Takes),
        Some(-1) if same => Some(Net::Gives),
        _ => None,
    }
}

/// A region of the function that is not in turns. `seen` are the blocks that regions begin with, of those that
/// have been found before.
pub fn region(function: &mut Function<'_>, nets: &Nets<'_>, seen: &mut HashSet<String>) -> Option<Region> {
    if function.is_irregular() {
        return None;
    }
    let held = Held::of(function, nets)?;
    let ends = function.blocks.iter().zip(&held.before).filter(|(block, _)| block.returns());
    let gives_all_back = ends.map(|(_, before)| *before).all(|before| matches!(before, Some(0) | None));
    let never_gives_more = held.before.iter().flatten().all(|before| *before >= 0);
    if !gives_all_back || !never_gives_more {
        return None;
    }
    let label = |at: usize| function.blocks[at].label.clone();
    let entries: Vec<usize> = (0..function.blocks.len()).filter(|at| held.is_entry(*at)).collect();
    let first = *entries.iter().find(|at| !seen.contains(&label(**at)))?;
    let blocks = held.component(first);
    let own: Vec<usize> = entries.into_iter().filter(|entry| blocks.contains(entry)).collect();
    seen.extend(own.iter().map(|at| label(*at)));
    let found = match own[..] {
        [entry] => Some(Region::new(function, &held, entry, blocks)),
        _ => joined(function, nets, &held, &own),
    };
    found.filter(|region| can_be_alone(function, region)).or_else(|| self::region(function, nets, seen))
}

/// The region of locks that are taken in several places: lanes begin where their ways part.
fn joined(function: &mut Function<'_>, nets: &Nets<'_>, held: &Held, entries: &[usize]) -> Option<Region> {
    let before = held.dominator(entries).filter(|at| held.before[*at] == Some(0))?;
    let labels: Vec<String> = entries.iter().map(|at| function.blocks[*at].label.clone()).collect();
    let entry = format!("{}.parting", labels.first()?);
    function.split(before, function.blocks[before].code.len() - 1, entry.clone());
    let held = Held::of(function, nets)?;
    let entry = function.find(&entry)?;
    let first = function.find(labels.first()?)?;
    let blocks = held.between(entry, &held.component(first));
    let has_others = |at: &usize| held.is_entry(*at) && !labels.contains(&function.blocks[*at].label);
    (!blocks.iter().any(has_others)).then(|| Region::new(function, &held, entry, blocks))
}

impl Region {
    fn new(function: &Function<'_>, held: &Held, entry: usize, blocks: BTreeSet<usize>) -> Self {
        let mut exits = Vec::new();
        for &from in &blocks {
            for to in held.ways[from].iter().map(|way| way.to).filter(|to| !blocks.contains(to)) {
                let exit = (from, function.blocks[to].label.clone());
                if !exits.contains(&exit) {
                    exits.push(exit);
                }
            }
        }
        Self { entry: function.blocks[entry].label.clone(), blocks, exits }
    }
}

/// Whether lanes can run a region one behind the other: all come in at one place, values do not leave it but in
/// memory, and it has no variable of the whole function.
fn can_be_alone(function: &Function<'_>, region: &Region) -> bool {
    // What nothing leads to is left of a block that each way has a copy of.
    let led_to: HashSet<&str> = function.blocks.iter().flat_map(Block::successors).collect();
    let blocks = function.blocks.iter().enumerate();
    let (inside, outside): (Vec<_>, Vec<_>) = blocks
        .filter(|(at, block)| *at == 0 || led_to.contains(block.label.as_str()))
        .partition(|(at, _)| region.blocks.contains(at));
    let own: HashSet<&str> = inside.iter().flat_map(|(_, block)| block.defined()).collect();
    let labels: HashSet<&str> = inside.iter().map(|(_, block)| block.label.as_str()).collect();
    let comes_in = |label: &str| labels.contains(label) && label != region.entry;
    if outside
        .iter()
        .any(|(_, block)| block.successors().any(comes_in) || block.named().any(|name| own.contains(name)))
    {
        return false;
    }
    let has_variables = |block: &Block| {
        block.is_first && block.code.iter().any(|line| instruction(line).starts_with("alloca "))
    };
    if inside.iter().any(|(_, block)| has_variables(block)) {
        return false;
    }
    // A phi has one way from each block that leaves.
    region.exits.iter().all(|(from, to)| {
        let from = &function.blocks[*from].label;
        function.find(to).is_some_and(|to| function.blocks[to].ways_from(from) <= 1)
    })
}

#[cfg(test)]
mod tests {
    use super::super::code::functions;
    use super::super::nets;
    use super::*;

    /// A function of such lines; `L` and `U` take and give back a lock.
    fn text(lines: &str) -> String {
        let lines = lines
            .replace('L', "  call void @omp_set_lock(ptr %l)")
            .replace('U', "  call void @omp_unset_lock(ptr %l)");
        format!("define void @f(ptr %l, i1 %c) {{\nentry:\n{lines}\n}}\n")
    }

    /// The regions of that function: where they begin, how many blocks they have, and where they lead to.
    fn regions(lines: &str) -> Vec<(String, usize, Vec<String>)> {
        let text = text(lines);
        let all: Vec<_> = functions(&text).collect();
        let nets = nets(&all);
        let mut function = all.into_iter().next().unwrap();
        split(&mut function, &nets);
        let mut seen = HashSet::new();
        let found = std::iter::from_fn(|| region(&mut function, &nets, &mut seen));
        found
            .map(|region| {
                let exits = region.exits.into_iter().map(|(_, to)| to).collect();
                (region.entry, region.blocks.len(), exits)
            })
            .collect()
    }

    #[test]
    fn a_region_goes_from_lock_to_lock() {
        let found = regions("L\n  store i32 1, ptr %l\nU\n  ret void");
        assert_eq!(found, [("%gangway.lock.1".into(), 3, vec!["%gangway.lock.4".into()])]);
    }

    #[test]
    fn a_region_may_have_several_ends() {
        let found = regions(
            "L\n  br i1 %c, label %early, label %late\nearly:\nU\n  br label %end\nlate:\nU\n  br label %end\nend:\n  ret void",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].2.len(), 2);
    }

    #[test]
    fn locks_may_be_handed_over() {
        let found = regions(
            "L\nL\nU\n  br label %loop\nloop:\nL\nU\n  br i1 %c, label %loop, label %end\nend:\nU\n  ret void",
        );
        assert_eq!(found.len(), 1, "one region from the first to the last");
        assert_eq!(found[0].2.len(), 1);
    }

    #[test]
    fn lanes_part_before_locks_in_two_orders() {
        let found = regions(
            "  br i1 %c, label %a, label %b\na:\nL\n  br label %both\nb:\nL\n  br label %both\nboth:\nU\n  ret void",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "%gangway.lock.1.parting");
    }

    #[test]
    fn a_lock_may_be_tried() {
        let found = regions(
            "  br label %loop\nloop:\n  %t = call i32 @omp_test_lock(ptr %l)\n  %n = icmp ne i32 %t, 0\n  %f = xor i1 %n, true\n  br i1 %f, label %loop, label %has\nhas:\nU\n  ret void",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].2, ["%loop", "%gangway.lock.3"]);
    }

    #[test]
    fn what_cannot_be_alone_is_not_found() {
        for lines in [
            // On some ways only.
            "  br i1 %c, label %a, label %b\na:\nL\n  br label %b\nb:\n  br i1 %c, label %d, label %e\nd:\nU\n  br label %e\ne:\n  ret void",
            // Never given back.
            "L\n  ret void",
            // A value leaves it.
            "L\n  %v = load i32, ptr %l\nU\n  store i32 %v, ptr %l\n  ret void",
            // A variable of the whole function.
            "L\n  %v = alloca i32\nU\n  ret void",
            "  invoke void @f() to label %a unwind label %a\na:\nL\nU\n  ret void",
        ] {
            assert_eq!(regions(lines), [], "{lines}");
        }
    }

    #[test]
    fn each_way_out_of_a_scope_is_looked_at_alone() {
        let found = regions(
            "  %cleanup.dest.slot = alloca i32\nL\n  br i1 %c, label %early, label %late\n\
             early:\nU\n  store i32 1, ptr %cleanup.dest.slot\n  br label %cleanup\n\
             late:\n  store i32 0, ptr %cleanup.dest.slot\n  br label %cleanup\n\
             cleanup:\n  %d = load i32, ptr %cleanup.dest.slot\n  switch i32 %d, label %end [\n    i32 0, label %next\n  ]\n\
             next:\nU\n  br label %end\nend:\n  ret void",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].2.len(), 2);
    }
}
