//! Streams: creating and destroying them, what they are like, waiting for them.

use std::ffi::c_void;

use gangway_streams::{Blocking, NodeKind};

use super::entry::{Call, entry};
use crate::abi::number::{event_use, mem_attach, memory_operation, stream_flags};
use crate::abi::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUhostFn, CUstream, CUstreamAttrValue,
    CUstreamBatchMemOpParams, CUstreamCallback, In, Out, Result, Status,
};
use crate::objects::memory;
use crate::objects::stream::Stream;
use crate::objects::stream::attributes::Attributes;
use crate::objects::stream::runtimes;
use crate::objects::work::host_function::{HostFunction, StreamCallback, UserData};
use crate::objects::work::memory_operation::MemoryOperations;

#[entry]
fn cuStreamCreate(call: &Call, stream: Out<CUstream>, flags: u32) -> Result {
    create(call, stream, flags, 0)
}

#[entry]
fn cuStreamCreateWithPriority(call: &Call, stream: Out<CUstream>, flags: u32, priority: i32) -> Result {
    create(call, stream, flags, priority)
}

#[entry]
fn cuStreamDestroy(_: &Call, stream: CUstream) -> Result {
    Stream::destroy(stream)
}

#[entry]
fn cuStreamDestroy_v2(_: &Call, stream: CUstream) -> Result {
    Stream::destroy(stream)
}

#[entry(per_thread = cuStreamQuery_ptsz)]
fn cuStreamQuery(call: &Call, stream: CUstream) -> Result {
    Ok(call.queue(stream)?.query()?)
}

#[entry(per_thread = cuStreamSynchronize_ptsz)]
fn cuStreamSynchronize(call: &Call, stream: CUstream) -> Result {
    Ok(call.queue(stream)?.synchronize()?)
}

#[entry(per_thread = cuStreamGetFlags_ptsz)]
fn cuStreamGetFlags(call: &Call, stream: CUstream, flags: Out<u32>) -> Result {
    flags.set(match call.stream(stream)?.queue.blocking() {
        Blocking::WithLegacy => 0,
        Blocking::Independent => stream_flags::NON_BLOCKING,
    })
}

#[entry(per_thread = cuStreamGetPriority_ptsz)]
fn cuStreamGetPriority(call: &Call, stream: CUstream, priority: Out<i32>) -> Result {
    priority.set(call.stream(stream)?.queue.priority())
}

#[entry(per_thread = cuStreamGetId_ptsz)]
fn cuStreamGetId(call: &Call, stream: CUstream, id: Out<u64>) -> Result {
    id.set(call.stream(stream)?.queue.id())
}

#[entry(per_thread = cuStreamGetDevice_ptsz)]
fn cuStreamGetDevice(call: &Call, stream: CUstream, device: Out<CUdevice>) -> Result {
    device.set(call.stream(stream)?.context.device.number())
}

#[entry(per_thread = cuStreamGetCtx_ptsz)]
fn cuStreamGetCtx(call: &Call, stream: CUstream, context: Out<CUcontext>) -> Result {
    context.set(call.stream(stream)?.context.handle)
}

/// The stream of a green context would have that context, and none of the other sort. There are no
/// green ones.
#[entry(per_thread = cuStreamGetCtx_v2_ptsz)]
fn cuStreamGetCtx_v2(
    call: &Call,
    stream: CUstream,
    context: Out<CUcontext>,
    green: Out<*mut c_void>,
) -> Result {
    context.set(call.stream(stream)?.context.handle)?;
    green.set_if_wanted(std::ptr::null_mut());
    Ok(())
}

#[entry(per_thread = cuStreamWaitEvent_ptsz)]
fn cuStreamWaitEvent(call: &Call, stream: CUstream, event: CUevent, flags: u32) -> Result {
    let (stream, event) = (call.stream(stream)?, event.get()?);
    match flags {
        event_use::DEFAULT => Ok(stream.queue.wait(&event.event)?),
        event_use::EXTERNAL if stream.queue.is_capturing() => {
            stream.queue.capture(NodeKind::Wait(event.event.clone()))?;
            Ok(())
        }
        event_use::EXTERNAL => Ok(stream.queue.wait(&event.event)?),
        _ => Err(Status::INVALID_VALUE),
    }
}

#[entry(per_thread = cuLaunchHostFunc_ptsz)]
fn cuLaunchHostFunc(
    call: &Call,
    stream: CUstream,
    function: Option<CUhostFn>,
    user_data: *mut c_void,
) -> Result {
    call.stream(stream)?.submit(HostFunction::new(function, user_data)?)
}

