//! The present table under the model checker (`make loom`).
//!
//! loom runs each model under every interleaving of its threads (up to a bound
//! of preemptions) and every value that a weakly ordered load may see. The
//! tables are tiny: under `cfg(loom)` a leaf holds two ranges and entries come
//! two at a time, so that two threads already split leaves, grow directories and
//! recycle entries.
//!
//! [`map`] and [`unmap`] are what `environment` does with the table, without the
//! copies. Device memory is a cell per allocation: loom reports a use of it that
//! is not ordered after its creation or before its release.

mod batches;
mod deferred;

use crate::table::plain;
use crate::{Counter, EntryRef, Phase, Point, PresentTable, ReadyRef, Recent, Relation, Release};
use gangway_backend::{DevicePtr, EventHandle};
use gangway_sync::back_off;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

/// A table and a device with room for a few allocations.
struct World {
    table: PresentTable,
    /// Contents of each allocation: 0 never used, else the host address it is for.
    memory: Vec<UnsafeCell<usize>>,
    allocated: AtomicUsize,
    freed: AtomicUsize,
    /// Events: true while one exists.
    events: Vec<UnsafeCell<bool>>,
}

// SAFETY: the cells are what loom checks the synchronisation of.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self::empty())
    }

    fn empty() -> Self {
        Self {
            table: PresentTable::new(),
            memory: (0..6).map(|_| UnsafeCell::new(0)).collect(),
            allocated: AtomicUsize::new(0),
            freed: AtomicUsize::new(0),
            events: (0..2).map(|_| UnsafeCell::new(false)).collect(),
        }
    }

    /// A table with these ranges of 8 bytes, each with one reference.
    fn with(hosts: &[usize]) -> Arc<Self> {
        let world = Self::new();
        for &host in hosts {
            assert!(world.map(host).1);
        }
        world
    }

    fn allocate(&self) -> DevicePtr {
        DevicePtr(SCALE * (1 + self.allocated.fetch_add(1, Ordering::Relaxed)))
    }

    fn cell(&self, device: DevicePtr) -> &UnsafeCell<usize> {
        &self.memory[device.0 / SCALE - 1]
    }

    /// Makes 8 bytes at `host` present. The second value says whether this call
    /// created the entry.
    fn map(&self, host: usize) -> (EntryRef<'_>, bool) {
        for attempt in 0.. {
            match self.table.lookup(host, 8) {
                Relation::Contained(entry) => {
                    if let Some(Some(counts)) = entry.acquire(Counter::Dynamic) {
                        if counts.phase == Phase::Live || entry.wait_filled() {
                            self.check(entry, host);
                            return (entry, false);
                        }
                    }
                }
                Relation::Partial(_) => panic!("nothing overlaps in these models"),
                Relation::Absent => {
                    if let Ok(entry) = self.table.insert(&plain(host, 8)) {
                        self.fill(entry, host);
                        return (entry, true);
                    }
                }
            }
            back_off(attempt);
        }
        unreachable!()
    }

    /// What the creator of an entry does: allocate, copy, publish.
    fn fill(&self, entry: EntryRef<'_>, host: usize) {
        let device = self.allocate();
        entry.set_allocation(device, 0);
        // SAFETY: nobody else uses it before it is published; loom checks that.
        self.cell(device).with_mut(|cell| unsafe { *cell = host });
        entry.publish();
    }

    /// A holder of a reference uses the storage: it is the range's own.
    fn check(&self, entry: EntryRef<'_>, host: usize) {
        assert_eq!(entry.host_begin(), host, "a reference to another range");
        // SAFETY: nobody frees it while this thread holds a reference; loom checks that.
        let content = self.cell(entry.translate(host)).with(|cell| unsafe { *cell });
        assert_eq!(content, host, "storage of another range");
    }

    /// Gives a reference up; who gives up the last one copies back. True if this
    /// call removed the entry.
    fn unmap(&self, entry: EntryRef<'_>, delete: bool) -> bool {
        let host = entry.host_begin();
        match entry.release(Counter::Dynamic, delete, false) {
            Some((_, Release::Last)) => {
                self.check(entry, host);
                self.finish(entry)
            }
            _ => false,
        }
    }

    fn finish(&self, entry: EntryRef<'_>) -> bool {
        let Some(removed) = self.table.finish_unmapping(entry).removed() else { return false };
        // SAFETY: nobody uses it any more; loom checks that.
        self.cell(removed.allocation.expect("the entry's own")).with_mut(|cell| unsafe { *cell = 0 });
        self.freed.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// A region on an asynchronous device maps 8 bytes: it publishes the entry before
    /// its copy is done, with an event behind that.
    fn begin(&self, host: usize, event: usize) -> (EntryRef<'_>, ReadyRef<'_>) {
        let entry = self.table.insert(&plain(host, 8)).unwrap();
        entry.set_allocation(self.allocate(), 0);
        // SAFETY: nobody else knows the event; loom checks that.
        self.events[event].with_mut(|exists| unsafe { *exists = true });
        let ready = self.table.begin_ready(Point::Event(EventHandle(event)), 1);
        entry.set_ready(ready);
        entry.publish();
        (entry, ready)
    }

    /// The operations of such a region are done: the copy, too.
    fn complete(&self, entry: EntryRef<'_>, ready: ReadyRef<'_>) {
        let host = entry.host_begin();
        // SAFETY: nobody uses the contents before they are ready; loom checks that.
        self.cell(entry.translate(host)).with_mut(|cell| unsafe { *cell = host });
        let uses = 1 + usize::from(entry.retire(ready));
        self.leave(ready, uses);
    }

    fn leave(&self, ready: ReadyRef<'_>, uses: usize) {
        if let Some(Point::Event(EventHandle(event))) = self.table.leave(ready, uses) {
            self.events[event].with_mut(|exists| {
                // SAFETY: nobody waits for it any more; loom checks that.
                assert!(std::mem::replace(unsafe { &mut *exists }, false), "destroyed twice");
            });
        }
    }

    /// Uses an entry on another stream: waits for its event, or finds its contents.
    /// When the stream is done nobody waits for the event any more.
    fn use_when_ready(&self, entry: EntryRef<'_>, host: usize) {
        match entry.pin_ready() {
            None => self.check(entry, host),
            Some(ready) => {
                let Point::Event(EventHandle(event)) = ready.point() else { panic!("an event was set") };
                // SAFETY: it is not destroyed while it is pinned; loom checks that.
                assert!(self.events[event].with(|exists| unsafe { *exists }), "not destroyed");
                self.leave(ready, 1);
            }
        }
    }

    fn find(&self, host: usize) -> EntryRef<'_> {
        match self.table.lookup(host, 8) {
            Relation::Contained(entry) => entry,
            other => panic!("{host} is lost: {other:?}"),
        }
    }

    /// At the end of a model: everything unmapped and freed.
    fn assert_clean(&self) {
        assert!(self.table.is_empty());
        assert_eq!(self.allocated.load(Ordering::Relaxed), self.freed.load(Ordering::Relaxed));
    }
}

