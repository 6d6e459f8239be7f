//! Properties of devices (OpenACC 3.3 section 3.2.6).

use crate::device::{self, check_known, place_of, resolved};
use crate::device_type::{self, DeviceType};
use crate::failure::done;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Host;
use gangway_runtime::Device;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

const MEMORY: i32 = 1;
const FREE_MEMORY: i32 = 2;
/// Not GCC's, whose library has it not.
const SHARED_MEMORY_SUPPORT: i32 = 3;
/// The bit of properties that are texts.
const TEXT: i32 = 0x1_0000;
const NAME: i32 = TEXT | 1;
const VENDOR: i32 = TEXT | 2;
const DRIVER: i32 = TEXT | 3;

/// What the host says of itself: name, vendor, driver.
static HOST: OnceLock<[&CStr; 3]> = OnceLock::new();
/// Texts that programs have been given, by device and property: they stay.
static TEXTS: Mutex<BTreeMap<(i32, i32), CString>> = Mutex::new(BTreeMap::new());

fn texts() -> MutexGuard<'static, BTreeMap<(i32, i32), CString>> {
    TEXTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    texts()
}

/// Sets what the host says of itself: the name, vendor and driver that the programs of a front end's
/// compiler know. The first call counts.
pub fn describe_host(name: &'static CStr, vendor: &'static CStr, driver: &'static CStr) {
    let _ = HOST.set([name, vendor, driver]);
}

/// The device that a routine asks about; `None` is the host.
fn device<H: Host>(number: i32, wanted: i32) -> Option<&'static Device> {
    let place = if wanted == device_type::CURRENT {
        device::current::<H>().place
    } else {
        check_known::<H>(wanted);
        let device_type = resolved::<H>(wanted);
        let place = place_of(device_type, if device_type == DeviceType::Host { 0 } else { number });
        device::open(place);
        place
    };
    place.device()
}

/// A number; 0 if the device does not say, or the property is a text.
pub extern "C" fn acc_get_property<H: Host>(number: i32, wanted: i32, property: i32) -> usize {
    guard(0, || {
        let Some(device) = device::<H>(number, wanted) else {
            return (property == SHARED_MEMORY_SUPPORT).into();
        };
        if property == SHARED_MEMORY_SUPPORT {
            return done(device.capabilities()).unified_memory.into();
        }
        let properties = done(gangway_runtime::properties(device));
        match (property, properties) {
            (MEMORY, Some(properties)) => properties.memory,
            (FREE_MEMORY, Some(properties)) => properties.free_memory,
            _ => 0,
        }
    })
}

/// A text; null if the device does not say, or the property is a number.
pub extern "C" fn acc_get_property_string<H: Host>(number: i32, wanted: i32, property: i32) -> *const c_char {
    guard(std::ptr::null(), || {
        let null = std::ptr::null();
        if property & TEXT == 0 {
            return null;
        }
        let Some(device) = device::<H>(number, wanted) else {
            let host = HOST.get_or_init(|| [c"host", c"Gangway", c"none"]);
            let index = usize::try_from(property - NAME).ok();
            return index.and_then(|index| host.get(index)).map_or(null, |text| text.as_ptr());
        };
        let Some(properties) = done(gangway_runtime::properties(device)) else { return null };
        let text = match property {
            NAME => properties.name,
            VENDOR => properties.vendor,
            DRIVER => properties.driver,
            _ => return null,
        };
        let kept = || CString::new(text).unwrap_or_default();
        texts().entry((device.number(), property)).or_insert_with(kept).as_ptr()
    })
}
