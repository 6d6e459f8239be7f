//! A graph: operations and what each depends on. Made node by node, or by capturing a stream.
//!
//! What a node does is the driver's: a [`Payload`], which it can get back and look at.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Outcome};
use crate::event::Event;
use crate::id::NodeId;

/// What a node does when its turn comes.
pub trait Payload: Any + fmt::Debug + Send + Sync {
    /// Does it.
    fn run(&self) -> Outcome;

    /// Whether it can run as it is. A graph may hold what is to be completed before a launch.
    fn ready(&self) -> Result<(), Error> {
        Ok(())
    }

    /// It calls a function of the program, so no thread that waits for a stream may run it.
    fn on_host(&self) -> bool {
        false
    }

    /// Tells sorts of payload apart: one cannot take the place of another. A `CUgraphNodeType`.
    fn sort(&self) -> u32;
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    Empty,
    Work(Arc<dyn Payload>),
    Record(Arc<Event>),
    Wait(Arc<Event>),
    /// A graph of its own, which no other node shares.
    Child(Arc<Graph>),
}

impl NodeKind {
    /// Whether one can take the place of the other.
    pub(crate) fn same_sort(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Work(one), Self::Work(other)) => one.sort() == other.sort(),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    kind: NodeKind,
    dependencies: BTreeSet<NodeId>,
}

type Nodes = BTreeMap<NodeId, Node>;

/// Operations and their order.
#[derive(Debug, Default)]
pub struct Graph {
    nodes: Mutex<Nodes>,
}

impl Graph {
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn nodes_mut(&self) -> MutexGuard<'_, Nodes> {
        self.nodes.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a node that runs after `dependencies`. A child graph is copied.
    pub fn add(&self, kind: NodeKind, dependencies: &[NodeId]) -> Result<NodeId, Error> {
        let kind = match kind {
            NodeKind::Child(graph) => NodeKind::Child(graph.duplicate().0),
            kind => kind,
        };
        let mut nodes = self.nodes_mut();
        let set: BTreeSet<_> = dependencies.iter().copied().collect();
        if set.len() != dependencies.len() || !set.iter().all(|id| nodes.contains_key(id)) {
            return Err(Error::InvalidValue);
        }
        let id = NodeId::next();
        nodes.insert(id, Node { kind, dependencies: set });
        Ok(id)
    }

    /// Removes a node and the edges to and from it.
    pub fn remove(&self, id: NodeId) -> Result<(), Error> {
        let mut nodes = self.nodes_mut();
        nodes.remove(&id).ok_or(Error::InvalidValue)?;
        for node in nodes.values_mut() {
            node.dependencies.remove(&id);
        }
        Ok(())
    }

    /// Adds edges `(from, to)`: `to` runs after `from`. All of them or none.
    pub fn add_dependencies(&self, edges: &[(NodeId, NodeId)]) -> Result<(), Error> {
        self.change_edges(edges, |set, from| set.insert(from))
    }

    /// Removes edges. All of them or none.
    pub fn remove_dependencies(&self, edges: &[(NodeId, NodeId)]) -> Result<(), Error> {
        self.change_edges(edges, |set, from| set.remove(&from))
    }

    fn change_edges(
        &self,
        edges: &[(NodeId, NodeId)],
        change: impl Fn(&mut BTreeSet<NodeId>, NodeId) -> bool,
    ) -> Result<(), Error> {
        let mut nodes = self.nodes_mut();
        let mut changed = nodes.clone();
        for &(from, to) in edges {
            let known = from != to && changed.contains_key(&from);
            let node = changed.get_mut(&to).filter(|_| known).ok_or(Error::InvalidValue)?;
            if !change(&mut node.dependencies, from) {
                return Err(Error::InvalidValue);
            }
        }
        *nodes = changed;
        Ok(())
    }

    /// All nodes, in order of creation.
    pub fn nodes(&self) -> Vec<NodeId> {
        self.nodes_mut().keys().copied().collect()
    }

    /// Nodes that depend on nothing.
    pub fn roots(&self) -> Vec<NodeId> {
        let nodes = self.nodes_mut();
        nodes.iter().filter(|(_, node)| node.dependencies.is_empty()).map(|(&id, _)| id).collect()
    }

    /// All edges, as `(from, to)`.
    pub fn edges(&self) -> Vec<(NodeId, NodeId)> {
        let nodes = self.nodes_mut();
        nodes.iter().flat_map(|(&to, node)| node.dependencies.iter().map(move |&from| (from, to))).collect()
    }

