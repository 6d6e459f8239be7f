//! The end of a device's use (OpenACC 3.3 section 3.2.8).

use crate::data::move_datum;
use crate::datum::Datum;
use crate::device::{active_numbers, check_known, deactivate, if_started, place_of, resolved};
use crate::device_type::{CURRENT, DeviceType, SYNC};
use crate::failure::mistake;
use crate::present::unmap_all;
use crate::profiling::{Construct, ErrorCode, Event, Scope};
use crate::queues;
use crate::thread;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_runtime::{DataOperation, Device, MapKind};

/// Ends the use of a type's devices: their queues are waited for, their data is given up, and
/// memory that is kept for later goes back to the driver. Their images stay, with what variables on
/// the device hold.
pub extern "C" fn acc_shutdown<H: Host>(wanted: i32) {
    guard((), || shut_down::<H>(None, wanted, true));
}

/// As [`acc_shutdown`], for the device of a number.
pub extern "C" fn acc_shutdown_device<H: Host>(number: i32, wanted: i32) {
    guard((), || shut_down::<H>(Some(number), wanted, false));
}

/// As [`acc_shutdown`] without a word where no device has been started: the directive.
pub fn shut_down_if_started<H: Host>(wanted: i32) {
    shut_down::<H>(None, wanted, false);
}

/// Ends the use of devices. libgomp's `acc_shutdown` insists on one that has been started.
fn shut_down<H: Host>(number: Option<i32>, wanted: i32, insists: bool) {
    check_known::<H>(wanted);
    if wanted == CURRENT && thread::own().or_else(if_started).is_none() {
        return;
    }
    let device_type = resolved::<H>(wanted);
    if let Some(number) = number {
        place_of(device_type, number);
    }
    if thread::is_in_structured() {
        mistake(
            ErrorCode::DeviceShutdown,
            format_args!("shutdown in 'acc data' region\n  help: end the data construct before"),
        );
    }
    if thread::is_bound_to_host() {
        mistake(ErrorCode::DeviceShutdown, format_args!("shutdown during host fallback"));
    }
    let numbers: Vec<i32> = active_numbers(device_type)
        .into_iter()
        .filter(|active| number.is_none_or(|number| number == *active))
        .collect();
    if numbers.is_empty() && insists {
        mistake(
            ErrorCode::DeviceShutdown,
            format_args!(
                "no device initialized of type {}\n  help: acc_init comes before acc_shutdown",
                device_type.name()
            ),
        );
    }
    for number in numbers {
        end(device_type, number);
    }
}

/// Ends the use of one device, which tools are told.
fn end(device_type: DeviceType, number: i32) {
    let mut scope = Scope::apart(device_type as i32, number, SYNC);
    let mut span = scope.start(Event::DeviceShutdownStart, Construct::RuntimeApi, false);
    deactivate(device_type, number);
    if let Some(device) = place_of(device_type, number).device() {
        queues::remove_all(device);
        unmap_all(device);
        give_up_data(device);
        // Memory that is kept for later constructs. Other threads may be in some.
        device.trim();
    }
    thread::forget(device_type, number);
    scope.end(Event::DeviceShutdownEnd, &mut span);
}

/// Ends all mappings of a device's but those of variables.
fn give_up_data(device: &'static Device) {
    let mapped: Vec<(usize, usize)> = {
        let entries = device.table.entries();
        let counted =
            entries.iter().filter(|entry| entry.snapshot().is_some_and(|counts| !counts.is_infinite()));
        counted.map(|entry| (entry.host_begin(), entry.host_end() - entry.host_begin())).collect()
    };
    for (host, size) in mapped {
        for kind in [MapKind::DELETE, MapKind::DELETE | MapKind::HOLD] {
            let datum = Datum::new(host, size, kind);
            move_datum(device, SYNC, DataOperation::End, &datum);
        }
    }
}
