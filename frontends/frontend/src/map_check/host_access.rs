//! What the C library does with the host's memory, as `libgangway-host-access.so` tells it (`tools/host-access`).

use super::tracker::{Mistake, TRACKER};
use super::{accesses, contents, pages};
use std::ffi::c_void;

/// As the library has it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read = 0,
    Write = 1,
    Free = 2,
}

type Listener = extern "C" fn(*const c_void, usize, Access);

/// Listens, if the library is in this process: `gangway run` puts it there.
pub fn listen() {
    // SAFETY: a name with a null behind it.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gangway_listen_to_host_access".as_ptr()) };
    if !found.is_null() {
        // SAFETY: the library's function of that name has this type.
        unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(Listener)>(found)(hear) };
    }
}

extern "C" fn hear(address: *const c_void, size: usize, access: Access) {
    // The runtime's own memory is allocated and freed with the locks held, too.
    if !pages::any() && !accesses::are_told() || pages::are_mine() {
        return;
    }
    let address = address.addr();
    match access {
        Access::Free => {
            pages::release(address, size);
            TRACKER.try_with(|tracker| tracker.ledger.free(address, size));
        }
        // How much is written shows later, in the contents.
        Access::Write => pages::open(address, size),
        Access::Read => {
            let is_newer =
                |tracker: &mut super::tracker::Tracker| tracker.ledger.has_newer_on_devices(address, size);
            if TRACKER.try_with(is_newer) != Some(true) {
                return;
            }
            pages::open(address, size);
            let Some(now) = contents::read(address, size) else { return };
            TRACKER.try_with(|tracker| {
                if let Some(access) = tracker.ledger.host_reads(address, &now) {
                    tracker.note(Mistake::HostReads, access.key, access.stale, 0);
                }
            });
        }
    }
}
