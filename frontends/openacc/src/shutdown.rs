//! The end of a device's use (OpenACC 3.3 section 3.2.8).

use crate::data::move_datum;
use crate::datum::Datum;
use crate::device::{deactivate, resolved};
use crate::device_type::{self, SYNC};
use crate::failure::mistake;
use crate::present::unmap_all;
use crate::queues;
use crate::thread;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_runtime::{DataOperation, Device, MapKind};

/// Ends the use of a type's devices: their queues are waited for, their data is given up, and
/// memory that is kept for later goes back to the driver. Their images stay, with what variables on
/// the device hold.
pub extern "C" fn acc_shutdown<H: Host>(wanted: i32) {
    guard((), || {
        if !device_type::is_known(wanted) {
            mistake(format_args!("unknown device type {wanted}"));
        }
        let device_type = resolved::<H>(wanted);
        if thread::is_in_structured() {
            mistake(format_args!("shutdown in 'acc data' region\n  help: end the data construct before"));
        }
        if thread::is_bound_to_host() {
            mistake(format_args!("shutdown during host fallback"));
        }
        if !deactivate(device_type) {
            mistake(format_args!(
                "no device initialized of type {}\n  help: acc_init comes before acc_shutdown",
                device_type.name()
            ));
        }
        for device in device_type.devices() {
            queues::remove_all(device);
            unmap_all(device);
            give_up_data(device);
            // Memory that is kept for later constructs. Other threads may be in some.
            device.trim();
        }
        thread::forget_all();
    });
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
