//! Models of entries that are not made before somebody asks for them.

use super::*;
use crate::stream::StreamRef;
use crate::{Batch, BlockRef, DeferredRef, MadeWhen, Together};

/// What a region has that defers entries.
struct Region<'t> {
    deferred: DeferredRef<'t>,
    batch: Batch<'t, ()>,
    block: BlockRef<'t>,
    storage: Vec<DevicePtr>,
    made: bool,
    /// The point of entries that have been made for it.
    own: Option<ReadyRef<'t>>,
    /// Entries whose references it has given up.
    unmapping: Vec<EntryRef<'t>>,
}

impl World {
    /// A region defers 8 bytes at each of these addresses, which were absent at that version of the
    /// table. `None`: it could not.
    fn defer<'t>(&'t self, deferred: DeferredRef<'t>, hosts: &[usize], absent: usize) -> Option<Region<'t>> {
        let storage: Vec<_> = hosts.iter().map(|_| self.allocate()).collect();
        let block = self.table.begin_block(storage[0], hosts.len() * SCALE, 1 + hosts.len());
        let mut batch = Batch::default();
        for (&host, &device) in hosts.iter().zip(&storage) {
            batch.push(plain(host, 8), device, ());
        }
        if self.table.defer_together(&mut batch, block, absent, deferred, StreamRef::fake(1)) == Together::Not
        {
            self.leave_block_with(block, 1 + hosts.len(), &storage);
            return None;
        }
        for (&host, &device) in hosts.iter().zip(&storage) {
            // SAFETY: nobody else uses it before it is published; loom checks that.
            self.cell(device).with_mut(|cell| unsafe { *cell = host });
        }
        Some(Region { deferred, batch, block, storage, made: false, own: None, unmapping: Vec::new() })
    }

    /// All the rest that the region does.
    fn run(&self, mut region: Region<'_>) {
        if !region.made && !region.deferred.publish() {
            region.take_made();
            region.entries().for_each(|entry| entry.publish());
        }
        if region.made || !region.deferred.release() {
            region.take_made();
            region.give_up();
        }
        // It copies back what it alone has; others may only read.
        for (&device, host) in region.storage.iter().zip(region.hosts()) {
            // SAFETY: loom checks that nobody frees it before.
            assert_eq!(self.cell(device).with(|cell| unsafe { *cell }), host);
        }
        if !region.made && region.deferred.close() {
            self.leave_block_with(region.block, 1 + region.storage.len(), &region.storage);
            return;
        }
        region.take_made();
        let mut list = std::mem::take(&mut region.unmapping);
        let all: Vec<_> = region.entries().collect();
        let taken = self.table.finish_parts(&mut list, region.block, region.own);
        assert!(list.is_empty(), "all of them are parts of the block");
        if let Some(own) = region.own {
            let retired = all.iter().filter(|entry| entry.retire(own)).count();
            self.leave(own, retired + taken.points + 1);
        }
        self.leave_block_with(region.block, 1 + taken.uses, &region.storage);
    }

    fn leave_block_with(&self, block: BlockRef<'_>, uses: usize, storage: &[DevicePtr]) {
        if self.table.leave_block(block, uses).is_none() {
            return;
        }
        for &device in storage {
            // SAFETY: nobody uses it any more; loom checks that.
            self.cell(device).with_mut(|cell| unsafe { *cell = 0 });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Another construct uses one of the entries, if it is there; `storage` is that of its block.
    fn use_one(&self, host: usize, storage: &[DevicePtr]) -> bool {
        let Relation::Contained(entry) = self.table.lookup(host, 8) else { return false };
        if !matches!(entry.acquire(Counter::Dynamic), Some(Some(_))) || !entry.wait_filled() {
            return false;
        }
        self.check(entry, host);
        let released = entry.release(Counter::Dynamic, false, true);
        if matches!(released, Some((_, Release::Last | Release::InUse)))
            && let Some(removed) = self.table.finish_unmapping(entry).removed()
        {
            if let Some(ready) = removed.ready {
                self.leave(ready, 1);
            }
            self.leave_block_with(removed.block.unwrap(), 1, storage);
        }
        true
    }
}

impl<'t> Region<'t> {
    fn hosts(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.batch.iter().map(|(new, (), _)| new.host_begin)
    }

    fn entries(&self) -> impl Iterator<Item = EntryRef<'t>> + use<'_, 't> {
        self.batch.iter().map(|(_, (), entry)| entry.expect("they have been made"))
    }

    fn give_up(&mut self) {
        let given_up = |entry: &EntryRef<'_>| entry.release(Counter::Dynamic, false, true).is_some();
        self.unmapping = self.entries().filter(given_up).collect();
    }

    fn take_made(&mut self) {
        if std::mem::replace(&mut self.made, true) {
            return;
        }
        match self.deferred.take_made(&mut self.batch) {
            MadeWhen::Filling => {}
            MadeWhen::Live(own) => self.own = Some(own),
            MadeWhen::Released(own) => {
                self.own = Some(own);
                self.unmapping = self.entries().collect();
            }
        }
    }
}

const STORAGE: [DevicePtr; 2] = [DevicePtr(SCALE), DevicePtr(2 * SCALE)];

/// Another construct comes to one of the entries while the region takes its steps: it has the
/// storage until it has done with it, and the block is freed once.
#[test]
fn loom_coming_to_what_is_deferred() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let deferred = shared.table.take_deferred().unwrap();
            let region = shared.defer(deferred, &[200, 100], shared.table.version()).unwrap();
            shared.run(region);
        });
        world.use_one(200, &STORAGE);
        thread.join().unwrap();
        world.assert_clean();
    });
}

