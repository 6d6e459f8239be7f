//! Graphs: making them, looking at them, and the objects that they keep alive.

use std::ffi::c_void;
use std::sync::Arc;

use gangway_streams::NodeKind;

use super::entry::{Call, entry};
use super::image;
use crate::abi::number::{node_type, user_object};
use crate::abi::{
    CUgraph, CUgraphEdgeData, CUgraphNode, CUhostFn, CUuserObject, In, Out, Result, Status, Text,
};
use crate::objects::graph::{Graph, UserObject};
use crate::objects::process::report::report;

#[entry]
fn cuGraphCreate(_: &Call, graph: Out<CUgraph>, flags: u32) -> Result {
    graph.check()?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    graph.set(Graph::of(&gangway_streams::Graph::new())?.handle)
}

#[entry]
fn cuGraphDestroy(_: &Call, graph: CUgraph) -> Result {
    Graph::destroy(graph)
}

#[entry]
fn cuGraphClone(_: &Call, clone: Out<CUgraph>, original: CUgraph) -> Result {
    clone.check()?;
    clone.set(original.get()?.duplicate()?.handle)
}

#[entry]
fn cuGraphNodeFindInClone(_: &Call, node: Out<CUgraphNode>, original: CUgraphNode, clone: CUgraph) -> Result {
    node.set(clone.get()?.find_copy(original.get()?.id)?)
}

#[entry]
fn cuGraphGetNodes(_: &Call, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    list(nodes, count, graph.nodes(graph.graph.nodes())?)
}

#[entry]
fn cuGraphGetRootNodes(_: &Call, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) -> Result {
    let graph = graph.get()?;
    list(nodes, count, graph.nodes(graph.graph.roots())?)
}

#[entry]
fn cuGraphGetEdges(
    _: &Call,
    graph: CUgraph,
    from: Out<CUgraphNode>,
    to: Out<CUgraphNode>,
    count: Out<usize>,
) -> Result {
    edges(graph, from, to, Out::NULL, count)
}

#[entry]
fn cuGraphGetEdges_v2(
    _: &Call,
    graph: CUgraph,
    from: Out<CUgraphNode>,
    to: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    edges(graph, from, to, data, count)
}

#[entry]
fn cuGraphNodeGetDependencies(
    _: &Call,
    node: CUgraphNode,
    nodes: Out<CUgraphNode>,
    count: Out<usize>,
) -> Result {
    dependencies(node, nodes, Out::NULL, count)
}

#[entry]
fn cuGraphNodeGetDependencies_v2(
    _: &Call,
    node: CUgraphNode,
    nodes: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    dependencies(node, nodes, data, count)
}

#[entry]
fn cuGraphNodeGetDependentNodes(
    _: &Call,
    node: CUgraphNode,
    nodes: Out<CUgraphNode>,
    count: Out<usize>,
) -> Result {
    dependents(node, nodes, Out::NULL, count)
}

#[entry]
fn cuGraphNodeGetDependentNodes_v2(
    _: &Call,
    node: CUgraphNode,
    nodes: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    dependents(node, nodes, data, count)
}

