//! Stream capture: what is submitted becomes a graph instead of running.

use std::cell::RefCell;
use std::sync::Arc;

use gangway_streams::{CaptureMode, CaptureStatus, NodeId};

use super::entry::{Call, entry};
use super::graph::check_edges;
use crate::abi::number::{capture_dependencies, capture_mode, capture_status};
use crate::abi::{CUgraph, CUgraphEdgeData, CUgraphNode, CUstream, In, Out, Result, Status};
use crate::objects::graph::Graph;

/// Before version 10.1: all captures concern all threads.
#[entry(per_thread = cuStreamBeginCapture_ptsz)]
fn cuStreamBeginCapture(call: &Call, stream: CUstream) -> Result {
    begin(call, stream, capture_mode::GLOBAL, None)
}

#[entry(per_thread = cuStreamBeginCapture_v2_ptsz)]
fn cuStreamBeginCapture_v2(call: &Call, stream: CUstream, mode: u32) -> Result {
    begin(call, stream, mode, None)
}

#[entry(per_thread = cuStreamBeginCaptureToGraph_ptsz)]
fn cuStreamBeginCaptureToGraph(
    call: &Call,
    stream: CUstream,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
    mode: u32,
) -> Result {
    check_edges(data, count)?;
    let graph = graph.get()?;
    let dependencies = graph.ids(dependencies.array(count)?)?;
    begin(call, stream, mode, Some((Arc::clone(&graph.graph), dependencies)))
}

#[entry(per_thread = cuStreamEndCapture_ptsz)]
fn cuStreamEndCapture(call: &Call, stream: CUstream, graph: Out<CUgraph>) -> Result {
    graph.check()?;
    let stream = call.stream(stream)?;
    match stream.queue.end_capture() {
        Ok(captured) => graph.set(Graph::of(&captured)?.handle),
        Err(error) => {
            graph.set(CUgraph::NULL)?;
            Err(error.into())
        }
    }
}

#[entry(per_thread = cuStreamIsCapturing_ptsz)]
fn cuStreamIsCapturing(call: &Call, stream: CUstream, status: Out<u32>) -> Result {
    status.check()?;
    status.set(number(call.stream(stream)?.queue.capture_info()?.status))
}

#[entry(per_thread = cuStreamGetCaptureInfo_ptsz)]
fn cuStreamGetCaptureInfo(call: &Call, stream: CUstream, status: Out<u32>, id: Out<u64>) -> Result {
    info(call, stream, status, Told { id, ..Told::NOTHING })
}

#[entry(per_thread = cuStreamGetCaptureInfo_v2_ptsz)]
fn cuStreamGetCaptureInfo_v2(
    call: &Call,
    stream: CUstream,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*const CUgraphNode>,
    count: Out<usize>,
) -> Result {
    info(call, stream, status, Told { id, graph, dependencies, data: Out::NULL, count })
}

#[entry(per_thread = cuStreamGetCaptureInfo_v3_ptsz)]
fn cuStreamGetCaptureInfo_v3(
    call: &Call,
    stream: CUstream,
    status: Out<u32>,
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*const CUgraphNode>,
    data: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
) -> Result {
    info(call, stream, status, Told { id, graph, dependencies, data, count })
}

#[entry(per_thread = cuStreamUpdateCaptureDependencies_ptsz)]
fn cuStreamUpdateCaptureDependencies(
    call: &Call,
    stream: CUstream,
    dependencies: In<CUgraphNode>,
    count: usize,
    flags: u32,
) -> Result {
    update(call, stream, dependencies, count, flags)
}

#[entry(per_thread = cuStreamUpdateCaptureDependencies_v2_ptsz)]
fn cuStreamUpdateCaptureDependencies_v2(
    call: &Call,
    stream: CUstream,
    dependencies: In<CUgraphNode>,
    data: In<CUgraphEdgeData>,
    count: usize,
    flags: u32,
) -> Result {
    check_edges(data, count)?;
    update(call, stream, dependencies, count, flags)
}

