//! What the program's own threads do with memory, for checks of what devices and the host do with the same.
//!
//! Code that clang has compiled with `-fsanitize-coverage=trace-loads,trace-stores`, as `gangway cc --check=map` and
//! `--check=race` have it done, calls a function before each access. What the C library does,
//! `libgangway-host-access.so` tells (`tools/host-access`), which `gangway run` has loaded.
//!
//! Most accesses are to memory that no check wants to hear of. Tables of bits say so, by the low bits of a page's number,
//! and by lines where a page has something else, too.

use crate::caller;
use crate::errno::Errno;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;
/// What is told apart where a page has something else besides.
pub const LINE: usize = 64;

/// Bits for pieces of memory, by the low bits of their numbers.
struct Bits([AtomicU64; BITS / 64]);

/// Pages of 4 GiB, or lines of 64 MiB, are told apart.
const BITS: usize = 1 << 20;

impl Bits {
    const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; BITS / 64])
    }

    fn set(&self, number: usize) {
        self.0[number % BITS / 64].fetch_or(1 << (number % 64), Ordering::Relaxed);
    }

    #[inline]
    fn has(&self, number: usize) -> bool {
        self.0[number % BITS / 64].load(Ordering::Relaxed) & 1 << (number % 64) != 0
    }
}

/// Pages that a check wants to hear of as a whole.
static WHOLE: Bits = Bits::new();
/// Pages of which a check wants to hear of some lines.
static PARTS: Bits = Bits::new();
static LINES: Bits = Bits::new();

/// So many want to hear of all pages.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// The program has told an access.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A check that hears of accesses.
pub trait Consumer: Sync {
    /// Code of the program is about to access memory, at an instruction.
    fn accessed(&self, address: usize, size: usize, writes: bool, code: usize);

    /// A library is about to do something with memory.
    fn library(&self, address: usize, size: usize, access: Access);

    /// What was about to read, write or use it has ended.
    fn library_has_ended(&self, _address: usize, _size: usize) {}
}

/// What a library is about to do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// It is given back, or something else from now on.
    Free,
    /// The program protects it in another way.
    Protect,
    /// Nobody tells what, nor when it has ended.
    Open,
    /// Nobody tells what.
    Use,
}

/// What is heard of what the program does by libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    All,
    /// `gangway run` has not started the program.
    Nothing,
    /// Not all memory that is given back: the program has a `free` of its own.
    NotFree,
}

static CONSUMERS: [OnceLock<&'static dyn Consumer>; 2] = [const { OnceLock::new() }; 2];

/// Has a check hear of accesses from now on.
pub fn tell(consumer: &'static dyn Consumer) -> Heard {
    static HEARD: OnceLock<Heard> = OnceLock::new();
    let added = CONSUMERS.iter().any(|slot| slot.set(consumer).is_ok());
    assert!(added, "there is room for each check");
    *HEARD.get_or_init(listen)
}

fn consumers() -> impl Iterator<Item = &'static dyn Consumer> {
    CONSUMERS.iter().map_while(|slot| slot.get().copied())
}

/// Whether the program tells its accesses.
pub fn are_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// The table of whole pages, for those who set bits by themselves.
pub fn pages() -> &'static [AtomicU64] {
    &WHOLE.0
}

/// Has accesses to a range looked at.
pub fn watch(address: usize, size: usize) {
    let end = address.saturating_add(size.max(1));
    let pages = address / PAGE..=(end - 1) / PAGE;
    for page in pages.take(BITS) {
        let begin = page * PAGE;
        if address <= begin && begin + PAGE <= end {
            WHOLE.set(page);
            continue;
        }
        PARTS.set(page);
        let lines = address.max(begin) / LINE..=(end.min(begin + PAGE) - 1) / LINE;
        lines.for_each(|line| LINES.set(line));
    }
}

/// Has all accesses looked at, until that is taken back as often.
pub fn watch_all(is: bool) {
    if is {
        ALL.fetch_add(1, Ordering::Relaxed)
    } else {
        ALL.fetch_sub(1, Ordering::Relaxed)
    };
}

/// Whether somebody wants to hear of the whole page that an address is in.
#[inline]
#[must_use]
pub fn is_marked(address: usize) -> bool {
    WHOLE.has(address / PAGE)
}

