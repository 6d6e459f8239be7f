//! Nodes of graphs, and what a program was told of their parameters.

use std::sync::{Arc, Mutex, Weak};

use gangway_streams::{NodeId, NodeKind, Payload};

use super::{Graph, lock};
use crate::abi::{CUgraphNode, Result, Status, kind};
use crate::objects::table::backed;

/// A node of a graph.
#[derive(Debug)]
pub struct Node {
    pub handle: CUgraphNode,
    graph: Weak<Graph>,
    pub id: NodeId,
    /// What pointers into parameters, which the program was told, point to.
    told: Mutex<Option<Told>>,
}

/// Work, and an array of pointers into it.
#[derive(Debug)]
struct Told {
    _work: Arc<dyn Payload>,
    array: Box<[usize]>,
}

backed!(kind::GraphNode, Node);

impl Node {
    /// Gives a node of a graph a handle.
    pub(super) fn create(graph: &Arc<Graph>, id: NodeId) -> Result<CUgraphNode> {
        let graph = Arc::downgrade(graph);
        let node =
            CUgraphNode::insert_with(|handle| Arc::new(Self { handle, graph, id, told: Mutex::default() }))?;
        Ok(node.handle)
    }

    pub(super) fn is_of(&self, graph: &Arc<Graph>) -> bool {
        std::ptr::eq(self.graph.as_ptr(), Arc::as_ptr(graph))
    }

    pub fn graph(&self) -> Result<Arc<Graph>> {
        self.graph.upgrade().ok_or(Status::INVALID_VALUE)
    }

    pub fn kind(&self) -> Result<NodeKind> {
        Ok(self.graph()?.graph.kind(self.id)?)
    }

    /// What the node does, if that is work of this type.
    pub fn work<T: Payload>(&self) -> Result<Arc<T>> {
        let NodeKind::Work(payload) = self.kind()? else { return Err(Status::INVALID_VALUE) };
        let payload: Arc<dyn std::any::Any + Send + Sync> = payload;
        payload.downcast().map_err(|_| Status::INVALID_VALUE)
    }

    pub fn set(&self, kind: NodeKind) -> Result {
        Ok(self.graph()?.graph.set(self.id, kind)?)
    }

    /// Keeps work and an array alive that the program was given pointers into, until it asks again.
    pub fn tell(&self, work: Arc<dyn Payload>, array: Box<[usize]>) -> *const usize {
        lock(&self.told).insert(Told { _work: work, array }).array.as_ptr()
    }

    /// `cuGraphDestroyNode`
    pub fn destroy(&self) -> Result {
        let graph = self.graph()?;
        graph.forget_node(self.id);
        Ok(graph.graph.remove(self.id)?)
    }
}
