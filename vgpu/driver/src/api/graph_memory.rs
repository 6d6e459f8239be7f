//! Nodes of graphs that allocate and free memory.

use std::sync::Arc;

use gangway_streams::NodeKind;

use crate::device::Device;
use crate::entry::entries;
use crate::error::Status;
use crate::graph::memory::{self, Allocate, Free, GraphMemory};
use crate::graph::parameters::AllocationParameters;
use crate::pointer::{In, Memory, Out};
use crate::types::{CUdevice, CUdeviceptr, CUgraph, CUgraphNode};

use super::graph::add;

entries! {
    fn cuGraphAddMemAllocNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        given: Out<AllocationParameters>
    ) {
        let mut parameters = given.get()?;
        let memory = parameters.allocate()?;
        parameters.address = memory.address;
        add(out, graph, dependencies, count, || Ok(NodeKind::Work(Arc::new(Allocate(memory)))))?;
        given.set(parameters)
    }

    fn cuGraphMemAllocNodeGetParams(_call, node: CUgraphNode, out: Out<AllocationParameters>) {
        out.set(AllocationParameters::of(&node.get()?.work::<Allocate>()?.0))
    }

    fn cuGraphAddMemFreeNode(
        _call, out: Out<CUgraphNode>, graph: CUgraph, dependencies: In<CUgraphNode>, count: usize,
        address: CUdeviceptr
    ) {
        let memory = GraphMemory::find(address).ok_or(Status::INVALID_VALUE)?;
        add(out, graph, dependencies, count, || Ok(NodeKind::Work(Arc::new(Free(memory)))))
    }

    fn cuGraphMemFreeNodeGetParams(_call, node: CUgraphNode, address: Out<CUdeviceptr>) {
        address.set(node.get()?.work::<Free>()?.0.address)
    }

    fn cuDeviceGetGraphMemAttribute(_call, device: CUdevice, attribute: u32, value: Memory) {
        value.out().set(memory::attribute_of(Device::get(device)?, attribute)?)
    }

    fn cuDeviceSetGraphMemAttribute(_call, device: CUdevice, attribute: u32, value: Memory) {
        memory::set_attribute(Device::get(device)?, attribute, value.out::<u64>().get()?)
    }

    /// Nothing is kept that no graph refers to.
    fn cuDeviceGraphMemTrim(_call, device: CUdevice) {
        Device::get(device).map(drop)
    }
}
