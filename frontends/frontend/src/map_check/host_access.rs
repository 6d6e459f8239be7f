//! What the C library does with the host's memory, as `libgangway-host-access.so` tells it (`tools/host-access`).

use super::tracker::{Mistake, TRACKER};
use super::{accesses, advice, contents, pages};
use std::ffi::c_void;

/// What the library says is about to be done, by its numbers.
mod access {
    pub const READ: u32 = 0;
    pub const WRITE: u32 = 1;
    /// The memory is given back.
    pub const FREE: u32 = 2;
}

type Listener = extern "C" fn(*const c_void, usize, u32);

/// Listens, if the library is in this process: `gangway run` puts it there.
pub fn listen() {
    // SAFETY: a name with a null behind it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_host_access".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library's function of that name has this type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(Listener)>(found)(hear) };
    }
}

/// The program's instruction that has called the C library, or 0.
fn caller() -> usize {
    let mut frames = [std::ptr::null_mut(); 32];
    // SAFETY: there is room for so many.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), frames.len() as i32) };
    let is_librarys = |frame: &usize| {
        // SAFETY: plain data that the call fills; the name is the loader's, for as long as this takes.
        let name = unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(std::ptr::with_exposed_provenance(*frame), &raw mut found) == 0 {
                return true;
            }
            std::ffi::CStr::from_ptr(found.dli_fname)
        };
        let name = name.to_string_lossy();
        let file = name.rsplit('/').next().unwrap_or_default();
        ["libgangway-", "libomptarget.", "libc.", "libgfortran.", "libstdc++."]
            .iter()
            .any(|start| file.starts_with(start))
    };
    let mut calls = frames[..count.max(0) as usize].iter().map(|frame| frame.addr() - 1);
    calls.find(|frame| !is_librarys(frame)).unwrap_or(0)
}

extern "C" fn hear(address: *const c_void, size: usize, access: u32) {
    // The runtime's own memory is allocated and freed with the locks held, too.
    if !pages::any() && !accesses::are_told() || pages::are_mine() || advice::is_mine() {
        return;
    }
    let address = address.addr();
    // A program may say any number.
    let size = size.min(usize::MAX - address);
    match access {
        access::FREE => {
            pages::release(address, size);
            TRACKER.try_with(|tracker| tracker.ledger.free(address, size));
        }
        // How much is written shows later, in the contents.
        access::WRITE => pages::open(address, size),
        access::READ => {
            // No more is of interest than what is mapped.
            let mapped = |tracker: &mut super::tracker::Tracker| {
                let ledger = &tracker.ledger;
                let ends = ledger.covering(address, size).map(|(key, pair)| key.0 + pair.size());
                ends.max().filter(|_| ledger.has_newer_on_devices(address, size))
            };
            let Some(Some(end)) = TRACKER.try_with(mapped) else { return };
            let size = size.min(end - address);
            pages::open(address, size);
            let Some(now) = contents::read(address, size) else { return };
            TRACKER.try_with(|tracker| {
                if let Some(access) = tracker.ledger.host_reads(address, &now) {
                    let place = tracker.places.code(caller());
                    tracker.note(Mistake::HostReads, access.key, access.stale, place);
                }
            });
        }
        _ => {}
    }
}
