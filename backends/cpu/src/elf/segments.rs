//! The parts of an image that the loader maps, copies and changes the protection of.

use super::{File, PAGE, PT_LOAD, Segment, segments};
use std::ops::Range;

pub(super) const PT_DYNAMIC: u32 = 2;
const PT_NOTE: u32 = 4;
const PT_PHDR: u32 = 6;
const PT_TLS: u32 = 7;
const PT_GNU_STACK: u32 = 0x6474_e551;
pub(super) const PT_GNU_RELRO: u32 = 0x6474_e552;
const PT_GNU_PROPERTY: u32 = 0x6474_e553;

pub(super) const EXECUTABLE: u32 = 1;
pub(super) const WRITABLE: u32 = 2;
const READABLE: u32 = 4;

/// Each thread gets a copy of the thread-local variables; the loader ends the
/// process when there is no memory for one.
const MOST_THREAD_LOCAL: u64 = 1 << 30;

/// The segments that are loaded.
pub(super) struct Loads(Vec<Segment>);

impl Loads {
    pub fn of(file: File<'_>) -> Self {
        Self(segments(file).filter(|s| s.kind == PT_LOAD).collect())
    }

    /// Whether `size` bytes at `address` lie in a segment with `permission`.
    pub fn has(&self, address: u64, size: u64, permission: u32) -> bool {
        self.0.iter().any(|s| {
            s.flags & permission != 0
                && address >= s.address
                && address.checked_add(size).is_some_and(|end| end <= s.address + s.memory_size)
        })
    }

    /// Whether `address` is in a segment, or at its end, which is where arrays end.
    pub fn has_or_ends_at(&self, address: u64) -> bool {
        self.0.iter().any(|s| address >= s.address && address <= s.address + s.memory_size)
    }

    /// Where the bytes for `address..address + size` stand in the file, if they can
    /// be read in memory. An absent table (nothing at 0) is in order.
    pub fn offset(&self, address: u64, size: u64) -> Option<u64> {
        if address == 0 && size == 0 {
            return Some(0);
        }
        self.0.iter().filter(|s| s.flags & READABLE != 0).find_map(|s| {
            let skip = address.checked_sub(s.address)?;
            (skip.checked_add(size)? <= s.file_size).then_some(s.offset + skip)
        })
    }
}

/// Checks all segments, and gives the addresses that they take.
pub(super) fn check(file: File<'_>) -> Result<Range<u64>, String> {
    let size = file.0.len() as u64;
    let count = file.u16(56).unwrap_or(0);
    if file.u16(54) != Some(56) || count == 0 || segments(file).count() != usize::from(count) {
        return Err(format!(
            "its program header table ({count} entries) is damaged or beyond its {size} bytes"
        ));
    }
    let mut extent: Option<Range<u64>> = None;
    for (i, segment) in segments(file).enumerate() {
        let Segment { offset, address, file_size, memory_size, .. } = segment;
        if file.bytes(offset, file_size).is_none() {
            let end = offset.saturating_add(file_size);
            return Err(format!("segment {i} ends at byte {end}, but the image has only {size} bytes"));
        }
        if segment.kind != PT_LOAD {
            continue;
        }
        // Whole pages are mapped: a page of two segments would have the second's bytes only.
        let start = extent.as_ref().map_or(0, |e| e.end.next_multiple_of(PAGE));
        let end = address.checked_add(memory_size).filter(|end| *end < 1 << 40);
        // What cannot be written holds nothing but what the file has.
        let sizes = file_size == memory_size || (file_size < memory_size && segment.flags & WRITABLE != 0);
        let (Some(end), true) = (end, sizes && offset % PAGE == address % PAGE && address >= start) else {
            return Err(format!(
                "segment {i} asks for {memory_size} bytes at {address:#x} from byte {offset}, which cannot be loaded"
            ));
        };
        extent = Some(extent.map_or(address, |e| e.start)..end);
    }
    let loads = Loads::of(file);
    for (i, segment) in segments(file).enumerate() {
        check_use(file, &loads, &segment).map_err(|why| format!("segment {i} {why}"))?;
        // The loader takes the last one, and we might have looked at another.
        let single = matches!(segment.kind, PT_DYNAMIC | PT_PHDR | PT_TLS | PT_GNU_RELRO);
        if single && segments(file).take(i).any(|before| before.kind == segment.kind) {
            return Err(format!("segment {i} is the second of kind {:#x}", segment.kind));
        }
    }
    extent.ok_or_else(|| "it has no loadable segment".to_owned())
}

/// The loader changes the protection of some, copies others and searches them when
/// an exception is thrown: all must be parts of what is loaded.
fn check_use(file: File<'_>, loads: &Loads, segment: &Segment) -> Result<(), String> {
    let Segment { kind, offset, address, file_size, memory_size, .. } = *segment;
    let outside = || Err(format!("({memory_size} bytes at {address:#x}) is outside what is loaded"));
    match kind {
        0 | PT_LOAD | PT_GNU_STACK => Ok(()),
        PT_GNU_RELRO => {
            // Whole pages, counted from the front, become read-only.
            let pages = address / PAGE * PAGE..address.saturating_add(memory_size) / PAGE * PAGE;
            let size = pages.end.saturating_sub(pages.start);
            let inside = loads.0.iter().any(|s| {
                let end = (s.address + s.memory_size).next_multiple_of(PAGE);
                s.flags & WRITABLE != 0 && pages.start >= s.address / PAGE * PAGE && pages.end <= end
            });
            if size == 0 || inside { Ok(()) } else { outside() }
        }
        PT_TLS => {
            let align = segment.align.max(1);
            if memory_size == 0 {
                // The loader takes it for none.
                Ok(())
            } else if file_size > memory_size || memory_size > MOST_THREAD_LOCAL {
                Err(format!("has {file_size} bytes for {memory_size} bytes of thread-local variables"))
            } else if !align.is_power_of_two() || align > MOST_THREAD_LOCAL {
                Err(format!("aligns thread-local variables to {align:#x} bytes"))
            } else if file_size != 0 && loads.offset(address, file_size) != Some(offset) {
                outside()
            } else {
                Ok(())
            }
        }
        PT_PHDR => {
            // The unwinder reads the headers through it.
            let size = u64::from(file.u16(56).unwrap_or(0)) * 56;
            match loads.offset(address, size) {
                Some(at) if Some(at) == file.u64(32) => Ok(()),
                _ => Err(format!("says that the program headers are at {address:#x}, where they are not")),
            }
        }
        _ if memory_size == 0 => Ok(()),
        PT_NOTE | PT_GNU_PROPERTY => match loads.offset(address, memory_size) {
            Some(at) => check_notes(file, at, memory_size, segment.align),
            None => outside(),
        },
        _ => match loads.offset(address, memory_size) {
            Some(_) => Ok(()),
            None => outside(),
        },
    }
}

/// Each note says how long it is.
fn check_notes(file: File<'_>, at: u64, size: u64, align: u64) -> Result<(), String> {
    let align = if align == 8 { 8 } else { 4 };
    let mut from = 0;
    while size - from >= 12 {
        let word = |i: u64| u64::from(file.u32(at + from + i * 4).unwrap_or(u32::MAX));
        let end = (from + 12 + word(0)).next_multiple_of(align) + word(1);
        if end > size {
            return Err(format!("has a note that ends at {end:#x} of {size:#x} bytes"));
        }
        from = end.next_multiple_of(align).min(size);
    }
    Ok(())
}
