//! What a program has allocated and not freed, at its end or whenever it is asked for.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use crate::blocks::Block;
use crate::records::{Allocation, AllocationKind};
use crate::space::Space;

/// How many lines a report has at most.
const MOST_LINES: usize = 20;

/// Allocations that differ in nothing but their addresses.
#[derive(Debug)]
struct Group {
    first: u64,
    count: u64,
}

impl Space {
    /// What the program has allocated itself and not freed, in order of addresses; and the heaps in
    /// which its kernels have left blocks.
    pub fn leaks(&self) -> Vec<Allocation> {
        let leaked = |allocation: &Allocation| match allocation.kind {
            AllocationKind::Heap => self.heap(allocation.address).is_some_and(|heap| heap.used() > 0),
            kind => kind.is_the_programs(),
        };
        self.allocations().filter(leaked).collect()
    }

    /// What has not been freed of one of them: itself, or the blocks of a heap.
    pub fn leaked_blocks(&self, leak: &Allocation) -> Vec<Block> {
        match leak.kind {
            AllocationKind::Heap => self.heap(leak.address).map_or(Vec::new(), |heap| heap.blocks()),
            _ => vec![Block { address: leak.address, size: leak.size }],
        }
    }

    /// A report of such allocations, those that are alike together and what wastes most first; of
    /// heaps, the blocks in them. `None` when there is nothing to tell; every line ends with an end
    /// of line.
    ///
    /// ```text
    /// 820 bytes in 3 allocations were never freed:
    ///   2 of 400 bytes, allocated by cuMemAlloc on device 0, the first at 0x200000000e00
    ///   20 bytes, allocated by malloc on device 0, at 0x200000002010
    /// ```
    pub fn leak_report(&self, leaks: &[Allocation]) -> Option<String> {
        let mut groups: BTreeMap<(u64, &str, u32), Group> = BTreeMap::new();
        for leak in leaks {
            for block in self.leaked_blocks(leak) {
                let key = (block.size, leak.origin(), leak.device);
                groups.entry(key).or_insert(Group { first: block.address, count: 0 }).count += 1;
            }
        }
        let count: u64 = groups.values().map(|group| group.count).sum();
        let bytes: u64 = groups.iter().map(|((size, ..), group)| group.count * size).sum();
        let things = if count == 1 { "allocation" } else { "allocations" };
        let mut report = format!("{bytes} bytes in {count} {things} were never freed:\n");
        let mut lines: Vec<_> = groups.into_iter().collect();
        lines.sort_by_key(|((size, ..), group)| (Reverse(group.count * size), group.first));
        for ((size, origin, device), Group { first, count }) in lines.iter().take(MOST_LINES) {
            // Writing to a string does not fail.
            let _ = match count {
                1 => writeln!(
                    report,
                    "  {size} bytes, allocated by {origin} on device {device}, at {first:#x}"
                ),
                _ => writeln!(
                    report,
                    "  {count} of {size} bytes, allocated by {origin} on device {device}, the first at {first:#x}"
                ),
            };
        }
        if lines.len() > MOST_LINES {
            let more: u64 = lines[MOST_LINES..].iter().map(|(_, group)| group.count).sum();
            let _ = writeln!(report, "  and {more} more");
        }
        (count > 0).then_some(report)
    }
}
