//! Nodes of graphs: adding them, their parameters, and changing these in graphs and executable graphs.

use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::copy::Copy;
use crate::entry::entries;
use crate::error::{Result, Status};
use crate::fill::Fill;
use crate::graph::parameters::{
    self, FillParameters, HostParameters, KernelParameters, KernelParameters2, OperationParameters, kind,
};
use crate::launch::Launch;
use crate::pointer::{In, Memory, Out};
use crate::types::{CUDA_MEMCPY3D, CUcontext, CUevent, CUgraph, CUgraphExec, CUgraphNode, CUstreamAttrValue};

use super::graph::{EdgeData, add, check_edges};

entries! {
    fn cuGraphNodeGetType(_call, node: CUgraphNode, kind: Out<u32>) {
        kind.set(parameters::kind_of(&node.get()?.kind()?))
    }

    fn cuGraphAddNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize, given: Memory
    ) {
        add(out, graph, dependencies, count, || parameters::any(given))
    }

    fn cuGraphAddNode_v2(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, data: In<EdgeData>,
        count: usize, given: Memory
    ) {
        check_edges(data, count)?;
        add(out, graph, dependencies, count, || parameters::any(given))
    }

    fn cuGraphNodeSetParams(_call, node: CUgraphNode, given: Memory) {
        node.get()?.set(parameters::any(given)?)
    }

    fn cuGraphExecNodeSetParams(_call, exec: CUgraphExec, node: CUgraphNode, given: Memory) {
        change(exec, node, parameters::any(given)?)
    }

    // Kernels

    fn cuGraphAddKernelNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<KernelParameters>
    ) {
        add(out, graph, dependencies, count, || parameters::launch(given.get()?))
    }

    fn cuGraphAddKernelNode_v2(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<KernelParameters2>
    ) {
        add(out, graph, dependencies, count, || parameters::launch2(given.get()?))
    }

    fn cuGraphKernelNodeGetParams(_call, node: CUgraphNode, out: Out<KernelParameters>) {
        out.set(parameters::of_launch(&*node.get()?)?)
    }

    fn cuGraphKernelNodeGetParams_v2(_call, node: CUgraphNode, out: Out<KernelParameters2>) {
        out.set(parameters::of_launch2(&*node.get()?)?)
    }

    fn cuGraphKernelNodeSetParams(_call, node: CUgraphNode, given: In<KernelParameters>) {
        node.get()?.set(parameters::launch(given.get()?)?)
    }

    fn cuGraphKernelNodeSetParams_v2(_call, node: CUgraphNode, given: In<KernelParameters2>) {
        node.get()?.set(parameters::launch2(given.get()?)?)
    }

    fn cuGraphExecKernelNodeSetParams(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<KernelParameters>
    ) {
        change(exec, node, parameters::launch(given.get()?)?)
    }

    fn cuGraphExecKernelNodeSetParams_v2(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<KernelParameters2>
    ) {
        change(exec, node, parameters::launch2(given.get()?)?)
    }

    fn cuGraphKernelNodeGetAttribute(
        _call, node: CUgraphNode, attribute: u32, value: Out<CUstreamAttrValue>
    ) {
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
    fn cuGraphKernelNodeSetAttribute(
        _call, node: CUgraphNode, attribute: u32, value: In<CUstreamAttrValue>
    ) {
        let node = node.get()?;
        let launch = node.work::<Launch>()?;
        match attribute {
            COOPERATIVE => set_cooperative(&node, &launch, value.get()?.value[0] as u32 != 0),
            0..=LAST_ATTRIBUTE => Ok(()),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    fn cuGraphKernelNodeCopyAttributes(_call, to: CUgraphNode, from: CUgraphNode) {
        let (to, from) = (to.get()?, from.get()?.work::<Launch>()?);
        let launch = to.work::<Launch>()?;
        set_cooperative(&to, &launch, from.shape.cooperative)
    }

    // Copies

    fn cuGraphAddMemcpyNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<CUDA_MEMCPY3D>, context: CUcontext
    ) {
        context.get()?;
        add(out, graph, dependencies, count, || parameters::copy(&given.get()?))
    }

    fn cuGraphMemcpyNodeGetParams(_call, node: CUgraphNode, out: Out<CUDA_MEMCPY3D>) {
        out.set(node.get()?.work::<Copy>()?.description())
    }

    fn cuGraphMemcpyNodeSetParams(_call, node: CUgraphNode, given: In<CUDA_MEMCPY3D>) {
        node.get()?.set(parameters::copy(&given.get()?)?)
    }

    fn cuGraphExecMemcpyNodeSetParams(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<CUDA_MEMCPY3D>, context: CUcontext
    ) {
        context.get()?;
        change(exec, node, parameters::copy(&given.get()?)?)
    }

    // Fills

    fn cuGraphAddMemsetNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<FillParameters>, context: CUcontext
    ) {
        context.get()?;
        add(out, graph, dependencies, count, || parameters::fill(given.get()?))
    }

    fn cuGraphMemsetNodeGetParams(_call, node: CUgraphNode, out: Out<FillParameters>) {
        out.set(node.get()?.work::<Fill>()?.parameters())
    }

    fn cuGraphMemsetNodeSetParams(_call, node: CUgraphNode, given: In<FillParameters>) {
        node.get()?.set(parameters::fill(given.get()?)?)
    }

    fn cuGraphExecMemsetNodeSetParams(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<FillParameters>, context: CUcontext
    ) {
        context.get()?;
        change(exec, node, parameters::fill(given.get()?)?)
    }

    // Host functions

    fn cuGraphAddHostNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<HostParameters>
    ) {
        add(out, graph, dependencies, count, || parameters::host(given.get()?))
    }

    fn cuGraphHostNodeGetParams(_call, node: CUgraphNode, out: Out<HostParameters>) {
        out.set(parameters::of_host(&*node.get()?)?)
    }

    fn cuGraphHostNodeSetParams(_call, node: CUgraphNode, given: In<HostParameters>) {
        node.get()?.set(parameters::host(given.get()?)?)
    }

    fn cuGraphExecHostNodeSetParams(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<HostParameters>
    ) {
        change(exec, node, parameters::host(given.get()?)?)
    }

    // Operations on values in memory

    fn cuGraphAddBatchMemOpNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: In<OperationParameters>
    ) {
        add(out, graph, dependencies, count, || parameters::operations(given.get()?))
    }

    fn cuGraphBatchMemOpNodeGetParams(_call, node: CUgraphNode, out: Out<OperationParameters>) {
        out.set(parameters::of_operations(&*node.get()?)?)
    }

    fn cuGraphBatchMemOpNodeSetParams(_call, node: CUgraphNode, given: In<OperationParameters>) {
        node.get()?.set(parameters::operations(given.get()?)?)
    }

    fn cuGraphExecBatchMemOpNodeSetParams(
        _call, exec: CUgraphExec, node: CUgraphNode, given: In<OperationParameters>
    ) {
        change(exec, node, parameters::operations(given.get()?)?)
    }

    // Child graphs, nothing at all, and events

    fn cuGraphAddChildGraphNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize, child: CUgraph
    ) {
        add(out, graph, dependencies, count, || parameters::child(child))
    }

    fn cuGraphChildGraphNodeGetGraph(_call, node: CUgraphNode, out: Out<CUgraph>) {
        out.set(parameters::of_child(&*node.get()?)?.handle)
    }

    fn cuGraphExecChildGraphNodeSetParams(_call, exec: CUgraphExec, node: CUgraphNode, child: CUgraph) {
        change(exec, node, parameters::child(child)?)
    }

    fn cuGraphAddEmptyNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize
    ) {
        add(out, graph, dependencies, count, || Ok(NodeKind::Empty))
    }

    fn cuGraphAddEventRecordNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize, event: CUevent
    ) {
        add(out, graph, dependencies, count, || parameters::record(event))
    }

    fn cuGraphEventRecordNodeGetEvent(_call, node: CUgraphNode, event: Out<CUevent>) {
        event.set(parameters::of_event(&*node.get()?, kind::RECORD)?)
    }

    fn cuGraphEventRecordNodeSetEvent(_call, node: CUgraphNode, event: CUevent) {
        node.get()?.set(parameters::record(event)?)
    }

    fn cuGraphExecEventRecordNodeSetEvent(_call, exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        change(exec, node, parameters::record(event)?)
    }

    fn cuGraphAddEventWaitNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize, event: CUevent
    ) {
        add(out, graph, dependencies, count, || parameters::wait(event))
    }

    fn cuGraphEventWaitNodeGetEvent(_call, node: CUgraphNode, event: Out<CUevent>) {
        event.set(parameters::of_event(&*node.get()?, kind::WAIT)?)
    }

    fn cuGraphEventWaitNodeSetEvent(_call, node: CUgraphNode, event: CUevent) {
        node.get()?.set(parameters::wait(event)?)
    }

    fn cuGraphExecEventWaitNodeSetEvent(_call, exec: CUgraphExec, node: CUgraphNode, event: CUevent) {
        change(exec, node, parameters::wait(event)?)
    }
}

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
const COOPERATIVE: u32 = 2;
const LAST_ATTRIBUTE: u32 = 14;

/// Changes what a node of an executable graph does.
fn change(exec: CUgraphExec, node: CUgraphNode, kind: NodeKind) -> Result {
    Ok(exec.get()?.exec.set(node.get()?.id, kind)?)
}

fn set_cooperative(node: &crate::graph::Node, launch: &Launch, cooperative: bool) -> Result {
    let mut changed = launch.clone();
    changed.shape.cooperative = cooperative;
    node.set(NodeKind::Work(Arc::new(changed.checked()?)))
}
