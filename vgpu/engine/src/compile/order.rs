//! The order of blocks: topological where there are no loops, and every loop in one piece
//! with its head first (Bourdoncle's weak topological order). It works for any graph, irreducible ones too.

/// Orders the nodes that can be reached from `entry`, which comes first.
pub(crate) fn order(entry: u32, nodes: usize, successors: &dyn Fn(u32) -> Vec<u32>) -> Vec<u32> {
    let mut result = Vec::with_capacity(nodes);
    let mut inside = vec![true; nodes];
    arrange(&[entry], &mut inside, successors, &mut result);
    result
}

/// Arranges what can be reached from `roots` through nodes that are `inside`.
fn arrange(roots: &[u32], inside: &mut [bool], successors: &dyn Fn(u32) -> Vec<u32>, result: &mut Vec<u32>) {
    let mut components = components(roots, inside, successors);
    // They were found from the end on.
    components.reverse();
    for component in components {
        let head = component[0];
        inside[head as usize] = false;
        result.push(head);
        if component.len() > 1 {
            // Without its head the loop falls into smaller pieces. What is outside has been or will be
            // arranged by itself, so only the members count.
            let mut members = vec![false; inside.len()];
            for &member in &component[1..] {
                members[member as usize] = true;
            }
            arrange(&component[1..], &mut members, successors, result);
            for &member in &component[1..] {
                inside[member as usize] = false;
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Mark {
    /// When it was found, from 1 on.
    found: u32,
    low: u32,
    waiting: bool,
}

/// The strongly connected components in reverse topological order, each with the member that was found first
/// in front and the others in the order in which they were found (Tarjan's algorithm, without recursion).
fn components(roots: &[u32], inside: &[bool], successors: &dyn Fn(u32) -> Vec<u32>) -> Vec<Vec<u32>> {
    let mut marks = vec![Mark::default(); inside.len()];
    let mut time = 0;
    let mut waiting: Vec<u32> = Vec::new();
    let mut components = Vec::new();
    for &root in roots {
        if marks[root as usize].found != 0 || !inside[root as usize] {
            continue;
        }
        let mut path: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut enter = Some(root);
        loop {
            if let Some(node) = enter.take() {
                time += 1;
                marks[node as usize] = Mark { found: time, low: time, waiting: true };
                waiting.push(node);
                path.push((node, successors(node)));
            }
            let Some((node, rest)) = path.last_mut() else { break };
            let node = *node;
            if let Some(next) = rest.pop() {
                let mark = marks[next as usize];
                if !inside[next as usize] {
                } else if mark.found == 0 {
                    enter = Some(next);
                } else if mark.waiting {
                    marks[node as usize].low = marks[node as usize].low.min(mark.found);
                }
                continue;
            }
            path.pop();
            let mark = marks[node as usize];
            if let Some((parent, _)) = path.last() {
                let parent = &mut marks[*parent as usize];
                parent.low = parent.low.min(mark.low);
            }
            if mark.low == mark.found {
                let start = waiting.iter().rposition(|&other| other == node).expect("it waits");
                let component = waiting.split_off(start);
                for &member in &component {
                    marks[member as usize].waiting = false;
                }
                components.push(component);
            }
        }
    }
    components
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
    fn a_long_chain_needs_no_deep_stack() {
        let edges: Vec<(u32, u32)> = (0..5000).map(|node| (node, node + 1)).collect();
        assert_eq!(ordered(&edges).len(), 5001);
    }
}
