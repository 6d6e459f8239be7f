//! Libraries with device code come and go.

pub use crate::ending::{is_ending, is_failing};
use crate::host::Offload;
use crate::message::print_line;
use crate::state::RUNTIME;
use crate::{ending, information, policy, process};
use gangway_runtime::Registration;
use gangway_runtime::host_calls::calling_device;
use std::sync::atomic::{AtomicIsize, Ordering};

/// Libraries registered and not yet unregistered, by the program's account.
static REGISTERED: AtomicIsize = AtomicIsize::new(0);

/// Registers a library. With offloading disabled it is as if there were no devices: no
/// back end is even asked about its images.
pub fn register(mut registration: Registration) {
    if policy::offload() == Offload::Disabled {
        registration.images.clear();
    }
    REGISTERED.fetch_add(1, Ordering::AcqRel);
    ending::expect_unregistration();
    let strangers = RUNTIME.register(registration);
    strangers.iter().for_each(|image| warn_if_unreadable(image));
}

/// Unregisters the library with this key; called at exit or when a shared library is
/// closed.
pub fn unregister(key: usize) {
    let last = REGISTERED.fetch_sub(1, Ordering::AcqRel) == 1;
    if last {
        information::before_end();
    }
    if !ending::is_ending() {
        RUNTIME.unregister(key);
    } else if last && calling_device().is_none() {
        // Other threads may still be in target regions. A driver frees no memory before its kernels
        // have ended, and the one that has called this thread waits for it.
        RUNTIME.trim();
    }
    if last {
        process::finish();
    }
}

/// Ends what was begun without a library, unless there is one now. The runtime itself
/// stays usable: libraries may still be registered.
pub fn finish_without() {
    if REGISTERED.load(Ordering::Acquire) == 0 {
        process::finish();
    }
}

/// Makes the devices of all back ends available, images or not.
pub fn number_all_devices() {
    if policy::offload() != Offload::Disabled {
        RUNTIME.number_all_devices();
    }
}

/// Makes the devices available that would take such an image, though no library has brought
/// one.
pub fn number_devices_for(image: &[u8]) {
    if policy::offload() != Offload::Disabled {
        RUNTIME.number_devices_for(image);
    }
}

/// An image that is damaged is no reason to stop a program that can run on the
/// host, but none to keep quiet either.
fn warn_if_unreadable(image: &[u8]) {
    if let Err(error) = gangway_image::recognise(image) {
        print_line(format_args!(
            "gangway: warning: a device image of the program is damaged: {error}\n  \
             help: build the program again"
        ));
    }
}
