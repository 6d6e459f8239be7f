//! Parameters of nodes: from the structures of `cuda.h` to work, and back.

use std::ffi::c_void;
use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::abi::pointer::{In, Memory};
use crate::abi::status::{Result, Status};
use crate::abi::types::{
    CUDA_MEMCPY3D, CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph, CUkernel, CUmemAccessDesc,
    CUmemPoolProps, CUstreamBatchMemOpParams,
};
use crate::objects::graph::{Graph, Node};
use crate::objects::pool::Pool;
use crate::objects::pool::graph::{Allocate, Free, GraphMemory};
use crate::objects::process::report::report;
use crate::objects::program::function::Function;
use crate::objects::stream::event::Event;
use crate::objects::work::copy::Copy;
use crate::objects::work::fill::Fill;
use crate::objects::work::host_function::{HostFn, HostFunction};
use crate::objects::work::launch::{Arguments, Launch, Shape};
use crate::objects::work::memory_operation::MemoryOperations;

/// `CUDA_KERNEL_NODE_PARAMS_v1`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct KernelParameters {
    pub function: CUfunction,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub each: In<*const c_void>,
    pub extra: In<*const c_void>,
}
const _: () = assert!(size_of::<KernelParameters>() == 56);

/// `CUDA_KERNEL_NODE_PARAMS_v2` and `_v3`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct KernelParameters2 {
    pub first: KernelParameters,
    pub kernel: CUkernel,
    pub context: CUcontext,
}
const _: () = assert!(size_of::<KernelParameters2>() == 72);

/// `CUDA_MEMSET_NODE_PARAMS_v1`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct FillParameters {
    pub to: CUdeviceptr,
    pub pitch: usize,
    pub value: u32,
    pub element: u32,
    pub width: usize,
    pub height: usize,
}
const _: () = assert!(size_of::<FillParameters>() == 40);

/// `CUDA_HOST_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HostParameters {
    pub function: Option<HostFn>,
    pub user_data: *mut c_void,
}
const _: () = assert!(size_of::<HostParameters>() == 16);

/// `CUDA_BATCH_MEM_OP_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct OperationParameters {
    pub context: CUcontext,
    pub count: u32,
    pub operations: In<CUstreamBatchMemOpParams>,
    pub flags: u32,
}
const _: () = assert!(size_of::<OperationParameters>() == 32);

/// `CUDA_MEM_ALLOC_NODE_PARAMS`
#[derive(Clone, Copy)]
#[repr(C)]
pub struct AllocationParameters {
    pub properties: CUmemPoolProps,
    pub access: In<CUmemAccessDesc>,
    pub access_count: usize,
    pub size: usize,
    /// Told by the call.
    pub address: CUdeviceptr,
}
const _: () = assert!(size_of::<AllocationParameters>() == 120);

impl AllocationParameters {
    /// All devices have access to it.
    pub fn allocate(&self) -> Result<Arc<GraphMemory>> {
        let device = Pool::device_of(&self.properties)?;
        GraphMemory::new(device, self.size as u64)
    }

    pub fn of(memory: &GraphMemory) -> AllocationParameters {
        AllocationParameters {
            properties: Pool::properties(memory.device),
            access: In::NULL,
            access_count: 0,
            size: memory.size as usize,
            address: memory.address,
        }
    }
}

/// `CUgraphNodeType`
pub mod kind {
    pub const KERNEL: u32 = 0;
    pub const COPY: u32 = 1;
    pub const FILL: u32 = 2;
    pub const HOST: u32 = 3;
    pub const CHILD: u32 = 4;
    pub const EMPTY: u32 = 5;
    pub const WAIT: u32 = 6;
    pub const RECORD: u32 = 7;
    pub const ALLOCATE: u32 = 10;
    pub const FREE: u32 = 11;
    pub const OPERATIONS: u32 = 12;
}

/// The number of a sort of nodes.
pub fn kind_of(kind: &NodeKind) -> u32 {
    match kind {
        NodeKind::Work(work) => work.sort(),
        NodeKind::Child(_) => kind::CHILD,
        NodeKind::Empty => kind::EMPTY,
        NodeKind::Wait(_) => kind::WAIT,
        NodeKind::Record(_) => kind::RECORD,
    }
}

pub fn launch(given: KernelParameters) -> Result<NodeKind> {
    let KernelParameters { function, grid, block, shared, each, extra } = given;
    let shape = Shape { grid, block, shared, cooperative: false };
    Ok(NodeKind::Work(Arc::new(Launch::of_node(function, shape, Arguments { each, extra })?)))
}

/// A kernel of a library may be named in place of a function.
pub fn launch2(given: KernelParameters2) -> Result<NodeKind> {
    let mut first = given.first;
    if first.function.is_null() {
        first.function = CUfunction::from_raw(given.kernel.raw());
    }
    launch(first)
}

pub fn copy(given: &CUDA_MEMCPY3D) -> Result<NodeKind> {
    Ok(NodeKind::Work(Arc::new(Copy::three_dimensional(given)?.checked()?)))
}

