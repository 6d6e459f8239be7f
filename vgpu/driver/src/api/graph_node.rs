//! Nodes of graphs: adding them, their parameters, and changing these in graphs and executable graphs.

use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::abi::pointer::{In, Memory, Out};
use crate::abi::status::{Result, Status};
use crate::abi::types::{
    CUDA_MEMCPY3D, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUstreamAttrValue,
};
use crate::api::entry::{Call, entry};
use crate::api::node_parameters::{
    self as parameters, FillParameters, HostParameters, KernelParameters, KernelParameters2,
    OperationParameters, kind,
};
use crate::objects::work::copy::Copy;
use crate::objects::work::fill::Fill;
use crate::objects::work::launch::Launch;

use super::graph::{EdgeData, add, check_edges};

#[entry]
fn cuGraphNodeGetType(_: &Call, node: CUgraphNode, kind: Out<u32>) -> Result {
    kind.set(parameters::kind_of(&node.get()?.kind()?))
}

#[entry]
fn cuGraphAddNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: Memory,
) -> Result {
    add(out, graph, dependencies, count, || parameters::any(given))
}

#[entry]
fn cuGraphAddNode_v2(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    data: In<EdgeData>,
    count: usize,
    given: Memory,
) -> Result {
    check_edges(data, count)?;
    add(out, graph, dependencies, count, || parameters::any(given))
}

#[entry]
fn cuGraphNodeSetParams(_: &Call, node: CUgraphNode, given: Memory) -> Result {
    node.get()?.set(parameters::any(given)?)
}

#[entry]
fn cuGraphExecNodeSetParams(_: &Call, exec: CUgraphExec, node: CUgraphNode, given: Memory) -> Result {
    change(exec, node, parameters::any(given)?)
}

// Kernels

#[entry]
fn cuGraphAddKernelNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<KernelParameters>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::launch(given.get()?))
}

#[entry]
fn cuGraphAddKernelNode_v2(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<KernelParameters2>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::launch2(given.get()?))
}

#[entry]
fn cuGraphKernelNodeGetParams(_: &Call, node: CUgraphNode, out: Out<KernelParameters>) -> Result {
    out.set(parameters::of_launch(&*node.get()?)?)
}

#[entry]
fn cuGraphKernelNodeGetParams_v2(_: &Call, node: CUgraphNode, out: Out<KernelParameters2>) -> Result {
    out.set(parameters::of_launch2(&*node.get()?)?)
}

#[entry]
fn cuGraphKernelNodeSetParams(_: &Call, node: CUgraphNode, given: In<KernelParameters>) -> Result {
    node.get()?.set(parameters::launch(given.get()?)?)
}

#[entry]
fn cuGraphKernelNodeSetParams_v2(_: &Call, node: CUgraphNode, given: In<KernelParameters2>) -> Result {
    node.get()?.set(parameters::launch2(given.get()?)?)
}

#[entry]
fn cuGraphExecKernelNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<KernelParameters>,
) -> Result {
    change(exec, node, parameters::launch(given.get()?)?)
}

#[entry]
fn cuGraphExecKernelNodeSetParams_v2(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<KernelParameters2>,
) -> Result {
    change(exec, node, parameters::launch2(given.get()?)?)
}

#[entry]
fn cuGraphKernelNodeGetAttribute(
    _: &Call,
    node: CUgraphNode,
    attribute: u32,
    value: Out<CUstreamAttrValue>,
) -> Result {
    let launch = node.get()?.work::<Launch>()?;
    let mut found = CUstreamAttrValue::default();
    match attribute {
        COOPERATIVE => found.value[0] = u64::from(launch.shape.cooperative),
        0..=LAST_ATTRIBUTE => {}
        _ => return Err(Status::INVALID_VALUE),
    }
    value.set(found)
}

/// The other attributes are hints.
#[entry]
fn cuGraphKernelNodeSetAttribute(
    _: &Call,
    node: CUgraphNode,
    attribute: u32,
    value: In<CUstreamAttrValue>,
) -> Result {
    let node = node.get()?;
    let launch = node.work::<Launch>()?;
    match attribute {
        COOPERATIVE => set_cooperative(&node, &launch, value.get()?.value[0] as u32 != 0),
        0..=LAST_ATTRIBUTE => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}

#[entry]
fn cuGraphKernelNodeCopyAttributes(_: &Call, to: CUgraphNode, from: CUgraphNode) -> Result {
    let (to, from) = (to.get()?, from.get()?.work::<Launch>()?);
    let launch = to.work::<Launch>()?;
    set_cooperative(&to, &launch, from.shape.cooperative)
}

// Copies

#[entry]
fn cuGraphAddMemcpyNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<CUDA_MEMCPY3D>,
    context: CUcontext,
) -> Result {
    context.get()?;
    add(out, graph, dependencies, count, || parameters::copy(&given.get()?))
}

#[entry]
fn cuGraphMemcpyNodeGetParams(_: &Call, node: CUgraphNode, out: Out<CUDA_MEMCPY3D>) -> Result {
    out.set(node.get()?.work::<Copy>()?.description())
}

#[entry]
fn cuGraphMemcpyNodeSetParams(_: &Call, node: CUgraphNode, given: In<CUDA_MEMCPY3D>) -> Result {
    node.get()?.set(parameters::copy(&given.get()?)?)
}

