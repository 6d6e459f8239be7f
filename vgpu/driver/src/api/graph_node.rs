//! Nodes of graphs: adding them, their parameters, and changing these in graphs and executable
//! graphs.

use std::sync::Arc;

use gangway_streams::NodeKind;

use super::copy_structure;
use super::entry::{Call, entry};
use super::graph::{add, check_edges};
use super::node_parameters as parameters;
use crate::abi::number::{launch_attribute, node_type};
use crate::abi::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v2, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS, CUcontext, CUevent, CUgraph,
    CUgraphEdgeData, CUgraphExec, CUgraphNode, CUstreamAttrValue, In, Out, Result, Status, Untyped,
};
use crate::objects::graph::Node;
use crate::objects::work::copy::Copy;
use crate::objects::work::launch::{KernelLaunch, LaunchShape};

#[entry]
fn cuGraphNodeGetType(_: &Call, node: CUgraphNode, kind: Out<u32>) -> Result {
    kind.set(parameters::type_of(&node.get()?.kind()?))
}

#[entry]
fn cuGraphAddNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: Untyped,
) -> Result {
    add(out, graph, dependencies, count, || parameters::any(given))
}

#[entry]
fn cuGraphAddNode_v2(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
    given: Untyped,
) -> Result {
    check_edges(data, count)?;
    add(out, graph, dependencies, count, || parameters::any(given))
}

#[entry]
fn cuGraphNodeSetParams(_: &Call, node: CUgraphNode, given: Untyped) -> Result {
    node.get()?.set(parameters::any(given)?)
}

#[entry]
fn cuGraphExecNodeSetParams(_: &Call, exec: CUgraphExec, node: CUgraphNode, given: Untyped) -> Result {
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
    given: In<CUDA_KERNEL_NODE_PARAMS>,
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
    given: In<CUDA_KERNEL_NODE_PARAMS_v2>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::launch_v2(given.get()?))
}

#[entry]
fn cuGraphKernelNodeGetParams(_: &Call, node: CUgraphNode, out: Out<CUDA_KERNEL_NODE_PARAMS>) -> Result {
    out.set(parameters::of_launch(&*node.get()?)?)
}

#[entry]
fn cuGraphKernelNodeGetParams_v2(
    _: &Call,
    node: CUgraphNode,
    out: Out<CUDA_KERNEL_NODE_PARAMS_v2>,
) -> Result {
    out.set(parameters::of_launch_v2(&*node.get()?)?)
}

#[entry]
fn cuGraphKernelNodeSetParams(_: &Call, node: CUgraphNode, given: In<CUDA_KERNEL_NODE_PARAMS>) -> Result {
    node.get()?.set(parameters::launch(given.get()?)?)
}

#[entry]
fn cuGraphKernelNodeSetParams_v2(
    _: &Call,
    node: CUgraphNode,
    given: In<CUDA_KERNEL_NODE_PARAMS_v2>,
) -> Result {
    node.get()?.set(parameters::launch_v2(given.get()?)?)
}

#[entry]
fn cuGraphExecKernelNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_KERNEL_NODE_PARAMS>,
) -> Result {
    change(exec, node, parameters::launch(given.get()?)?)
}

#[entry]
fn cuGraphExecKernelNodeSetParams_v2(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_KERNEL_NODE_PARAMS_v2>,
) -> Result {
    change(exec, node, parameters::launch_v2(given.get()?)?)
}

#[entry]
fn cuGraphKernelNodeGetAttribute(
    _: &Call,
    node: CUgraphNode,
    attribute: u32,
    value: Out<CUstreamAttrValue>,
) -> Result {
    let launch = node.get()?.work::<KernelLaunch>()?;
    let mut found = CUstreamAttrValue::default();
    match attribute {
        launch_attribute::COOPERATIVE => found.value[0] = u64::from(launch.shape.cooperative),
        0..=launch_attribute::LAST => {}
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
    let launch = node.work::<KernelLaunch>()?;
    match attribute {
        launch_attribute::COOPERATIVE => set_cooperative(&node, &launch, value.get()?.value[0] as u32 != 0),
        0..=launch_attribute::LAST => Ok(()),
        _ => Err(Status::INVALID_VALUE),
    }
}

#[entry]
fn cuGraphKernelNodeCopyAttributes(_: &Call, to: CUgraphNode, from: CUgraphNode) -> Result {
    let (to, from) = (to.get()?, from.get()?.work::<KernelLaunch>()?);
    let launch = to.work::<KernelLaunch>()?;
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
    out.set(copy_structure::description(&*node.get()?.work::<Copy>()?))
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
    given: In<CUDA_MEMSET_NODE_PARAMS>,
    context: CUcontext,
) -> Result {
    context.get()?;
    add(out, graph, dependencies, count, || parameters::fill(given.get()?))
}

#[entry]
fn cuGraphMemsetNodeGetParams(_: &Call, node: CUgraphNode, out: Out<CUDA_MEMSET_NODE_PARAMS>) -> Result {
    out.set(parameters::of_fill(&*node.get()?)?)
}

#[entry]
fn cuGraphMemsetNodeSetParams(_: &Call, node: CUgraphNode, given: In<CUDA_MEMSET_NODE_PARAMS>) -> Result {
    node.get()?.set(parameters::fill(given.get()?)?)
}

#[entry]
fn cuGraphExecMemsetNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_MEMSET_NODE_PARAMS>,
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
    given: In<CUDA_HOST_NODE_PARAMS>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::host(given.get()?))
}

#[entry]
fn cuGraphHostNodeGetParams(_: &Call, node: CUgraphNode, out: Out<CUDA_HOST_NODE_PARAMS>) -> Result {
    out.set(parameters::of_host(&*node.get()?)?)
}

#[entry]
fn cuGraphHostNodeSetParams(_: &Call, node: CUgraphNode, given: In<CUDA_HOST_NODE_PARAMS>) -> Result {
    node.get()?.set(parameters::host(given.get()?)?)
}

#[entry]
fn cuGraphExecHostNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_HOST_NODE_PARAMS>,
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
    given: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Result {
    add(out, graph, dependencies, count, || parameters::operations(given.get()?))
}

#[entry]
fn cuGraphBatchMemOpNodeGetParams(
    _: &Call,
    node: CUgraphNode,
    out: Out<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Result {
    out.set(parameters::of_operations(&*node.get()?)?)
}

#[entry]
fn cuGraphBatchMemOpNodeSetParams(
    _: &Call,
    node: CUgraphNode,
    given: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
) -> Result {
    node.get()?.set(parameters::operations(given.get()?)?)
}

#[entry]
fn cuGraphExecBatchMemOpNodeSetParams(
    _: &Call,
    exec: CUgraphExec,
    node: CUgraphNode,
    given: In<CUDA_BATCH_MEM_OP_NODE_PARAMS>,
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
    event.set(parameters::of_event(&*node.get()?, node_type::RECORD_EVENT)?)
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
    event.set(parameters::of_event(&*node.get()?, node_type::WAIT_EVENT)?)
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

/// Changes what a node of an executable graph does.
fn change(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Result {
    Ok(exec.get()?.exec.set(node.get()?.id, kind)?)
}

fn set_cooperative(node: &Node, launch: &KernelLaunch, cooperative: bool) -> Result {
    let changed = launch.reshaped(LaunchShape { cooperative, ..launch.shape })?;
    node.set(NodeKind::Work(Arc::new(changed)))
}
