//! Launching kernels.

use std::ffi::c_void;

use super::arguments::Arguments;
use super::entry::{Call, entry};
use crate::abi::number::launch_attribute;
use crate::abi::{CUfunction, CUlaunchAttribute, CUlaunchConfig, CUstream, In, Result, Status};
use crate::objects::process::report::report;
use crate::objects::program::library::find_function_in;
use crate::objects::work::launch::{KernelLaunch, LaunchShape};

fn submit(
    call: &Call,
    function: CUfunction,
    shape: LaunchShape,
    stream: CUstream,
    arguments: Arguments,
) -> Result {
    let stream = call.stream(stream)?;
    let function = find_function_in(function, &stream.context)?;
    let launch = KernelLaunch::prepare(function, shape, |kernel| arguments.collect(kernel))?;
    launch.submit_to(&stream)
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
    let shape = LaunchShape { grid, block, shared, cooperative: false };
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
    let mut shape = LaunchShape { grid, block, shared: shared_mem_bytes, cooperative: false };
    apply(&config.attributes.array(config.attribute_count as usize)?, &mut shape)?;
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
    let shape = LaunchShape { grid, block, shared, cooperative: true };
    submit(call, function, shape, stream, Arguments { each: parameters, extra: NO_EXTRA })
}

/// Takes the attributes of `cuLaunchKernelEx` into account. Those that are hints have no effect.
fn apply(attributes: &[CUlaunchAttribute], shape: &mut LaunchShape) -> Result {
    for set in attributes {
        let value = set.value[0];
        match set.id {
            launch_attribute::COOPERATIVE => shape.cooperative = value as u32 != 0,
            launch_attribute::CLUSTER_DIMENSION => {
                let [x, y, z] = [value as u32, (value >> 32) as u32, set.value[1] as u32];
                if [x, y, z].iter().any(|&size| size > 1) {
                    report!("the virtual GPU does not support clusters of blocks");
                    return Err(Status::NOT_SUPPORTED);
                }
            }
            launch_attribute::PROGRAMMATIC_EVENT | launch_attribute::LAUNCH_COMPLETION_EVENT => {
                report!("the virtual GPU does not support events within launches");
                return Err(Status::NOT_SUPPORTED);
            }
            0..=launch_attribute::LAST => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}
