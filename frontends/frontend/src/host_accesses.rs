//! What the program's own threads do with memory, for checks of what devices and the host do with the same.
//!
//! Code that clang has compiled with `-fsanitize-coverage=trace-loads,trace-stores`, as `gangway cc --check=map` and
//! `--check=race` have it done, calls a function before each access. What the C library does,
//! `libgangway-host-access.so` tells (`tools/host-access`), which `gangway run` has loaded.
//!
//! Most accesses are to pages that no check wants to hear of. A table of bits says so, by the low bits of a page's
//! number.

use crate::caller;
use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

const PAGE: usize = 4096;
const PAGES: usize = 1 << 16;

/// Pages that a check wants to hear of.
static WATCHED: [AtomicU64; PAGES / 64] = [const { AtomicU64::new(0) }; PAGES / 64];

/// So many want to hear of all pages.
static ALL: AtomicUsize = AtomicUsize::new(0);

/// The program has told an access.
static TOLD: AtomicBool = AtomicBool::new(false);

/// A check that hears of accesses.
pub trait Consumer: Sync {
    /// Code of the program is about to access memory, at an instruction.
    fn accessed(&self, address: usize, size: usize, writes: bool, code: usize);

    /// The C library is about to do something with memory.
    fn library(&self, address: usize, size: usize, access: Access);
}

/// What the C library is about to do with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
    /// It is given back.
    Free,
}

static CONSUMERS: [OnceLock<&'static dyn Consumer>; 2] = [const { OnceLock::new() }; 2];

/// Has a check hear of accesses from now on.
pub fn tell(consumer: &'static dyn Consumer) {
    let is_first = CONSUMERS[0].get().is_none();
    let added = CONSUMERS.iter().any(|slot| slot.set(consumer).is_ok());
    assert!(added, "there is room for each check");
    if is_first {
        listen();
    }
}

fn consumers() -> impl Iterator<Item = &'static dyn Consumer> {
    CONSUMERS.iter().map_while(|slot| slot.get().copied())
}

/// Whether the program tells its accesses.
pub fn are_told() -> bool {
    TOLD.load(Ordering::Relaxed)
}

/// The table of pages, for those who set bits by themselves.
pub fn pages() -> &'static [AtomicU64] {
    &WATCHED
}

/// Has accesses to a range looked at.
pub fn watch(address: usize, size: usize) {
    let (first, last) = (address / PAGE, address.saturating_add(size.max(1) - 1) / PAGE);
    for page in first..=last.min(first + PAGES) {
        WATCHED[page % PAGES / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
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

/// Whether somebody wants to hear of accesses to an address in particular.
#[inline]
#[must_use]
pub fn is_marked(address: usize) -> bool {
    let page = address / PAGE;
    WATCHED[page % PAGES / 64].load(Ordering::Relaxed) & 1 << (page % 64) != 0
}

#[inline]
fn is_watched(address: usize) -> bool {
    is_marked(address) || ALL.load(Ordering::Relaxed) != 0
}

#[inline]
fn accessed<const SIZE: usize, const WRITES: bool>(address: *const c_void) {
    if !TOLD.load(Ordering::Relaxed) {
        TOLD.store(true, Ordering::Relaxed);
    }
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

/// What the library says is about to be done, by its numbers.
mod access {
    pub const READ: u32 = 0;
    pub const WRITE: u32 = 1;
    /// The memory is given back.
    pub const FREE: u32 = 2;
}

type Listener = extern "C" fn(*const c_void, usize, u32);

/// Listens, if the library is in this process: `gangway run` puts it there.
fn listen() {
    // SAFETY: a name with a null behind it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_host_access".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library's function of that name has this type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(Listener)>(found)(hear) };
    }
}

extern "C" fn hear(address: *const c_void, size: usize, access: u32) {
    let address = address.addr();
    // A program may say any number.
    let size = size.min(usize::MAX - address);
    let access = match access {
        access::READ => Access::Read,
        access::WRITE => Access::Write,
        access::FREE => Access::Free,
        _ => return,
    };
    consumers().for_each(|consumer| consumer.library(address, size, access));
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
    fn pages_are_watched_as_a_whole() {
        let begin = (1 << 40) + 100 * PAGE + 8;
        assert!(!is_watched(begin));
        watch(begin, PAGE);
        assert!(is_watched(begin) && is_watched(begin + PAGE) && !is_watched(begin + 2 * PAGE));
    }
}
