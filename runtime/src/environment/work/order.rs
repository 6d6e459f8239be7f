//! The order between a construct's stream and those of other constructs.
//!
//! What a construct creates is published when its copies have been issued, not when they
//! are done. Other streams wait for one point in its stream, see
//! [`Ready`](gangway_present::ReadyRef), until the construct is done and takes the point
//! back. From then on an entry costs its users one load.

use super::{Filling, Work};
use crate::error::Result;
use gangway_backend::EventHandle;
use gangway_present::StreamRef;
use gangway_present::{EntryRef, Point, ReadyRef};

/// The points that a construct has to do with.
#[derive(Default)]
pub(in crate::environment) struct Order {
    /// The point of the entries that it has created.
    own: Option<ReadyRef<'static>>,
    /// Those entries.
    entries: Vec<Filling>,
    /// Points of others that its stream waits for. They are used until it is done.
    awaited: Vec<ReadyRef<'static>>,
    /// Events that it has recorded at the end of other streams.
    recorded: Vec<EventHandle>,
    /// Its stream is behind the queues that were busy before its first operation.
    behind_queues: bool,
}

impl Work {
    /// Orders this work's stream behind the copies that fill the entry.
    #[inline]
    pub(in crate::environment) fn wait_until_ready(&mut self, entry: EntryRef<'static>) -> Result<()> {
        match self.stream {
            Some(stream) if !entry.is_ready() && !self.has_filled(entry) => self.wait_in(stream, entry),
            _ => Ok(()),
        }
    }

    /// Orders this work's stream behind blocking queues: to be called before each operation, as a
    /// construct without any waits for nobody.
    #[inline]
    pub(crate) fn come_behind_queues(&mut self) -> std::result::Result<(), gangway_backend::Error> {
        if self.queued || !self.device.has_blocking_queues() || self.order.behind_queues {
            return Ok(());
        }
        self.order_behind_queues()
    }

    #[cold]
    fn order_behind_queues(&mut self) -> std::result::Result<(), gangway_backend::Error> {
        let Some(stream) = self.stream else { return Ok(()) };
        self.order.behind_queues = true;
        for queue in self.device.busy_blocking_queues() {
            self.order.recorded.extend(queue.precede(self.opened, stream)?);
        }
        Ok(())
    }

    /// Whether the construct itself has filled the entry: that stands before in its stream.
    #[inline]
    fn has_filled(&self, entry: EntryRef<'static>) -> bool {
        self.order.own.is_some_and(|own| entry.has_point(own))
    }

    #[cold]
    fn wait_in(&mut self, stream: StreamRef, entry: EntryRef<'static>) -> Result<()> {
        let Some(ready) = entry.pin_ready() else { return Ok(()) };
        if self.order.own == Some(ready) || self.order.awaited.contains(&ready) {
            self.leave(ready, 1);
            return Ok(());
        }
        let waited = self.wait_for(stream, ready.point());
        match waited {
            Ok(()) => self.order.awaited.push(ready),
            Err(_) => self.leave(ready, 1),
        }
        waited.map_err(|error| self.device.backend_error(error))
    }

    fn wait_for(
        &mut self,
        stream: StreamRef,
        point: Point,
    ) -> std::result::Result<(), gangway_backend::Error> {
        let event = match point {
            Point::Event(event) => event,
            Point::EndOf(other) => {
                let event = other.record()?;
                self.order.recorded.push(event);
                event
            }
        };
        stream.wait(event)
    }

    /// Says from when on other streams may use what this construct has created, or waits
    /// for its copies where the device has no events.
    ///
    /// Behind the copies of a region its kernel follows, for which nobody else should have
    /// to wait: they end in an event. So does what is in a queue, as other constructs follow,
    /// and the program may destroy it. Nothing follows the copies of a data construct in its
    /// stream, so whoever needs an event records one there; usually nobody does.
    pub(in crate::environment) fn settle_copies(&mut self) -> Result<()> {
        let Some(stream) = self.stream else { return Ok(()) };
        if !self.opened.capabilities.events {
            return self.settle();
        }
        let point = if self.is_region || self.queued {
            let event = stream.record();
            Point::Event(event.map_err(|error| self.device.backend_error(error))?)
        } else {
            Point::EndOf(stream)
        };
        let ready = self.device.table.begin_ready(point, self.filling.len());
        self.order.own = Some(ready);
        for filling in &self.filling {
            filling.entry.set_ready(ready);
        }
        Ok(())
    }

    /// What the construct has filled is published: its point is to be taken back from it.
    pub(in crate::environment) fn note_filled(&mut self) {
        match (self.order.own, self.order.entries.is_empty()) {
            (None, _) => self.filling.clear(),
            (_, true) => std::mem::swap(&mut self.order.entries, &mut self.filling),
            (_, false) => self.order.entries.append(&mut self.filling),
        }
    }

    /// What the construct has filled has been published for it, with that point.
    pub(in crate::environment) fn have_filled(&mut self, own: ReadyRef<'static>) {
        self.order.own = Some(own);
        self.note_filled();
    }

    /// The point of what the construct has created.
    #[inline]
    pub(in crate::environment) fn own_point(&self) -> Option<ReadyRef<'static>> {
        self.order.own
    }

    /// The operations are done: nobody has to wait for them any more, and they do not wait.
    /// So many of the entries have given the point up already.
    #[inline]
    pub(in crate::environment) fn retire(&mut self, taken: usize) {
        if let Some(ready) = self.order.own.take() {
            let entries = &mut self.order.entries;
            // Mostly all, of a region whose data nobody else has.
            let retired = if taken == entries.len() {
                0
            } else {
                entries.iter().filter(|filled| filled.entry.retire(ready)).count()
            };
            entries.clear();
            self.leave(ready, retired + taken + 1);
        }
        while let Some(ready) = self.order.awaited.pop() {
            self.leave(ready, 1);
        }
        while let Some(event) = self.order.recorded.pop() {
            self.destroy_event(event);
        }
        self.order.behind_queues = false;
    }

    /// Gives up so many uses of a point.
    #[cold]
    pub(in crate::environment) fn leave(&self, ready: ReadyRef<'static>, uses: usize) {
        if let Some(Point::Event(event)) = self.device.table.leave(ready, uses) {
            self.destroy_event(event);
        }
    }

    /// Nothing can be done about an event that cannot be destroyed.
    fn destroy_event(&self, event: EventHandle) {
        let _ = self.opened.device.destroy_event(event);
    }
}
