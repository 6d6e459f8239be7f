//! Contexts: making and destroying them, the stack of each thread, limits and settings.

use crate::context::{self, API_VERSION};
use crate::device::Device;
use crate::entry::entries;
use crate::error::{Result, Status};
use crate::pointer::{Memory, Out};
use crate::report::report;
use crate::types::{CUcontext, CUdevice};

fn create(out: Out<CUcontext>, flags: u32, device: CUdevice, version: u32) -> Result {
    out.check()?;
    out.set(context::create_current(Device::get(device)?, flags, version)?)
}

fn pop(out: Out<CUcontext>) -> Result {
    out.set_if_wanted(context::pop()?);
    Ok(())
}

fn named(handle: CUcontext) -> Result<std::sync::Arc<context::Context>> {
    if handle.is_null() { context::current().ok_or(Status::INVALID_CONTEXT) } else { context::find(handle) }
}

entries! {
    fn cuCtxCreate(_, out: Out<CUcontext>, flags: u32, device: CUdevice) {
        create(out, flags, device, 3010)
    }

    fn cuCtxCreate_v2(_, out: Out<CUcontext>, flags: u32, device: CUdevice) {
        create(out, flags, device, API_VERSION)
    }

    fn cuCtxCreate_v3(_, out: Out<CUcontext>, affinities: Memory, count: i32, flags: u32, device: CUdevice) {
        if count != 0 || !affinities.is_null() {
            return Err(Status::UNSUPPORTED_EXEC_AFFINITY);
        }
        create(out, flags, device, 3030)
    }

    fn cuCtxCreate_v4(_, out: Out<CUcontext>, parameters: Memory, flags: u32, device: CUdevice) {
        if !parameters.is_null() {
            report!("the virtual GPU does not support parameters of cuCtxCreate");
            return Err(Status::NOT_SUPPORTED);
        }
        create(out, flags, device, 3030)
    }

    fn cuCtxDestroy(_, context: CUcontext) {
        context::destroy(context)
    }

    fn cuCtxDestroy_v2(_, context: CUcontext) {
        context::destroy(context)
    }

    fn cuCtxPushCurrent(_, context: CUcontext) {
        context::push(context)
    }

    fn cuCtxPushCurrent_v2(_, context: CUcontext) {
        context::push(context)
    }

    fn cuCtxPopCurrent(_, out: Out<CUcontext>) {
        pop(out)
    }

    fn cuCtxPopCurrent_v2(_, out: Out<CUcontext>) {
        pop(out)
    }

    fn cuCtxSetCurrent(_, context: CUcontext) {
        context::set_current(context)
    }

    fn cuCtxGetCurrent(_, out: Out<CUcontext>) {
        out.set(context::current().map_or(CUcontext::NULL, |context| context.handle))
    }

    fn cuCtxGetDevice(_, out: Out<CUdevice>) {
        out.check()?;
        out.set(context::current().ok_or(Status::INVALID_CONTEXT)?.device.number())
    }

    /// CUDA 13: of a context that the caller names, or of the current one.
    fn cuCtxGetDevice_v2(_, out: Out<CUdevice>, context: CUcontext) {
        out.check()?;
        out.set(named(context)?.device.number())
    }

    fn cuCtxGetId(_, context: CUcontext, out: Out<u64>) {
        out.check()?;
        out.set(named(context)?.id)
    }

    fn cuCtxGetApiVersion(_, context: CUcontext, out: Out<u32>) {
        out.check()?;
        out.set(named(context)?.api_version)
    }

    fn cuCtxGetFlags(call, out: Out<u32>) {
        out.check()?;
        out.set(call.context()?.flags())
    }

    fn cuCtxSetFlags(call, flags: u32) {
        if flags & !context::FLAGS != 0 {
            return Err(Status::INVALID_VALUE);
        }
        call.context()?.set_flags(flags);
        Ok(())
    }

    fn cuCtxSynchronize(call) {
        Ok(call.context()?.queues.synchronize()?)
    }

    /// CUDA 13: a context that the caller names, or the current one.
    fn cuCtxSynchronize_v2(_, context: CUcontext) {
        let context = named(context)?;
        context.usable()?;
        Ok(context.queues.synchronize()?)
    }

    fn cuCtxGetLimit(call, out: Out<usize>, limit: u32) {
        out.check()?;
        out.set(call.context()?.limit(limit)?)
    }

    fn cuCtxSetLimit(call, limit: u32, value: usize) {
        call.context()?.set_limit(limit, value)
    }

    fn cuCtxGetCacheConfig(call, out: Out<u32>) {
        out.check()?;
        out.set(call.context()?.cache_config())
    }

    fn cuCtxSetCacheConfig(call, config: u32) {
        call.context()?.set_cache_config(config)
    }

    fn cuCtxGetSharedMemConfig(call, out: Out<u32>) {
        out.check()?;
        out.set(call.context()?.shared_config())
    }

    fn cuCtxSetSharedMemConfig(call, config: u32) {
        call.context()?.set_shared_config(config)
    }

    fn cuCtxGetStreamPriorityRange(call, least: Out<i32>, greatest: Out<i32>) {
        call.context()?;
        let (low, high) = gangway_streams::Context::priorities();
        least.set_if_wanted(low);
        greatest.set_if_wanted(high);
        Ok(())
    }

    /// No cache lines persist, so there is nothing to reset.
    fn cuCtxResetPersistingL2Cache(call) {
        call.context().map(drop)
    }

    fn cuCtxGetExecAffinity(call, _out: Memory, _kind: u32) {
        call.context()?;
        Err(Status::UNSUPPORTED_EXEC_AFFINITY)
    }

    /// Counting uses of contexts went out of the API long ago; the current one is counted in effect.
    fn cuCtxAttach(call, out: Out<CUcontext>, flags: u32) {
        out.check()?;
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        out.set(call.context()?.handle)
    }

    fn cuCtxDetach(_, context: CUcontext) {
        context.get().map(drop)
    }
}
