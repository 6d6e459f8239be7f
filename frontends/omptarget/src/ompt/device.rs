//! The life of devices: `device_initialize`, `device_load`, `device_finalize`.
//!
//! A device is initialised when it is first used (the stock library initialises
//! all of them when the first library with device code comes) and finalised when
//! the last such library goes, which at the process's end is before libomp ends
//! the tool.

use super::callbacks::callbacks;
use std::collections::BTreeMap;
use std::ffi::{CString, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A device that has been opened.
struct Known {
    /// What the tool is told it is; it may keep the pointer.
    architecture: &'static std::ffi::CStr,
    /// Whether the tool knows it as initialised.
    initialized: bool,
}

fn known() -> MutexGuard<'static, BTreeMap<i32, Known>> {
    static KNOWN: Mutex<BTreeMap<i32, Known>> = Mutex::new(BTreeMap::new());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    known()
}

/// A device has been opened.
pub fn initialize(number: i32, architecture: &str) {
    let architecture = CString::new(architecture).unwrap_or_default();
    // Leaked: one small string per device and process.
    let architecture = Box::leak(architecture.into_boxed_c_str());
    // Two threads may open a device; the tool hears of one.
    known().entry(number).or_insert(Known { architecture, initialized: false });
    ensure_initialized(number);
}

/// Tells of a device again that was finalised and is used once more: a program
/// may open another library with device code after closing the last.
pub fn ensure_initialized(number: i32) {
    let architecture = {
        let mut known = known();
        let Some(device) = known.get_mut(&number) else { return };
        if std::mem::replace(&mut device.initialized, true) {
            return;
        }
        device.architecture
    };
    let Some(callbacks) = callbacks() else { return };
    if let Some(callback) = callbacks.device_initialize {
        // The handle is opaque, and there is no tracing interface to use it with:
        // any address that is the device's own will do.
        let handle = architecture.as_ptr().cast_mut().cast::<c_void>();
        // SAFETY: the tool's callback with what its type says.
        unsafe {
            callback(number, architecture.as_ptr(), handle, Some(callbacks.lookup), std::ptr::null());
        }
    }
}

/// An image has been loaded.
pub fn load(number: i32, image: &[u8]) {
    static MODULES: AtomicU64 = AtomicU64::new(0);
    let Some(callback) = callbacks().and_then(|callbacks| callbacks.device_load) else { return };
    let module = MODULES.fetch_add(1, Ordering::Relaxed);
    let (nowhere, host) = (std::ptr::null_mut(), image.as_ptr().cast_mut().cast());
    // SAFETY: the tool's callback with what its type says. The image is in no file
    // of its own, and has no one address on the device.
    unsafe { callback(number, std::ptr::null(), 0, nowhere, image.len(), host, nowhere, module) };
}

/// Tells that devices are at their end: the last library with device code is gone.
pub fn finalize_all() {
    let Some(callback) = callbacks().and_then(|callbacks| callbacks.device_finalize) else { return };
    let live: Vec<i32> = known()
        .iter_mut()
        .filter_map(|(&number, device)| std::mem::take(&mut device.initialized).then_some(number))
        .collect();
    for number in live {
        // SAFETY: the tool's callback with what its type says.
        unsafe { callback(number) };
    }
}
