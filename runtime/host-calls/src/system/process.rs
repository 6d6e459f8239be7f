//! The process that device code belongs to: its end, its environment, its time.

use super::messages::{refuse, say};
use super::{FAILED, streams};
use crate::device::CallingDevice;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// A thread of a device ends the process already.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Lets one caller go on to end the process; the others wait for that.
pub(super) fn begin_to_end() {
    if ENDING.swap(true, Ordering::AcqRel) {
        loop {
            std::thread::park();
        }
    }
}

/// Ends the process as `exit` does, by the one who began to.
pub(super) fn leave(status: libc::c_int) -> ! {
    // SAFETY: no lock of ours is held while a function of the host runs.
    unsafe { libc::exit(status) }
}

/// Ends the process: as `exit` does, or at once.
pub(super) fn exit(status: u64, at_once: u64) -> u64 {
    begin_to_end();
    let status = status as libc::c_int;
    // SAFETY: no lock of ours is held while a function of the host runs.
    unsafe {
        match at_once {
            0 => leave(status),
            _ => libc::_exit(status),
        }
    }
}

/// Says what is about to happen: the kernel faults next, and the runtime reports where.
pub(super) fn abort(device: i32) -> u64 {
    streams::flush_what_is_free();
    say(&format!("gangway: error: device {device}: code of a target region has called abort()\n"));
    0
}

/// Calls a function by its address, with that of the data. What is not in the program or in one of its
/// libraries is refused.
pub(super) fn call(function: u64, data: &mut [u8]) -> u64 {
    let address = std::ptr::with_exposed_provenance_mut::<libc::c_void>(function as usize);
    let mut found = std::mem::MaybeUninit::uninit();
    // SAFETY: any address may be asked for, and there is room for the answer.
    if unsafe { libc::dladdr(address, found.as_mut_ptr()) } == 0 {
        refuse(&format!("gangway: __llvm_omp_host_call: {function:#x} is no function of the host's"));
        return FAILED;
    }
    let data = if data.is_empty() { std::ptr::null_mut() } else { data.as_mut_ptr() };
    // SAFETY: the address is in a loaded object. That it is a function of this type says the program, which has
    // handed it to its device code for this.
    unsafe {
        let function: unsafe extern "C" fn(*mut u8) -> u64 = std::mem::transmute(address);
        function(data)
    }
}

/// Values of the environment that devices have asked for, by device and value: where the device
/// sees them. They stay, since a kernel may read one at any time.
static VALUES: Mutex<BTreeMap<(i32, CString), usize>> = Mutex::new(BTreeMap::new());

/// Where the device sees the value of a variable; 0 if there is none.
pub(super) fn environment(device: &dyn CallingDevice, name: &[u8]) -> u64 {
    let Ok(name) = CString::new(name) else { return 0 };
    // SAFETY: a name that ends with a null byte. Programs that change their environment meanwhile
    // do what C forbids on the host, too.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let value = unsafe { CStr::from_ptr(value) }.to_owned();
    let key = (device.number(), value);
    let known = VALUES.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    if let Some(address) = known {
        return address as u64;
    }
    let Some(opened) = device.opened() else { return 0 };
    let bytes = key.1.as_bytes_with_nul();
    let memory = match opened.allocate_visible(bytes.len()) {
        Ok(memory) => memory,
        Err(error) => {
            refuse(&format!("gangway: getenv in device code finds no memory for a value: {error}"));
            return 0;
        }
    };
    // SAFETY: so many bytes have been allocated.
    unsafe { memory.host.copy_from_nonoverlapping(std::ptr::NonNull::from(bytes).cast(), bytes.len()) };
    let faster = match VALUES.lock().unwrap_or_else(PoisonError::into_inner).entry(key) {
        Entry::Vacant(place) => return *place.insert(memory.device.0) as u64,
        Entry::Occupied(place) => *place.get(),
    };
    // Another thread has been faster; its memory serves as well.
    // SAFETY: nobody has seen this one.
    if let Err(error) = unsafe { opened.deallocate_visible(memory) } {
        refuse(&format!("gangway: getenv in device code cannot give memory back: {error}"));
    }
    faster as u64
}

/// Seconds since 1970.
pub(super) fn time() -> u64 {
    // SAFETY: null is allowed.
    unsafe { libc::time(std::ptr::null_mut()) }.cast_unsigned()
}

/// The processor's time that the process has used.
pub(super) fn clock() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the variable is the call's.
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) } != 0 {
        return FAILED;
    }
    // As `CLOCKS_PER_SEC` says.
    (time.tv_sec * 1_000_000 + time.tv_nsec / 1_000).cast_unsigned()
}
