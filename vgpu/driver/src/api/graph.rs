//! Graphs: making them, looking at them, making them executable, launching them.

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::entry::entries;
use crate::error::{Result, Status};
use crate::graph::{Exec, Graph, UserObject};
use crate::host_function::HostFn;
use crate::pointer::{In, Out, Text};
use crate::types::{CUgraph, CUgraphExec, CUgraphNode, CUstream, CUuserObject};

/// `CUgraphEdgeData`: ports, the type of the edge, and space.
pub(super) type EdgeData = [u8; 8];

entries! {
    fn cuGraphCreate(_call, graph: Out<CUgraph>, flags: u32) {
        graph.check()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        graph.set(Graph::of(&gangway_streams::Graph::new())?.handle)
    }

    fn cuGraphDestroy(_call, graph: CUgraph) {
        Graph::destroy(graph)
    }

    fn cuGraphClone(_call, clone: Out<CUgraph>, original: CUgraph) {
        clone.check()?;
        clone.set(original.get()?.duplicate()?.handle)
    }

    fn cuGraphNodeFindInClone(_call, node: Out<CUgraphNode>, original: CUgraphNode, clone: CUgraph) {
        node.set(clone.get()?.find_copy(original.get()?.id)?)
    }

    fn cuGraphGetNodes(_call, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let graph = graph.get()?;
        list(nodes, count, graph.nodes(graph.graph.nodes())?)
    }

    fn cuGraphGetRootNodes(_call, graph: CUgraph, nodes: Out<CUgraphNode>, count: Out<usize>) {
        let graph = graph.get()?;
        list(nodes, count, graph.nodes(graph.graph.roots())?)
    }

    fn cuGraphGetEdges(
        _call, graph: CUgraph, from: Out<CUgraphNode>, to: Out<CUgraphNode>, count: Out<usize>
    ) {
        edges(graph, from, to, Out::NULL, count)
    }

    fn cuGraphGetEdges_v2(
        _call, graph: CUgraph, from: Out<CUgraphNode>, to: Out<CUgraphNode>, data: Out<EdgeData>, count: Out<usize>
    ) {
        edges(graph, from, to, data, count)
    }

    fn cuGraphNodeGetDependencies(_call, node: CUgraphNode, nodes: Out<CUgraphNode>, count: Out<usize>) {
        dependencies(node, nodes, Out::NULL, count)
    }

    fn cuGraphNodeGetDependencies_v2(
        _call, node: CUgraphNode, nodes: Out<CUgraphNode>, data: Out<EdgeData>, count: Out<usize>
    ) {
        dependencies(node, nodes, data, count)
    }

    fn cuGraphNodeGetDependentNodes(_call, node: CUgraphNode, nodes: Out<CUgraphNode>, count: Out<usize>) {
        dependents(node, nodes, Out::NULL, count)
    }

    fn cuGraphNodeGetDependentNodes_v2(
        _call, node: CUgraphNode, nodes: Out<CUgraphNode>, data: Out<EdgeData>, count: Out<usize>
    ) {
        dependents(node, nodes, data, count)
    }

    fn cuGraphAddDependencies(
        _call, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize
    ) {
        let graph = graph.get()?;
        Ok(graph.graph.add_dependencies(&pairs(&graph, from, to, count)?)?)
    }

    fn cuGraphAddDependencies_v2(
        _call, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, data: In<EdgeData>, count: usize
    ) {
        check_edges(data, count)?;
        let graph = graph.get()?;
        Ok(graph.graph.add_dependencies(&pairs(&graph, from, to, count)?)?)
    }

    fn cuGraphRemoveDependencies(
        _call, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, count: usize
    ) {
        let graph = graph.get()?;
        Ok(graph.graph.remove_dependencies(&pairs(&graph, from, to, count)?)?)
    }

    fn cuGraphRemoveDependencies_v2(
        _call, graph: CUgraph, from: In<CUgraphNode>, to: In<CUgraphNode>, data: In<EdgeData>, count: usize
    ) {
        check_edges(data, count)?;
        let graph = graph.get()?;
        Ok(graph.graph.remove_dependencies(&pairs(&graph, from, to, count)?)?)
    }

    fn cuGraphDestroyNode(_call, node: CUgraphNode) {
        node.get()?.destroy()
    }

    /// Before version 12: an error tells in which node, and leaves a text.
    fn cuGraphInstantiate(
        _call, exec: Out<CUgraphExec>, graph: CUgraph, node: Out<CUgraphNode>, log: Out<c_char>, size: usize
    ) {
        instantiate_with_log(exec, graph, node, log, size)
    }

    fn cuGraphInstantiate_v2(
        _call, exec: Out<CUgraphExec>, graph: CUgraph, node: Out<CUgraphNode>, log: Out<c_char>, size: usize
    ) {
        instantiate_with_log(exec, graph, node, log, size)
    }

    fn cuGraphInstantiateWithFlags(_call, exec: Out<CUgraphExec>, graph: CUgraph, flags: u64) {
        exec.set(instantiate(exec, graph, flags)?)
    }

    fn cuGraphInstantiateWithParams / cuGraphInstantiateWithParams_ptsz(
        call, exec: Out<CUgraphExec>, graph: CUgraph, parameters: Out<InstantiateParameters>
    ) {
        let mut given = parameters.get()?;
        let made = instantiate(exec, graph, given.flags);
        given.error_node = CUgraphNode::NULL;
        given.result = match made {
            Ok(_) => 0,
            // CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, INVALID_STRUCTURE
            Err(Status::NOT_SUPPORTED) => 3,
            Err(_) => 2,
        };
        parameters.set(given)?;
        let made = made?;
        if given.flags & UPLOAD != 0 {
            call.stream(given.upload_stream)?;
        }
        exec.set(made)
    }

    fn cuGraphExecDestroy(_call, exec: CUgraphExec) {
        exec.remove().map(drop)
    }

    fn cuGraphExecGetFlags(_call, exec: CUgraphExec, flags: Out<u64>) {
        flags.set(exec.get()?.flags)
    }

    /// Nothing has to be brought anywhere.
    fn cuGraphUpload / cuGraphUpload_ptsz(call, exec: CUgraphExec, stream: CUstream) {
        exec.get()?;
        call.stream(stream)?;
        Ok(())
    }

    fn cuGraphLaunch / cuGraphLaunch_ptsz(call, exec: CUgraphExec, stream: CUstream) {
        exec.get()?.launch(&call.stream(stream)?)
    }

    fn cuGraphExecUpdate(
        _call, exec: CUgraphExec, graph: CUgraph, node: Out<CUgraphNode>, result: Out<u32>
    ) {
        let outcome = exec.get()?.update(&*graph.get()?);
        node.set_if_wanted(CUgraphNode::NULL);
        result.set_if_wanted(update_result(outcome));
        outcome
    }

    fn cuGraphExecUpdate_v2(_call, exec: CUgraphExec, graph: CUgraph, result: Out<UpdateResult>) {
        let outcome = exec.get()?.update(&*graph.get()?);
        let nothing = CUgraphNode::NULL;
        result.set_if_wanted(UpdateResult {
            result: update_result(outcome),
            error_node: nothing,
            error_from_node: nothing,
        });
        outcome
    }

    fn cuGraphNodeSetEnabled(_call, exec: CUgraphExec, node: CUgraphNode, enabled: u32) {
        Ok(exec.get()?.exec.set_enabled(node.get()?.id, enabled != 0)?)
    }

    fn cuGraphNodeGetEnabled(_call, exec: CUgraphExec, node: CUgraphNode, enabled: Out<u32>) {
        enabled.set(u32::from(exec.get()?.exec.enabled(node.get()?.id)?))
    }

    fn cuGraphDebugDotPrint(_call, graph: CUgraph, path: Text, _flags: u32) {
        let path = path.str().map_err(|_| Status::INVALID_VALUE)?;
        std::fs::write(path, dot(&*graph.get()?)?).map_err(|_| Status::OPERATING_SYSTEM)
    }

    fn cuUserObjectCreate(
        _call, object: Out<CUuserObject>, pointer: *mut c_void, destroy: Option<HostFn>, held: u32, flags: u32
    ) {
        object.check()?;
        // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC must be given.
        if flags != 1 || held == 0 {
            return Err(Status::INVALID_VALUE);
        }
        object.set(UserObject::create(pointer, destroy.ok_or(Status::INVALID_VALUE)?, held)?.handle)
    }

    fn cuUserObjectRetain(_call, object: CUuserObject, count: u32) {
        check_count(count)?;
        object.get()?.retain(count);
        Ok(())
    }

    fn cuUserObjectRelease(_call, object: CUuserObject, count: u32) {
        check_count(count)?;
        object.get()?.release(count)
    }

    fn cuGraphRetainUserObject(_call, graph: CUgraph, object: CUuserObject, count: u32, flags: u32) {
        check_count(count)?;
        let (graph, object) = (graph.get()?, object.get()?);
        match flags {
            0 => graph.retain(&object, count),
            // CU_GRAPH_USER_OBJECT_MOVE: the program's references become the graph's.
            1 => {
                object.release(count)?;
                graph.retain(&object, count);
            }
            _ => return Err(Status::INVALID_VALUE),
        }
        Ok(())
    }

    fn cuGraphReleaseUserObject(_call, graph: CUgraph, object: CUuserObject, count: u32) {
        check_count(count)?;
        graph.get()?.release(&object.get()?, count)
    }
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct InstantiateParameters {
    flags: u64,
    upload_stream: CUstream,
    error_node: CUgraphNode,
    result: u32,
}
const _: () = assert!(size_of::<InstantiateParameters>() == 32);

/// `CUgraphExecUpdateResultInfo`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct UpdateResult {
    result: u32,
    error_node: CUgraphNode,
    error_from_node: CUgraphNode,
}
const _: () = assert!(size_of::<UpdateResult>() == 24);