#[entry(per_thread = cuStreamAddCallback_ptsz)]
fn cuStreamAddCallback(
    call: &Call,
    stream: CUstream,
    callback: Option<CUstreamCallback>,
    user_data: *mut c_void,
    flags: u32,
) -> Result {
    if flags != 0 {
        return Err(Status::INVALID_VALUE);
    }
    let function = callback.ok_or(Status::INVALID_VALUE)?;
    let callback = StreamCallback { function, stream, user_data: UserData(user_data) };
    let queue = call.stream(stream)?.queue;
    let call = move |outcome| callback.call(outcome);
    // What the runtime wants to be told is none of what the program knows.
    Ok(if runtimes::looks() { queue.submit_notice(call) } else { queue.submit_callback(call) }?)
}

/// Managed memory is at hand everywhere, so whom it is attached to makes no difference.
#[entry(per_thread = cuStreamAttachMemAsync_ptsz)]
fn cuStreamAttachMemAsync(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    _length: usize,
    flags: u32,
) -> Result {
    call.stream(stream)?;
    let found = memory::find(address).filter(|found| found.is_managed());
    let known = matches!(flags, mem_attach::GLOBAL | mem_attach::HOST | mem_attach::SINGLE);
    if found.is_none() || !known {
        return Err(Status::INVALID_VALUE);
    }
    Ok(())
}

#[entry(per_thread = cuStreamCopyAttributes_ptsz)]
fn cuStreamCopyAttributes(call: &Call, to: CUstream, from: CUstream) -> Result {
    let (to, from) = (call.stream(to)?, call.stream(from)?);
    if !std::sync::Arc::ptr_eq(&to.context, &from.context) {
        return Err(Status::INVALID_VALUE);
    }
    Attributes::of(&to.queue).copy_from(&Attributes::of(&from.queue));
    Ok(())
}

#[entry(per_thread = cuStreamGetAttribute_ptsz)]
fn cuStreamGetAttribute(
    call: &Call,
    stream: CUstream,
    attribute: u32,
    value: Out<CUstreamAttrValue>,
) -> Result {
    let stream = call.stream(stream)?;
    value.set(Attributes::of(&stream.queue).get(attribute, &stream)?)
}

/// These attributes are hints, which are remembered.
#[entry(per_thread = cuStreamSetAttribute_ptsz)]
fn cuStreamSetAttribute(
    call: &Call,
    stream: CUstream,
    attribute: u32,
    value: In<CUstreamAttrValue>,
) -> Result {
    let stream = call.stream(stream)?;
    Attributes::of(&stream.queue).set(attribute, value.get()?)
}

#[entry(per_thread = cuStreamWaitValue32_ptsz)]
fn cuStreamWaitValue32(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u32,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WAIT_32, address, value.into(), flags)
}

#[entry(per_thread = cuStreamWaitValue32_v2_ptsz)]
fn cuStreamWaitValue32_v2(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u32,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WAIT_32, address, value.into(), flags)
}

#[entry(per_thread = cuStreamWaitValue64_ptsz)]
fn cuStreamWaitValue64(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WAIT_64, address, value, flags)
}

#[entry(per_thread = cuStreamWaitValue64_v2_ptsz)]
fn cuStreamWaitValue64_v2(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WAIT_64, address, value, flags)
}

#[entry(per_thread = cuStreamWriteValue32_ptsz)]
fn cuStreamWriteValue32(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u32,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WRITE_32, address, value.into(), flags)
}

#[entry(per_thread = cuStreamWriteValue32_v2_ptsz)]
fn cuStreamWriteValue32_v2(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u32,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WRITE_32, address, value.into(), flags)
}

#[entry(per_thread = cuStreamWriteValue64_ptsz)]
fn cuStreamWriteValue64(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WRITE_64, address, value, flags)
}

#[entry(per_thread = cuStreamWriteValue64_v2_ptsz)]
fn cuStreamWriteValue64_v2(
    call: &Call,
    stream: CUstream,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
) -> Result {
    operate(call, stream, memory_operation::WRITE_64, address, value, flags)
}

#[entry(per_thread = cuStreamBatchMemOp_ptsz)]
fn cuStreamBatchMemOp(
    call: &Call,
    stream: CUstream,
    count: u32,
    operations: In<CUstreamBatchMemOpParams>,
    flags: u32,
) -> Result {
    operate_all(call, stream, count, operations, flags)
}

#[entry(per_thread = cuStreamBatchMemOp_v2_ptsz)]
fn cuStreamBatchMemOp_v2(
    call: &Call,
    stream: CUstream,
    count: u32,
    operations: In<CUstreamBatchMemOpParams>,
    flags: u32,
) -> Result {
    operate_all(call, stream, count, operations, flags)
}

fn create(call: &Call, stream: Out<CUstream>, flags: u32, priority: i32) -> Result {
    stream.check()?;
    let blocking = match flags {
        0 => Blocking::WithLegacy,
        stream_flags::NON_BLOCKING => Blocking::Independent,
        _ => return Err(Status::INVALID_VALUE),
    };
    stream.set(Stream::create(&call.context()?, blocking, priority)?.handle)
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
    stream.submit(MemoryOperations::batch(&stream.context, count, |count| operations.array(count))?)
}
