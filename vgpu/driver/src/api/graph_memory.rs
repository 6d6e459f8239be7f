//! Nodes of graphs that allocate and free memory.

use super::entry::{Call, entry};
use super::graph::add;
use super::node_parameters;
use crate::abi::{
    CUDA_MEM_ALLOC_NODE_PARAMS, CUdevice, CUdeviceptr, CUgraph, CUgraphNode, In, Out, Result, Untyped,
};
use crate::objects::device::Device;
use crate::objects::pool::graph::{self as allocations, FreeNode};

#[entry]
fn cuGraphAddMemAllocNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: Out<CUDA_MEM_ALLOC_NODE_PARAMS>,
) -> Result {
    given.check()?;
    add(out, graph, dependencies, count, || node_parameters::allocate(given))
}

#[entry]
fn cuGraphMemAllocNodeGetParams(_: &Call, node: CUgraphNode, out: Out<CUDA_MEM_ALLOC_NODE_PARAMS>) -> Result {
    out.set(node_parameters::of_allocation(&*node.get()?)?)
}

#[entry]
fn cuGraphAddMemFreeNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    address: CUdeviceptr,
) -> Result {
    add(out, graph, dependencies, count, || node_parameters::free(address))
}

#[entry]
fn cuGraphMemFreeNodeGetParams(_: &Call, node: CUgraphNode, address: Out<CUdeviceptr>) -> Result {
    address.set(node.get()?.work::<FreeNode>()?.0.address)
}

#[entry]
fn cuDeviceGetGraphMemAttribute(_: &Call, device: CUdevice, attribute: u32, value: Untyped) -> Result {
    value.out().set(allocations::attribute_of(Device::get(device)?, attribute)?)
}

#[entry]
fn cuDeviceSetGraphMemAttribute(_: &Call, device: CUdevice, attribute: u32, value: Untyped) -> Result {
    allocations::set_attribute(Device::get(device)?, attribute, value.out::<u64>().get()?)
}

/// Nothing is kept that no graph refers to.
#[entry]
fn cuDeviceGraphMemTrim(_: &Call, device: CUdevice) -> Result {
    Device::get(device).map(drop)
}
