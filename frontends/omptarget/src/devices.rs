//! Device numbers that only this ABI has, and what a device is.

use crate::front_end::start;
use crate::libomp::Libomp;
use crate::words::WORDS;
use gangway_frontend::devices::ready;
use gangway_frontend::guard::guard;
use gangway_frontend::policy;
use gangway_frontend::state::RUNTIME;
use gangway_openmp::devices::{self, DEFAULT_DEVICE, Destination};
use gangway_runtime::events::Site;
use gangway_runtime::placement::{Place, Purpose};
use gangway_runtime::{Device, Items};

/// Where a construct with this device number runs.
#[inline]
pub(crate) fn destination(
    number: i64,
    purpose: Purpose,
    site: &Site,
    items: &impl Items,
) -> Destination<Place> {
    let destination = devices::destination::<Libomp>(number, site);
    if number == DEFAULT_DEVICE {
        destination.balanced::<Libomp>(purpose, site, items)
    } else {
        destination.as_it_is()
    }
}

/// Numbers of the devices that a special device number stands for: all, or those
/// in use. `None` for ordinary numbers.
#[inline]
#[must_use]
pub fn several(number: i64) -> Option<Vec<i64>> {
    if number != ALL_DEVICES && number != USED_DEVICES {
        return None;
    }
    let used = |device: &&Device| number == ALL_DEVICES || device.is_open();
    let devices = RUNTIME.devices();
    Some(devices.filter(used).map(|device| i64::from(device.number())).collect())
}

/// What compilers pass for an action on every device (global constructors).
const ALL_DEVICES: i64 = -2;
/// What compilers pass for an action on every device in use (global destructors).
const USED_DEVICES: i64 = -3;

/// Prints what is known about a device. Returns 1, as the stock library.
pub extern "C" fn __tgt_print_device_info(device: i64) -> i32 {
    guard(0, || {
        start();
        let lines = ready(device, &Site::NONE).and_then(Device::describe);
        match lines {
            Ok(lines) => {
                for (key, value) in lines {
                    println!("    {key:<36} {value}");
                }
                1
            }
            Err(error) => policy::terminate(&error, WORDS),
        }
    })
}
