//! What an address is, in words, for reports of faults and refused calls.

use crate::distance::{bytes, distance};
use crate::range::{is_device_address, other, range};
use crate::records::{Allocation, AllocationKind, EXTENT, State};
use crate::space::Space;
use crate::{FUNCTIONS, LOCAL_SIZE, LOCAL_WINDOW, NULL_ZONE, SHARED_SIZE, SHARED_WINDOW};

/// How many slots are looked at on each side for the nearest allocation.
const NEIGHBOURS: u32 = 256;

/// An access so many bytes outside of shared or local memory may have been meant for it.
const CLOSE: u64 = 4096;

/// The same for addresses below local memory, where nothing else is.
const BELOW_LOCAL: u64 = 1 << 20;

impl Allocation {
    /// The function that allocated it, as a program's text calls it: the usual one of its kind
    /// where the request named none.
    #[must_use]
    pub fn origin(&self) -> &'static str {
        let name = self.name.unwrap_or(match self.kind {
            AllocationKind::Pinned => "cuMemHostAlloc",
            AllocationKind::Managed => "cuMemAllocManaged",
            _ => "cuMemAlloc",
        });
        // Versions and stream flavours are in the names of entry points only.
        let end = ["_v2", "_v3", "_ptds", "_ptsz"].iter().filter_map(|suffix| name.find(suffix)).min();
        &name[..end.unwrap_or(name.len())]
    }

    /// `the 400-byte allocation at 0x200000000e00, allocated by cuMemAlloc on device 0`
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { address, size, device, kind, .. } = self;
        match (kind, self.name) {
            (AllocationKind::Constant | AllocationKind::Module, Some(name)) => {
                let what = if *kind == AllocationKind::Constant { "constant" } else { "variable" };
                format!("the {size}-byte {what} '{name}' at {address:#x} on device {device}")
            }
            (AllocationKind::Constant | AllocationKind::Module | AllocationKind::Arena, _) => {
                format!("{size} bytes of {kind} at {address:#x} on device {device}")
            }
            (AllocationKind::Heap, _) => format!("the heap of device {device} at {address:#x}, {size} bytes"),
            _ => {
                let by = self.origin();
                format!("the {size}-byte allocation at {address:#x}, allocated by {by} on device {device}")
            }
        }
    }
}

impl Space {
    /// What an address is, or what it is near to. Such as `32 bytes after the end of the 400-byte
    /// allocation at 0x200000000e00, allocated by cuMemAlloc on device 0`. Not for signal handlers:
    /// it takes the locks of names and heaps, and reads files about host memory.
    pub fn describe(&self, address: u64) -> String {
        if address < NULL_ZONE {
            return if address == 0 {
                "a null pointer".to_owned()
            } else {
                format!("{address} bytes after null")
            };
        }
        if !is_device_address(address) {
            return self.describe_host(address);
        }
        let windows = range().windows;
        if address >= windows {
            return describe_window(address).to_owned();
        }
        if range().is_full && windows - address <= BELOW_LOCAL {
            return format!("{} below the thread's local memory", bytes(windows - address));
        }
        match self.nearest(address) {
            Some((State::Freed, allocation)) if allocation.covers(address, 1) => {
                let into = inside(address, &allocation);
                format!("{into}freed memory of {}", allocation.describe())
            }
            Some((_, allocation))
                if allocation.kind == AllocationKind::Heap && allocation.covers(address, 1) =>
            {
                let block = self.heap(address).and_then(|heap| heap.describe(address));
                block.unwrap_or_else(|| format!("{}{}", inside(address, &allocation), allocation.describe()))
            }
            Some((state, allocation)) => {
                let freed = if state == State::Freed { "freed memory of " } else { "" };
                format!(
                    "{}{freed}{}",
                    distance(address, allocation.address, allocation.size),
                    allocation.describe()
                )
            }
            None => "device memory that is not allocated, with no allocation near".to_owned(),
        }
    }

