//! Models of entries that come and go together.

use super::*;
use crate::{Batch, BlockRef, Together};

/// What a construct has that has made entries together.
struct Begun<'t> {
    block: BlockRef<'t>,
    entries: Vec<EntryRef<'t>>,
    storage: Vec<DevicePtr>,
}

impl World {
    /// A construct makes 8 bytes at each of these addresses present, which were absent at that
    /// version of the table, and publishes them. `None`: it could not make all of them.
    fn begin_batch(&self, hosts: &[usize], absent: usize) -> Option<Begun<'_>> {
        let storage: Vec<_> = hosts.iter().map(|_| self.allocate()).collect();
        let block = self.table.begin_block(storage[0], hosts.len() * SCALE, 1 + hosts.len());
        let mut batch = Batch::default();
        for (&host, &device) in hosts.iter().zip(&storage) {
            batch.push(plain(host, 8), device, ());
        }
        if self.table.insert_together(&mut batch, block, absent) == Together::Not {
            self.leave_block(block, 1 + hosts.len(), &storage);
            return None;
        }
        let entries: Vec<_> = batch.iter().map(|(_, (), entry)| entry.unwrap()).collect();
        for (entry, host) in entries.iter().zip(hosts) {
            // SAFETY: nobody else uses it before it is published; loom checks that.
            self.cell(entry.translate(*host)).with_mut(|cell| unsafe { *cell = *host });
        }
        entries.iter().for_each(|entry| entry.publish());
        Some(Begun { block, entries, storage })
    }

    /// The construct gives all of them up, and its operations are done.
    fn end_batch(&self, begun: Begun<'_>) {
        let mut list = begun.entries;
        list.retain(|entry| entry.release(Counter::Dynamic, false, true).is_some());
        let taken = self.table.finish_parts(&mut list, begun.block, None);
        assert!(list.is_empty(), "all of them are parts of the block");
        self.leave_block(begun.block, 1 + taken.uses, &begun.storage);
    }

    fn leave_block(&self, block: BlockRef<'_>, uses: usize, storage: &[DevicePtr]) {
        if self.table.leave_block(block, uses).is_none() {
            return;
        }
        for &device in storage {
            // SAFETY: nobody uses it any more; loom checks that.
            self.cell(device).with_mut(|cell| unsafe { *cell = 0 });
            self.freed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn has(&self, host: usize) -> bool {
        matches!(self.table.lookup(host, 8), Relation::Contained(_))
    }
}

/// A thread comes back to one of the entries while the construct that made them gives them up:
/// it has the storage until it has done with it, and the block is freed once.
#[test]
fn loom_coming_back_to_one_of_a_batch() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let begun = shared.begin_batch(&[100, 200], shared.table.version()).unwrap();
            shared.end_batch(begun);
        });
        if let Relation::Contained(entry) = world.table.lookup(200, 8)
            && let Some(Some(_)) = entry.acquire(Counter::Dynamic)
            && entry.wait_filled()
        {
            world.check(entry, 200);
            let released = entry.release(Counter::Dynamic, false, true);
            if matches!(released, Some((_, Release::Last | Release::InUse)))
                && let Some(removed) = world.table.finish_unmapping(entry).removed()
            {
                let storage = [DevicePtr(SCALE), DevicePtr(2 * SCALE)];
                world.leave_block(removed.block.unwrap(), 1, &storage);
            }
        }
        thread.join().unwrap();
        world.assert_clean();
    });
}

/// Of two constructs that share one of their addresses one makes all of its entries, and the
/// other one none.
#[test]
fn loom_one_of_two_batches() {
    model_with_two_preemptions(|| {
        let world = World::new();
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let begun = shared.begin_batch(&[200, 100], 0);
            begun.map(|begun| begun.entries.len())
        });
        let here = world.begin_batch(&[200, 300], 0);
        let there = thread.join().unwrap();
        assert_eq!(here.is_some(), there.is_none());
        assert_eq!((world.has(100), world.has(300)), (there.is_some(), here.is_some()));
        assert!(world.has(200) && world.table.len() == 2);
    });
}

/// A reader finds all of them or none, and always what was there before, although leaves split
/// and empty ones go.
#[test]
fn loom_lookup_while_a_batch_comes_and_goes() {
    model_with_two_preemptions(|| {
        let world = World::with(&[200, 300]);
        let shared = world.clone();
        let thread = thread::spawn(move || {
            let begun = shared.begin_batch(&[400, 100], shared.table.version()).unwrap();
            let entries = begun.entries.len();
            shared.end_batch(begun);
            entries
        });
        let before = world.table.version();
        let found = [100, 200, 300, 400].map(|host| world.has(host));
        assert!(found[1] && found[2], "what was there before is lost");
        if world.table.version() == before {
            assert_eq!(found[0], found[3], "half of a batch");
        }
        assert_eq!(thread.join().unwrap(), 2);
        assert_eq!(world.table.len(), 2);
    });
}
