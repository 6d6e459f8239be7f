//! Which block all paths from a block lead to first: where lanes that part there are
//! together again at the latest. And which one all paths to a block come by last.

use gangway_simt::{Block, predecessors};

/// The immediate dominator of each block; none of the first, and of those that nothing leads to.
pub(crate) fn dominators(graph: &[Block]) -> Vec<Option<u32>> {
    let successors: Vec<Vec<u32>> = graph.iter().map(|block| block.end.successors()).collect();
    let mut tree = Tree::new(0, &successors);
    let dominators = tree.dominators(&predecessors(graph));
    crate::work::count(tree.steps);
    dominators
}

/// Whether all ways to a block come by another one, by the immediate dominators.
pub(crate) fn dominates(above: &[Option<u32>], one: u32, mut other: u32) -> bool {
    while other != one {
        match above[other as usize] {
            Some(next) => other = next,
            None => return false,
        }
    }
    true
}

/// The immediate post-dominator of each block; none where paths only meet behind the function's
/// end, or never.
pub(crate) fn post_dominators(graph: &[Block]) -> Vec<Option<u32>> {
    let blocks = graph.len();
    let end = blocks as u32;
    let successors: Vec<Vec<u32>> = graph
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
    let mut tree = Tree::new(end, &predecessors);
    let dominators = tree.dominators(&successors);
    crate::work::count(tree.steps);
    (0..end).map(|block| dominators[block as usize].filter(|&to| to != end)).collect()
}

/// The algorithm of Lengauer and Tarjan, on the graph backwards: its cost is bounded by m log n
/// whatever the graph.
struct Tree {
    /// The nodes that lead to the end, in the order of a search from there.
    order: Vec<u32>,
    /// By node: its place in the order, or `NONE`. All that follows is by place.
    place: Vec<u32>,
    parent: Vec<u32>,
    semi: Vec<u32>,
    /// A forest, with shortened paths: the best node on the way to the root.
    ancestor: Vec<u32>,
    best: Vec<u32>,
    steps: usize,
}

const NONE: u32 = u32::MAX;

impl Tree {
    fn new(root: u32, next: &[Vec<u32>]) -> Self {
        let mut order = vec![root];
        let mut place = vec![NONE; next.len()];
        let mut parent = vec![0];
        place[root as usize] = 0;
        let mut path = vec![(root, 0)];
        while let Some((node, index)) = path.last_mut() {
            let Some(&to) = next[*node as usize].get(*index) else {
                path.pop();
                continue;
            };
            *index += 1;
            if place[to as usize] == NONE {
                parent.push(place[*node as usize]);
                place[to as usize] = order.len() as u32;
                order.push(to);
                path.push((to, 0));
            }
        }
        let count = order.len() as u32;
        let (semi, best) = ((0..count).collect(), (0..count).collect());
        Tree { order, place, parent, semi, ancestor: vec![NONE; count as usize], best, steps: 0 }
    }

    /// The immediate dominator of each node; `before` are the edges that lead to it.
    fn dominators(&mut self, before: &[Vec<u32>]) -> Vec<Option<u32>> {
        let count = self.order.len();
        let mut bucket: Vec<Vec<u32>> = vec![Vec::new(); count];
        let mut dominator = vec![0; count];
        for node in (1..count as u32).rev() {
            for &from in before.get(self.order[node as usize] as usize).into_iter().flatten() {
                let from = self.place[from as usize];
                if from != NONE {
                    let best = self.evaluate(from);
                    self.semi[node as usize] = self.semi[node as usize].min(self.semi[best as usize]);
                }
            }
            bucket[self.semi[node as usize] as usize].push(node);
            let parent = self.parent[node as usize];
            self.ancestor[node as usize] = parent;
            for other in std::mem::take(&mut bucket[parent as usize]) {
                let best = self.evaluate(other);
                let closer = self.semi[best as usize] < self.semi[other as usize];
                dominator[other as usize] = if closer { best } else { parent };
            }
        }
        let mut dominators = vec![None; self.place.len()];
        for node in 1..count {
            if dominator[node] != self.semi[node] {
                dominator[node] = dominator[dominator[node] as usize];
            }
            dominators[self.order[node] as usize] = Some(self.order[dominator[node] as usize]);
        }
        dominators
    }

    /// The node with the least semidominator on the way from a node to the root of its tree,
    /// without that.
    fn evaluate(&mut self, node: u32) -> u32 {
        let mut path = Vec::new();
        let mut at = node;
        while self.ancestor[at as usize] != NONE {
            path.push(at);
            at = self.ancestor[at as usize];
        }
        self.steps += path.len() + 1;
        // The last one has the root for its ancestor, which does not count.
        for pair in (1..path.len()).rev() {
            let (below, above) = (path[pair - 1] as usize, path[pair] as usize);
            if self.semi[self.best[above] as usize] < self.semi[self.best[below] as usize] {
                self.best[below] = self.best[above];
            }
            self.ancestor[below] = self.ancestor[above];
        }
        self.best[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gangway_simt::{End, Guard};

    fn graph(ends: Vec<End>) -> Vec<Block> {
        let block = |end| Block { operations: 0..0, collective: false, end };
        ends.into_iter().map(block).collect()
    }

    fn branch(yes: u32, no: u32) -> End {
        End::Branch(Guard { slot: 0, negated: false }, yes, no)
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
    fn all_ways_to_a_block_come_by_its_dominator() {
        let graph =
            graph(vec![End::Jump(1), branch(2, 3), End::Jump(4), End::Jump(4), branch(1, 5), End::Return]);
        assert_eq!(dominators(&graph), [None, Some(0), Some(1), Some(1), Some(1), Some(4)]);
    }

    #[test]
    fn an_endless_loop_has_none() {
        let graph = graph(vec![branch(1, 2), End::Jump(1), End::Return]);
        assert_eq!(post_dominators(&graph), [Some(2), None, None]);
    }
}