#[entry]
fn cuThreadExchangeStreamCaptureMode(_: &Call, mode: Out<u32>) -> Result {
    let before = gangway_streams::exchange_capture_mode(mode_of(mode.get()?)?);
    mode.set(match before {
        CaptureMode::Global => capture_mode::GLOBAL,
        CaptureMode::ThreadLocal => capture_mode::THREAD_LOCAL,
        CaptureMode::Relaxed => capture_mode::RELAXED,
    })
}

fn mode_of(mode: u32) -> Result<CaptureMode> {
    match mode {
        capture_mode::GLOBAL => Ok(CaptureMode::Global),
        capture_mode::THREAD_LOCAL => Ok(CaptureMode::ThreadLocal),
        capture_mode::RELAXED => Ok(CaptureMode::Relaxed),
        _ => Err(Status::INVALID_VALUE),
    }
}

/// `CUstreamCaptureStatus`
fn number(status: CaptureStatus) -> u32 {
    match status {
        CaptureStatus::None => capture_status::NONE,
        CaptureStatus::Active => capture_status::ACTIVE,
        CaptureStatus::Invalidated => capture_status::INVALIDATED,
    }
}

fn begin(
    call: &Call,
    stream: CUstream,
    mode: u32,
    into: Option<(Arc<gangway_streams::Graph>, Vec<NodeId>)>,
) -> Result {
    let mode = mode_of(mode)?;
    Ok(call.stream(stream)?.queue.begin_capture(mode, into)?)
}

/// What a caller wants to know of a capture besides its status; nothing of it need be wanted.
struct Told {
    id: Out<u64>,
    graph: Out<CUgraph>,
    dependencies: Out<*const CUgraphNode>,
    data: Out<*const CUgraphEdgeData>,
    count: Out<usize>,
}

impl Told {
    const NOTHING: Self =
        Self { id: Out::NULL, graph: Out::NULL, dependencies: Out::NULL, data: Out::NULL, count: Out::NULL };
}

thread_local! {
    /// The arrays that the thread was told last. The program may look at them until its next call.
    static ARRAYS: RefCell<(Vec<CUgraphNode>, Vec<CUgraphEdgeData>)> =
        const { RefCell::new((Vec::new(), Vec::new())) };
}

fn info(call: &Call, stream: CUstream, status: Out<u32>, told: Told) -> Result {
    status.check()?;
    let info = call.stream(stream)?.queue.capture_info()?;
    status.set(number(info.status))?;
    // Without a valid capture nothing else is written.
    let (CaptureStatus::Active, Some(graph)) = (info.status, info.graph) else { return Ok(()) };
    told.id.set_if_wanted(info.id);
    if told.graph.is_null() && told.dependencies.is_null() && told.count.is_null() {
        return Ok(());
    }
    let graph = Graph::of(&graph)?;
    let nodes = graph.nodes(info.dependencies)?;
    told.graph.set_if_wanted(graph.handle);
    told.count.set_if_wanted(nodes.len());
    ARRAYS
        .try_with(|arrays| {
            let mut arrays = arrays.borrow_mut();
            arrays.1 = vec![[0; 8]; nodes.len()];
            arrays.0 = nodes;
            told.dependencies.set_if_wanted(arrays.0.as_ptr());
            told.data.set_if_wanted(arrays.1.as_ptr());
        })
        .map_err(|_| Status::DEINITIALIZED)
}

fn update(call: &Call, stream: CUstream, dependencies: In<CUgraphNode>, count: usize, flags: u32) -> Result {
    let replace = match flags {
        capture_dependencies::ADD => false,
        capture_dependencies::SET => true,
        _ => return Err(Status::INVALID_VALUE),
    };
    let stream = call.stream(stream)?;
    let graph = stream.queue.capture_info()?.graph.ok_or(Status::ILLEGAL_STATE)?;
    let nodes = Graph::of(&graph)?.ids(dependencies.array(count)?)?;
    Ok(stream.queue.set_capture_dependencies(&nodes, replace)?)
}
