//! Constants of the program and its libraries: memory that nobody can write.
//!
//! clang maps a constant that a region names like any other variable (`tofrom`), and the copy back would end the
//! program. Nothing a program may do changes a constant, so nothing of it has to come back.
//!
//! Constants stand in the loader's segments that are not writable, or no longer after relocation. They
//! are looked up when a library is registered: what its regions name is loaded by then.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

/// A hull of the ranges: nearly all of what is mapped is outside, and asks no more. It only grows.
struct Hull {
    low: AtomicUsize,
    high: AtomicUsize,
}

/// Libraries are far from the program, and the heap is between them.
static PROGRAM: Hull = Hull::empty();
static LIBRARIES: Hull = Hull::empty();

/// In the order of their addresses. There may be ranges of libraries that have gone.
static RANGES: RwLock<Vec<Range<usize>>> = RwLock::new(Vec::new());

impl Hull {
    const fn empty() -> Self {
        Self { low: AtomicUsize::new(usize::MAX), high: AtomicUsize::new(0) }
    }

    #[inline(always)]
    fn has(&self, address: usize) -> bool {
        address >= self.low.load(Ordering::Relaxed) && address < self.high.load(Ordering::Relaxed)
    }

    fn include(&self, range: &Range<usize>) {
        self.low.fetch_min(range.start, Ordering::Relaxed);
        self.high.fetch_max(range.end, Ordering::Relaxed);
    }
}

/// Looks at what is loaded. Any thread may call it, in constructors, too.
pub(crate) fn look() {
    let mut ranges = Vec::new();
    any_loaded(&mut |is_program, range| {
        if is_program { &PROGRAM } else { &LIBRARIES }.include(&range);
        ranges.push(range);
        false
    });
    ranges.sort_unstable_by_key(|range| range.start);
    *RANGES.write().unwrap_or_else(PoisonError::into_inner) = ranges;
}

/// Whether all bytes of a range are of one constant.
#[inline(always)]
pub(crate) fn has(begin: usize, size: usize) -> bool {
    (PROGRAM.has(begin) || LIBRARIES.has(begin)) && has_now(&(begin..begin.saturating_add(size)))
}

#[cold]
fn has_now(part: &Range<usize>) -> bool {
    let within = |range: &Range<usize>| range.start <= part.start && part.end <= range.end;
    {
        let ranges = RANGES.read().unwrap_or_else(PoisonError::into_inner);
        let after = ranges.partition_point(|range| range.start <= part.start);
        if !ranges[..after].iter().rev().take(2).any(within) {
            return false;
        }
    }
    // The library may have gone, and something else be there.
    any_loaded(&mut |_, range| within(&range))
}

/// Told whether a range is the program's, and the range: whether that is enough.
type Visitor<'v> = &'v mut dyn FnMut(bool, Range<usize>) -> bool;

/// Whether one of the ranges that nobody can write, of all that is loaded, is enough for the visitor.
#[cfg(not(any(loom, miri)))]
fn any_loaded(visitor: Visitor<'_>) -> bool {
    struct Search<'v> {
        visitor: Visitor<'v>,
        /// The program comes first.
        is_program: bool,
    }
    extern "C" fn visit(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: the loader's description of an object, and the search below.
        let (object, search) = unsafe { (&*object, &mut *search.cast::<Search<'_>>()) };
        let headers = if object.dlpi_phnum == 0 {
            &[][..]
        } else {
            // SAFETY: the object has so many headers.
            unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) }
        };
        let base = object.dlpi_addr as usize;
        let mut ranges = headers.iter().filter_map(|header| constant(base, header));
        let enough = ranges.any(|range| (search.visitor)(search.is_program, range));
        search.is_program = false;
        enough.into()
    }
    let mut search = Search { visitor, is_program: true };
    // SAFETY: the function takes what it is given here.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) != 0 }
}

#[cfg(any(loom, miri))]
fn any_loaded(_: Visitor<'_>) -> bool {
    false
}

/// What of a segment nobody can write.
#[cfg(not(any(loom, miri)))]
fn constant(base: usize, header: &libc::Elf64_Phdr) -> Option<Range<usize>> {
    const PAGE: usize = 4096;
    let begin = base + header.p_vaddr as usize;
    let end = begin + header.p_memsz as usize;
    match header.p_type {
        libc::PT_LOAD if header.p_flags & libc::PF_W == 0 => Some(begin..end),
        // The loader protects whole pages.
        libc::PT_GNU_RELRO => Some(begin & !(PAGE - 1)..end & !(PAGE - 1)),
        _ => None,
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;

    static CONSTANT: [u64; 100] = [1; 100];
    static VARIABLE: [AtomicUsize; 4] = [const { AtomicUsize::new(1) }; 4];
    /// It has relocations.
    static TEXTS: [&str; 3] = ["one", "two", "three"];

    #[test]
    fn constants_are_told_from_variables() {
        look();
        let (on_stack, on_heap) = ([1u64; 100], vec![1u64; 100]);
        let bytes = |object: *const u8, size| has(object.addr(), size);
        assert!(bytes(CONSTANT.as_ptr().cast(), 800) && bytes(CONSTANT[7..].as_ptr().cast(), 8));
        assert!(bytes(TEXTS.as_ptr().cast(), size_of_val(&TEXTS)) && bytes(TEXTS[1].as_ptr(), 3));
        assert!(!bytes(VARIABLE.as_ptr().cast(), 32));
        assert!(!bytes(on_stack.as_ptr().cast(), 800) && !bytes(on_heap.as_ptr().cast(), 800));
        assert!(!bytes(CONSTANT.as_ptr().cast(), usize::MAX), "not all of it is a constant");
        assert!(!has(0, 1));
    }
}
