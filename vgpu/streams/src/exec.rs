//! An executable graph: its operations in one order that respects all dependencies.
//!
//! A launch appends them to the stream in one go. Branches that could run at the same time run one
//! after another; their kernels have the whole device each.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::{Error, Outcome};
use crate::graph::{Graph, NodeKind};
use crate::id::NodeId;
use crate::queue::{Class, Operation, Position};
use crate::stream::Stream;
use crate::task::Task;

/// What `cuGraphInstantiate` makes of a graph: later changes of the graph do not touch it.
#[derive(Debug)]
pub struct GraphExec {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    steps: Vec<Step>,
    /// Launches of one executable graph do not overlap.
    last: Option<Position>,
}

#[derive(Debug)]
struct Step {
    node: NodeId,
    kind: NodeKind,
    /// Places of the steps it depends on, to compare graphs by.
    dependencies: Vec<usize>,
    enabled: bool,
}

/// Nodes of `graph` in order, those of child graphs in place of their node.
fn flatten(graph: &Graph) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    // Where each node of this graph ended up.
    let mut places = Vec::new();
    for node in graph.sorted()? {
        let dependencies: Vec<usize> = node.dependencies.iter().map(|&index| places[index]).collect();
        if let NodeKind::Child(child) = &node.kind {
            let base = steps.len();
            for mut step in flatten(child)? {
                step.dependencies.iter_mut().for_each(|place| *place += base);
                step.dependencies.extend(&dependencies);
                steps.push(step);
            }
        }
        places.push(steps.len());
        steps.push(Step { node: node.id, kind: node.kind, dependencies, enabled: true });
    }
    Ok(steps)
}

impl GraphExec {
    /// An error if the graph has a cycle.
    pub fn new(graph: &Graph) -> Result<Arc<Self>, Error> {
        let steps = flatten(graph)?;
        Ok(Arc::new(Self { inner: Mutex::new(Inner { steps, last: None }) }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Submits all operations to `stream`; they begin after an earlier launch of the same
    /// executable graph has ended. In a stream that captures it becomes a child graph.
    pub fn launch(&self, stream: &Arc<Stream>) -> Result<(), Error> {
        let mut inner = self.inner();
        if stream.is_capturing() {
            return stream.capture(NodeKind::Child(inner.as_graph()?)).map(drop);
        }
        stream.check_submit()?;
        // All that can be refused, before anything is submitted or recorded.
        let mut awaited = Vec::new();
        for step in inner.steps.iter().filter(|step| step.enabled) {
            match &step.kind {
                NodeKind::Work(payload) => payload.ready()?,
                NodeKind::Wait(event) => awaited.push(event.position()?),
                NodeKind::Empty | NodeKind::Child(_) | NodeKind::Record(_) => {}
            }
        }
        let mut awaited = awaited.into_iter();
        let mut operations = Vec::with_capacity(inner.steps.len() + 1);
        if let Some(last) = inner.last.take()
            && !last.is_past()
        {
            operations.push(Operation::Wait(last));
        }
        let mut records = Vec::new();
        for step in inner.steps.iter().filter(|step| step.enabled) {
            match &step.kind {
                NodeKind::Empty | NodeKind::Child(_) => {}
                NodeKind::Work(payload) => {
                    let class = if payload.on_host() { Class::Host } else { Class::Device };
                    let payload = payload.clone();
                    let run = move |_| -> Outcome { payload.run() };
                    operations.push(Operation::Run(Task::new(run), class));
                }
                NodeKind::Record(event) => {
                    let record = event.begin_record();
                    records.push((operations.len(), event.clone(), record));
                    operations.push(Operation::Stamp(event.clone(), record));
                }
                NodeKind::Wait(_) => {
                    if let Some(position) = awaited.next().flatten()
                        && !position.is_past()
                    {
                        operations.push(Operation::Wait(position));
                    }
                }
            }
        }
        let count = operations.len();
        let end = stream.append(operations);
        for (index, event, record) in records {
            let sequence = end - (count - 1 - index) as u64;
            event.finish_record(record, stream.queue.position(sequence), None);
        }
        inner.last = Some(stream.queue.position(end));
        Ok(())
    }

    /// Replaces what a node does, for later launches; something of the same sort.
    pub fn set(&self, node: NodeId, kind: NodeKind) -> Result<(), Error> {
        let mut inner = self.inner();
        let step = inner.step(node)?;
        if !step.kind.same_sort(&kind) || matches!(kind, NodeKind::Child(_)) {
            return Err(Error::InvalidValue);
        }
        step.kind = kind;
        Ok(())
    }

    /// Whether later launches run a node.
    pub fn set_enabled(&self, node: NodeId, enabled: bool) -> Result<(), Error> {
        self.inner().step(node)?.enabled = enabled;
        Ok(())
    }

    pub fn enabled(&self, node: NodeId) -> Result<bool, Error> {
        Ok(self.inner().step(node)?.enabled)
    }

    /// Takes over what the nodes of `graph` do. The graphs must have the same shape and the same
    /// sorts of nodes, created in the same order.
    pub fn update(&self, graph: &Graph) -> Result<(), Error> {
        let steps = flatten(graph)?;
        let mut inner = self.inner();
        let same = steps.len() == inner.steps.len()
            && steps
                .iter()
                .zip(&inner.steps)
                .all(|(new, old)| new.kind.same_sort(&old.kind) && new.dependencies == old.dependencies);
        if !same {
            return Err(Error::GraphUpdate);
        }
        for (old, new) in inner.steps.iter_mut().zip(steps) {
            old.kind = new.kind;
        }
        Ok(())
    }
}

impl Inner {
    /// The steps as a graph, without those of child graphs being children.
    fn as_graph(&self) -> Result<Arc<Graph>, Error> {
        let graph = Graph::new();
        let mut nodes: Vec<NodeId> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let runs = step.enabled && !matches!(step.kind, NodeKind::Child(_));
            let kind = if runs { step.kind.clone() } else { NodeKind::Empty };
            let dependencies: BTreeSet<_> = step.dependencies.iter().map(|&place| nodes[place]).collect();
            nodes.push(graph.add(kind, &Vec::from_iter(dependencies))?);
        }
        Ok(graph)
    }

    fn step(&mut self, node: NodeId) -> Result<&mut Step, Error> {
        self.steps.iter_mut().find(|step| step.node == node).ok_or(Error::InvalidValue)
    }
}