/// An access may begin before a range: alignment keeps it within a line then.
#[inline]
fn is_watched(address: usize) -> bool {
    is_marked(address)
        || PARTS.has(address / PAGE) && LINES.has(address / LINE)
        || ALL.load(Ordering::Relaxed) != 0
}

/// Notes that accesses are told. It is written once alone: all threads come here.
#[inline]
fn note_told() {
    if !TOLD.load(Ordering::Relaxed) {
        TOLD.store(true, Ordering::Relaxed);
    }
}

#[inline]
fn accessed<const SIZE: usize, const WRITES: bool>(address: *const c_void) {
    note_told();
    if is_watched(address.addr()) {
        look_at(address.addr(), SIZE, WRITES);
    }
}

#[cold]
fn look_at(address: usize, size: usize, writes: bool) {
    let code = caller::noted().addr().saturating_sub(1);
    consumers().for_each(|consumer| consumer.accessed(address, size, writes, code));
}

macro_rules! callbacks {
    ($($load:ident $store:ident $size:literal;)+) => {$(
        /// The program loads from an address.
        pub extern "C" fn $load(address: *const c_void) {
            accessed::<$size, false>(address);
        }

        /// The program stores to an address.
        pub extern "C" fn $store(address: *const c_void) {
            accessed::<$size, true>(address);
        }
    )+};
}

callbacks! {
    __sanitizer_cov_load1 __sanitizer_cov_store1 1;
    __sanitizer_cov_load2 __sanitizer_cov_store2 2;
    __sanitizer_cov_load4 __sanitizer_cov_store4 4;
    __sanitizer_cov_load8 __sanitizer_cov_store8 8;
    __sanitizer_cov_load16 __sanitizer_cov_store16 16;
}

/// Accesses of a range, line by line.
fn accessed_range(address: usize, size: usize, writes: bool) {
    note_told();
    let end = address.saturating_add(size);
    let mut at = address;
    while at < end {
        let next = end.min((at | (LINE - 1)).saturating_add(1));
        if is_watched(at) {
            look_at(at, next - at, writes);
        }
        at = next;
    }
}

/// The program copies, or the compiler for it, as where a structure is assigned: `gangway cc --check` has the linker put
/// these in the place of the C library's functions (`--wrap`).
///
/// # Safety
/// As for `memmove`.
pub unsafe extern "C" fn __wrap_memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    accessed_range(from.addr(), size, false);
    accessed_range(to.addr(), size, true);
    // SAFETY: as this function's caller has promised.
    unsafe { libc::memmove(to, from, size) }
}

/// # Safety
/// As for `memmove`.
pub unsafe extern "C" fn __wrap_memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    // SAFETY: as this function's caller has promised.
    unsafe { __wrap_memcpy(to, from, size) }
}

/// # Safety
/// As for `memset`.
pub unsafe extern "C" fn __wrap_memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void {
    accessed_range(to.addr(), size, true);
    // SAFETY: as this function's caller has promised.
    unsafe { libc::memset(to, byte, size) }
}

/// What the library says is about to be done, by its numbers.
mod access {
    pub const READ: u32 = 0;
    pub const WRITE: u32 = 1;
    pub const FREE: u32 = 2;
    pub const PROTECT: u32 = 3;
    pub const OPEN: u32 = 4;
    pub const USE: u32 = 5;
}

/// As the library has it.
#[repr(C)]
struct Listener {
    about: extern "C" fn(*const c_void, usize, u32),
    done: extern "C" fn(*const c_void, usize),
}