pub fn fill(given: FillParameters) -> Result<NodeKind> {
    let FillParameters { to, pitch, value, element, width, height } = given;
    if !matches!(element, 1 | 2 | 4) {
        return Err(Status::INVALID_VALUE);
    }
    Ok(NodeKind::Work(Arc::new(Fill::rows(to, pitch, element as usize, value, width, height).checked()?)))
}

pub fn host(given: HostParameters) -> Result<NodeKind> {
    Ok(NodeKind::Work(Arc::new(HostFunction::new(given.function, given.user_data)?)))
}

pub fn operations(given: OperationParameters) -> Result<NodeKind> {
    if given.flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let operations = given.operations.array(given.count as usize)?;
    Ok(NodeKind::Work(Arc::new(MemoryOperations::new(&given.context.get()?, operations)?)))
}

pub fn record(event: CUevent) -> Result<NodeKind> {
    Ok(NodeKind::Record(Arc::clone(&event.get()?.event)))
}

pub fn wait(event: CUevent) -> Result<NodeKind> {
    Ok(NodeKind::Wait(Arc::clone(&event.get()?.event)))
}

pub fn child(graph: CUgraph) -> Result<NodeKind> {
    Ok(NodeKind::Child(Arc::clone(&graph.get()?.graph)))
}

/// `CUgraphNodeParams`: a sort of nodes, and its parameters 16 bytes further on.
pub fn any(given: Memory) -> Result<NodeKind> {
    const UNION: usize = 16;
    // The flags and the context of a copy, which stand before the rest.
    const COPY: usize = UNION + 16;
    match given.at::<u32>(0).get()? {
        kind::KERNEL => launch2(given.at(UNION).get()?),
        kind::COPY => copy(&given.at(COPY).get()?),
        kind::FILL => fill(given.at(UNION).get()?),
        kind::HOST => host(given.at(UNION).get()?),
        kind::CHILD => child(given.at(UNION).get()?),
        kind::EMPTY => Ok(NodeKind::Empty),
        kind::WAIT => wait(given.at(UNION).get()?),
        kind::RECORD => record(given.at(UNION).get()?),
        kind::OPERATIONS => operations(given.at(UNION).get()?),
        kind::ALLOCATE => {
            let place = given.at_out::<AllocationParameters>(UNION);
            let mut parameters = place.get()?;
            let memory = parameters.allocate()?;
            parameters.address = memory.address;
            place.set(parameters)?;
            Ok(NodeKind::Work(Arc::new(Allocate(memory))))
        }
        kind::FREE => {
            let memory = GraphMemory::find(given.at(UNION).get()?).ok_or(Status::INVALID_VALUE)?;
            Ok(NodeKind::Work(Arc::new(Free(memory))))
        }
        8..=14 => {
            report!("the virtual GPU does not support semaphores and conditions in graphs");
            Err(Status::NOT_SUPPORTED)
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

/// The parameters of a kernel node. The values are the node's own, for as long as they do not change.
pub fn of_launch(node: &Node) -> Result<KernelParameters> {
    let launch = node.work::<Launch>()?;
    let Shape { grid, block, shared, .. } = launch.shape;
    let base = launch.parameters.as_ptr() as usize;
    let places =
        launch.function.described().parameters.iter().map(|parameter| base + parameter.offset as usize);
    let places: Box<[usize]> = places.collect();
    let function: CUfunction = launch.function.handle;
    // SAFETY: the node keeps the array and what it points to.
    let each = unsafe { In::from_ptr(node.tell(launch, places).cast()) };
    Ok(KernelParameters { function, grid, block, shared, each, extra: In::NULL })
}

pub fn of_launch2(node: &Node) -> Result<KernelParameters2> {
    let first = of_launch(node)?;
    let context = Function::find(first.function)?.context()?.handle;
    Ok(KernelParameters2 { first, kernel: CUkernel::NULL, context })
}

pub fn of_host(node: &Node) -> Result<HostParameters> {
    let work = node.work::<HostFunction>()?;
    Ok(HostParameters { function: Some(work.function), user_data: work.user_data.0 })
}

pub fn of_operations(node: &Node) -> Result<OperationParameters> {
    let work = node.work::<MemoryOperations>()?;
    let context = work.context().map_or(CUcontext::NULL, |context| context.handle);
    let count = work.given.len() as u32;
    // SAFETY: the node keeps the work, whose array this is.
    let operations = unsafe { In::from_ptr(work.given.as_ptr()) };
    node.tell(work, Box::default());
    Ok(OperationParameters { context, count, operations, flags: 0 })
}

/// The event that a node records or waits for.
pub fn of_event(node: &Node, wanted: u32) -> Result<CUevent> {
    let kind = node.kind()?;
    match &kind {
        NodeKind::Record(event) | NodeKind::Wait(event) if kind_of(&kind) == wanted => {
            Ok(Event::handle_of(event))
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

pub fn of_child(node: &Node) -> Result<Arc<Graph>> {
    match node.kind()? {
        NodeKind::Child(graph) => Graph::of(&graph),
        _ => Err(Status::INVALID_VALUE),
    }
}
