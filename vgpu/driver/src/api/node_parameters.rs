//! Parameters of nodes: from the structures of `cuda.h` to work, and back.

use std::sync::Arc;

use gangway_streams::NodeKind;

use super::arguments::Arguments;
use super::copy_structure::three_dimensional;
use super::pool_properties;
use crate::abi::number::node_type;
use crate::abi::{
    CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_HOST_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v2, CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
    CUcontext, CUdeviceptr, CUevent, CUfunction, CUgraph, CUkernel, In, Out, Result, Status, Untyped,
};
use crate::objects::context;
use crate::objects::graph::{Graph, Node};
use crate::objects::pool::graph::{AllocateNode, FreeNode, GraphMemory};
use crate::objects::process::report::report;
use crate::objects::program::function::Function;
use crate::objects::program::library::{find_function, find_function_in};
use crate::objects::stream::event::Event;
use crate::objects::work::MemoryWork;
use crate::objects::work::fill::Fill;
use crate::objects::work::host_function::HostFunction;
use crate::objects::work::launch::{KernelLaunch, LaunchShape};
use crate::objects::work::memory_operation::MemoryOperations;

/// The number of a sort of nodes, `CUgraphNodeType`.
pub fn type_of(kind: &NodeKind) -> u32 {
    match kind {
        NodeKind::Work(work) => work.sort(),
        NodeKind::Child(_) => node_type::GRAPH,
        NodeKind::Empty => node_type::EMPTY,
        NodeKind::Wait(_) => node_type::WAIT_EVENT,
        NodeKind::Record(_) => node_type::RECORD_EVENT,
    }
}

pub fn launch(given: CUDA_KERNEL_NODE_PARAMS) -> Result<NodeKind> {
    launch_of(find_function(given.function)?, given)
}

fn launch_of(function: Arc<Function>, given: CUDA_KERNEL_NODE_PARAMS) -> Result<NodeKind> {
    let CUDA_KERNEL_NODE_PARAMS { grid, block, shared_mem_bytes, .. } = given;
    let arguments = Arguments { each: given.kernel_params, extra: given.extra };
    let shape = LaunchShape { grid, block, shared: shared_mem_bytes, cooperative: false };
    let launch = KernelLaunch::of_node(function, shape, |kernel| arguments.collect(kernel))?;
    Ok(NodeKind::Work(Arc::new(launch)))
}

/// A kernel of a library may be named in place of a function, and then a context for it.
pub fn launch_v2(given: CUDA_KERNEL_NODE_PARAMS_v2) -> Result<NodeKind> {
    if !given.first.function.is_null() {
        return launch(given.first);
    }
    let kernel = CUfunction::from_raw(given.kernel.raw());
    let function = if given.context.is_null() {
        find_function(kernel)?
    } else {
        find_function_in(kernel, &context::find(given.context)?)?
    };
    launch_of(function, given.first)
}

pub fn copy(given: &CUDA_MEMCPY3D) -> Result<NodeKind> {
    Ok(NodeKind::Work(Arc::new(three_dimensional(given)?.checked()?)))
}

pub fn fill(given: CUDA_MEMSET_NODE_PARAMS) -> Result<NodeKind> {
    let CUDA_MEMSET_NODE_PARAMS { dst, pitch, value, element_size, width, height } = given;
    if !matches!(element_size, 1 | 2 | 4) {
        return Err(Status::INVALID_VALUE);
    }
    let fill = Fill::rows(dst, pitch, element_size as usize, value, width, height);
    Ok(NodeKind::Work(Arc::new(fill.checked()?)))
}

pub fn host(given: CUDA_HOST_NODE_PARAMS) -> Result<NodeKind> {
    Ok(NodeKind::Work(Arc::new(HostFunction::new(given.function, given.user_data)?)))
}

pub fn operations(given: CUDA_BATCH_MEM_OP_NODE_PARAMS) -> Result<NodeKind> {
    if given.flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let context = given.context.get()?;
    let operations = MemoryOperations::batch(&context, given.count, |count| given.operations.array(count))?;
    Ok(NodeKind::Work(Arc::new(operations)))
}

/// Memory of a graph, whose address goes into the parameters. All devices have access to it.
pub fn allocate(given: Out<CUDA_MEM_ALLOC_NODE_PARAMS>) -> Result<NodeKind> {
    let mut parameters = given.get()?;
    let device = pool_properties::device(&parameters.properties)?;
    let memory = GraphMemory::new(device, parameters.size as u64)?;
    parameters.address = memory.address;
    given.set(parameters)?;
    Ok(NodeKind::Work(Arc::new(AllocateNode(memory))))
}

