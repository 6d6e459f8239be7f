//! Regions that defer entries, against a plain ordered map.

use super::*;
use crate::answers::Relation;
use crate::table::plain;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What a region has that defers entries.
struct Region<'t> {
    deferred: DeferredRef<'t>,
    batch: Batch<'t, ()>,
    block: BlockRef<'t>,
    steps: usize,
    /// The entries, if they have been made, and their point.
    made: Option<(Vec<EntryRef<'t>>, Option<ReadyRef<'t>>)>,
}

fn take_made<'r, 't>(region: &'r mut Region<'t>) -> &'r (Vec<EntryRef<'t>>, Option<ReadyRef<'t>>) {
    let Region { deferred, batch, made, steps, .. } = region;
    made.get_or_insert_with(|| {
        let when = deferred.take_made(batch);
        let entries = batch.iter().map(|(_, (), entry)| entry.unwrap()).collect();
        let (expected, own) = match when {
            MadeWhen::Filling => (0, None),
            MadeWhen::Live(own) => (1, Some(own)),
            MadeWhen::Released(own) => (2, Some(own)),
        };
        assert_eq!(*steps, expected, "made as of another step");
        (entries, own)
    })
}

/// The region's next step. True: it is done, and its ranges are not mapped any more.
fn step(table: &PresentTable, region: &mut Region<'_>) -> bool {
    let deferred = region.deferred;
    match region.steps {
        0 if region.made.is_some() || !deferred.publish() => {
            take_made(region).0.iter().for_each(|entry| entry.publish());
        }
        1 if region.made.is_some() || !deferred.release() => {
            for entry in &take_made(region).0 {
                entry.release(Counter::Dynamic, false, true).unwrap();
            }
        }
        2 if region.made.is_some() || !deferred.close() => {
            let uses = region.batch.len();
            let block = region.block;
            let (entries, own) = take_made(region);
            let taken = table.finish_parts(&mut entries.clone(), block, *own);
            assert_eq!((taken.uses, taken.points), (uses, own.map_or(0, |_| uses)));
            assert!(own.is_none_or(|own| table.leave(own, 1 + uses).is_some()));
        }
        _ => {}
    }
    region.steps += 1;
    if region.steps < 3 {
        return false;
    }
    assert!(table.leave_block(region.block, 1 + region.batch.len()).is_some());
    table.give_back_deferred(deferred);
    true
}

fn is_free(model: &BTreeMap<usize, usize>, host: usize, size: usize) -> bool {
    model.range(..host + size).next_back().is_none_or(|(_, &end)| end <= host)
}

proptest! {
    /// To everybody else the entries are there, from the first step of their region to the last.
    #[test]
    fn agrees_with_an_ordered_map(
        steps in prop::collection::vec(
            (0u8..6, any::<prop::sample::Index>(), prop::collection::vec((0usize..600, 1usize..6), 1..12)),
            1..60,
        )
    ) {
        let table = PresentTable::new();
        let mut model: BTreeMap<usize, usize> = BTreeMap::new();
        let mut regions: Vec<Region<'_>> = Vec::new();
        for (what, which, ranges) in steps {
            let ranges: Vec<_> = ranges.into_iter().map(|(host, size)| (host + 8, size)).collect();
            let (host, size) = ranges[0];
            match what {
                0 | 1 if regions.len() < REGIONS => {
                    let mut after = model.clone();
                    let free = ranges.iter().all(|&(host, size)| {
                        is_free(&after, host, size) && after.insert(host, host + size).is_none()
                    });
                    let mut batch = Batch::default();
                    for &(host, size) in &ranges {
                        batch.push(plain(host, size), DevicePtr((1 << 20) + host), ());
                    }
                    let block = table.begin_block(DevicePtr(1 << 20), 4096, 1 + ranges.len());
                    let deferred = table.take_deferred().unwrap();
                    let outdated = table.version().wrapping_sub(2);
                    let done = table.defer_together(&mut batch, block, outdated, deferred, StreamRef::fake(1)) != Together::Not;
                    prop_assert_eq!(done, free);
                    if done {
                        model = after;
                        regions.push(Region { deferred, batch, block, steps: 0, made: None });
                    } else {
                        table.give_back_deferred(deferred);
                        prop_assert!(table.leave_block(block, 1 + ranges.len()).is_some());
                    }
                }
                // Mostly the regions go on.
                2 | 3 if !regions.is_empty() => {
                    let place = which.index(regions.len());
                    if step(&table, &mut regions[place]) {
                        let region = regions.swap_remove(place);
                        region.batch.iter().for_each(|(new, (), _)| _ = model.remove(&new.host_begin));
                    }
                }
                4 => {
                    // A look at one place, with and without bytes, and at the gap around it.
                    if let Some((gap, version)) = table.gap_at(host) {
                        prop_assert_eq!(version, table.version());
                        prop_assert!(gap.0 <= host && host < gap.1);
                        let inside = model.range(..gap.1).next_back().is_some_and(|(_, &end)| end > gap.0);
                        prop_assert!(!inside, "{gap:?} has something in it");
                    }
                    let before = model.range(..=host).next_back().filter(|(_, end)| host < **end);
                    let expected = match before {
                        Some((&begin, &end)) => (if host + size <= end { 2 } else { 1 }, begin),
                        None => match model.range(host..).next() {
                            Some((&begin, _)) if host + size > begin => (1, begin),
                            _ => (0, 0),
                        },
                    };
                    let found = match table.lookup(host, size) {
                        Relation::Contained(entry) => (2, entry.host_begin()),
                        Relation::Partial(entry) => (1, entry.host_begin()),
                        Relation::Absent => (0, 0),
                    };
                    prop_assert_eq!(found, expected);
                    let starts = matches!(table.lookup(host, 0), Relation::Contained(_));
                    prop_assert_eq!(starts, before.is_some());
                }
                5 if which.index(4) == 0 => {
                    let all: Vec<_> = table.entries().iter().map(|e| (e.host_begin(), e.host_end())).collect();
                    prop_assert_eq!(all, model.clone().into_iter().collect::<Vec<_>>());
                }
                _ => {
                    let inserted = table.insert(&plain(host, size));
                    prop_assert_eq!(inserted.is_ok(), is_free(&model, host, size));
                    if let Ok(entry) = inserted {
                        table.abandon(entry);
                    }
                }
            }
        }
        while let Some(mut region) = regions.pop() {
            while !step(&table, &mut region) {}
        }
        prop_assert!(table.is_empty());
    }
}
