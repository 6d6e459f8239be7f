//! The order of blocks: topological where there are no loops, and every loop in one piece with its
//! head first (Bourdoncle's weak topological order). It works for any graph, irreducible ones too.

use std::vec::IntoIter;

/// Loops that lie deeper in others than this are arranged as if they were none. Any order is right:
/// it only says which goes first; and each level looks at all that is in it.
const DEEPEST: usize = 64;

/// Orders the nodes that can be reached from `entry`, which comes first.
pub(crate) fn order(entry: u32, nodes: usize, successors: &dyn Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut search =
        Search { successors, piece: vec![0; nodes], marks: vec![Mark::default(); nodes], steps: 0 };
    let mut result = Vec::with_capacity(nodes);
    let mut pieces = 0;
    let mut frames: Vec<IntoIter<Vec<u32>>> = vec![search.components(&[entry], 0)];
    while let Some(frame) = frames.last_mut() {
        let Some(component) = frame.next() else {
            frames.pop();
            continue;
        };
        let (head, members) = (component[0], &component[1..]);
        search.piece[head as usize] = DONE;
        result.push(head);
        if members.is_empty() {
            continue;
        }
        // Without its head the loop falls into smaller pieces. What is outside has been or will be
        // arranged by itself, so only the members count.
        pieces += 1;
        for &member in members {
            search.piece[member as usize] = pieces;
        }
        if frames.len() < DEEPEST {
            frames.push(search.components(members, pieces));
        } else {
            result.extend(search.downwards(members, pieces));
        }
    }
    crate::work::count(search.steps);
    result
}

/// The piece of a node that has its place.
const DONE: u32 = u32::MAX;

#[derive(Clone, Copy, Default)]
struct Mark {
    /// When it was found, from 1 on.
    found: u32,
    low: u32,
    waiting: bool,
}

struct Search<'a> {
    successors: &'a dyn Fn(u32) -> Vec<u32>,
    /// Which piece each node belongs to: only nodes of one piece are arranged together.
    piece: Vec<u32>,
    marks: Vec<Mark>,
    steps: usize,
}

impl Search<'_> {
    /// The strongly connected components of what can be reached from `roots` in their piece, in
    /// topological order, each with the member that was found first in front and the others in the
    /// order in which they were found (Tarjan's algorithm, without recursion).
    fn components(&mut self, roots: &[u32], piece: u32) -> IntoIter<Vec<u32>> {
        for &root in roots {
            self.marks[root as usize] = Mark::default();
        }
        let mut time = 0;
        let mut waiting: Vec<u32> = Vec::new();
        let mut components = Vec::new();
        for &root in roots {
            if self.marks[root as usize].found != 0 {
                continue;
            }
            let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
            let mut enter = Some(root);
            loop {
                if let Some(node) = enter.take() {
                    time += 1;
                    self.marks[node as usize] = Mark { found: time, low: time, waiting: true };
                    waiting.push(node);
                    path.push((node, (self.successors)(node)));
                }
                let Some((node, rest)) = path.last_mut() else { break };
                let node = *node;
                self.steps += 1;
                if let Some(next) = rest.pop() {
                    let mark = self.marks[next as usize];
                    if self.piece[next as usize] != piece {
                    } else if mark.found == 0 {
                        enter = Some(next);
                    } else if mark.waiting {
                        let low = &mut self.marks[node as usize].low;
                        *low = mark.found.min(*low);
                    }
                    continue;
                }
                path.pop();
                let mark = self.marks[node as usize];
                if let Some((parent, _)) = path.last() {
                    let parent = &mut self.marks[*parent as usize];
                    parent.low = parent.low.min(mark.low);
                }
                if mark.low == mark.found {
                    let start = waiting.iter().rposition(|&other| other == node).expect("it waits");
                    let component = waiting.split_off(start);
                    for &member in &component {
                        self.marks[member as usize].waiting = false;
                    }
                    components.push(component);
                }
            }
        }
        // They were found from the end on.
        components.reverse();
        components.into_iter()
    }

    /// The nodes of a piece, each before those that it leads to but for steps back.
    fn downwards(&mut self, roots: &[u32], piece: u32) -> Vec<u32> {
        let mut result = Vec::with_capacity(roots.len());
        for &root in roots {
            let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
            let mut enter = (self.piece[root as usize] == piece).then_some(root);
            loop {
                if let Some(node) = enter.take() {
                    self.piece[node as usize] = DONE;
                    path.push((node, (self.successors)(node)));
                }
                let Some((node, rest)) = path.last_mut() else { break };
                self.steps += 1;
                match rest.pop() {
                    Some(next) => enter = (self.piece[next as usize] == piece).then_some(next),
                    None => {
                        result.push(*node);
                        path.pop();
                    }
                }
            }
        }
        result.reverse();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::order;

    fn ordered(edges: &[(u32, u32)]) -> Vec<u32> {
        let nodes = edges.iter().map(|&(a, b)| a.max(b)).max().unwrap_or(0) as usize + 1;
        order(0, nodes, &|node| edges.iter().filter(|edge| edge.0 == node).map(|edge| edge.1).collect())
    }

    #[test]
    fn where_branches_join_comes_after_both() {
        let order = ordered(&[(0, 1), (0, 2), (1, 3), (2, 3)]);
        assert_eq!((order[0], order[3]), (0, 3));
    }

    #[test]
    fn loops_stay_together() {
        // An inner loop (2, 3) in an outer one (1 to 4), and what follows both.
        let order = ordered(&[(0, 1), (1, 5), (1, 2), (2, 3), (3, 2), (3, 4), (4, 1), (2, 5)]);
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_loop_with_two_entries_is_ordered_too() {
        let mut order = ordered(&[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
        assert_eq!((order[0], order[3]), (0, 3));
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn loops_in_loops_need_no_deep_stack() {
        const DEPTH: u32 = 20_000;
        let next = |node: u32| match node {
            0..DEPTH => vec![node + 1],
            _ if node < 2 * DEPTH => vec![node + 1, 2 * DEPTH - 1 - node],
            _ => vec![],
        };
        let mut order = order(0, 2 * DEPTH as usize + 1, &next);
        assert_eq!((order[0], order[2 * DEPTH as usize]), (0, 2 * DEPTH));
        order.sort_unstable();
        assert!(order.into_iter().eq(0..=2 * DEPTH));
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<(u32, u32)> = (0..5000).map(|node| (node, node + 1)).collect();
        assert_eq!(ordered(&edges).len(), 5001);
    }
}
