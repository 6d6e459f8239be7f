//! The order between a construct's stream and those of other constructs.
//!
//! What a construct creates is published when its copies have been issued, not when they
//! are done. Other streams wait for one point in its stream, see
//! [`Ready`](gangway_present::ReadyRef), until the construct is done and takes the point
//! back. From then on an entry costs its users one load.

use super::construct::Construct;
use super::unpublished::{Filling, Unpublished};
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

impl Order {
    /// Orders the construct's stream behind the copies that fill the entry.
    #[inline]
    pub(in crate::environment) fn wait_until_ready(
        &mut self,
        construct: &Construct,
        entry: EntryRef<'static>,
    ) -> Result<()> {
        match construct.stream() {
            Some(stream) if !entry.is_ready() && !self.has_filled(entry) => {
                self.wait_in(construct, stream, entry)
            }
            _ => Ok(()),
        }
    }

    /// Orders the construct's stream behind blocking queues: to be called before each operation,
    /// as a construct without any waits for nobody.
    #[inline]
    pub(in crate::environment) fn come_behind_queues(
        &mut self,
        construct: &Construct,
    ) -> gangway_backend::Result<()> {
        if construct.is_queued() || !construct.device().has_blocking_queues() || self.behind_queues {
            return Ok(());
        }
        self.order_behind_queues(construct)
    }

    #[cold]
    fn order_behind_queues(&mut self, construct: &Construct) -> gangway_backend::Result<()> {
        let Some(stream) = construct.stream() else { return Ok(()) };
        self.behind_queues = true;
        for queue in construct.device().busy_blocking_queues() {
            self.recorded.extend(queue.precede(construct.opened(), stream)?);
        }
        Ok(())
    }

    /// Whether the construct itself has filled the entry: that stands before in its stream.
    #[inline]
    fn has_filled(&self, entry: EntryRef<'static>) -> bool {
        self.own.is_some_and(|own| entry.has_point(own))
    }

    #[cold]
    fn wait_in(&mut self, construct: &Construct, stream: StreamRef, entry: EntryRef<'static>) -> Result<()> {
        let Some(ready) = entry.pin_ready() else { return Ok(()) };
        if self.own == Some(ready) || self.awaited.contains(&ready) {
            construct.leave_point(ready, 1);
            return Ok(());
        }
        let waited = self.wait_for(stream, ready.point());
        match waited {
            Ok(()) => self.awaited.push(ready),
            Err(_) => construct.leave_point(ready, 1),
        }
        waited.map_err(|error| construct.device().backend_error(error))
    }

    fn wait_for(&mut self, stream: StreamRef, point: Point) -> gangway_backend::Result<()> {
        let event = match point {
            Point::Event(event) => event,
            Point::EndOf(other) => {
                let event = other.record()?;
                self.recorded.push(event);
                event
            }
        };
        stream.wait(event)
    }

    /// Says from when on other streams may use what the construct has created, or waits
    /// for its copies where the device has no events.
    ///
    /// Behind the copies of a region its kernel follows, for which nobody else should have
    /// to wait: they end in an event. So does what is in a queue, as other constructs follow,
    /// and the program may destroy it. Nothing follows the copies of a data construct in its
    /// stream, so whoever needs an event records one there; usually nobody does.
    pub(in crate::environment) fn settle_copies(
        &mut self,
        construct: &Construct,
        unpublished: &Unpublished,
    ) -> Result<()> {
        let Some(stream) = construct.stream() else { return Ok(()) };
        if !construct.opened().capabilities.events {
            return construct.settle();
        }
        let point = if construct.is_region() || construct.is_queued() {
            let event = stream.record();
            Point::Event(event.map_err(|error| construct.device().backend_error(error))?)
        } else {
            Point::EndOf(stream)
        };
        let ready = construct.table().begin_ready(point, unpublished.own_entries());
        self.own = Some(ready);
        unpublished.set_ready(ready);
        Ok(())
    }

    /// Publishes what the construct has filled. Its point is to be taken back from that.
    pub(in crate::environment) fn publish(&mut self, unpublished: &mut Unpublished) {
        unpublished.publish();
        self.take_published(unpublished);
    }

    /// What the construct has filled has been published for it, with that point.
    pub(in crate::environment) fn note_published(
        &mut self,
        unpublished: &mut Unpublished,
        own: ReadyRef<'static>,
    ) {
        self.own = Some(own);
        self.take_published(unpublished);
    }

    fn take_published(&mut self, unpublished: &mut Unpublished) {
        match self.own {
            None => unpublished.forget_published(),
            Some(_) => unpublished.give_published(&mut self.entries),
        }
    }

    /// The point of what the construct has created.
    #[inline]
    pub(super) fn own_point(&self) -> Option<ReadyRef<'static>> {
        self.own
    }

    /// The operations are done: nobody has to wait for them any more, and they do not wait.
    /// So many of the entries have given the point up already.
    #[inline]
    pub(super) fn retire(&mut self, construct: &Construct, taken: usize) {
        if let Some(ready) = self.own.take() {
            let entries = &mut self.entries;
            // Mostly all, of a region whose data nobody else has.
            let retired = if taken == entries.len() {
                0
            } else {
                entries.iter().filter(|filled| filled.entry.retire(ready)).count()
            };
            entries.clear();
            construct.leave_point(ready, retired + taken + 1);
        }
        while let Some(ready) = self.awaited.pop() {
            construct.leave_point(ready, 1);
        }
        while let Some(event) = self.recorded.pop() {
            construct.destroy_event(event);
        }
        self.behind_queues = false;
    }
}