/// `CUDA_GRAPH_INSTANTIATE_FLAG_*`: automatic free, upload, launch from devices, priorities of nodes.
const UPLOAD: u64 = 2;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 0xf;

fn instantiate(exec: Out<CUgraphExec>, graph: CUgraph, flags: u64) -> Result<CUgraphExec> {
    exec.check()?;
    if flags & !FLAGS != 0 {
        return Err(Status::INVALID_VALUE);
    }
    if flags & DEVICE_LAUNCH != 0 {
        eprintln!("gangway: the virtual GPU does not support launching graphs from kernels");
        return Err(Status::NOT_SUPPORTED);
    }
    Ok(Exec::create(&*graph.get()?, flags)?.handle)
}

fn instantiate_with_log(
    exec: Out<CUgraphExec>,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    log: Out<c_char>,
    size: usize,
) -> Result {
    let made = instantiate(exec, graph, 0);
    node.set_if_wanted(CUgraphNode::NULL);
    if !log.is_null() && size > 0 {
        let text: &[u8] = if made.is_ok() { b"" } else { b"the graph has a cycle" };
        let text = &text[..text.len().min(size - 1)];
        log.fill(text.iter().map(|&byte| byte as c_char).chain([0]))?;
    }
    exec.set(made?)
}

/// `CUgraphExecUpdateResult`
fn update_result(outcome: Result) -> u32 {
    match outcome {
        Ok(()) => 0,
        // CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED
        Err(Status::GRAPH_EXEC_UPDATE_FAILURE) => 2,
        Err(_) => 1,
    }
}