/// Device addresses are multiples of this.
const SCALE: usize = 0x1000;

/// For models that are too large for more; two find what was found so far.
fn model_with_two_preemptions(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// Runs `other` on a second thread and `here` on this one; then `end`.
fn race(
    world: Arc<World>,
    other: impl FnOnce(&World) + 'static,
    here: impl FnOnce(&World),
    end: impl FnOnce(&World),
) {
    let shared = world.clone();
    let thread = thread::spawn(move || other(&shared));
    here(&world);
    thread.join().unwrap();
    end(&world);
}

#[test]
fn loom_lookup_while_a_leaf_splits() {
    loom::model(|| {
        race(
            World::with(&[100, 300]),
            |world| {
                assert!(world.map(200).1);
            },
            |world| {
                assert_eq!(world.find(300).host_begin(), 300);
                assert_eq!(world.find(100).host_begin(), 100);
            },
            |world| {
                for host in [100, 200, 300] {
                    world.check(world.find(host), host);
                }
            },
        );
    });
}

#[test]
fn loom_lookup_while_the_directory_grows() {
    loom::model(|| {
        race(
            World::with(&[100, 200, 300]),
            |world| {
                assert!(world.map(400).1);
            },
            |world| assert_eq!(world.find(300).host_begin(), 300),
            |world| assert_eq!(world.table.len(), 4),
        );
    });
}

#[test]
fn loom_lookup_while_a_neighbour_leaves() {
    loom::model(|| {
        race(
            World::with(&[100, 200, 300]),
            |world| assert!(world.unmap(world.find(100), false)),
            |world| {
                assert_eq!(world.find(300).host_begin(), 300);
                assert_eq!(world.find(200).host_begin(), 200);
            },
            |world| assert_eq!(world.table.len(), 2),
        );
    });
}

#[test]
fn loom_one_of_two_creates() {
    loom::model(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let (entry, created) = shared.map(100);
            shared.check(entry, 100);
            (created, shared.unmap(entry, false))
        });
        let (entry, created) = world.map(100);
        world.check(entry, 100);
        let removed = world.unmap(entry, false);
        let (other_created, other_removed) = thread.join().unwrap();
        let creations = usize::from(created) + usize::from(other_created);
        // Twice only if one was through before the other came.
        assert_eq!(creations, usize::from(removed) + usize::from(other_removed));
        assert!(creations > 0);
        world.assert_clean();
    });
}

