//! Streams: creating and destroying them, what they are like, waiting for them.

use std::ffi::c_void;

use gangway_streams::{Blocking, NodeKind};

use crate::entry::{Call, entries};
use crate::error::{Result, Status};
use crate::host_function::{Callback, HostFn, HostFunction, StreamCallback, UserData};
use crate::memory_operation::{MemoryOperations, kind};
use crate::pointer::{In, Out};
use crate::stream;
use crate::types::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUstream, CUstreamAttrValue, CUstreamBatchMemOpParams,
};

/// `CU_STREAM_NON_BLOCKING`
const NON_BLOCKING: u32 = 1;

entries! {
    fn cuStreamCreate(call, stream: Out<CUstream>, flags: u32) {
        create(call, stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(call, stream: Out<CUstream>, flags: u32, priority: i32) {
        create(call, stream, flags, priority)
    }

    fn cuStreamDestroy(_call, stream: CUstream) {
        stream::destroy(stream)
    }

    fn cuStreamDestroy_v2(_call, stream: CUstream) {
        stream::destroy(stream)
    }

    fn cuStreamQuery / cuStreamQuery_ptsz(call, stream: CUstream) {
        Ok(call.stream(stream)?.queue.query()?)
    }

    fn cuStreamSynchronize / cuStreamSynchronize_ptsz(call, stream: CUstream) {
        Ok(call.stream(stream)?.queue.synchronize()?)
    }

    fn cuStreamGetFlags / cuStreamGetFlags_ptsz(call, stream: CUstream, flags: Out<u32>) {
        flags.set(match call.stream(stream)?.queue.blocking() {
            Blocking::WithLegacy => 0,
            Blocking::Independent => NON_BLOCKING,
        })
    }

    fn cuStreamGetPriority / cuStreamGetPriority_ptsz(call, stream: CUstream, priority: Out<i32>) {
        priority.set(call.stream(stream)?.queue.priority())
    }

    fn cuStreamGetId / cuStreamGetId_ptsz(call, stream: CUstream, id: Out<u64>) {
        id.set(call.stream(stream)?.queue.id())
    }

    fn cuStreamGetDevice / cuStreamGetDevice_ptsz(call, stream: CUstream, device: Out<CUdevice>) {
        device.set(call.stream(stream)?.context.device.number())
    }

    fn cuStreamGetCtx / cuStreamGetCtx_ptsz(call, stream: CUstream, context: Out<CUcontext>) {
        context.set(call.stream(stream)?.context.handle)
    }

    /// The stream of a green context would have that context, and none of the other sort. There are no green ones.
    fn cuStreamGetCtx_v2 / cuStreamGetCtx_v2_ptsz(
        call, stream: CUstream, context: Out<CUcontext>, green: Out<*mut c_void>
    ) {
        context.set(call.stream(stream)?.context.handle)?;
        green.set_if_wanted(std::ptr::null_mut());
        Ok(())
    }

    fn cuStreamWaitEvent / cuStreamWaitEvent_ptsz(call, stream: CUstream, event: CUevent, flags: u32) {
        let (stream, event) = (call.stream(stream)?, event.get()?);
        match flags {
            0 => Ok(stream.queue.wait(&event.event)?),
            // CU_EVENT_WAIT_EXTERNAL: a node that waits, rather than an edge of the graph.
            1 if stream.queue.is_capturing() => {
                stream.queue.capture(NodeKind::Wait(event.event.clone()))?;
                Ok(())
            }
            1 => Ok(stream.queue.wait(&event.event)?),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    fn cuLaunchHostFunc / cuLaunchHostFunc_ptsz(
        call, stream: CUstream, function: Option<HostFn>, user_data: *mut c_void
    ) {
        call.stream(stream)?.submit(HostFunction::new(function, user_data)?)
    }

    fn cuStreamAddCallback / cuStreamAddCallback_ptsz(
        call, stream: CUstream, callback: Option<StreamCallback>, user_data: *mut c_void, flags: u32
    ) {
        if flags != 0 {
            return Err(Status::INVALID_VALUE);
        }
        let function = callback.ok_or(Status::INVALID_VALUE)?;
        let callback = Callback { function, stream, user_data: UserData(user_data) };
        Ok(call.stream(stream)?.queue.submit_callback(move |outcome| callback.call(outcome))?)
    }

    /// Managed memory is at hand everywhere, so whom it is attached to makes no difference.
    fn cuStreamAttachMemAsync / cuStreamAttachMemAsync_ptsz(
        call, stream: CUstream, address: CUdeviceptr, _length: usize, flags: u32
    ) {
        call.stream(stream)?;
        let found = crate::memory::find(address).filter(|found| found.is_managed());
        // One of CU_MEM_ATTACH_GLOBAL, HOST, SINGLE.
        if found.is_none() || !matches!(flags, 1 | 2 | 4) {
            return Err(Status::INVALID_VALUE);
        }
        Ok(())
    }

    fn cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz(call, to: CUstream, from: CUstream) {
        let (to, from) = (call.stream(to)?, call.stream(from)?);
        if !std::sync::Arc::ptr_eq(&to.context, &from.context) {
            return Err(Status::INVALID_VALUE);
        }
        stream::attributes(&to).copy_from(&stream::attributes(&from));
        Ok(())
    }

    fn cuStreamGetAttribute / cuStreamGetAttribute_ptsz(
        call, stream: CUstream, attribute: u32, value: Out<CUstreamAttrValue>
    ) {
        let stream = call.stream(stream)?;
        value.set(stream::attributes(&stream).get(attribute, &stream)?)
    }

    /// These attributes are hints, which are remembered.
    fn cuStreamSetAttribute / cuStreamSetAttribute_ptsz(
        call, stream: CUstream, attribute: u32, value: In<CUstreamAttrValue>
    ) {
        let stream = call.stream(stream)?;
        stream::attributes(&stream).set(attribute, value.get()?)
    }

    fn cuStreamWaitValue32 / cuStreamWaitValue32_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u32, flags: u32
    ) {
        operate(call, stream, kind::WAIT_32, address, value.into(), flags)
    }

    fn cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u32, flags: u32
    ) {
        operate(call, stream, kind::WAIT_32, address, value.into(), flags)
    }

    fn cuStreamWaitValue64 / cuStreamWaitValue64_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u64, flags: u32
    ) {
        operate(call, stream, kind::WAIT_64, address, value, flags)
    }

    fn cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u64, flags: u32
    ) {
        operate(call, stream, kind::WAIT_64, address, value, flags)
    }

    fn cuStreamWriteValue32 / cuStreamWriteValue32_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u32, flags: u32
    ) {
        operate(call, stream, kind::WRITE_32, address, value.into(), flags)
    }

    fn cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u32, flags: u32
    ) {
        operate(call, stream, kind::WRITE_32, address, value.into(), flags)
    }

    fn cuStreamWriteValue64 / cuStreamWriteValue64_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u64, flags: u32
    ) {
        operate(call, stream, kind::WRITE_64, address, value, flags)
    }

    fn cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz(
        call, stream: CUstream, address: CUdeviceptr, value: u64, flags: u32
    ) {
        operate(call, stream, kind::WRITE_64, address, value, flags)
    }

    fn cuStreamBatchMemOp / cuStreamBatchMemOp_ptsz(
        call, stream: CUstream, count: u32, operations: In<CUstreamBatchMemOpParams>, flags: u32
    ) {
        operate_all(call, stream, count, operations, flags)
    }

    fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz(
        call, stream: CUstream, count: u32, operations: In<CUstreamBatchMemOpParams>, flags: u32
    ) {
        operate_all(call, stream, count, operations, flags)
    }
}

fn create(call: &Call, stream: Out<CUstream>, flags: u32, priority: i32) -> Result {
    stream.check()?;
    let blocking = match flags {
        0 => Blocking::WithLegacy,
        NON_BLOCKING => Blocking::Independent,
        _ => return Err(Status::INVALID_VALUE),
    };
    stream.set(call.context()?.create_stream(blocking, priority)?.handle)
}

fn operate(
    call: &Call,
    stream: CUstream,
    operation: u32,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
) -> Result {
    let stream = call.stream(stream)?;
    let given = CUstreamBatchMemOpParams { operation, address, value, flags, ..Default::default() };
    stream.submit(MemoryOperations::new(&stream.context, vec![given])?)
}

fn operate_all(
    call: &Call,
    stream: CUstream,
    count: u32,
    operations: In<CUstreamBatchMemOpParams>,
    flags: u32,
) -> Result {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let stream = call.stream(stream)?;
    stream.submit(MemoryOperations::new(&stream.context, operations.array(count as usize)?)?)
}
