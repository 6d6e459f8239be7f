//! Launching kernels.

use std::ffi::c_void;

use crate::abi::pointer::In;
use crate::abi::status::Result;
use crate::abi::types::{CUfunction, CUlaunchConfig, CUstream};
use crate::api::entry::{Call, entry};
use crate::objects::work::launch::{self, Arguments, Launch, Shape};

fn submit(call: &Call, function: CUfunction, shape: Shape, stream: CUstream, arguments: Arguments) -> Result {
    let stream = call.stream(stream)?;
    Launch::prepare(function, shape, arguments)?.submit_to(&stream)
}

const NO_EXTRA: In<*const c_void> = In::NULL;

#[entry(per_thread = cuLaunchKernel_ptsz)]
fn cuLaunchKernel(
    call: &Call,
    function: CUfunction,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: CUstream,
    parameters: In<*const c_void>,
    extra: In<*const c_void>,
) -> Result {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let shape = Shape { grid, block, shared, cooperative: false };
    submit(call, function, shape, stream, Arguments { each: parameters, extra })
}

#[entry(per_thread = cuLaunchKernelEx_ptsz)]
fn cuLaunchKernelEx(
    call: &Call,
    config: In<CUlaunchConfig>,
    function: CUfunction,
    parameters: In<*const c_void>,
    extra: In<*const c_void>,
) -> Result {
    let config = config.get()?;
    let CUlaunchConfig { grid, block, shared_mem_bytes, .. } = config;
    let mut shape = Shape { grid, block, shared: shared_mem_bytes, cooperative: false };
    launch::apply(&config.attributes.array(config.attribute_count as usize)?, &mut shape)?;
    submit(call, function, shape, config.stream, Arguments { each: parameters, extra })
}

#[entry(per_thread = cuLaunchCooperativeKernel_ptsz)]
fn cuLaunchCooperativeKernel(
    call: &Call,
    function: CUfunction,
    grid_x: u32,
    grid_y: u32,
    grid_z: u32,
    block_x: u32,
    block_y: u32,
    block_z: u32,
    shared: u32,
    stream: CUstream,
    parameters: In<*const c_void>,
) -> Result {
    let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
    let shape = Shape { grid, block, shared, cooperative: true };
    submit(call, function, shape, stream, Arguments { each: parameters, extra: NO_EXTRA })
}