#[test]
fn loom_coming_back_while_the_last_leaves() {
    loom::model(|| {
        race(
            World::with(&[100]),
            |world| {
                world.unmap(world.find(100), false);
            },
            |world| {
                let (entry, _) = world.map(100);
                world.check(entry, 100);
                world.unmap(entry, false);
            },
            World::assert_clean,
        );
    });
}

/// A reader that found an entry just before it was removed must not end up with
/// a reference to the range that the entry is recycled for.
/// On an asynchronous device the one that gives up the last reference may be done
/// before the others are.
#[test]
fn loom_storage_outlives_operations_in_flight() {
    loom::model(|| {
        let world = World::with(&[100]);
        world.map(100);
        let construct = |world: &World| {
            let entry = world.find(100);
            let released = entry.release(Counter::Dynamic, false, true).unwrap().1;
            // The device is still working.
            world.check(entry, 100);
            assert!(matches!(released, Release::Last | Release::InUse));
            world.finish(entry);
        };
        race(world, construct, construct, World::assert_clean);
    });
}

/// Who updates an entry has no reference: the storage stays until it is done, and who gives up the
/// last reference is still the one to copy back.
#[test]
fn loom_storage_outlives_an_update() {
    loom::model(|| {
        let world = World::with(&[100]);
        race(
            world,
            |world| {
                let entry = world.find(100);
                world.unmap(entry, false);
            },
            |world| {
                if let Relation::Contained(entry) = world.table.lookup(100, 8)
                    && let Some(counted) = entry.begin_use()
                {
                    assert!(counted);
                    world.check(entry, 100);
                    world.finish(entry);
                }
            },
            World::assert_clean,
        );
    });
}

#[test]
fn loom_recycled_entries_get_no_stale_reference() {
    model_with_two_preemptions(|| {
        race(
            // Both entries of the chunk are in use: the next one is recycled.
            World::with(&[100, 900]),
            |world| {
                if let Relation::Contained(entry) = world.table.lookup(100, 8)
                    && let Some(counts) = entry.acquire(Counter::Dynamic)
                {
                    assert!(counts.is_some());
                    world.check(entry, 100);
                    world.unmap(entry, false);
                }
            },
            |world| {
                world.unmap(world.find(100), false);
                assert!(world.map(500).1);
            },
            |world| {
                let counts = world.find(500).snapshot().unwrap();
                assert_eq!((counts.dynamic, counts.unmapping), (1, 0));
            },
        );
    });
}

/// A thread's memory of its last answers is never behind the table.
#[test]
fn loom_remembered_answers_are_current() {
    model_with_two_preemptions(|| {
        let world: &'static World = Box::leak(Box::new(World::empty()));
        assert!(world.map(100).1 && world.map(900).1);
        let mut recent = Recent::default();
        assert!(matches!(recent.lookup(&world.table, 100, 8), Relation::Contained(_)));
        let thread = thread::spawn(move || {
            if let Relation::Contained(entry) = recent.lookup(&world.table, 100, 8)
                && entry.acquire(Counter::Dynamic).is_some()
            {
                world.check(entry, 100);
                world.unmap(entry, false);
            }
            recent
        });
        world.unmap(world.find(100), false);
        assert!(world.map(500).1);
        let mut recent = thread.join().unwrap();
        assert!(matches!(recent.lookup(&world.table, 100, 8), Relation::Absent));
    });
}

#[test]
fn loom_delete_against_release() {
    loom::model(|| {
        let world = World::with(&[100]);
        assert!(!world.map(100).1);
        let shared = world.clone();
        let thread = thread::spawn(move || match shared.table.lookup(100, 8) {
            Relation::Contained(entry) => shared.unmap(entry, true),
            _ => false,
        });
        let released = match world.table.lookup(100, 8) {
            Relation::Contained(entry) => world.unmap(entry, false),
            _ => false,
        };
        assert!(thread.join().unwrap() ^ released, "removed by exactly one");
        world.assert_clean();
    });
}

