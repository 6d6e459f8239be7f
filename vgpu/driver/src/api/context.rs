//! Contexts: making and destroying them, the stack of each thread, limits and settings.

use std::sync::Arc;

use super::entry::{Call, entry};
use crate::abi::number::context_flags;
use crate::abi::{CUcontext, CUdevice, Out, Result, Status, Untyped};
use crate::objects::context::{self, API_VERSION, Context};
use crate::objects::device::Device;
use crate::objects::process::report::report;

fn create(out: Out<CUcontext>, flags: u32, device: CUdevice, version: u32) -> Result {
    out.check()?;
    out.set(context::create_current(Device::get(device)?, flags, version)?)
}

fn pop(out: Out<CUcontext>) -> Result {
    out.set_if_wanted(context::pop()?);
    Ok(())
}

fn named(handle: CUcontext) -> Result<Arc<Context>> {
    if handle.is_null() { context::current().ok_or(Status::INVALID_CONTEXT) } else { context::find(handle) }
}

#[entry]
fn cuCtxCreate(_: &Call, out: Out<CUcontext>, flags: u32, device: CUdevice) -> Result {
    create(out, flags, device, 3010)
}

#[entry]
fn cuCtxCreate_v2(_: &Call, out: Out<CUcontext>, flags: u32, device: CUdevice) -> Result {
    create(out, flags, device, API_VERSION)
}

#[entry]
fn cuCtxCreate_v3(
    _: &Call,
    out: Out<CUcontext>,
    affinities: Untyped,
    count: i32,
    flags: u32,
    device: CUdevice,
) -> Result {
    if count != 0 || !affinities.is_null() {
        return Err(Status::UNSUPPORTED_EXEC_AFFINITY);
    }
    create(out, flags, device, 3030)
}

#[entry]
fn cuCtxCreate_v4(
    _: &Call,
    out: Out<CUcontext>,
    parameters: Untyped,
    flags: u32,
    device: CUdevice,
) -> Result {
    if !parameters.is_null() {
        report!("the virtual GPU does not support parameters of cuCtxCreate");
        return Err(Status::NOT_SUPPORTED);
    }
    create(out, flags, device, 3030)
}

#[entry]
fn cuCtxDestroy(_: &Call, context: CUcontext) -> Result {
    context::destroy(context)
}

#[entry]
fn cuCtxDestroy_v2(_: &Call, context: CUcontext) -> Result {
    context::destroy(context)
}

#[entry]
fn cuCtxPushCurrent(_: &Call, context: CUcontext) -> Result {
    context::push(context)
}

#[entry]
fn cuCtxPushCurrent_v2(_: &Call, context: CUcontext) -> Result {
    context::push(context)
}

#[entry]
fn cuCtxPopCurrent(_: &Call, out: Out<CUcontext>) -> Result {
    pop(out)
}

#[entry]
fn cuCtxPopCurrent_v2(_: &Call, out: Out<CUcontext>) -> Result {
    pop(out)
}

#[entry]
fn cuCtxSetCurrent(_: &Call, context: CUcontext) -> Result {
    context::set_current(context)
}

#[entry]
fn cuCtxGetCurrent(_: &Call, out: Out<CUcontext>) -> Result {
    out.set(context::current().map_or(CUcontext::NULL, |context| context.handle))
}

/// Refused in a host function: libgomp's plugin asks this first, and does not touch the context there.
#[entry]
fn cuCtxGetDevice(_: &Call, out: Out<CUdevice>) -> Result {
    out.check()?;
    if gangway_streams::in_host_function() {
        return Err(Status::NOT_PERMITTED);
    }
    out.set(context::current().ok_or(Status::INVALID_CONTEXT)?.device.number())
}

/// CUDA 13: of a context that the caller names, or of the current one.
#[entry]
fn cuCtxGetDevice_v2(_: &Call, out: Out<CUdevice>, context: CUcontext) -> Result {
    out.check()?;
    out.set(named(context)?.device.number())
}

#[entry]
fn cuCtxGetId(_: &Call, context: CUcontext, out: Out<u64>) -> Result {
    out.check()?;
    out.set(named(context)?.id)
}

#[entry]
fn cuCtxGetApiVersion(_: &Call, context: CUcontext, out: Out<u32>) -> Result {
    out.check()?;
    out.set(named(context)?.api_version)
}

#[entry]
fn cuCtxGetFlags(call: &Call, out: Out<u32>) -> Result {
    out.check()?;
    out.set(call.context()?.flags())
}

#[entry]
fn cuCtxSetFlags(call: &Call, flags: u32) -> Result {
    if flags & !context_flags::ALL != 0 {
        return Err(Status::INVALID_VALUE);
    }
    call.context()?.set_flags(flags);
    Ok(())
}

#[entry]
fn cuCtxSynchronize(call: &Call) -> Result {
    Ok(call.context()?.queues.synchronize()?)
}

/// CUDA 13: a context that the caller names, or the current one.
#[entry]
fn cuCtxSynchronize_v2(_: &Call, context: CUcontext) -> Result {
    let context = named(context)?;
    context.usable()?;
    Ok(context.queues.synchronize()?)
}

#[entry]
fn cuCtxGetLimit(call: &Call, out: Out<usize>, limit: u32) -> Result {
    out.check()?;
    out.set(call.context()?.limit(limit)?)
}

#[entry]
fn cuCtxSetLimit(call: &Call, limit: u32, value: usize) -> Result {
    call.context()?.set_limit(limit, value)
}

#[entry]
fn cuCtxGetCacheConfig(call: &Call, out: Out<u32>) -> Result {
    out.check()?;
    out.set(call.context()?.cache_config())
}

#[entry]
fn cuCtxSetCacheConfig(call: &Call, config: u32) -> Result {
    call.context()?.set_cache_config(config)
}

#[entry]
fn cuCtxGetSharedMemConfig(call: &Call, out: Out<u32>) -> Result {
    out.check()?;
    out.set(call.context()?.shared_config())
}

#[entry]
fn cuCtxSetSharedMemConfig(call: &Call, config: u32) -> Result {
    call.context()?.set_shared_config(config)
}

#[entry]
fn cuCtxGetStreamPriorityRange(call: &Call, least: Out<i32>, greatest: Out<i32>) -> Result {
    call.context()?;
    let (low, high) = gangway_streams::Context::priorities();
    least.set_if_wanted(low);
    greatest.set_if_wanted(high);
    Ok(())
}

/// No cache lines persist, so there is nothing to reset.
#[entry]
fn cuCtxResetPersistingL2Cache(call: &Call) -> Result {
    call.context().map(drop)
}

#[entry]
fn cuCtxGetExecAffinity(call: &Call, _out: Untyped, _kind: u32) -> Result {
    call.context()?;
    Err(Status::UNSUPPORTED_EXEC_AFFINITY)
}

/// Counting uses of contexts went out of the API long ago; the current one is counted in effect.
#[entry]
fn cuCtxAttach(call: &Call, out: Out<CUcontext>, flags: u32) -> Result {
    out.check()?;
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    out.set(call.context()?.handle)
}

#[entry]
fn cuCtxDetach(_: &Call, context: CUcontext) -> Result {
    context.get().map(drop)
}
