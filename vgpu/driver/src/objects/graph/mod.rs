//! Graphs as the driver API knows them: handles for graphs, nodes and executable graphs, and
//! the objects of the program that they keep alive. What a graph is, `gangway-streams` knows.
//!
//! A graph that was captured or is a child has no handle before a call asks for it; nor have its
//! nodes.

mod exec;
mod node;
mod user_object;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gangway_streams::{NodeId, NodeKind};

use crate::abi::{CUgraph, CUgraphNode, CUuserObject, Result, Status, kind};
use crate::objects::table::backed;

pub use exec::Exec;
pub use node::Node;
pub use user_object::{HeldObjects, UserObject};

/// A graph.
#[derive(Debug)]
pub struct Graph {
    pub handle: CUgraph,
    pub graph: Arc<gangway_streams::Graph>,
    nodes: Mutex<HashMap<NodeId, CUgraphNode>>,
    /// Which of its nodes is the copy of which, if it is a clone.
    copies: Mutex<HashMap<NodeId, NodeId>>,
    objects: Mutex<HeldObjects>,
}

backed!(kind::Graph, Graph);

/// Graphs with handles, by the address of the graph behind them.
static HANDLES: Mutex<Option<HashMap<usize, CUgraph>>> = Mutex::new(None);

fn handles<T>(work: impl FnOnce(&mut HashMap<usize, CUgraph>) -> T) -> T {
    work(HANDLES.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Graph {
    /// The object of a graph, which gets a handle if it has none.
    pub fn of(graph: &Arc<gangway_streams::Graph>) -> Result<Arc<Self>> {
        handles(|handles| {
            let key = Arc::as_ptr(graph) as usize;
            if let Some(known) = handles.get(&key) {
                return known.get();
            }
            let made = CUgraph::insert_with(|handle| {
                Arc::new(Self {
                    handle,
                    graph: Arc::clone(graph),
                    nodes: Mutex::default(),
                    copies: Mutex::default(),
                    objects: Mutex::default(),
                })
            })?;
            handles.insert(key, made.handle);
            Ok(made)
        })
    }

    /// Takes the handles of the graph and its nodes away. A running capture or an executable
    /// graph goes on without.
    pub fn destroy(handle: CUgraph) -> Result {
        let graph = handle.remove()?;
        handles(|handles| handles.remove(&(Arc::as_ptr(&graph.graph) as usize)));
        for id in graph.graph.nodes() {
            graph.forget_node(id);
        }
        Ok(())
    }

    /// Takes away the handle of a node, and that of its child graph.
    fn forget_node(&self, id: NodeId) {
        let handle = lock(&self.nodes).remove(&id);
        if let Some(handle) = handle {
            let _ = handle.remove();
        }
        if let Ok(NodeKind::Child(child)) = self.graph.kind(id) {
            let child = handles(|handles| handles.get(&(Arc::as_ptr(&child) as usize)).copied());
            if let Some(child) = child {
                let _ = Self::destroy(child);
            }
        }
    }

    /// The handle of a node, which gets one if it has none.
    pub fn node(self: &Arc<Self>, id: NodeId) -> Result<CUgraphNode> {
        let mut nodes = lock(&self.nodes);
        if let Some(&handle) = nodes.get(&id) {
            return Ok(handle);
        }
        let node = Node::create(self, id)?;
        nodes.insert(id, node);
        Ok(node)
    }

    pub fn nodes(self: &Arc<Self>, ids: Vec<NodeId>) -> Result<Vec<CUgraphNode>> {
        ids.into_iter().map(|id| self.node(id)).collect()
    }

    /// The nodes that handles mean; all must be of this graph.
    pub fn ids(self: &Arc<Self>, nodes: Vec<CUgraphNode>) -> Result<Vec<NodeId>> {
        let id = |handle: CUgraphNode| {
            let node = handle.get()?;
            if node.is_of(self) { Ok(node.id) } else { Err(Status::INVALID_VALUE) }
        };
        nodes.into_iter().map(id).collect()
    }

    pub fn add(self: &Arc<Self>, kind: NodeKind, dependencies: &[NodeId]) -> Result<CUgraphNode> {
        self.node(self.graph.add(kind, dependencies)?)
    }

    /// A copy with a handle of its own.
    pub fn duplicate(&self) -> Result<Arc<Self>> {
        let (graph, copies) = self.graph.duplicate();
        let graph = Self::of(&graph)?;
        *lock(&graph.copies) = copies.into_iter().collect();
        *lock(&graph.objects) = self.objects();
        Ok(graph)
    }

    /// The node of this clone that is the copy of another graph's.
    pub fn find_copy(self: &Arc<Self>, original: NodeId) -> Result<CUgraphNode> {
        let copy = lock(&self.copies).get(&original).copied().ok_or(Status::INVALID_VALUE)?;
        self.graph.kind(copy)?;
        self.node(copy)
    }

    /// The objects that it keeps alive.
    pub fn objects(&self) -> HeldObjects {
        lock(&self.objects).clone()
    }

    pub fn retain(&self, object: &Arc<UserObject>, count: u32) -> Result {
        lock(&self.objects).retain(object, count)
    }

    /// Lets go of an object `count` times; it must hold it that often. The program need not
    /// hold it itself: its references may have been moved to the graph.
    pub fn release(&self, object: CUuserObject, count: u32) -> Result {
        // Dropped after the lock: the last reference calls a function of the program.
        let released = lock(&self.objects).release(object, count)?;
        drop(released);
        Ok(())
    }
}
