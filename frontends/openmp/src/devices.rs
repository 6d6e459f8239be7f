//! Device numbers and names (OpenMP 6.0 chapter 24, device information routines).

use gangway_frontend::devices::{count, numbered, ready, tell_without_devices};
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, Offload};
use gangway_frontend::policy;
use gangway_frontend::state::RUNTIME;
use gangway_runtime::events::Site;
use gangway_runtime::placement::{self, Place, Purpose};
use gangway_runtime::{Device, Error, ErrorKind, Items};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `omp_initial_device`.
const INITIAL_DEVICE: i32 = -1;

/// Number of devices; the host is not one of them.
pub extern "C" fn omp_get_num_devices<H: Host>() -> i32 {
    guard(0, || count::<H>() as i32)
}

/// Number of the device the caller runs on: the host's.
pub extern "C" fn omp_get_device_num<H: Host>() -> i32 {
    omp_get_initial_device::<H>()
}

/// Number of the host.
pub extern "C" fn omp_get_initial_device<H: Host>() -> i32 {
    omp_get_num_devices::<H>()
}

/// Where a construct is to run.
pub enum Destination<P = &'static Device> {
    /// On a device that is ready.
    Device(P),
    /// On the host; because of an error, if it was not asked for.
    Host(Option<Box<Error>>),
}

/// Resolves a construct's device number: -1 is the default device, the number of
/// devices is the host, and so is everything if there are no devices.
#[inline]
pub fn destination<H: Host>(number: i64, site: &Site) -> Destination {
    let offload = policy::offload();
    if offload == Offload::Disabled {
        return Destination::Host(None);
    }
    let number = if number == DEFAULT_DEVICE { H::default_device() } else { number };
    let count = numbered::<H>() as i64;
    if number == count || count == 0 {
        if count == 0 {
            without_devices::<H>(offload, site);
        }
        return Destination::Host(None);
    }
    match ready(number, site) {
        Ok(device) => Destination::Device(device),
        Err(error) => {
            policy::settle(&error, None, H::WORDS);
            Destination::Host(Some(error))
        }
    }
}

impl Destination {
    /// Where a construct runs that names no device, which is the default device here: on another
    /// one, if the user has asked for that (`GANGWAY_BALANCE`).
    #[inline]
    #[must_use]
    pub fn balanced<H: Host>(self, purpose: Purpose, site: &Site, items: &impl Items) -> Destination<Place> {
        match self {
            Self::Device(device) if placement::is_balancing() => chosen::<H>(device, purpose, site, items),
            itself => itself.as_it_is(),
        }
    }

    /// The place of a construct that says where it runs.
    #[inline]
    #[must_use]
    pub fn as_it_is(self) -> Destination<Place> {
        match self {
            Self::Device(device) => Destination::Device(device.into()),
            Self::Host(error) => Destination::Host(error),
        }
    }
}

/// The device that is chosen for a construct, in place of the default device.
#[cold]
pub fn chosen<H: Host>(
    default: &'static Device,
    purpose: Purpose,
    site: &Site,
    items: &impl Items,
) -> Destination<Place> {
    match RUNTIME.choose(default, purpose, site, items) {
        Ok(place) => Destination::Device(place),
        Err(error) => {
            policy::settle(&error, None, H::WORDS);
            Destination::Host(Some(error))
        }
    }
}

/// The program has no device: an error, or worth a word.
#[cold]
fn without_devices<H: Host>(offload: Offload, site: &Site) {
    if offload == Offload::Mandatory {
        policy::terminate(&RUNTIME.why_no_devices(site), H::WORDS);
    }
    tell_without_devices(site, H::WORDS);
}

/// What compilers pass for "the default device".
pub const DEFAULT_DEVICE: i64 = -1;

