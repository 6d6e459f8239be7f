//! What a program has allocated and not freed, at its end or whenever it is asked for.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::records::{Allocation, Kind};
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
    /// What the program has allocated itself and not freed, in order of addresses.
    pub fn leaks(&self) -> Vec<Allocation> {
        self.allocations().filter(|allocation| allocation.kind.is_the_programs()).collect()
    }

    /// A report of what the program has not freed on a device, and what its kernels have not freed there.
    /// `None` when there is nothing to report. Several lines without an end of line at the end:
    ///
    /// ```text
    /// 3 allocations on device 0 were not freed, 820 bytes:
    ///   2 of 400 bytes, allocated by cuMemAlloc, the first at 0x200000000e00
    ///   20 bytes, allocated by malloc in a kernel, at 0x200000002010
    /// ```
    pub fn leak_report(&self, device: u32) -> Option<String> {
        // By size and origin.
        let mut groups: BTreeMap<(u64, &str), Group> = BTreeMap::new();
        let mut note = |address: u64, size: u64, origin: &'static str| {
            groups.entry((size, origin)).or_insert(Group { first: address, count: 0 }).count += 1;
        };
        for allocation in self.allocations().filter(|allocation| allocation.device == device) {
            match allocation.kind {
                Kind::Heap => {
                    let blocks = self.heap(allocation.address).map_or(Vec::new(), |heap| heap.blocks());
                    blocks.iter().for_each(|block| note(block.address, block.size, "malloc in a kernel"));
                }
                kind if kind.is_the_programs() => {
                    note(allocation.address, allocation.size, allocation.origin());
                }
                _ => {}
            }
        }
        let (count, bytes) = groups.iter().fold((0, 0), |(count, bytes), (&(size, _), group)| {
            (count + group.count, bytes + group.count * size)
        });
        let (things, were) = if count == 1 { ("allocation", "was") } else { ("allocations", "were") };
        let mut report = format!("{count} {things} on device {device} {were} not freed, {bytes} bytes:");
        let mut lines: Vec<_> = groups.into_iter().collect();
        // What wastes most stands first.
        lines.sort_by_key(|(key, group)| (std::cmp::Reverse(group.count * key.0), group.first));
        for ((size, origin), Group { first, count }) in lines.iter().take(MOST_LINES) {
            let _ = match count {
                1 => write!(report, "\n  {size} bytes, allocated by {origin}, at {first:#x}"),
                _ => write!(
                    report,
                    "\n  {count} of {size} bytes, allocated by {origin}, the first at {first:#x}"
                ),
            };
        }
        if lines.len() > MOST_LINES {
            let _ = write!(report, "\n  and others, of {} sizes or origins", lines.len() - MOST_LINES);
        }
        (count > 0).then_some(report)
    }
}