pub fn free(address: CUdeviceptr) -> Result<NodeKind> {
    let memory = GraphMemory::find(address).ok_or(Status::INVALID_VALUE)?;
    Ok(NodeKind::Work(Arc::new(FreeNode(memory))))
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
pub fn any(given: Untyped) -> Result<NodeKind> {
    const UNION: usize = 16;
    // The flags and the context of a copy, which stand before the rest.
    const COPY: usize = UNION + 16;
    match given.at::<u32>(0).get()? {
        node_type::KERNEL => launch_v2(given.at(UNION).get()?),
        node_type::COPY => copy(&given.at(COPY).get()?),
        node_type::FILL => fill(given.at(UNION).get()?),
        node_type::HOST => host(given.at(UNION).get()?),
        node_type::GRAPH => child(given.at(UNION).get()?),
        node_type::EMPTY => Ok(NodeKind::Empty),
        node_type::WAIT_EVENT => wait(given.at(UNION).get()?),
        node_type::RECORD_EVENT => record(given.at(UNION).get()?),
        node_type::MEMORY_OPERATIONS => operations(given.at(UNION).get()?),
        node_type::ALLOCATE => allocate(given.at_out(UNION)),
        node_type::FREE => free(given.at(UNION).get()?),
        node_type::SIGNAL_SEMAPHORE..=node_type::LAST => {
            report!("the virtual GPU does not support semaphores and conditions in graphs");
            Err(Status::NOT_SUPPORTED)
        }
        _ => Err(Status::INVALID_VALUE),
    }
}

/// The parameters of a kernel node. The values are the node's own, for as long as they do not
/// change.
pub fn of_launch(node: &Node) -> Result<CUDA_KERNEL_NODE_PARAMS> {
    let launch = node.work::<KernelLaunch>()?;
    let LaunchShape { grid, block, shared, .. } = launch.shape;
    let base = launch.parameters.as_ptr() as usize;
    let parameters = &launch.function.described().parameters;
    let places: Box<[usize]> = parameters.iter().map(|parameter| base + parameter.offset as usize).collect();
    let function = launch.function.handle;
    // SAFETY: the node keeps the array and what it points to.
    let kernel_params = unsafe { In::from_ptr(node.tell(launch, places).cast()) };
    let extra = In::NULL;
    Ok(CUDA_KERNEL_NODE_PARAMS { function, grid, block, shared_mem_bytes: shared, kernel_params, extra })
}

pub fn of_launch_v2(node: &Node) -> Result<CUDA_KERNEL_NODE_PARAMS_v2> {
    let first = of_launch(node)?;
    let context = find_function(first.function)?.context()?.handle;
    Ok(CUDA_KERNEL_NODE_PARAMS_v2 { first, kernel: CUkernel::NULL, context })
}

pub fn of_fill(node: &Node) -> Result<CUDA_MEMSET_NODE_PARAMS> {
    let Fill { address, element, value, width, height, pitch, .. } = *node.work::<Fill>()?;
    let element_size = element as u32;
    Ok(CUDA_MEMSET_NODE_PARAMS { dst: address, pitch, value, element_size, width, height })
}

pub fn of_allocation(node: &Node) -> Result<CUDA_MEM_ALLOC_NODE_PARAMS> {
    let work = node.work::<AllocateNode>()?;
    let memory = &work.0;
    Ok(CUDA_MEM_ALLOC_NODE_PARAMS {
        properties: pool_properties::of_device(memory.device),
        access: In::NULL,
        access_count: 0,
        size: memory.size as usize,
        address: memory.address,
    })
}

pub fn of_host(node: &Node) -> Result<CUDA_HOST_NODE_PARAMS> {
    let work = node.work::<HostFunction>()?;
    Ok(CUDA_HOST_NODE_PARAMS { function: Some(work.function), user_data: work.user_data.0 })
}

pub fn of_operations(node: &Node) -> Result<CUDA_BATCH_MEM_OP_NODE_PARAMS> {
    let work = node.work::<MemoryOperations>()?;
    let context = work.context().map_or(CUcontext::NULL, |context| context.handle);
    let count = work.given.len() as u32;
    // SAFETY: the node keeps the work, whose array this is.
    let operations = unsafe { In::from_ptr(work.given.as_ptr()) };
    node.tell(work, Box::default());
    Ok(CUDA_BATCH_MEM_OP_NODE_PARAMS { context, count, operations, flags: 0 })
}

/// The event that a node records or waits for.
pub fn of_event(node: &Node, wanted: u32) -> Result<CUevent> {
    let kind = node.kind()?;
    match &kind {
        NodeKind::Record(event) | NodeKind::Wait(event) if type_of(&kind) == wanted => {
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