/// What a device number in a routine call means.
pub enum Named {
    /// The host, also in the place of a device whose regions it runs all.
    Host,
    /// A device that is ready.
    Device(&'static Device),
    /// No device, or one that cannot be used: the routine fails.
    Nothing,
}

/// Resolves a device number of a routine call.
#[must_use]
pub fn named<H: Host>(number: i32) -> Named {
    let number = without_default::<H>(number);
    if number == INITIAL_DEVICE || number == omp_get_initial_device::<H>() {
        return Named::Host;
    }
    match ready(i64::from(number), &Site::NONE) {
        Ok(device) => Named::Device(device),
        // OpenMP 6.0 section 10.5: what does not fulfil a `requires` clause is no device of the program.
        // The stock libraries do not count it, so that its number is the host's.
        Err(error) if matches!(error.kind, ErrorKind::LacksUnifiedMemory) => {
            policy::settle(&error, None, H::WORDS);
            Named::Host
        }
        Err(error) => {
            H::no_device(&error);
            Named::Nothing
        }
    }
}

/// The number of the default device, where a routine is given the number that stands for it.
fn without_default<H: Host>(number: i32) -> i32 {
    if H::DEFAULT_DEVICE == Some(number) { H::default_device() as i32 } else { number }
}

/// A string that identifies a device across runs. Null for an invalid number.
pub extern "C" fn omp_get_uid_from_device<H: Host>(device: i32) -> *const c_char {
    guard(std::ptr::null(), || {
        let device = without_default::<H>(device);
        if device == INITIAL_DEVICE || device == omp_get_initial_device::<H>() {
            return H::HOST_UID.as_ptr();
        }
        let found = usize::try_from(device).ok().and_then(|number| RUNTIME.device_unprepared(number));
        found.map_or(std::ptr::null(), |device| kept(device.number(), uid(device)))
    })
}

/// `omp_access_cgroup`: the memory that the threads of a team share.
const CONTENTION_GROUP: i32 = 0;

/// Bytes of memory that each group of threads of a device can share, for `groupprivate` variables. 0 for the
/// host, for devices without such memory, and for other groups than teams (OpenMP 6.1).
pub extern "C" fn omp_get_gprivate_limit<H: Host>(device: i32, group: i32) -> usize {
    guard(0, || {
        if group != CONTENTION_GROUP || device == INITIAL_DEVICE || device == omp_get_initial_device::<H>() {
            return 0;
        }
        let asked = ready(i64::from(device), &Site::NONE).and_then(gangway_runtime::properties);
        match asked {
            Ok(properties) => properties.map_or(0, |properties| properties.group_memory),
            Err(error) => policy::terminate(&error, H::WORDS),
        }
    })
}

/// The device a UID identifies; `omp_invalid_device` if there is none.
///
/// # Safety
/// `wanted` is null or a string.
pub unsafe extern "C" fn omp_get_device_from_uid<H: Host>(wanted: *const c_char) -> i32 {
    guard(H::INVALID_DEVICE, || {
        if wanted.is_null() {
            return H::INVALID_DEVICE;
        }
        // SAFETY: the caller's promise.
        let wanted = unsafe { CStr::from_ptr(wanted) };
        let count = omp_get_initial_device::<H>();
        if wanted == H::HOST_UID {
            return H::NUMBER_OF_HOST_UID.unwrap_or(count);
        }
        RUNTIME
            .devices()
            .take(count as usize)
            .find(|device| wanted.to_bytes() == uid(device).as_bytes())
            .map_or(H::INVALID_DEVICE, Device::number)
    })
}

fn uid(device: &Device) -> String {
    device.backend().unique_id(device.ordinal())
}

static KEPT: Mutex<BTreeMap<i32, CString>> = Mutex::new(BTreeMap::new());

fn locked() -> MutexGuard<'static, BTreeMap<i32, CString>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    locked()
}

/// Keeps a C string for as long as the process lives, one per device: the first.
fn kept(device: i32, text: String) -> *const c_char {
    locked().entry(device).or_insert_with(|| CString::new(text).unwrap_or_default()).as_ptr()
}
