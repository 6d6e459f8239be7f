//! Which device: start, type and number (OpenACC 3.3 sections 3.2.1 to 3.2.5, 3.2.7, 3.2.15, 4.1, 4.2).

use crate::debug;
use crate::device_type::{self, DeviceType};
use crate::failure::{done, mistake};
use crate::profiling::{self, Construct, ErrorCode, Event, Scope};
use crate::thread::{self, Current, Place};
use crate::words::OpenAcc;
use gangway_frontend::devices;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, OPENACC_3_3};
use gangway_frontend::state::routine;
use gangway_runtime::queue;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The type that threads get which have not chosen one; 0 before the first use of a device.
static DEFAULT_TYPE: AtomicI32 = AtomicI32::new(0);
/// The number that threads get; -1 until `ACC_DEVICE_NUM` has been read.
static DEFAULT_NUMBER: AtomicI32 = AtomicI32::new(-1);
/// The devices that have been started and not been shut down.
static ACTIVE: Mutex<BTreeSet<(DeviceType, i32)>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// The thread is starting a device.
    static STARTING: Cell<bool> = const { Cell::new(false) };
}

fn active() -> MutexGuard<'static, BTreeSet<(DeviceType, i32)>> {
    ACTIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub fn hold() -> impl Sized + 'static {
    active()
}

fn default_number() -> i32 {
    let known = DEFAULT_NUMBER.load(Ordering::Acquire);
    if known >= 0 {
        return known;
    }
    let text = std::env::var("ACC_DEVICE_NUM").unwrap_or_default();
    let number = text.trim().parse().ok().filter(|&number: &i32| number >= 0).unwrap_or(0);
    let _ = DEFAULT_NUMBER.compare_exchange(-1, number, Ordering::AcqRel, Ordering::Acquire);
    DEFAULT_NUMBER.load(Ordering::Acquire)
}

/// The number that threads get of a type: the program may have chosen one among other devices than the host.
fn default_number_of(device_type: DeviceType) -> i32 {
    if device_type == DeviceType::Host { 0 } else { default_number() }
}

/// The type in `ACC_DEVICE_TYPE`, and its text.
fn type_in_environment() -> Option<&'static (Option<DeviceType>, String)> {
    static KNOWN: OnceLock<Option<(Option<DeviceType>, String)>> = OnceLock::new();
    let read = || {
        let text = std::env::var("ACC_DEVICE_TYPE").ok().filter(|text| !text.is_empty())?;
        Some((DeviceType::from_name(text.trim()), text))
    };
    KNOWN.get_or_init(read).as_ref()
}

/// The program has named no type that there is.
#[cold]
fn unknown(number: i32) -> ! {
    mistake(
        ErrorCode::DeviceTypeUnavailable,
        format_args!("unknown device type {number}\n  help: openacc.h has the numbers of acc_device_t"),
    )
}

/// Ends the program where a number is no device type's.
pub(crate) fn check_known<H: Host>(number: i32) {
    let is_current = number == device_type::CURRENT && H::OPENACC >= OPENACC_3_3;
    if !is_current && !device_type::is_known(number) {
        unknown(number);
    }
}

/// The type that a number of the program's means.
///
/// # Errors
/// There is no such device: what the message says.
pub(crate) fn resolve<H: Host>(number: i32) -> Result<DeviceType, String> {
    // Numbers the devices, if no library has brought any.
    let devices = devices::count::<H>();
    let first = || DeviceType::ACCELERATORS.into_iter().find(|known| known.count() > 0);
    match number {
        device_type::CURRENT => Ok(current::<H>().device_type),
        device_type::DEFAULT => match type_in_environment() {
            Some((Some(known), _)) if known.count() > 0 => Ok(*known),
            Some((_, text)) => Err(format!("device type {text} not supported, which ACC_DEVICE_TYPE names")),
            None => Ok(first().unwrap_or_else(|| {
                // Of a processor's devices OpenACC has none: the host is that.
                if devices == 0 {
                    devices::tell_without_devices(&routine(), &OpenAcc);
                }
                DeviceType::Host
            })),
        },
        device_type::NOT_HOST => first().ok_or_else(|| "no device found that is not the host".to_owned()),
        _ => DeviceType::from_number(number)
            .filter(|known| *known == DeviceType::Host || known.count() > 0)
            .ok_or_else(|| format!("device type {} not supported", device_type::name_of(number))),
    }
}

/// As [`resolve`], where the program cannot go on without.
pub(crate) fn resolved<H: Host>(number: i32) -> DeviceType {
    resolve::<H>(number).unwrap_or_else(|why| {
        mistake(
            ErrorCode::DeviceTypeUnavailable,
            format_args!("{why}\n  help: `gangway info` lists the devices of this machine"),
        )
    })
}

#[cold]
fn out_of_range(device_type: DeviceType, number: i32) -> ! {
    let code = ErrorCode::DeviceUnavailable;
    match device_type.count() {
        0 => mistake(code, format_args!("no devices of type {} available", device_type.name())),
        1 => mistake(
            code,
            format_args!(
                "device {number} out of range: there is one of type {}, number 0",
                device_type.name()
            ),
        ),
        count => mistake(
            code,
            format_args!(
                "device {number} out of range: there are {count} of type {}, with numbers from 0",
                device_type.name()
            ),
        ),
    }
}

