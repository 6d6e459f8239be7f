//! Data routines (OpenACC 3.3 sections 3.2.18 to 3.2.20, 3.2.29). They count dynamically.
//!
//! Null is nothing that could be given up or copied, and cannot be made present. No bytes cannot be made present, either,
//! and give nothing up; since OpenACC 3.2 no bytes at null are no mistake.

use crate::datum::Datum;
use crate::device;
use crate::device_type::SYNC;
use crate::failure::{done, mistake};
use crate::present::{Found, find};
use crate::profiling::ErrorCode;
use crate::queues;
use crate::thread::{self, Current, Place};
use gangway_frontend::construct::{Construct, UnderWay};
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, OPENACC_3_3};
use gangway_frontend::state::routine;
use gangway_runtime::{DataOperation, Device, Items, MapKind, memory};
use std::ffi::c_void;

/// Performs a construct that moves data, or puts it into a queue.
pub fn perform(
    construct: Construct,
    device: &'static Device,
    operation: DataOperation,
    items: &impl Items,
    asynchronous: i32,
) {
    let issued = match queues::get(device, asynchronous) {
        None => construct.perform(device, operation, items),
        Some(queue) => construct.perform_in(&queue, operation, items),
    };
    done(issued.and_then(UnderWay::complete));
}

/// The same for the one item of a routine.
pub(crate) fn move_datum(
    device: &'static Device,
    asynchronous: i32,
    operation: DataOperation,
    datum: &Datum,
) {
    perform(Construct::untold(&routine()), device, operation, datum, asynchronous);
}

/// Where a range is mapped that begins before or ends behind it, for messages.
fn around(device: &'static Device, host: usize, size: usize) -> String {
    match find(device, host, size) {
        Found::Part(mapped) | Found::Whole(mapped) => format!("[{:#x},+{}]", mapped.begin, mapped.size),
        Found::Nothing => "nothing".to_owned(),
    }
}

/// Makes a range present, unless it is; answers where it is on the device.
fn enter<H: Host>(
    name: &str,
    host: *mut c_void,
    size: usize,
    kind: MapKind,
    asynchronous: i32,
) -> *mut c_void {
    if host.is_null() && size == 0 && H::OPENACC >= OPENACC_3_3 {
        return host;
    }
    if host.is_null() || size == 0 {
        let code = if size == 0 { ErrorCode::InvalidDataSection } else { ErrorCode::InvalidNullPointer };
        mistake(code, format_args!("{name}: [{host:p},+{size}] is a bad range"));
    }
    let current = device::current::<H>();
    let Place::Device(device) = current.place else { return host };
    let _scope = device::scope(&current, asynchronous);
    if matches!(find(device, host.addr(), size), Found::Part(_)) {
        mistake(
            ErrorCode::PartlyPresent,
            format_args!(
                "{name}: [{host:p},+{size}] not mapped as a whole: the device has {}\n  \
                 help: map all of it at first, or end that mapping before",
                around(device, host.addr(), size)
            ),
        );
    }
    move_datum(device, asynchronous, DataOperation::Begin, &Datum::new(host.addr(), size, kind));
    memory::mapped_address(device, host.addr())
        .map_or(std::ptr::null_mut(), |address| address.0 as *mut c_void)
}

/// The thread's device, if the program has used any before: there is data on it.
fn used() -> Option<(Current, &'static Device)> {
    let current = thread::current().or_else(device::if_started)?;
    Some((current, current.place.device()?))
}

/// Gives a reference to a range up, or all of them; what is not present is left alone.
fn exit<H: Host>(name: &str, host: *mut c_void, size: usize, kind: MapKind, asynchronous: i32) {
    // libgomp finds what is around the address.
    if size == 0 && H::OPENACC >= OPENACC_3_3 {
        return;
    }
    let Some((current, device)) = used() else { return };
    let _scope = device::scope(&current, asynchronous);
    match find(device, host.addr(), size) {
        Found::Nothing => {}
        Found::Part(mapped) => mistake(
            ErrorCode::PartlyPresent,
            format_args!(
                "{name}: [{host:p},+{size}] outside mapped block [{:#x},+{}]\n  \
                 help: give a range that is inside of what has been mapped",
                mapped.begin, mapped.size
            ),
        ),
        Found::Whole(_) => {
            move_datum(device, asynchronous, DataOperation::End, &Datum::new(host.addr(), size, kind));
        }
    }
}