    pub fn kind(&self, id: NodeId) -> Result<NodeKind, Error> {
        self.nodes_mut().get(&id).map(|node| node.kind.clone()).ok_or(Error::InvalidValue)
    }

    /// Replaces what a node does by something of the same sort.
    pub fn set(&self, id: NodeId, kind: NodeKind) -> Result<(), Error> {
        let mut nodes = self.nodes_mut();
        let node = nodes.get_mut(&id).ok_or(Error::InvalidValue)?;
        if !node.kind.same_sort(&kind) {
            return Err(Error::InvalidValue);
        }
        node.kind = kind;
        Ok(())
    }

    /// The nodes that `id` depends on.
    pub fn dependencies(&self, id: NodeId) -> Result<Vec<NodeId>, Error> {
        self.nodes_mut()
            .get(&id)
            .map(|node| node.dependencies.iter().copied().collect())
            .ok_or(Error::InvalidValue)
    }

    /// The nodes that depend on `id`.
    pub fn dependents(&self, id: NodeId) -> Result<Vec<NodeId>, Error> {
        let nodes = self.nodes_mut();
        if !nodes.contains_key(&id) {
            return Err(Error::InvalidValue);
        }
        Ok(nodes.iter().filter(|(_, node)| node.dependencies.contains(&id)).map(|(&id, _)| id).collect())
    }

    /// A copy, child graphs included, and which of its nodes is the copy of which.
    pub fn duplicate(&self) -> (Arc<Self>, BTreeMap<NodeId, NodeId>) {
        let nodes = self.nodes_mut().clone();
        let copies: BTreeMap<_, _> = nodes.keys().map(|&id| (id, NodeId::next())).collect();
        let copy = |(id, node): (NodeId, Node)| {
            let kind = match node.kind {
                NodeKind::Child(graph) => NodeKind::Child(graph.duplicate().0),
                kind => kind,
            };
            let dependencies = node.dependencies.iter().map(|id| copies[id]).collect();
            (copies[&id], Node { kind, dependencies })
        };
        let nodes = nodes.into_iter().map(copy).collect();
        (Arc::new(Self { nodes: Mutex::new(nodes) }), copies)
    }

    /// Everything that `ids` depend on, directly or not, and they themselves.
    pub(crate) fn ancestors(&self, ids: &[NodeId]) -> BTreeSet<NodeId> {
        let nodes = self.nodes_mut();
        let mut found = BTreeSet::new();
        let mut pending = ids.to_vec();
        while let Some(id) = pending.pop() {
            if found.insert(id)
                && let Some(node) = nodes.get(&id)
            {
                pending.extend(&node.dependencies);
            }
        }
        found
    }

    /// Nodes in an order in which each comes after what it depends on; where there is a choice,
    /// earlier nodes come first. Each has the places of its dependencies in that order. An error if
    /// there is a cycle.
    pub(crate) fn sorted(&self) -> Result<Vec<Sorted>, Error> {
        let nodes = self.nodes_mut();
        let mut place = BTreeMap::new();
        let mut left: BTreeMap<_, _> =
            nodes.iter().map(|(&id, node)| (id, node.dependencies.len())).collect();
        let mut dependents: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (&id, node) in nodes.iter() {
            for &dependency in &node.dependencies {
                dependents.entry(dependency).or_default().push(id);
            }
        }
        let mut ready: BTreeSet<_> = left.iter().filter(|(_, left)| **left == 0).map(|(&id, _)| id).collect();
        let mut sorted = Vec::with_capacity(nodes.len());
        while let Some(id) = ready.pop_first() {
            let node = &nodes[&id];
            place.insert(id, sorted.len());
            let dependencies = node.dependencies.iter().map(|id| place[id]).collect();
            sorted.push(Sorted { id, kind: node.kind.clone(), dependencies });
            for dependent in dependents.get(&id).into_iter().flatten() {
                if let Some(left) = left.get_mut(dependent) {
                    *left -= 1;
                    if *left == 0 {
                        ready.insert(*dependent);
                    }
                }
            }
        }
        if sorted.len() == nodes.len() { Ok(sorted) } else { Err(Error::InvalidValue) }
    }
}

/// A node in [`Graph::sorted`].
pub(crate) struct Sorted {
    pub(crate) id: NodeId,
    pub(crate) kind: NodeKind,
    pub(crate) dependencies: Vec<usize>,
}
