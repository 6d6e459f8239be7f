//! Which block all paths from a block lead to first: where lanes that part there are
//! together again at the latest.

use super::graph::Graph;

/// The immediate post-dominator of each block; none where paths only meet behind the function's end, or never.
pub(crate) fn post_dominators(graph: &Graph) -> Vec<Option<u32>> {
    let blocks = graph.blocks.len();
    let end = blocks as u32;
    let successors: Vec<Vec<u32>> = graph
        .blocks
        .iter()
        .map(|block| {
            let successors = block.end.successors();
            if successors.is_empty() { vec![end] } else { successors }
        })
        .collect();
    let mut predecessors = vec![Vec::new(); blocks + 1];
    for (from, successors) in successors.iter().enumerate() {
        for &to in successors {
            predecessors[to as usize].push(from as u32);
        }
    }
    // Depth first from the end on, backwards; what leads to no end has no post-dominator.
    let mut order = Vec::with_capacity(blocks + 1);
    let mut seen = vec![false; blocks + 1];
    let mut path = vec![(end, 0)];
    seen[blocks] = true;
    while let Some((node, next)) = path.last_mut() {
        match predecessors[*node as usize].get(*next) {
            Some(&from) => {
                *next += 1;
                if !std::mem::replace(&mut seen[from as usize], true) {
                    path.push((from, 0));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    let mut number = vec![u32::MAX; blocks + 1];
    for (index, &node) in order.iter().enumerate() {
        number[node as usize] = index as u32;
    }
    let mut dominators: Vec<Option<u32>> = vec![None; blocks + 1];
    dominators[blocks] = Some(end);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let known =
                successors[node as usize].iter().copied().filter(|&to| dominators[to as usize].is_some());
            let meet = |a: u32, b: u32| {
                let (mut a, mut b) = (a, b);
                while a != b {
                    let lower = if number[a as usize] < number[b as usize] { &mut a } else { &mut b };
                    *lower = dominators[*lower as usize].expect("it has been reached");
                }
                a
            };
            let dominator = known.reduce(meet);
            if dominator.is_some() && dominators[node as usize] != dominator {
                dominators[node as usize] = dominator;
                changed = true;
            }
        }
    }
    dominators.truncate(blocks);
    dominators.into_iter().map(|dominator| dominator.filter(|&to| to != end)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Block, End};
    use super::*;
    use gangway_ptx::{Guard, RegisterId};

    fn graph(ends: Vec<End>) -> Graph {
        let block = |end| Block { instructions: 0..0, collective: false, end };
        Graph { blocks: ends.into_iter().map(block).collect() }
    }

    fn branch(yes: u32, no: u32) -> End {
        End::Branch(Guard { register: RegisterId(0), negated: false }, yes, no)
    }

    #[test]
    fn lanes_meet_behind_a_branch_and_behind_a_loop() {
        let graph = graph(vec![branch(1, 2), End::Jump(3), End::Jump(3), branch(3, 4), End::Return]);
        assert_eq!(post_dominators(&graph), [Some(3), Some(3), Some(3), Some(4), None]);
    }

    #[test]
    fn an_early_return_leaves_no_place_to_meet() {
        let graph = graph(vec![branch(1, 2), End::Return, End::Jump(3), End::Return]);
        assert_eq!(post_dominators(&graph), [None, None, Some(3), None]);
    }

    #[test]
    fn an_endless_loop_has_none() {
        let graph = graph(vec![branch(1, 2), End::Jump(1), End::Return]);
        assert_eq!(post_dominators(&graph), [Some(2), None, None]);
    }
}