/// Copies a range that is present.
fn update<H: Host>(name: &str, host: *mut c_void, size: usize, kind: MapKind, asynchronous: i32) {
    let current = device::current::<H>();
    let Place::Device(device) = current.place else { return };
    // Null: an optional argument of Fortran's that is not there.
    if host.is_null() {
        return;
    }
    let _scope = device::scope(&current, asynchronous);
    let code = match find(device, host.addr(), size) {
        Found::Whole(_) => None,
        Found::Part(_) => Some(ErrorCode::PartlyPresent),
        Found::Nothing => Some(ErrorCode::NotPresent),
    };
    if let Some(code) = code {
        mistake(
            code,
            format_args!(
                "{name}: [{host:p},{size}] is not mapped\n  help: make it present before, as with acc_copyin"
            ),
        );
    }
    move_datum(device, asynchronous, DataOperation::Update, &Datum::new(host.addr(), size, kind));
}

/// The pointer at an address, which is on the device. `None`: it is not, which only libgomp takes for a mistake.
///
/// # Safety
/// The address is null or a pointer's.
unsafe fn pointer_of<H: Host>(
    name: &str,
    device: &'static Device,
    address: *mut *mut c_void,
) -> Option<usize> {
    if !matches!(find(device, address.addr(), size_of::<usize>()), Found::Whole(_)) {
        if H::OPENACC >= OPENACC_3_3 {
            return None;
        }
        mistake(
            ErrorCode::NotPresent,
            format_args!("struct not mapped for {name}: the pointer at {address:p} is not on the device"),
        );
    }
    // SAFETY: it is mapped, so it is memory of the program's.
    Some(unsafe { *address }.addr())
}

/// A routine was given no address of a pointer.
fn check_address<H: Host>(name: &str, address: *mut *mut c_void) {
    if address.is_null() && H::OPENACC >= OPENACC_3_3 {
        mistake(
            ErrorCode::InvalidNullPointer,
            format_args!(
                "{name}: a null pointer is no address of a pointer\n  help: give the address of the pointer"
            ),
        );
    }
}

/// # Safety
/// The address is null or a pointer's.
unsafe fn attach<H: Host>(address: *mut *mut c_void, asynchronous: i32) {
    check_address::<H>("acc_attach", address);
    let Some((_, device)) = used() else { return };
    // SAFETY: the caller's promise.
    let Some(target) = (unsafe { pointer_of::<H>("acc_attach", device, address) }) else { return };
    if target == 0 || matches!(find(device, target, 1), Found::Nothing) {
        // There is nothing to be done (section 2.7.2).
        if H::OPENACC >= OPENACC_3_3 {
            return;
        }
        if target == 0 {
            mistake(
                ErrorCode::InvalidNullPointer,
                format_args!("acc_attach: attempt to attach null pointer, which is at {address:p}"),
            );
        }
        mistake(
            ErrorCode::NotPresent,
            format_args!(
                "acc_attach: pointer target not mapped for attach: {target:#x}, of the pointer at {address:p}"
            ),
        );
    }
    let kind = MapKind::ATTACH | MapKind::COUNTED | MapKind::PRESENT;
    let datum = Datum::pointer(address.addr(), target, kind);
    move_datum(device, asynchronous, DataOperation::Begin, &datum);
}

/// # Safety
/// The address is null or a pointer's.
unsafe fn detach<H: Host>(name: &str, address: *mut *mut c_void, kind: MapKind, asynchronous: i32) {
    check_address::<H>(name, address);
    let Some((_, device)) = used() else { return };
    // SAFETY: the caller's promise.
    let Some(target) = (unsafe { pointer_of::<H>(name, device, address) }) else { return };
    // One that is not attached is left alone (section 2.7.2); libgomp takes it for a mistake.
    let kind = if H::OPENACC < OPENACC_3_3 { kind | MapKind::COUNTED } else { kind };
    move_datum(device, asynchronous, DataOperation::End, &Datum::pointer(address.addr(), target, kind));
}