fn check_count(count: u32) -> Result {
    if count == 0 || count > i32::MAX as u32 { Err(Status::INVALID_VALUE) } else { Ok(()) }
}

/// Edges only say what comes first; anything else would be a kernel starting another early.
pub(super) fn check_edges(data: In<EdgeData>, count: usize) -> Result {
    if data.is_null() {
        return Ok(());
    }
    if data.array(count)?.iter().flatten().any(|&byte| byte != 0) {
        eprintln!("gangway: the virtual GPU does not support edges of graphs with ports");
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
    Ok(graph.ids(from, count)?.into_iter().zip(graph.ids(to, count)?).collect())
}

/// Tells how many there are, or gives as many as there is room for; the rest of the room is cleared.
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
    const NOTHING: Self = CUgraphNode::NULL;
}

impl Nothing for EdgeData {
    const NOTHING: Self = [0; 8];
}

fn edges(
    graph: CUgraph,
    from: Out<CUgraphNode>,
    to: Out<CUgraphNode>,
    data: Out<EdgeData>,
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
    let nothing = vec![EdgeData::NOTHING; starts.len()];
    list(from, count, graph.nodes(starts)?)?;
    count.set(room)?;
    if !data.is_null() {
        list(data, count, nothing)?;
        count.set(room)?;
    }
    list(to, count, graph.nodes(ends)?)
}

fn dependencies(node: CUgraphNode, out: Out<CUgraphNode>, data: Out<EdgeData>, count: Out<usize>) -> Result {
    let node = node.get()?;
    let graph = node.graph()?;
    neighbours(&graph, graph.graph.dependencies(node.id)?, out, data, count)
}

fn dependents(node: CUgraphNode, out: Out<CUgraphNode>, data: Out<EdgeData>, count: Out<usize>) -> Result {
    let node = node.get()?;
    let graph = node.graph()?;
    neighbours(&graph, graph.graph.dependents(node.id)?, out, data, count)
}

fn neighbours(
    graph: &Arc<Graph>,
    ids: Vec<gangway_streams::NodeId>,
    out: Out<CUgraphNode>,
    data: Out<EdgeData>,
    count: Out<usize>,
) -> Result {
    if !data.is_null() {
        let room = count.get()?;
        list(data, count, vec![EdgeData::NOTHING; ids.len()])?;
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
                0 => "KERNEL",
                1 => "MEMCPY",
                2 => "MEMSET",
                3 => "HOST",
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
    let dependencies = graph.ids(dependencies, count)?;
    out.set(graph.add(kind()?, &dependencies)?)
}
