//! Spans that are under way: a kernel that never ends is in the report, too.

use std::marker::PhantomData;

use crate::{Kind, Span, busy, now, recorder};

/// A span that has begun, on the thread that has begun it. It ends when this goes.
#[must_use = "the span ends when it is dropped"]
#[derive(Debug)]
pub struct Running {
    kind: Kind,
    /// The recorder's configuration that it belongs to.
    epoch: u64,
    /// Tells it from the others of the thread.
    number: u64,
    _thread: PhantomData<*const ()>,
}

/// A span begins, of which [`Span::end`] and [`Span::waited`] are not known. `None` if nobody
/// records. Threads do not wait for each other here.
///
/// A span may be recorded without it; then the time it takes is in the sums alone, and it is in
/// no report before it has ended.
#[must_use]
pub fn begin(span: &Span<'_>) -> Option<Running> {
    if !crate::enabled() {
        return None;
    }
    let (epoch, number) = recorder::begin(span)?;
    busy::enter(span.kind, now());
    Some(Running { kind: span.kind, epoch, number, _thread: PhantomData })
}

impl Running {
    /// It has ended, and is recorded.
    pub fn end(self, span: &Span<'_>) {
        drop(self);
        crate::record(span);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if recorder::forget_running(self.epoch, self.number) {
            busy::leave(self.kind, now());
        }
    }
}