/// A device by type and number.
pub(crate) fn place_of(device_type: DeviceType, number: i32) -> Place {
    if device_type == DeviceType::Host {
        if number != 0 {
            out_of_range(device_type, number);
        }
        return Place::Host;
    }
    let index = usize::try_from(number).unwrap_or(usize::MAX);
    device_type.devices().nth(index).map_or_else(|| out_of_range(device_type, number), Place::Device)
}

/// Opens a device, and loads the program's images on it.
pub(crate) fn open(place: Place) {
    if let Place::Device(device) = place {
        done(devices::ready(device.number().into(), &routine()));
    }
}

/// Marks a device as started and opens it; false if it was before.
pub(crate) fn activate(device_type: DeviceType, number: i32) -> bool {
    let new = active().insert((device_type, number));
    if new {
        open(place_of(device_type, number));
    }
    new
}

/// The devices of a type that have been started.
pub(crate) fn active_numbers(device_type: DeviceType) -> Vec<i32> {
    active().iter().filter(|(of, _)| *of == device_type).map(|(_, number)| *number).collect()
}

/// Takes the mark of a device away.
pub(crate) fn deactivate(device_type: DeviceType, number: i32) {
    active().remove(&(device_type, number));
}

/// Has tools there before a device is started: they hear of that. (libgomp loads them when it is loaded itself.)
fn load_tools<H: Host>() {
    if H::OPENACC >= OPENACC_3_3 {
        profiling::load_tools::<H>();
    }
}

/// What starts a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// The first use.
    Use,
    /// `acc_init`, which libgomp refuses where the device has been started. Programs of clang are told so, too: the
    /// specification leaves it open, and tests of libgomp's want it.
    Routine,
    /// The directive, or a routine for one device.
    Again,
}

/// Starts a device of a type, which tools are told: that of a number, or the default one.
fn start<H: Host>(wanted: i32, number: Option<i32>, by: Start) -> DeviceType {
    struct Started;
    impl Drop for Started {
        fn drop(&mut self) {
            STARTING.set(false);
        }
    }
    debug::start();
    STARTING.set(true);
    let _started = Started;
    let number = number.unwrap_or_else(default_number);
    let mut scope = Scope::apart(wanted, number, crate::device_type::SYNC);
    let implicit = by == Start::Use;
    let parent = if implicit { Construct::Parallel } else { Construct::RuntimeApi };
    let mut span = scope.start(Event::DeviceInitStart, parent, implicit);
    let device_type = resolved::<H>(wanted);
    place_of(device_type, number);
    if !activate(device_type, number) && by == Start::Routine {
        mistake(
            ErrorCode::DeviceInit,
            format_args!(
                "device already active: {} device {number}\n  help: call acc_init once, before other uses",
                device_type.name()
            ),
        );
    }
    scope.end(Event::DeviceInitEnd, &mut span);
    device_type
}

/// Has the thread use a device of its type by number; -1 is the default one, if it has none.
fn attach(number: i32) {
    if thread::own().is_some_and(|own| number < 0 || own.number == number) {
        return;
    }
    let own = thread::own().map(|own| own.device_type);
    let device_type = own
        .or_else(|| DeviceType::from_number(DEFAULT_TYPE.load(Ordering::Acquire)))
        .unwrap_or(DeviceType::Host);
    let number = if number < 0 { default_number_of(device_type) } else { number };
    let place = place_of(device_type, number);
    activate(device_type, number);
    use_on_thread(Current { device_type, number, place });
}

/// Gives the thread its device. The program's own calls of CUDA go there, too.
fn use_on_thread(current: Current) {
    if let Place::Device(device) = current.place {
        done(queue::make_current(device));
    }
    thread::set(Some(current));
}

/// The device that the thread uses, which is started if it has to be.
#[inline]
#[must_use]
pub fn current<H: Host>() -> Current {
    let current = thread::current().unwrap_or_else(begin_to_use::<H>);
    if let Place::Device(device) = current.place
        && device.has_pending_images()
    {
        open(current.place);
    }
    current
}

#[cold]
fn begin_to_use<H: Host>() -> Current {
    load_tools::<H>();
    if DEFAULT_TYPE.load(Ordering::Acquire) == 0 {
        let found = start::<H>(device_type::DEFAULT, None, Start::Use);
        DEFAULT_TYPE.store(found as i32, Ordering::Release);
    }
    attach(-1);
    thread::current().unwrap_or(Current { device_type: DeviceType::Host, number: 0, place: Place::Host })
}

/// The device that the thread uses, or will, if the program uses any: a thread may wait for what
/// others have begun, and give up data of theirs.
#[must_use]
pub fn if_started() -> Option<Current> {
    if DEFAULT_TYPE.load(Ordering::Acquire) != 0 {
        attach(-1);
    }
    thread::current()
}

/// The scope of a routine or construct for tools.
#[inline]
#[must_use]
pub fn scope(current: &Current, asynchronous: i32) -> Scope {
    Scope::begin((current.device_type as i32, current.number), asynchronous)
}