#[entry]
fn cuGraphExecMemcpyNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_MEMCPY3D>,
    context: CUcontext,
) -> Result {
    context.get()?;
    change(exec, node, parameters::copy(&given.get()?)?)
}

// Fills

#[entry]
fn cuGraphAddMemsetNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<FillParameters>,
    context: CUcontext,
) -> Result {
    context.get()?;
    add(out, graph, dependencies, count, || parameters::fill(given.get()?))
}

#[entry]
fn cuGraphMemsetNodeGetParams(_: &Call, node: CUgraphNode, out: Out<FillParameters>) -> Result {
    out.set(node.get()?.work::<Fill>()?.parameters())
}

#[entry]
fn cuGraphMemsetNodeSetParams(_: &Call, node: CUgraphNode, given: In<FillParameters>) -> Result {
    node.get()?.set(parameters::fill(given.get()?)?)
}

#[entry]
fn cuGraphExecMemsetNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<FillParameters>,
    context: CUcontext,
) -> Result {
    context.get()?;
    change(exec, node, parameters::fill(given.get()?)?)
}

// Host functions

#[entry]
fn cuGraphAddHostNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<HostParameters>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::host(given.get()?))
}

#[entry]
fn cuGraphHostNodeGetParams(_: &Call, node: CUgraphNode, out: Out<HostParameters>) -> Result {
    out.set(parameters::of_host(&*node.get()?)?)
}

#[entry]
fn cuGraphHostNodeSetParams(_: &Call, node: CUgraphNode, given: In<HostParameters>) -> Result {
    node.get()?.set(parameters::host(given.get()?)?)
}

#[entry]
fn cuGraphExecHostNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<HostParameters>,
) -> Result {
    change(exec, node, parameters::host(given.get()?)?)
}

// Operations on values in memory

#[entry]
fn cuGraphAddBatchMemOpNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: In<OperationParameters>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::operations(given.get()?))
}

#[entry]
fn cuGraphBatchMemOpNodeGetParams(_: &Call, node: CUgraphNode, out: Out<OperationParameters>) -> Result {
    out.set(parameters::of_operations(&*node.get()?)?)
}

#[entry]
fn cuGraphBatchMemOpNodeSetParams(_: &Call, node: CUgraphNode, given: In<OperationParameters>) -> Result {
    node.get()?.set(parameters::operations(given.get()?)?)
}

#[entry]
fn cuGraphExecBatchMemOpNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<OperationParameters>,
) -> Result {
    change(exec, node, parameters::operations(given.get()?)?)
}

// Child graphs, nothing at all, and events

#[entry]
fn cuGraphAddChildGraphNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    child: CUgraph,
) -> Result {
    add(out, graph, dependencies, count, || parameters::child(child))
}

#[entry]
fn cuGraphChildGraphNodeGetGraph(_: &Call, node: CUgraphNode, out: Out<CUgraph>) -> Result {
    out.set(parameters::of_child(&*node.get()?)?.handle)
}

#[entry]
fn cuGraphExecChildGraphNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    child: CUgraph,
) -> Result {
    change(exec, node, parameters::child(child)?)
}

#[entry]
fn cuGraphAddEmptyNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
) -> Result {
    add(out, graph, dependencies, count, || Ok(NodeKind::Empty))
}

#[entry]
fn cuGraphAddEventRecordNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    event: CUevent,
) -> Result {
    add(out, graph, dependencies, count, || parameters::record(event))
}

#[entry]
fn cuGraphEventRecordNodeGetEvent(_: &Call, node: CUgraphNode, event: Out<CUevent>) -> Result {
    event.set(parameters::of_event(&*node.get()?, kind::RECORD)?)
}

#[entry]
fn cuGraphEventRecordNodeSetEvent(_: &Call, node: CUgraphNode, event: CUevent) -> Result {
    node.get()?.set(parameters::record(event)?)
}

#[entry]
fn cuGraphExecEventRecordNodeSetEvent(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    event: CUevent,
) -> Result {
    change(exec, node, parameters::record(event)?)
}

#[entry]
fn cuGraphAddEventWaitNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    event: CUevent,
) -> Result {
    add(out, graph, dependencies, count, || parameters::wait(event))
}

#[entry]
fn cuGraphEventWaitNodeGetEvent(_: &Call, node: CUgraphNode, event: Out<CUevent>) -> Result {
    event.set(parameters::of_event(&*node.get()?, kind::WAIT)?)
}

#[entry]
fn cuGraphEventWaitNodeSetEvent(_: &Call, node: CUgraphNode, event: CUevent) -> Result {
    node.get()?.set(parameters::wait(event)?)
}

#[entry]
fn cuGraphExecEventWaitNodeSetEvent(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    event: CUevent,
) -> Result {
    change(exec, node, parameters::wait(event)?)
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
const COOPERATIVE: u32 = 2;
const LAST_ATTRIBUTE: u32 = 14;

/// Changes what a node of an executable graph does.
fn change(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Result {
    Ok(exec.get()?.exec.set(node.get()?.id, kind)?)
}

fn set_cooperative(node: &crate::objects::graph::Node, launch: &Launch, cooperative: bool) -> Result {
    let mut changed = launch.clone();
    changed.shape.cooperative = cooperative;
    node.set(NodeKind::Work(Arc::new(changed.checked()?)))
}
