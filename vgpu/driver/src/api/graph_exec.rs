//! Executable graphs: making them of graphs, launching them, changing them as a whole.

use std::ffi::c_char;

use super::entry::{Call, entry};
use crate::abi::number::{exec_update, instantiate, instantiate_result};
use crate::abi::{
    CUDA_GRAPH_INSTANTIATE_PARAMS, CUgraph, CUgraphExec, CUgraphExecUpdateResultInfo, CUgraphNode, CUstream,
    Out, Result, Status,
};
use crate::objects::graph::Exec;
use crate::objects::process::report::report;

/// Before version 12: an error tells in which node, and leaves a text.
#[entry]
fn cuGraphInstantiate(
    _: &Call,
    exec: Out<CUgraphExec>,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    log: Out<c_char>,
    size: usize,
) -> Result {
    instantiate_with_log(exec, graph, node, log, size)
}

#[entry]
fn cuGraphInstantiate_v2(
    _: &Call,
    exec: Out<CUgraphExec>,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    log: Out<c_char>,
    size: usize,
) -> Result {
    instantiate_with_log(exec, graph, node, log, size)
}

#[entry]
fn cuGraphInstantiateWithFlags(_: &Call, exec: Out<CUgraphExec>, graph: CUgraph, flags: u64) -> Result {
    exec.set(make(exec, graph, flags)?)
}

#[entry(per_thread = cuGraphInstantiateWithParams_ptsz)]
fn cuGraphInstantiateWithParams(
    call: &Call,
    exec: Out<CUgraphExec>,
    graph: CUgraph,
    parameters: Out<CUDA_GRAPH_INSTANTIATE_PARAMS>,
) -> Result {
    let mut given = parameters.get()?;
    if given.flags & instantiate::UPLOAD != 0 {
        // Nothing has to be uploaded, but the stream must be one.
        call.stream(given.upload_stream)?;
    }
    let made = make(exec, graph, given.flags);
    given.error_node = CUgraphNode::NULL;
    given.result = match made {
        Ok(_) => instantiate_result::SUCCESS,
        Err(Status::NOT_SUPPORTED) => instantiate_result::NODE_OPERATION_NOT_SUPPORTED,
        Err(_) => instantiate_result::INVALID_STRUCTURE,
    };
    parameters.set(given)?;
    exec.set(made?)
}

#[entry]
fn cuGraphExecDestroy(_: &Call, exec: CUgraphExec) -> Result {
    exec.remove().map(drop)
}

#[entry]
fn cuGraphExecGetFlags(_: &Call, exec: CUgraphExec, flags: Out<u64>) -> Result {
    flags.set(exec.get()?.flags)
}

/// Nothing has to be brought anywhere.
#[entry(per_thread = cuGraphUpload_ptsz)]
fn cuGraphUpload(call: &Call, exec: CUgraphExec, stream: CUstream) -> Result {
    exec.get()?;
    call.stream(stream)?;
    Ok(())
}

#[entry(per_thread = cuGraphLaunch_ptsz)]
fn cuGraphLaunch(call: &Call, exec: CUgraphExec, stream: CUstream) -> Result {
    exec.get()?.launch(&call.stream(stream)?)
}

#[entry]
fn cuGraphExecUpdate(
    _: &Call,
    exec: CUgraphExec,
    graph: CUgraph,
    node: Out<CUgraphNode>,
    result: Out<u32>,
) -> Result {
    let outcome = exec.get()?.update(&*graph.get()?);
    node.set_if_wanted(CUgraphNode::NULL);
    result.set_if_wanted(update_result(outcome));
    outcome
}

#[entry]
fn cuGraphExecUpdate_v2(
    _: &Call,
    exec: CUgraphExec,
    graph: CUgraph,
    result: Out<CUgraphExecUpdateResultInfo>,
) -> Result {
    let outcome = exec.get()?.update(&*graph.get()?);
    let nothing = CUgraphNode::NULL;
    result.set_if_wanted(CUgraphExecUpdateResultInfo {
        result: update_result(outcome),
        error_node: nothing,
        error_from_node: nothing,
    });
    outcome
}

#[entry]
fn cuGraphNodeSetEnabled(_: &Call, exec: CUgraphExec, node: CUgraphNode, enabled: u32) -> Result {
    Ok(exec.get()?.exec.set_enabled(node.get()?.id, enabled != 0)?)
}

#[entry]
fn cuGraphNodeGetEnabled(_: &Call, exec: CUgraphExec, node: CUgraphNode, enabled: Out<u32>) -> Result {
    enabled.set(u32::from(exec.get()?.exec.enabled(node.get()?.id)?))
}

fn make(exec: Out<CUgraphExec>, graph: CUgraph, flags: u64) -> Result<CUgraphExec> {
    exec.check()?;
    if flags & !instantiate::ALL != 0 {
        return Err(Status::INVALID_VALUE);
    }
    if flags & instantiate::DEVICE_LAUNCH != 0 {
        report!("the virtual GPU does not support launching graphs from kernels");
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
    let made = make(exec, graph, 0);
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
        Ok(()) => exec_update::SUCCESS,
        Err(Status::GRAPH_EXEC_UPDATE_FAILURE) => exec_update::ERROR_TOPOLOGY_CHANGED,
        Err(_) => exec_update::ERROR,
    }
}