/// The type to start: nothing is to be started only to find that it is the thread's.
fn current_or_default(wanted: i32) -> i32 {
    let is_started = || thread::own().or_else(if_started).is_some();
    if wanted == device_type::CURRENT && !is_started() { device_type::DEFAULT } else { wanted }
}

/// Starts a device, whose type is the thread's from then on.
pub extern "C" fn acc_init<H: Host>(wanted: i32) {
    guard((), || {
        check_known::<H>(wanted);
        load_tools::<H>();
        init::<H>(wanted, Start::Routine);
    });
}

/// As [`acc_init`] without a word where the device has been started: the directive.
pub fn init_again<H: Host>(wanted: i32) {
    check_known::<H>(wanted);
    load_tools::<H>();
    init::<H>(wanted, Start::Again);
}

fn init<H: Host>(wanted: i32, by: Start) {
    let found = start::<H>(current_or_default(wanted), None, by);
    // libgomp leaves a thread its device.
    if H::OPENACC >= OPENACC_3_3 {
        use_type("acc_init", found);
    } else {
        DEFAULT_TYPE.store(found as i32, Ordering::Release);
        attach(-1);
    }
}

/// As [`acc_init`], the device of a number, which is the thread's from then on.
pub extern "C" fn acc_init_device<H: Host>(number: i32, wanted: i32) {
    guard((), || {
        check_known::<H>(wanted);
        load_tools::<H>();
        let device_type = resolved::<H>(current_or_default(wanted));
        place_of(device_type, number);
        start::<H>(device_type as i32, Some(number), Start::Again);
        use_number(device_type, number);
    });
}

/// How many devices of a type there are.
pub extern "C" fn acc_get_num_devices<H: Host>(wanted: i32) -> i32 {
    guard(0, || {
        check_known::<H>(wanted);
        if wanted == device_type::NONE { 0 } else { resolve::<H>(wanted).map_or(0, DeviceType::count) }
    })
}

/// Has the thread, and later ones, use devices of a type.
pub extern "C" fn acc_set_device_type<H: Host>(wanted: i32) {
    guard((), || {
        check_known::<H>(wanted);
        load_tools::<H>();
        use_type("acc_set_device_type", resolved::<H>(wanted));
    });
}

/// Has the thread, and later ones, use devices of a type.
fn use_type(routine: &str, device_type: DeviceType) {
    DEFAULT_TYPE.store(device_type as i32, Ordering::Release);
    activate(device_type, default_number_of(device_type));
    if thread::own().is_some_and(|own| own.device_type != device_type) {
        if thread::is_in_structured() {
            mistake(
                ErrorCode::Other,
                format_args!(
                    "{routine} in 'acc data' region\n  \
                     help: end the data construct before the thread changes its device type"
                ),
            );
        }
        thread::set(None);
    }
    attach(-1);
}

/// Has the thread, and later ones, use a device.
fn use_number(device_type: DeviceType, number: i32) {
    let place = place_of(device_type, number);
    DEFAULT_TYPE.store(device_type as i32, Ordering::Release);
    activate(device_type, number);
    if thread::own().is_none_or(|own| own.device_type != device_type) {
        use_on_thread(Current { device_type, number, place });
    }
    attach(number);
    DEFAULT_NUMBER.store(number, Ordering::Release);
}

/// The type of the thread's device; none while it is started.
pub extern "C" fn acc_get_device_type<H: Host>() -> i32 {
    guard(device_type::NONE, || match thread::own() {
        Some(own) => own.device_type as i32,
        None if STARTING.get() => device_type::NONE,
        None => resolved::<H>(device_type::DEFAULT) as i32,
    })
}

/// Has the thread, and later ones, use the device of a number; of its own type, if that is 0.
pub extern "C" fn acc_set_device_num<H: Host>(number: i32, wanted: i32) {
    guard((), || {
        check_known::<H>(wanted);
        load_tools::<H>();
        let number = if number < 0 { default_number() } else { number };
        if wanted == device_type::NONE {
            let _ = current::<H>();
            attach(number);
            DEFAULT_NUMBER.store(number, Ordering::Release);
        } else {
            use_number(resolved::<H>(wanted), number);
        }
    });
}

/// The number of the thread's device, or the one that it would get.
pub extern "C" fn acc_get_device_num<H: Host>(wanted: i32) -> i32 {
    guard(0, || {
        check_known::<H>(wanted);
        let device_type = resolved::<H>(wanted);
        let own = thread::own().filter(|own| own.device_type == device_type);
        own.map_or_else(|| default_number_of(device_type), |own| own.number)
    })
}

/// Whether the caller, which the host runs, runs on a device of a type.
pub extern "C" fn acc_on_device(wanted: i32) -> i32 {
    i32::from(wanted == DeviceType::Host as i32 || wanted == device_type::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_where_this_runs() {
        assert_eq!([0, 1, 2, 4, 5, 8, -1].map(|wanted| acc_on_device(wanted)), [1, 0, 1, 0, 0, 0, 0]);
    }
}
