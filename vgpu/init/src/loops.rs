//! Loops of a function that have no other loop in them, and which registers live where.

use gangway_ptx::{Body, Module, RegisterId};

use crate::flow::{Flow, results, sources, successors};

/// A loop that is entered at one block alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub header: usize,
    /// All of its blocks, in order.
    pub blocks: Vec<usize>,
}

/// The blocks behind each block.
pub(crate) fn graph(module: &Module, body: &Body) -> Vec<Vec<usize>> {
    (0..body.blocks.len()).map(|block| successors(module, body, block)).collect()
}

/// The innermost loops. `next` has the blocks behind each one; a function begins with the first.
pub(crate) fn innermost(next: &[Vec<usize>]) -> Vec<Loop> {
    let mut found = Vec::new();
    let mut before = vec![Vec::new(); next.len()];
    for (block, next) in next.iter().enumerate() {
        next.iter().for_each(|&next| before[next].push(block));
    }
    let mut waiting = vec![(0..next.len()).collect::<Vec<_>>()];
    while let Some(blocks) = waiting.pop() {
        for circle in circles(next, &before, &blocks) {
            let outside = |block: &usize| circle.binary_search(block).is_err();
            let is_entry = |&block: &usize| block == 0 || before[block].iter().any(outside);
            let entries: Vec<usize> = circle.iter().copied().filter(is_entry).collect();
            let rest: Vec<usize> = circle.iter().copied().filter(|block| !entries.contains(block)).collect();
            match entries[..] {
                [header] if circles(next, &before, &rest).is_empty() => {
                    found.push(Loop { header, blocks: circle });
                }
                _ => waiting.push(rest),
            }
        }
    }
    found.sort_unstable_by_key(|found| found.header);
    found
}

/// Of some blocks those that lead to each other, in order: more than one, or one that leads to itself.
fn circles(next: &[Vec<usize>], before: &[Vec<usize>], blocks: &[usize]) -> Vec<Vec<usize>> {
    let mut inside = vec![false; next.len()];
    blocks.iter().for_each(|&block| inside[block] = true);
    // Kosaraju's algorithm: first the order in which a walk leaves blocks, then back from the last of them.
    let (mut left, mut seen) = (Vec::new(), vec![false; next.len()]);
    for &start in blocks {
        let mut path = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((block, way)) = path.last_mut() {
            match next[*block].get(*way) {
                Some(&to) => {
                    *way += 1;
                    if inside[to] && !std::mem::replace(&mut seen[to], true) {
                        path.push((to, 0));
                    }
                }
                None => {
                    left.push(*block);
                    path.pop();
                }
            }
        }
    }
    let mut taken = vec![false; next.len()];
    let mut found = Vec::new();
    for &start in left.iter().rev() {
        if std::mem::replace(&mut taken[start], true) {
            continue;
        }
        let (mut circle, mut waiting) = (Vec::new(), vec![start]);
        while let Some(block) = waiting.pop() {
            circle.push(block);
            for &from in &before[block] {
                if inside[from] && !std::mem::replace(&mut taken[from], true) {
                    waiting.push(from);
                }
            }
        }
        if circle.len() > 1 || next[start].contains(&start) {
            circle.sort_unstable();
            found.push(circle);
        }
    }
    found
}

/// Which registers that may be undefined live where blocks begin.
pub(crate) struct Lives {
    entering: Vec<Vec<u64>>,
}

impl Lives {
    pub fn of(module: &Module, body: &Body, flow: &Flow, next: &[Vec<usize>]) -> Self {
        let words = body.registers.len().div_ceil(64);
        let mut lives = Self { entering: vec![vec![0; words]; body.blocks.len()] };
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..body.blocks.len()).rev() {
                let start = body.blocks[block].instructions.start;
                let live = lives.before(module, body, flow, next, (block, start));
                changed |= live != lives.entering[block];
                lives.entering[block] = live;
            }
        }
        lives
    }

    /// Those that live before an instruction of a block, as bits.
    fn before(
        &self,
        module: &Module,
        body: &Body,
        flow: &Flow,
        next: &[Vec<usize>],
        (block, first): (usize, u32),
    ) -> Vec<u64> {
        let mut live = vec![0; body.registers.len().div_ceil(64)];
        for &next in &next[block] {
            live.iter_mut().zip(&self.entering[next]).for_each(|(live, more)| *live |= more);
        }
        for number in (first..body.blocks[block].instructions.end).rev() {
            let instruction = &body.instructions[number as usize];
            if instruction.guard.is_none() {
                for id in results(module, body, instruction) {
                    live[id.index() / 64] &= !(1 << (id.index() % 64));
                }
            }
            let guard = instruction.guard.map(|guard| guard.register);
            for id in sources(module, body, instruction).into_iter().chain(guard) {
                if flow.undefined[id.index()] {
                    live[id.index() / 64] |= 1 << (id.index() % 64);
                }
            }
        }
        live
    }

    /// Whether a register lives where a block begins.
    pub fn enters(&self, block: usize, id: RegisterId) -> bool {
        is_in(&self.entering[block], id)
    }

    /// Those of some registers that live before an instruction.
    pub fn among(
        &self,
        module: &Module,
        body: &Body,
        flow: &Flow,
        next: &[Vec<usize>],
        at: (usize, u32),
        registers: &[RegisterId],
    ) -> Vec<RegisterId> {
        let live = self.before(module, body, flow, next, at);
        registers.iter().copied().filter(|&id| is_in(&live, id)).collect()
    }
}

fn is_in(bits: &[u64], id: RegisterId) -> bool {
    bits[id.index() / 64] >> (id.index() % 64) & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(next: &[&[usize]]) -> Vec<(usize, Vec<usize>)> {
        let next: Vec<Vec<usize>> = next.iter().map(|next| next.to_vec()).collect();
        innermost(&next).into_iter().map(|found| (found.header, found.blocks)).collect()
    }

    #[test]
    fn loops_without_others_in_them() {
        assert_eq!(found(&[&[1], &[]]), []);
        assert_eq!(found(&[&[1], &[1, 2], &[]]), [(1, vec![1])]);
        // One in another, and one behind it.
        assert_eq!(
            found(&[&[1], &[2], &[2, 3], &[1, 4], &[5], &[4, 6], &[]]),
            [(2, vec![2]), (4, vec![4, 5])]
        );
        assert_eq!(found(&[&[1], &[2, 3], &[1], &[]]), [(1, vec![1, 2])]);
        // Two ways in are none; what is in there counts.
        assert_eq!(found(&[&[1, 2], &[2], &[1, 3], &[]]), []);
        assert_eq!(found(&[&[1, 3], &[2], &[2, 3], &[1, 4], &[]]), [(2, vec![2])]);
        // The function's beginning.
        assert_eq!(found(&[&[0, 1], &[]]), [(0, vec![0])]);
    }
}