/// Routines for a range, each with its asynchronous form.
macro_rules! routines {
    ($(#[$text:meta] $name:ident, $asynchronous:ident: $body:ident $(::<$host:ident>)?($kind:expr) $(-> $result:ty)?;)*) => {$(
        #[$text]
        pub extern "C" fn $name<H: Host>(host: *mut c_void, size: usize) $(-> $result)? {
            guard(routines!(@failed $($result)?), || {
                $body $(::<$host>)?(stringify!($name), host, size, $kind, SYNC)
            })
        }

        #[doc = concat!("As [`", stringify!($name), "`], in a queue.")]
        pub extern "C" fn $asynchronous<H: Host>(host: *mut c_void, size: usize, asynchronous: i32) {
            guard((), || {
                let _ = $body $(::<$host>)?(stringify!($asynchronous), host, size, $kind, asynchronous);
            });
        }
    )*};
    (@failed) => { () };
    (@failed $result:ty) => { std::ptr::null_mut() };
}

routines! {
    /// Makes a range present without copying.
    acc_create, acc_create_async: enter::<H>(MapKind::ALLOC) -> *mut c_void;
    /// Makes a range present, with a copy if it was not.
    acc_copyin, acc_copyin_async: enter::<H>(MapKind::TO) -> *mut c_void;
    /// Gives a reference up.
    acc_delete, acc_delete_async: exit::<H>(MapKind::ALLOC);
    /// Gives all dynamic references up.
    acc_delete_finalize, acc_delete_finalize_async: exit::<H>(MapKind::DELETE);
    /// Gives a reference up, and copies back if it was the last.
    acc_copyout, acc_copyout_async: exit::<H>(MapKind::FROM);
    /// Gives all dynamic references up, and copies back if there are no others.
    acc_copyout_finalize, acc_copyout_finalize_async: exit::<H>(MapKind::FROM | MapKind::DELETE);
    /// Copies to the device.
    acc_update_device, acc_update_device_async: update::<H>(MapKind::TO | MapKind::PRESENT);
    /// Copies from the device.
    acc_update_self, acc_update_self_async: update::<H>(MapKind::FROM | MapKind::PRESENT);
}

/// Routines for a pointer, each with its asynchronous form.
macro_rules! pointer_routines {
    ($(#[$text:meta] $name:ident, $asynchronous:ident: $body:ident($($argument:expr),*);)*) => {$(
        #[$text]
        ///
        /// # Safety
        /// The address is null or a pointer's.
        pub unsafe extern "C" fn $name<H: Host>(address: *mut *mut c_void) {
            // SAFETY: the caller's promise.
            unsafe { $asynchronous::<H>(address, SYNC) };
        }

        #[doc = concat!("As [`", stringify!($name), "`], in a queue.")]
        ///
        /// # Safety
        /// As there.
        pub unsafe extern "C" fn $asynchronous<H: Host>(address: *mut *mut c_void, asynchronous: i32) {
            // SAFETY: the caller's promise.
            guard((), || unsafe { pointer_routines!(@call $body(address, asynchronous) $($argument),*) });
        }
    )*};
    (@call attach($address:expr, $queue:expr)) => { attach::<H>($address, $queue) };
    (@call detach($address:expr, $queue:expr) $name:expr, $kind:expr) => {
        detach::<H>($name, $address, $kind, $queue)
    };
}

pointer_routines! {
    /// Has a pointer on the device point to what the host's points to.
    acc_attach, acc_attach_async: attach();
    /// Undoes an attachment, when it is the last.
    acc_detach, acc_detach_async: detach("acc_detach", MapKind::DETACH);
    /// Undoes all attachments of a pointer.
    acc_detach_finalize, acc_detach_finalize_async:
        detach("acc_detach", MapKind::DETACH | MapKind::DELETE);
}

/// Older names, which mean the same.
pub use {
    acc_copyin as acc_pcopyin, acc_copyin as acc_present_or_copyin, acc_create as acc_pcreate,
    acc_create as acc_present_or_create,
};