/// Listens, if the library is in this process: `gangway run` puts it there.
fn listen() -> Heard {
    static LISTENER: Listener = Listener { about, done };
    // SAFETY: a name with a null behind it.
    let listen = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_host_access".as_ptr()) };
    if listen.is_null() {
        return Heard::Nothing;
    }
    // Its first call loads a library.
    let _ = library_caller();
    // SAFETY: the library's function of that name has this type.
    let hears_all = unsafe {
        std::mem::transmute::<*mut c_void, extern "C" fn(&'static Listener) -> bool>(listen)(&LISTENER)
    };
    if hears_all { Heard::All } else { Heard::NotFree }
}

extern "C" fn about(address: *const c_void, size: usize, access: u32) {
    let _errno = Errno::keep();
    let access = match access {
        access::READ => Access::Read,
        access::WRITE => Access::Write,
        access::FREE => Access::Free,
        access::PROTECT => Access::Protect,
        access::OPEN => Access::Open,
        access::USE => Access::Use,
        _ => return,
    };
    let (address, size) = range(address, size);
    consumers().for_each(|consumer| consumer.library(address, size, access));
}

extern "C" fn done(address: *const c_void, size: usize) {
    let _errno = Errno::keep();
    let (address, size) = range(address, size);
    consumers().for_each(|consumer| consumer.library_has_ended(address, size));
}

/// A program may say any number.
fn range(address: *const c_void, size: usize) -> (usize, usize) {
    (address.addr(), size.min(usize::MAX - address.addr()))
}

/// Whose a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// The library that tells what the C library does.
    Teller,
    /// Gangway, or the driver.
    Gangway,
    /// A library of a language, or nobody that the loader knows.
    Language,
    Program,
}

impl Owner {
    fn of(instruction: usize) -> Self {
        // SAFETY: plain data that the call fills; the name is the loader's, for as long as this takes.
        let name = unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(std::ptr::with_exposed_provenance(instruction), &raw mut found) == 0 {
                return Owner::Language;
            }
            std::ffi::CStr::from_ptr(found.dli_fname)
        };
        let name = name.to_string_lossy();
        Self::of_file(name.rsplit('/').next().unwrap_or_default())
    }

    fn of_file(file: &str) -> Self {
        let is = |starts: &[&str]| starts.iter().any(|start| file.starts_with(start));
        if is(&["libgangway-host-access."]) {
            Owner::Teller
        } else if is(&["libgangway-", "libomptarget.", "libcuda."]) {
            Owner::Gangway
        } else if is(&["libc.", "libgfortran.", "libstdc++."]) {
            Owner::Language
        } else {
            Owner::Program
        }
    }
}

/// The program's instruction that has called the C library; 0: it is not known. `None`: Gangway has called it for
/// itself, with its own locks held as often as not. Its memory may be beside the program's, in one page.
pub fn library_caller() -> Option<usize> {
    let mut frames = [std::ptr::null_mut(); 32];
    // SAFETY: there is room for so many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let calls = frames[..count.max(0) as usize].iter().map(|frame| frame.addr() - 1);
    caller(calls.map(|call| (call, Owner::of(call))))
}

fn caller(calls: impl Iterator<Item = (usize, Owner)>) -> Option<usize> {
    // Those that are told of the call are the first ones.
    let called = calls.skip_while(|call| call.1 != Owner::Teller);
    match called.skip(1).find(|call| !matches!(call.1, Owner::Teller | Owner::Language)) {
        Some((_, Owner::Gangway)) => None,
        found => Some(found.map_or(0, |call| call.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_called_the_c_library() {
        let owners = |files: &[&str]| caller(files.iter().map(|file| Owner::of_file(file)).enumerate());
        let told = ["libomptarget.so.22.1", "libgangway-host-access.so", "libgangway-host-access.so"];
        let with = |files: &[&str]| owners(&[&told[..], files].concat());
        assert_eq!(with(&["program", "libc.so.6"]), Some(3));
        assert_eq!(with(&["libstdc++.so.6", "libc.so.6", "libwork.so", "program"]), Some(5));
        for ours in ["libomptarget.so.22.1", "libcuda.so.1", "libgangway-gomp.so"] {
            assert_eq!(with(&[ours, "program"]), None);
            assert_eq!(with(&["libc.so.6", ours, "program"]), None);
        }
        assert_eq!(with(&["libc.so.6"]), Some(0));
        assert_eq!(owners(&[]), Some(0));
    }

    #[test]
    fn what_shares_a_page_with_what_is_watched_is_not_watched() {
        let begin = (1 << 40) + 100 * PAGE + 8;
        assert!(!is_watched(begin));
        watch(begin, 2 * PAGE);
        let watched = |distance: usize| is_watched(begin - 8 + distance);
        assert!(
            watched(8)
                && watched(PAGE - 1)
                && watched(PAGE)
                && watched(2 * PAGE - 1)
                && watched(2 * PAGE + 7)
        );
        assert!(!watched(2 * PAGE + LINE) && !watched(3 * PAGE - 1) && !watched(3 * PAGE));
    }
}
