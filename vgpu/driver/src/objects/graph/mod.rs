//! Graphs as the driver API knows them: handles for graphs, nodes and executable graphs, and
//! the objects of the program that they keep alive. What a graph is, `gangway-streams` knows.
//!
//! A graph that was captured or is a child has no handle before somebody asks; nor have its nodes.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use gangway_streams::{GraphExec, NodeId, NodeKind, Payload};

use crate::abi::pointer::In;
use crate::abi::status::{Result, Status};
use crate::abi::types::{CUgraph, CUgraphExec, CUgraphNode, CUuserObject};
use crate::objects::stream::StreamRef;
use crate::objects::table::{Object, object};
use crate::objects::work::host_function::{HostFn, UserData};

/// A graph.
#[derive(Debug)]
pub struct Graph {
    pub handle: CUgraph,
    pub graph: Arc<gangway_streams::Graph>,
    nodes: Mutex<HashMap<NodeId, CUgraphNode>>,
    /// Which of its nodes is the copy of which, if it is a clone.
    copies: Mutex<HashMap<NodeId, NodeId>>,
    objects: Mutex<Vec<Arc<UserObject>>>,
}

object!(Graph, 9, invalid: Status::INVALID_VALUE);

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

object!(Node, 10, invalid: Status::INVALID_VALUE);

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
    pub fn of(graph: &Arc<gangway_streams::Graph>) -> Result<Arc<Graph>> {
        handles(|handles| {
            let key = Arc::as_ptr(graph) as usize;
            if let Some(known) = handles.get(&key) {
                return known.get();
            }
            let made = Graph::table().insert_with(|handle| {
                Arc::new(Graph {
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

    /// Takes the handles of the graph and its nodes away. A running capture or an executable graph goes on without.
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
        if let Some(node) = lock(&self.nodes).remove(&id) {
            let _ = node.remove();
        }
        if let Ok(NodeKind::Child(child)) = self.graph.kind(id) {
            let child = handles(|handles| handles.get(&(Arc::as_ptr(&child) as usize)).copied());
            if let Some(child) = child {
                let _ = Graph::destroy(child);
            }
        }
    }

    /// The handle of a node, which gets one if it has none.
    pub fn node(self: &Arc<Self>, id: NodeId) -> Result<CUgraphNode> {
        let mut nodes = lock(&self.nodes);
        if let Some(&handle) = nodes.get(&id) {
            return Ok(handle);
        }
        let graph = Arc::downgrade(self);
        let node = Node::table()
            .insert_with(|handle| Arc::new(Node { handle, graph, id, told: Mutex::default() }))?;
        nodes.insert(id, node.handle);
        Ok(node.handle)
    }

    pub fn nodes(self: &Arc<Self>, ids: Vec<NodeId>) -> Result<Vec<CUgraphNode>> {
        ids.into_iter().map(|id| self.node(id)).collect()
    }

    /// The nodes that an array of handles means; all must be of this graph.
    pub fn ids(self: &Arc<Self>, nodes: In<CUgraphNode>, count: usize) -> Result<Vec<NodeId>> {
        let id = |node: CUgraphNode| {
            let node = node.get()?;
            let own = node.graph.upgrade().is_some_and(|graph| Arc::ptr_eq(&graph, self));
            if own { Ok(node.id) } else { Err(Status::INVALID_VALUE) }
        };
        nodes.array(count)?.into_iter().map(id).collect()
    }

    pub fn add(self: &Arc<Self>, kind: NodeKind, dependencies: &[NodeId]) -> Result<CUgraphNode> {
        self.node(self.graph.add(kind, dependencies)?)
    }

    /// A copy with a handle of its own.
    pub fn duplicate(&self) -> Result<Arc<Graph>> {
        let (graph, copies) = self.graph.duplicate();
        let graph = Graph::of(&graph)?;
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

    /// The objects that it keeps alive, as often as it holds them.
    pub fn objects(&self) -> Vec<Arc<UserObject>> {
        lock(&self.objects).clone()
    }

    pub fn retain(&self, object: &Arc<UserObject>, count: u32) {
        lock(&self.objects).extend((0..count).map(|_| Arc::clone(object)));
    }

    /// Lets go of an object `count` times; it must hold it that often. The program need not
    /// hold it itself: its references may have been moved to the graph.
    pub fn release(&self, object: CUuserObject, count: u32) -> Result {
        // Dropped after the lock: the last one calls a function of the program.
        let mut released = Vec::new();
        let mut objects = lock(&self.objects);
        let held = objects.iter().filter(|held| held.handle == object).count();
        if held < count as usize {
            return Err(Status::INVALID_VALUE);
        }
        for _ in 0..count {
            if let Some(place) = objects.iter().position(|held| held.handle == object) {
                released.push(objects.swap_remove(place));
            }
        }
        drop(objects);
        Ok(())
    }
}

impl Node {
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

/// An executable graph.
#[derive(Debug)]
pub struct Exec {
    pub handle: CUgraphExec,
    pub exec: Arc<GraphExec>,
    pub flags: u64,
    objects: Mutex<Vec<Arc<UserObject>>>,
}

object!(Exec, 11, invalid: Status::INVALID_VALUE);

impl Exec {
    pub fn create(graph: &Graph, flags: u64) -> Result<Arc<Exec>> {
        let exec = GraphExec::new(&graph.graph)?;
        let objects = Mutex::new(graph.objects());
        Exec::table().insert_with(|handle| Arc::new(Exec { handle, exec, flags, objects }))
    }

    pub fn launch(&self, stream: &StreamRef) -> Result {
        self.exec.launch(&stream.queue)?;
        // Objects live as long as launches do that were made while they were held.
        let objects = lock(&self.objects).clone();
        if !objects.is_empty() && !stream.queue.is_capturing() {
            stream.queue.submit_host(move || {
                drop(objects);
                Ok(())
            })?;
        }
        Ok(())
    }

    pub fn update(&self, graph: &Graph) -> Result {
        self.exec.update(&graph.graph)?;
        let objects = graph.objects();
        let before = std::mem::replace(&mut *lock(&self.objects), objects);
        drop(before);
        Ok(())
    }
}

/// Something of the program that graphs keep alive, and how it is told that none does any more.
#[derive(Debug)]
pub struct UserObject {
    pub handle: CUuserObject,
    object: UserData,
    destroy: HostFn,
    /// References that the program itself holds; without any the handle is gone.
    held: AtomicU32,
}

object!(UserObject, 13, invalid: Status::INVALID_VALUE);

impl UserObject {
    pub fn create(object: *mut c_void, destroy: HostFn, held: u32) -> Result<Arc<UserObject>> {
        let (object, held) = (UserData(object), AtomicU32::new(held));
        UserObject::table().insert_with(|handle| Arc::new(UserObject { handle, object, destroy, held }))
    }

    pub fn retain(&self, count: u32) {
        self.held.fetch_add(count, Ordering::AcqRel);
    }

    /// Takes back references of the program.
    pub fn release(&self, count: u32) -> Result {
        let release = |held: u32| held.checked_sub(count);
        let before = self.held.fetch_update(Ordering::AcqRel, Ordering::Acquire, release);
        if before.map_err(|_| Status::INVALID_VALUE)? == count {
            self.handle.remove()?;
        }
        Ok(())
    }
}

impl Drop for UserObject {
    fn drop(&mut self) {
        // SAFETY: the program passed the function to be called with its object, once, when nobody
        // refers to it any more.
        unsafe { (self.destroy)(self.object.0) };
    }
}