    fn describe_host(&self, address: u64) -> String {
        if let Some(other) = other(address).filter(|_| !self.host.covers(address, 1)) {
            return format!("a pointer to memory of the virtual {} GPU", other.maker());
        }
        if let Some((start, size)) = self.host.find(address) {
            return format!("in the {size} bytes of registered host memory at {start:#x}");
        }
        // What is kept for shadows is nobody's.
        let is_kept = (range().first..range().base).contains(&address);
        let text = match host_mapping(address).filter(|_| !is_kept) {
            Some(what) if self.shares_host() => {
                format!("a host pointer, {what}, which the program itself must not access so")
            }
            Some(what) => format!("a host pointer, {what}, that is not mapped on the device"),
            None => "an address where neither the device nor the host has memory".to_owned(),
        };
        match address.checked_sub(1).and_then(|before| self.host.find(before)) {
            Some((start, size)) => {
                format!("{text}, just after the {size} bytes of registered host memory at {start:#x}")
            }
            None => text,
        }
    }

    /// What an address of the device is in or nearest to, for signal handlers: takes no lock, and
    /// allocates nothing. Its beginning and size, and whether it has been freed.
    pub fn beside(&self, address: u64) -> Option<(u64, u64, bool)> {
        let (state, allocation, _) = self.nearest_unnamed(address)?;
        Some((allocation.address, allocation.size, state == State::Freed))
    }

    fn nearest(&self, address: u64) -> Option<(State, Allocation)> {
        let (state, allocation, name) = self.nearest_unnamed(address)?;
        Some((state, Allocation { name: self.name(name), ..allocation }))
    }

    /// The allocation that an address is in or nearest to, and the number of its name. A live one goes
    /// before one that was freed, unless the address is inside the latter. What programs have allocated goes before
    /// memory for blocks and lanes that the address is not close to.
    fn nearest_unnamed(&self, address: u64) -> Option<(State, Allocation, u32)> {
        let (extent, slot) = self.records.slot_of(address)?;
        let known = |slot: u32| {
            let found = self.records.record((extent, slot))?.read();
            (found.0 != State::Empty).then_some(found)
        };
        if let Some((state, allocation, name)) = known(slot)
            && (state == State::Live || allocation.covers(address, 1))
        {
            return Some((state, allocation, name));
        }
        let slots = (slot.saturating_sub(NEIGHBOURS)..=slot.saturating_add(NEIGHBOURS)).filter_map(known);
        let away = |allocation: &Allocation| {
            let after = address.saturating_sub(allocation.address + allocation.size);
            after.max(allocation.address.saturating_sub(address))
        };
        slots.min_by_key(|(state, allocation, _)| {
            let away = away(allocation);
            (*state != State::Live, allocation.kind == AllocationKind::Arena && away > CLOSE, away)
        })
    }
}

/// Which of the host's memory an address is in; `None` where the host has none, or does not tell.
#[must_use]
pub fn host_mapping(address: u64) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| {
        let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let parsed = range.map(|(start, end)| (u64::from_str_radix(start, 16), u64::from_str_radix(end, 16)));
        matches!(parsed, Some((Ok(start), Ok(end))) if (start..end).contains(&address))
    })?;
    // Address, rights, offset, device, inode, and whose it is; a path may hold blanks.
    let mut rest = line;
    for _ in 0..5 {
        rest = rest.trim_start().split_once(' ').map_or("", |(_, rest)| rest);
    }
    Some(match rest.trim() {
        "[stack]" => "on the program's stack".to_owned(),
        "[heap]" => "in the program's heap".to_owned(),
        "" => "in the program's memory".to_owned(),
        other => format!("in {other}"),
    })
}

/// `8 bytes into `, or nothing at the start.
fn inside(address: u64, allocation: &Allocation) -> String {
    match address - allocation.address {
        0 => String::new(),
        offset => format!("{} into ", bytes(offset)),
    }
}

fn describe_window(address: u64) -> &'static str {
    let within = |start: u64, size: u64| (start..start + size).contains(&address);
    if within(LOCAL_WINDOW, LOCAL_SIZE) {
        "an address of local memory, which only its own thread can use"
    } else if within(SHARED_WINDOW, SHARED_SIZE) {
        "an address of shared memory, which only its own block can use"
    } else if within(FUNCTIONS, EXTENT) {
        "the address of a function"
    } else {
        "an address that no memory has"
    }
}