/// Two come while the region publishes: they find the same entry, and its references are counted.
#[test]
fn loom_two_come_to_what_is_deferred() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let deferred = world.table.take_deferred().unwrap();
        let mut region = world.defer(deferred, &[100], 0).unwrap();
        let others = [(); 2].map(|()| {
            let shared = world.clone();
            thread::spawn(move || {
                let entry = shared.find(100);
                assert!(matches!(entry.acquire(Counter::Dynamic), Some(Some(_))));
            })
        });
        if !region.deferred.publish() {
            region.take_made();
            region.entries().for_each(|entry| entry.publish());
        }
        for other in others {
            other.join().unwrap();
        }
        let entry = world.find(100);
        assert_eq!(entry.snapshot().map(|counts| (counts.phase, counts.dynamic)), Some((Phase::Live, 3)));
        for _ in 0..2 {
            assert!(entry.release(Counter::Dynamic, false, false).is_some());
        }
        world.run(region);
        world.assert_clean();
    });
}

/// Somebody deletes what is deferred, whatever the region is doing.
#[test]
fn loom_deleting_what_is_deferred() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let deferred = world.table.take_deferred().unwrap();
        let region = world.defer(deferred, &[100, 200], 0).unwrap();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let Relation::Contained(entry) = shared.table.lookup(100, 8) else { return };
            if let Some((_, Release::Last)) = entry.release(Counter::Dynamic, true, false)
                && let Some(removed) = shared.table.finish_unmapping(entry).removed()
            {
                if let Some(ready) = removed.ready {
                    shared.leave(ready, 1);
                }
                shared.leave_block_with(removed.block.unwrap(), 1, &STORAGE);
            }
        });
        world.run(region);
        thread.join().unwrap();
        world.assert_clean();
    });
}

/// Of two regions that share one of their addresses one defers all of its entries, and the other
/// one none.
#[test]
fn loom_one_of_two_defers() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let deferred = shared.table.take_deferred().unwrap();
            shared.defer(deferred, &[200, 100], 0).is_some()
        });
        let deferred = world.table.take_deferred().unwrap();
        let here = world.defer(deferred, &[200, 300], 0).is_some();
        let there = thread.join().unwrap();
        assert_ne!(here, there);
        let has = |host| matches!(world.table.lookup(host, 8), Relation::Contained(_));
        assert_eq!((has(100), has(200), has(300)), (there, true, here));
        assert_eq!(world.table.len(), 2);
    });
}

/// A reader finds all of them or none, and always what was there before, although they come and
/// go twice with the same object.
#[test]
fn loom_lookup_while_what_is_deferred_comes_and_goes() {
    model_with_two_preemptions(|| {
        let world = World::with(&[200]);
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let deferred = shared.table.take_deferred().unwrap();
            for hosts in [[400, 100], [300, 500]] {
                let region = shared.defer(deferred, &hosts, shared.table.version()).unwrap();
                shared.run(region);
            }
        });
        let before = world.table.version();
        let relations = [100, 200, 300].map(|host| world.table.lookup(host, 8));
        assert!(matches!(relations[1], Relation::Contained(_)), "what was there before is lost");
        for (relation, host) in relations.iter().zip([100, 200, 300]) {
            match relation {
                Relation::Contained(entry) => {
                    assert!(entry.snapshot().is_none() || entry.host_begin() == host)
                }
                relation => assert_eq!(*relation, Relation::Absent),
            }
        }
        if world.table.version() == before {
            let has = |relation| matches!(relation, Relation::Contained(_));
            assert!(!has(relations[0]) || !has(relations[2]), "both at one time");
        }
        thread.join().unwrap();
        assert_eq!(world.table.len(), 1);
    });
}

/// Who wants to see all entries sees those that are deferred, all or none.
#[test]
fn loom_all_entries_while_some_are_deferred() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let deferred = shared.table.take_deferred().unwrap();
            let region = shared.defer(deferred, &[200, 100], shared.table.version()).unwrap();
            shared.run(region);
        });
        let count = world.table.len();
        assert!(count == 0 || count == 2, "{count} of two");
        thread.join().unwrap();
        world.assert_clean();
    });
}
