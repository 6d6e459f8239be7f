//! Events: places in streams, and the time between them.

use gangway_streams::NodeKind;

use crate::entry::{Call, entries};
use crate::error::{Result, Status};
use crate::event::Event;
use crate::pointer::Out;
use crate::types::{CUevent, CUstream};

entries! {
    fn cuEventCreate(call, event: Out<CUevent>, flags: u32) {
        event.check()?;
        event.set(Event::create(&call.context()?, flags)?.handle)
    }

    fn cuEventDestroy(_call, event: CUevent) {
        event.remove().map(drop)
    }

    fn cuEventDestroy_v2(_call, event: CUevent) {
        event.remove().map(drop)
    }

    fn cuEventRecord / cuEventRecord_ptsz(call, event: CUevent, stream: CUstream) {
        record(call, event, stream, 0)
    }

    fn cuEventRecordWithFlags / cuEventRecordWithFlags_ptsz(
        call, event: CUevent, stream: CUstream, flags: u32
    ) {
        record(call, event, stream, flags)
    }

    fn cuEventQuery(_call, event: CUevent) {
        Ok(event.get()?.event.query()?)
    }

    fn cuEventSynchronize(_call, event: CUevent) {
        Ok(event.get()?.event.synchronize()?)
    }

    fn cuEventElapsedTime(_call, milliseconds: Out<f32>, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(_call, milliseconds: Out<f32>, start: CUevent, end: CUevent) {
        elapsed(milliseconds, start, end)
    }
}

fn record(call: &Call, event: CUevent, stream: CUstream, flags: u32) -> Result {
    let (event, stream) = (event.get()?, call.stream(stream)?);
    event.check_recordable(&stream)?;
    match flags {
        0 => Ok(stream.queue.record(&event.event)?),
        // CU_EVENT_RECORD_EXTERNAL: a node that records, rather than a place in the graph.
        1 if stream.queue.is_capturing() => {
            stream.queue.capture(NodeKind::Record(event.event.clone()))?;
            Ok(())
        }
        1 => Ok(stream.queue.record(&event.event)?),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn elapsed(milliseconds: Out<f32>, start: CUevent, end: CUevent) -> Result {
    milliseconds.check()?;
    let nanoseconds = start.get()?.event.elapsed(&end.get()?.event)?;
    milliseconds.set((nanoseconds as f64 / 1e6) as f32)
}
