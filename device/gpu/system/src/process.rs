//! Functions of the C library that concern the process: its end, its environment, its time.

use crate::block::{ask, ask_with};
use crate::{device, string};
use core::ffi::{c_char, c_int, c_long, c_void};
use core::sync::atomic::{AtomicU32, Ordering};
use gangway_system::Operation;

/// Ends the process, after what it has written is out.
#[unsafe(no_mangle)]
pub extern "C" fn exit(status: c_int) -> ! {
    ask(Operation::Exit, status as u64, 0);
    device::trap()
}

/// Ends the process at once.
#[unsafe(no_mangle)]
pub extern "C" fn _Exit(status: c_int) -> ! {
    ask(Operation::Exit, status as u64, 1);
    device::trap()
}

/// A thread ends the program with a message already.
static ENDING: AtomicU32 = AtomicU32::new(0);

/// Lets the first thread of the device go on to say why the program ends. The others wait until it
/// has ended the kernel: a fault of theirs would do that before the message is out.
pub fn begin_to_end() {
    if ENDING.swap(1, Ordering::Relaxed) != 0 {
        loop {
            device::pause(u32::MAX);
        }
    }
}

/// The kernel faults, and the host reports where. The thread has begun to end the program.
#[inline(always)]
pub fn fault() -> ! {
    ask(Operation::Abort, 0, 0);
    device::trap()
}

/// Ends the program by a fault.
#[unsafe(no_mangle)]
pub extern "C" fn abort() -> ! {
    begin_to_end();
    fault()
}

/// The value stands in memory of the host's that the device sees, and stays there.
///
/// # Safety
/// The name ends with a null byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: as the caller says.
    let name = unsafe { string::bytes(name) };
    let address =
        ask_with(Operation::Environment, 0, 0, name.len(), |text| text.copy_from_slice(name), |_, _| ());
    core::ptr::with_exposed_provenance_mut(address.unwrap_or(0) as usize)
}

/// # Safety
/// `seconds` is null, or leads to a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn time(seconds: *mut c_long) -> c_long {
    let now = ask(Operation::Time, 0, 0).map_or(-1, u64::cast_signed);
    if !seconds.is_null() {
        // SAFETY: as the caller says.
        unsafe { seconds.write(now) };
    }
    now
}

#[unsafe(no_mangle)]
pub extern "C" fn clock() -> c_long {
    ask(Operation::Clock, 0, 0).map_or(-1, u64::cast_signed)
}

/// Calls a function of the host's by its address, with a copy of the data: LLVM's name for a host call
/// (`openmp/device`). `gangway_host_call` needs no address, and brings the data back.
///
/// # Safety
/// There are so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __llvm_omp_host_call(
    function: *const c_void,
    data: *const c_void,
    bytes: usize,
) -> u64 {
    // SAFETY: as the caller says.
    let data = unsafe { string::sized(data.cast(), bytes) };
    let fill = |block: &mut [u8]| block.copy_from_slice(data);
    ask_with(Operation::Call, function as u64, 0, bytes, fill, |_, _| ()).unwrap_or(u64::MAX)
}