#[test]
fn loom_the_two_counts_end_once() {
    loom::model(|| {
        let world = World::with(&[100]);
        world.find(100).acquire(Counter::Hold).unwrap().unwrap();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let entry = shared.find(100);
            matches!(entry.release(Counter::Hold, false, false), Some((_, Release::Last)))
                && shared.finish(entry)
        });
        let removed = match world.table.lookup(100, 8) {
            Relation::Contained(entry) => world.unmap(entry, true),
            _ => false,
        };
        assert!(thread.join().unwrap() ^ removed);
        world.assert_clean();
    });
}

#[test]
fn loom_failed_allocation_wakes_those_who_wait() {
    loom::model(|| {
        race(
            World::new(),
            |world| match world.table.insert(&plain(100, 8)) {
                // Out of memory.
                Ok(entry) => world.table.abandon(entry),
                Err(_) => {}
            },
            |world| {
                let (entry, created) = world.map(100);
                assert!(created, "only this thread got memory");
                assert!(world.unmap(entry, false));
            },
            World::assert_clean,
        );
    });
}

#[test]
fn loom_readers_see_published_contents() {
    loom::model(|| {
        race(
            World::new(),
            |world| {
                world.map(100);
            },
            |world| {
                if let Relation::Contained(entry) = world.table.lookup(100, 8)
                    && entry.wait_filled()
                {
                    world.check(entry, 100);
                }
            },
            |world| world.check(world.find(100), 100),
        );
    });
}

/// An event lives as long as somebody may wait for it, and an entry without one has its
/// contents.
#[test]
fn loom_events_retire() {
    loom::model(|| {
        let world: &'static World = Box::leak(Box::new(World::empty()));
        let (entry, ready) = world.begin(100, 0);
        let thread = thread::spawn(move || world.use_when_ready(world.find(100), 100));
        world.complete(entry, ready);
        thread.join().unwrap();
        assert!(entry.is_ready());
        // SAFETY: the other thread is done.
        assert!(!world.events[0].with(|exists| unsafe { *exists }), "destroyed");
    });
}

/// The entry may leave the table before the construct that filled it is done.
#[test]
fn loom_events_of_entries_that_leave() {
    loom::model(|| {
        let world: &'static World = Box::leak(Box::new(World::empty()));
        let (entry, ready) = world.begin(100, 0);
        let thread = thread::spawn(move || {
            let entry = world.find(100);
            let released = entry.release(Counter::Dynamic, true, false).unwrap().1;
            assert_eq!(released, Release::Last);
            let removed = world.table.finish_unmapping(entry).removed().unwrap();
            if let Some(ready) = removed.ready {
                world.leave(ready, 1);
            }
        });
        let uses = 1 + usize::from(entry.retire(ready));
        world.leave(ready, uses);
        thread.join().unwrap();
        // SAFETY: the other thread is done.
        assert!(!world.events[0].with(|exists| unsafe { *exists }), "destroyed");
    });
}

/// A point is recycled for another construct while a thread still looks at it.
#[test]
fn loom_points_are_recycled() {
    model_with_two_preemptions(|| {
        let world: &'static World = Box::leak(Box::new(World::empty()));
        let (entry, ready) = world.begin(100, 0);
        let thread = thread::spawn(move || world.use_when_ready(world.find(100), 100));
        world.complete(entry, ready);
        let (entry, ready) = world.begin(500, 1);
        world.use_when_ready(entry, 500);
        world.complete(entry, ready);
        thread.join().unwrap();
        for event in &world.events {
            // SAFETY: the other thread is done.
            assert!(!event.with(|exists| unsafe { *exists }), "destroyed");
        }
    });
}

#[test]
fn loom_disassociation_ends_a_life() {
    loom::model(|| {
        let world = World::new();
        let associated = super::NewEntry { associated: Some(DevicePtr(7)), ..plain(100, 8) };
        world.table.insert(&associated).unwrap();
        race(
            world,
            |world| {
                world.table.disassociate(100).unwrap();
                world.table.insert(&plain(500, 8)).unwrap();
            },
            |world| {
                if let Relation::Contained(entry) = world.table.lookup(100, 8)
                    && entry.acquire(Counter::Dynamic).is_some()
                {
                    assert_eq!(entry.host_begin(), 100);
                }
            },
            |world| assert_eq!(world.find(500).snapshot().unwrap().total(), 1),
        );
    });
}