#[entry]
fn cuGraphAddDependencies(
    _: &Call,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Result {
    let graph = graph.get()?;
    Ok(graph.graph.add_dependencies(&pairs(&graph, from, to, count)?)?)
}

#[entry]
fn cuGraphAddDependencies_v2(
    _: &Call,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
) -> Result {
    check_edges(data, count)?;
    let graph = graph.get()?;
    Ok(graph.graph.add_dependencies(&pairs(&graph, from, to, count)?)?)
}

#[entry]
fn cuGraphRemoveDependencies(
    _: &Call,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Result {
    let graph = graph.get()?;
    Ok(graph.graph.remove_dependencies(&pairs(&graph, from, to, count)?)?)
}

#[entry]
fn cuGraphRemoveDependencies_v2(
    _: &Call,
    graph: CUgraph,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
) -> Result {
    check_edges(data, count)?;
    let graph = graph.get()?;
    Ok(graph.graph.remove_dependencies(&pairs(&graph, from, to, count)?)?)
}

#[entry]
fn cuGraphDestroyNode(_: &Call, node: CUgraphNode) -> Result {
    node.get()?.destroy()
}

#[entry]
fn cuGraphDebugDotPrint(_: &Call, graph: CUgraph, path: Text, _flags: u32) -> Result {
    std::fs::write(image::path(&path)?, dot(&*graph.get()?)?).map_err(|_| Status::OPERATING_SYSTEM)
}

#[entry]
fn cuUserObjectCreate(
    _: &Call,
    object: Out<CUuserObject>,
    pointer: *mut c_void,
    destroy: Option<CUhostFn>,
    held: u32,
    flags: u32,
) -> Result {
    object.check()?;
    if flags != user_object::NO_DESTRUCTOR_SYNC || held == 0 {
        return Err(Status::INVALID_VALUE);
    }
    object.set(UserObject::create(pointer, destroy.ok_or(Status::INVALID_VALUE)?, held)?.handle)
}

#[entry]
fn cuUserObjectRetain(_: &Call, object: CUuserObject, count: u32) -> Result {
    check_count(count)?;
    object.get()?.retain(count)
}

#[entry]
fn cuUserObjectRelease(_: &Call, object: CUuserObject, count: u32) -> Result {
    check_count(count)?;
    object.get()?.release(count)
}

#[entry]
fn cuGraphRetainUserObject(_: &Call, graph: CUgraph, object: CUuserObject, count: u32, flags: u32) -> Result {
    check_count(count)?;
    let (graph, object) = (graph.get()?, object.get()?);
    match flags {
        0 => graph.retain(&object, count),
        user_object::MOVE => {
            graph.retain(&object, count)?;
            object.release(count).inspect_err(|_| {
                let _ = graph.release(object.handle, count);
            })
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

#[entry]
fn cuGraphReleaseUserObject(_: &Call, graph: CUgraph, object: CUuserObject, count: u32) -> Result {
    check_count(count)?;
    graph.get()?.release(object, count)
}

fn check_count(count: u32) -> Result {
    if count == 0 || count > i32::MAX as u32 { Err(Status::INVALID_VALUE) } else { Ok(()) }
}

/// Edges only say what comes first; anything else would be a kernel starting another early.
pub(super) fn check_edges(data: In<CUgraphEdgeData>, count: usize) -> Result {
    if data.is_null() {
        return Ok(());
    }
    if data.array(count)?.iter().flatten().any(|&byte| byte != 0) {
        report!("the virtual GPU does not support edges of graphs with ports");
        return Err(Status::NOT_SUPPORTED);
    }
    Ok(())
}

fn pairs(
    graph: &Arc<Graph>,
    from: In<CUgraphNode>,
    to: In<CUgraphNode>,
    count: usize,
) -> Result<Vec<(gangway_streams::NodeId, gangway_streams::NodeId)>> {
    Ok(graph.ids(from.array(count)?)?.into_iter().zip(graph.ids(to.array(count)?)?).collect())
}

/// Tells how many there are, or gives as many as there is room for; the rest of the room is
/// cleared.
fn list<T: Nothing>(out: Out<T>, count: Out<usize>, values: Vec<T>) -> Result {
    if out.is_null() {
        return count.set(values.len());
    }
    let room = count.get()?;
    let given = values.len().min(room);
    out.fill(values.into_iter().chain(std::iter::repeat(T::NOTHING)).take(room))?;
    count.set(given)
}

/// What fills room that is left.
trait Nothing: Copy {
    const NOTHING: Self;
}

impl Nothing for CUgraphNode {
    const NOTHING: Self = Self::NULL;
}

impl Nothing for CUgraphEdgeData {
    const NOTHING: Self = [0; 8];
}

fn edges(
    graph: CUgraph,
    from: Out<CUgraphNode>,
    to: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    let graph = graph.get()?;
    let (starts, ends): (Vec<_>, Vec<_>) = graph.graph.edges().into_iter().unzip();
    if from.is_null() != to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    if from.is_null() {
        return count.set(starts.len());
    }
    let room = count.get()?;
    let nothing = vec![CUgraphEdgeData::NOTHING; starts.len()];
    list(from, count, graph.nodes(starts)?)?;
    count.set(room)?;
    if !data.is_null() {
        list(data, count, nothing)?;
        count.set(room)?;
    }
    list(to, count, graph.nodes(ends)?)
}

fn dependencies(
    node: CUgraphNode,
    out: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    let node = node.get()?;
    let graph = node.graph()?;
    neighbours(&graph, graph.graph.dependencies(node.id)?, out, data, count)
}

fn dependents(
    node: CUgraphNode,
    out: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    let node = node.get()?;
    let graph = node.graph()?;
    neighbours(&graph, graph.graph.dependents(node.id)?, out, data, count)
}

fn neighbours(
    graph: &Arc<Graph>,
    ids: Vec<gangway_streams::NodeId>,
    out: Out<CUgraphNode>,
    data: Out<CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    if !data.is_null() {
        let room = count.get()?;
        list(data, count, vec![CUgraphEdgeData::NOTHING; ids.len()])?;
        count.set(room)?;
    }
    list(out, count, graph.nodes(ids)?)
}

/// A drawing for Graphviz.
fn dot(graph: &Graph) -> Result<String> {
    use std::fmt::Write as _;
    let nodes = graph.graph.nodes();
    let name = |id| nodes.iter().position(|&node| node == id).unwrap_or(usize::MAX);
    let mut text = String::from("digraph graph_0 {\n");
    for &id in &nodes {
        let label = match graph.graph.kind(id)? {
            NodeKind::Work(work) => match work.sort() {
                node_type::KERNEL => "KERNEL",
                node_type::COPY => "MEMCPY",
                node_type::FILL => "MEMSET",
                node_type::HOST => "HOST",
                _ => "MEM_OP",
            },
            NodeKind::Child(_) => "GRAPH",
            NodeKind::Empty => "EMPTY",
            NodeKind::Wait(_) => "EVENT_WAIT",
            NodeKind::Record(_) => "EVENT_RECORD",
        };
        let _ = writeln!(text, "    node_{} [label=\"{label}\"];", name(id));
    }
    for (from, to) in graph.graph.edges() {
        let _ = writeln!(text, "    node_{} -> node_{};", name(from), name(to));
    }
    text.push_str("}\n");
    Ok(text)
}

/// What a call of `cuGraphAdd*Node` comes down to.
pub(super) fn add(
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    kind: impl FnOnce() -> Result<NodeKind>,
) -> Result {
    out.check()?;
    let graph = graph.get()?;
    let dependencies = graph.ids(dependencies.array(count)?)?;
    out.set(graph.add(kind()?, &dependencies)?)
}
