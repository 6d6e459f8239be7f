//! Nodes of graphs that allocate and free memory.

use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::device::Device;
use crate::entry::{Call, entry};
use crate::error::{Result, Status};
use crate::graph::memory::{self, Allocate, Free, GraphMemory};
use crate::graph::parameters::AllocationParameters;
use crate::pointer::{In, Memory, Out};
use crate::types::{CUdevice, CUdeviceptr, CUgraph, CUgraphNode};

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
    value.out().set(memory::attribute_of(Device::get(device)?, attribute)?)
}

#[entry]
fn cuDeviceSetGraphMemAttribute(_: &Call, device: CUdevice, attribute: u32, value: Memory) -> Result {
    memory::set_attribute(Device::get(device)?, attribute, value.out::<u64>().get()?)
}

/// Nothing is kept that no graph refers to.
#[entry]
fn cuDeviceGraphMemTrim(_: &Call, device: CUdevice) -> Result {
    Device::get(device).map(drop)
}
