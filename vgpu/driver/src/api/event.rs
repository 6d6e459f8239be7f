//! Events: places in streams, and the time between them.

use gangway_streams::NodeKind;

use super::entry::{Call, entry};
use crate::abi::number::event_use;
use crate::abi::{CUevent, CUstream, Out, Result, Status};
use crate::objects::stream::event::Event;

#[entry]
fn cuEventCreate(call: &Call, event: Out<CUevent>, flags: u32) -> Result {
    event.check()?;
    event.set(Event::create(&call.context()?, flags)?.handle)
}

#[entry]
fn cuEventDestroy(_: &Call, event: CUevent) -> Result {
    event.remove().map(drop)
}

#[entry]
fn cuEventDestroy_v2(_: &Call, event: CUevent) -> Result {
    event.remove().map(drop)
}

#[entry(per_thread = cuEventRecord_ptsz)]
fn cuEventRecord(call: &Call, event: CUevent, stream: CUstream) -> Result {
    record(call, event, stream, 0)
}

#[entry(per_thread = cuEventRecordWithFlags_ptsz)]
fn cuEventRecordWithFlags(call: &Call, event: CUevent, stream: CUstream, flags: u32) -> Result {
    record(call, event, stream, flags)
}

#[entry]
fn cuEventQuery(_: &Call, event: CUevent) -> Result {
    Ok(event.get()?.event.query()?)
}

#[entry]
fn cuEventSynchronize(_: &Call, event: CUevent) -> Result {
    Ok(event.get()?.event.synchronize()?)
}

#[entry]
fn cuEventElapsedTime(_: &Call, milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Result {
    elapsed(milliseconds, start, end)
}

#[entry]
fn cuEventElapsedTime_v2(_: &Call, milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Result {
    elapsed(milliseconds, start, end)
}

fn record(call: &Call, event: CUevent, stream: CUstream, flags: u32) -> Result {
    let (event, stream) = (event.get()?, call.stream(stream)?);
    event.check_recordable(&stream)?;
    match flags {
        event_use::DEFAULT => Ok(stream.queue.record(&event.event)?),
        event_use::EXTERNAL if stream.queue.is_capturing() => {
            stream.queue.capture(NodeKind::Record(event.event.clone()))?;
            Ok(())
        }
        event_use::EXTERNAL => Ok(stream.queue.record(&event.event)?),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn elapsed(milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Result {
    milliseconds.check()?;
    let nanoseconds = start.get()?.event.elapsed(&end.get()?.event)?;
    milliseconds.set((nanoseconds as f64 / 1e6) as f32)
}
