//! Functions: their attributes, and how many of their blocks fit.

use std::ffi::c_char;

use super::entry::{Call, entry};
use crate::abi::number::last_config;
use crate::abi::{CUfunction, CUmodule, CUoccupancyB2DSize, Out, Result, Status};
use crate::objects::program::library::find_function;
use crate::objects::program::occupancy;

fn active_blocks(call: &Call, out: Out<i32>, function: CUfunction, threads: i32, shared: usize) -> Result {
    out.check()?;
    call.context()?;
    let function = find_function(function)?;
    let threads = u32::try_from(threads).ok().filter(|&threads| threads > 0).ok_or(Status::INVALID_VALUE)?;
    let shared = u32::try_from(shared).unwrap_or(u32::MAX);
    let device = function.context()?.device;
    out.set(occupancy::blocks(device, function.described(), threads, shared) as i32)
}

fn best_block(
    call: &Call,
    (grid, block): (Out<i32>, Out<i32>),
    function: CUfunction,
    of_block: Option<CUoccupancyB2DSize>,
    fixed: usize,
    limit: i32,
) -> Result {
    grid.check()?;
    block.check()?;
    call.context()?;
    let function = find_function(function)?;
    let device = function.context()?.device;
    let limit = u32::try_from(limit).map_err(|_| Status::INVALID_VALUE)?;
    let shared = |size: u32| {
        let bytes = match of_block {
            // SAFETY: a function of the program with this signature, made to be called with block
            // sizes. Nothing is locked here.
            Some(of_block) => unsafe { of_block(size as i32) },
            None => fixed,
        };
        u32::try_from(bytes).unwrap_or(u32::MAX)
    };
    let (blocks, size) =
        occupancy::best_block(device, &function, limit, shared).ok_or(Status::INVALID_VALUE)?;
    grid.set(blocks as i32)?;
    block.set(size as i32)
}

#[entry]
fn cuFuncGetAttribute(call: &Call, value: Out<i32>, attribute: i32, function: CUfunction) -> Result {
    value.check()?;
    call.context()?;
    value.set(find_function(function)?.attribute(attribute)?)
}

#[entry]
fn cuFuncSetAttribute(call: &Call, function: CUfunction, attribute: i32, value: i32) -> Result {
    call.context()?;
    find_function(function)?.set_attribute(attribute, value)
}

/// A hint about caches that are not there.
#[entry]
fn cuFuncSetCacheConfig(call: &Call, function: CUfunction, config: u32) -> Result {
    call.context()?;
    find_function(function)?;
    let known = config <= last_config::CACHE_PREFER_EQUAL;
    if known { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

/// A hint about banks that are not there.
#[entry]
fn cuFuncSetSharedMemConfig(call: &Call, function: CUfunction, config: u32) -> Result {
    call.context()?;
    find_function(function)?;
    let known = config <= last_config::SHARED_EIGHT_BYTE_BANK;
    if known { Ok(()) } else { Err(Status::INVALID_VALUE) }
}

#[entry]
fn cuFuncGetModule(call: &Call, module: Out<CUmodule>, function: CUfunction) -> Result {
    module.check()?;
    call.context()?;
    module.set(find_function(function)?.module)
}

#[entry]
fn cuFuncGetName(call: &Call, name: Out<*const c_char>, function: CUfunction) -> Result {
    name.check()?;
    call.context()?;
    // The text lives as long as the function, which goes with its module.
    name.set(find_function(function)?.name().as_ptr())
}

#[entry]
fn cuFuncGetParamInfo(
    call: &Call,
    function: CUfunction,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result {
    offset.check()?;
    call.context()?;
    let function = find_function(function)?;
    let parameter = function.described().parameters.get(index).ok_or(Status::INVALID_VALUE)?;
    offset.set(parameter.offset as usize)?;
    size.set_if_wanted(parameter.size as usize);
    Ok(())
}

/// All functions are as loaded as they get: their code is compiled when they are called.
#[entry]
fn cuFuncIsLoaded(call: &Call, state: Out<u32>, function: CUfunction) -> Result {
    const LOADED: u32 = 1;
    call.context()?;
    find_function(function)?;
    state.set(LOADED)
}

#[entry]
fn cuFuncLoad(call: &Call, function: CUfunction) -> Result {
    call.context()?;
    find_function(function).map(drop)
}

#[entry]
fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    call: &Call,
    blocks: Out<i32>,
    function: CUfunction,
    threads: i32,
    shared: usize,
) -> Result {
    active_blocks(call, blocks, function, threads, shared)
}

#[entry]
fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    call: &Call,
    blocks: Out<i32>,
    function: CUfunction,
    threads: i32,
    shared: usize,
    flags: u32,
) -> Result {
    if flags > 1 {
        return Err(Status::INVALID_VALUE);
    }
    active_blocks(call, blocks, function, threads, shared)
}

#[entry]
fn cuOccupancyMaxPotentialBlockSize(
    call: &Call,
    grid: Out<i32>,
    block: Out<i32>,
    function: CUfunction,
    of_block: Option<CUoccupancyB2DSize>,
    shared: usize,
    limit: i32,
) -> Result {
    best_block(call, (grid, block), function, of_block, shared, limit)
}

#[entry]
fn cuOccupancyMaxPotentialBlockSizeWithFlags(
    call: &Call,
    grid: Out<i32>,
    block: Out<i32>,
    function: CUfunction,
    of_block: Option<CUoccupancyB2DSize>,
    shared: usize,
    limit: i32,
    flags: u32,
) -> Result {
    if flags > 1 {
        return Err(Status::INVALID_VALUE);
    }
    best_block(call, (grid, block), function, of_block, shared, limit)
}

#[entry]
fn cuOccupancyAvailableDynamicSMemPerBlock(
    call: &Call,
    size: Out<usize>,
    function: CUfunction,
    blocks: i32,
    threads: i32,
) -> Result {
    size.check()?;
    call.context()?;
    let function = find_function(function)?;
    let (Ok(blocks), Ok(threads)) = (u32::try_from(blocks), u32::try_from(threads)) else {
        return Err(Status::INVALID_VALUE);
    };
    let device = function.context()?.device;
    let available = occupancy::available_shared(device, function.described(), blocks, threads);
    size.set(available.ok_or(Status::INVALID_VALUE)? as usize)
}
