//! Nodes of graphs that allocate and free memory.

use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::abi::pointer::{In, Memory, Out};
use crate::abi::status::{Result, Status};
use crate::abi::types::{CUdevice, CUdeviceptr, CUgraph, CUgraphNode};
use crate::api::entry::{Call, entry};
use crate::api::node_parameters::AllocationParameters;
use crate::objects::device::Device;
use crate::objects::pool::graph::{self as allocations, Allocate, Free, GraphMemory};

use super::graph::add;

#[entry]
fn cuGraphAddMemAllocNode(
    _: &Call,
    out: Out<CUgraphNode>,
    graph: CUgraph,
    dependencies: In<CUgraphNode>,
    count: usize,
    given: Out<AllocationParameters>,
) -> Result {
    let mut parameters = given.get()?;
    let memory = parameters.allocate()?;
    parameters.address = memory.address;
    add(out, graph, dependencies, count, || Ok(NodeKind::Work(Arc::new(Allocate(memory)))))?;
    given.set(parameters)
}

#[entry]
fn cuGraphMemAllocNodeGetParams(_: &Call, node: CUgraphNode, out: Out<AllocationParameters>) -> Result {
    out.set(AllocationParameters::of(&node.get()?.work::<Allocate>()?.0))
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
    let memory = GraphMemory::find(address).ok_or(Status::INVALID_VALUE)?;
    add(out, graph, dependencies, count, || Ok(NodeKind::Work(Arc::new(Free(memory)))))
}

#[entry]
fn cuGraphMemFreeNodeGetParams(_: &Call, node: CUgraphNode, address: Out<CUdeviceptr>) -> Result {
    address.set(node.get()?.work::<Free>()?.0.address)
}

#[entry]
fn cuDeviceGetGraphMemAttribute(_: &Call, device: CUdevice, attribute: u32, value: Memory) -> Result {
    value.out().set(allocations::attribute_of(Device::get(device)?, attribute)?)
}

#[entry]
fn cuDeviceSetGraphMemAttribute(_: &Call, device: CUdevice, attribute: u32, value: Memory) -> Result {
    allocations::set_attribute(Device::get(device)?, attribute, value.out::<u64>().get()?)
}

/// Nothing is kept that no graph refers to.
#[entry]
fn cuDeviceGraphMemTrim(_: &Call, device: CUdevice) -> Result {
    Device::get(device).map(drop)
}
