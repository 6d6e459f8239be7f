//! Data constructs: `data`, `host_data`, `enter data`, `exit data`, `update`, `declare`, and `wait`.

use super::kinds::Construct;
use super::variadic::List;
use crate::abi::{kind, openacc_flags};
use crate::libgomp::Libgomp;
use crate::structured::Structured;
use crate::table::Table;
use gangway_frontend::construct;
use gangway_frontend::guard::guard;
use gangway_frontend::state::routine;
use gangway_openacc::device_type::{DeviceType, NOVAL, SYNC};
use gangway_openacc::failure::mistake;
use gangway_openacc::present::acc_is_present;
use gangway_openacc::profiling::{self, ErrorCode, Event, Scope};
use gangway_openacc::thread::{self, Place};
use gangway_openacc::waits::{Wait, wait_clause};
use gangway_openacc::{data, device};
use gangway_runtime::{DataOperation, Device};
use std::cell::RefCell;

thread_local! {
    /// The `data` constructs that this thread is in.
    static OPEN: RefCell<Vec<Structured>> = const { RefCell::new(Vec::new()) };
}

/// The events of a construct for tools.
struct Events {
    start: Event,
    end: Event,
    construct: profiling::Construct,
}

const ENTER: Events = Events {
    start: Event::EnterDataStart,
    end: Event::EnterDataEnd,
    construct: profiling::Construct::EnterData,
};
const EXIT: Events = Events {
    start: Event::ExitDataStart,
    end: Event::ExitDataEnd,
    construct: profiling::Construct::ExitData,
};
const UPDATE: Events =
    Events { start: Event::UpdateStart, end: Event::UpdateEnd, construct: profiling::Construct::Update };

/// The device that a construct is for; `None` is the host.
fn device_for(place: Place, flags: i32, scope: &mut Scope) -> Option<&'static Device> {
    match place {
        Place::Device(device) if !openacc_flags::for_host(flags) => Some(device),
        _ => {
            scope.set_device_type(DeviceType::Host as i32);
            None
        }
    }
}

/// What the information output calls an operation.
fn title(operation: DataOperation) -> &'static str {
    match operation {
        DataOperation::Begin => "Entering OpenACC data region",
        DataOperation::End => "Exiting OpenACC data region",
        DataOperation::Update => "Updating data within the OpenACC data region",
    }
}

/// Performs a construct, or puts it into a queue.
fn perform(device: &'static Device, operation: DataOperation, table: &Table<'_>, asynchronous: i32) {
    let site = routine();
    let construct = construct::Construct::data(device, &site, title(operation), table);
    data::perform(construct, device, operation, table, asynchronous);
}

/// Begins structured data, or has addresses on the device given back (`host_data`).
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOACC_data_start(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
) {
    guard((), || {
        let current = device::current::<Libgomp>();
        let mut scope = device::scope(&current, SYNC);
        // SAFETY: the compiler's arrays live until the call returns.
        let table = unsafe { Table::new(Construct::Data, count, hosts, sizes, kinds) };
        let gives_addresses =
            |kind: &u16| matches!(*kind as u8, kind::USE_DEVICE_PTR | kind::USE_DEVICE_PTR_IF_PRESENT);
        let construct = if table.kinds().iter().any(gives_addresses) {
            profiling::Construct::HostData
        } else {
            profiling::Construct::Data
        };
        let mut span = scope.start(Event::EnterDataStart, construct, false);
        let device = device_for(current.place, flags, &mut scope);
        // Before the construct gives addresses back in the arrays.
        let structured = Structured::of(device, &table);
        if let Some(device) = device {
            perform(device, DataOperation::Begin, &table, SYNC);
        }
        thread::begin_structured();
        OPEN.with_borrow_mut(|open| open.push(structured));
        scope.end(Event::EnterDataEnd, &mut span);
    });
}

/// Ends the structured data that was begun last.
pub extern "C" fn GOACC_data_end() {
    guard((), || {
        let Some(structured) = OPEN.with_borrow_mut(Vec::pop) else { return };
        let current = device::current::<Libgomp>();
        let mut scope = device::scope(&current, SYNC);
        let mut span = scope.start(Event::ExitDataStart, profiling::Construct::Data, false);
        if let Some(device) = structured.device {
            perform(device, DataOperation::End, &structured.table(Construct::EndOfData), SYNC);
        }
        structured.recycle();
        thread::end_structured();
        scope.end(Event::ExitDataEnd, &mut span);
    });
}

/// A construct that need not be waited for.
struct Unstructured {
    flags: i32,
    operation: DataOperation,
    asynchronous: i32,
}

impl Unstructured {
    fn run(&self, events: &Events, table: &Table<'_>, waits: u32, mut list: List) {
        let &Self { flags, operation, asynchronous } = self;
        let current = device::current::<Libgomp>();
        let mut scope = device::scope(&current, asynchronous);
        let mut span = scope.start(events.start, events.construct, false);
        if let Some(device) = device_for(current.place, flags, &mut scope) {
            wait_clause(device, asynchronous, list.numbers(waits));
            perform(device, operation, table, asynchronous);
        }
        scope.end(events.end, &mut span);
    }
}

/// Begins dynamic data. Behind the named arguments comes a list: the queues to wait for.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted. `list` has the address of
/// the number of waits, and of those.
pub unsafe extern "C" fn GOACC_enter_data(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
    asynchronous: i32,
    list: *const u64,
) {
    guard((), || {
        // SAFETY: the caller's promise; the compiler's arrays live until the call returns.
        let (table, mut list) =
            unsafe { (Table::new(Construct::Enter, count, hosts, sizes, kinds), List::at(list)) };
        let waits = list.number() as u32;
        Unstructured { flags, operation: DataOperation::Begin, asynchronous }
            .run(&ENTER, &table, waits, list);
    });
}

/// Ends dynamic data.
///
/// # Safety
/// As [`GOACC_enter_data`].
pub unsafe extern "C" fn GOACC_exit_data(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
    asynchronous: i32,
    list: *const u64,
) {
    guard((), || {
        // SAFETY: as there.
        let (table, mut list) =
            unsafe { (Table::new(Construct::Exit, count, hosts, sizes, kinds), List::at(list)) };
        let waits = list.number() as u32;
        Unstructured { flags, operation: DataOperation::End, asynchronous }.run(&EXIT, &table, waits, list);
    });
}

/// Begins or ends dynamic data, as the kinds of its items say: the form before GCC 12.
///
/// # Safety
/// As [`GOACC_enter_data`].
pub unsafe extern "C" fn GOACC_enter_exit_data(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
    asynchronous: i32,
    list: *const u64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let begins = count != 0 && begins(std::slice::from_raw_parts(kinds, count));
        let function = if begins { GOACC_enter_data } else { GOACC_exit_data };
        function(flags, count, hosts, sizes, kinds, asynchronous, list);
    }
}

/// Whether kinds are those of `enter data`: the first that is not in both says it.
fn begins(kinds: &[u16]) -> bool {
    let telling = |&&kind: &&u16| {
        !matches!(kind as u8, kind::POINTER | kind::TO_PSET | kind::STRUCT | kind::STRUCT_UNORD)
    };
    kinds.iter().find(telling).is_some_and(|&kind| {
        use kind::{ALLOC, ATTACH, FORCE_ALLOC, FORCE_PRESENT, FORCE_TO, TO};
        matches!(kind as u8, FORCE_ALLOC | FORCE_PRESENT | ATTACH | FORCE_TO | TO | ALLOC)
    })
}

/// Moves data of what is present.
///
/// # Safety
/// As [`GOACC_enter_data`].
pub unsafe extern "C" fn GOACC_update(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
    asynchronous: i32,
    list: *const u64,
) {
    guard((), || {
        // SAFETY: as there.
        let (table, mut list) =
            unsafe { (Table::new(Construct::Update, count, hosts, sizes, kinds), List::at(list)) };
        let waits = list.number() as u32;
        Unstructured { flags, operation: DataOperation::Update, asynchronous }
            .run(&UPDATE, &table, waits, list);
    });
}

/// Variables of a `declare` directive come, or go.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOACC_declare(
    flags: i32,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
) {
    guard((), || {
        for index in 0..count {
            // SAFETY: the caller's promise.
            unsafe { declare(flags, hosts.add(index), sizes.add(index), kinds.add(index)) };
        }
    });
}

/// # Safety
/// The pointers are to an item of [`GOACC_declare`]'s.
unsafe fn declare(flags: i32, host: *mut usize, size: *const usize, kind: *const u16) {
    // SAFETY: the caller's promise.
    let (address, bytes, encoding) = unsafe { (*host, *size, *kind as u8) };
    let is_present = || acc_is_present::<Libgomp>(address as *mut _, bytes) != 0;
    let function = match encoding {
        kind::POINTER | kind::TO_PSET | kind::FORCE_DEVICEPTR => return,
        kind::ALLOC if is_present() => return,
        kind::ALLOC | kind::FORCE_ALLOC | kind::TO | kind::FORCE_TO => GOACC_enter_data,
        kind::FROM | kind::FORCE_FROM | kind::RELEASE | kind::DELETE => GOACC_exit_data,
        kind::FORCE_PRESENT if is_present() => return,
        kind::FORCE_PRESENT => mistake(
            ErrorCode::NotPresent,
            format_args!(
                "declare present: [{address:#x},{bytes}] is not mapped\n  help: make it present before"
            ),
        ),
        unknown => mistake(
            ErrorCode::Other,
            format_args!(
                "a declare directive has an item of kind {unknown:#04x} of libgomp's interface, which GCC 12 has none of"
            ),
        ),
    };
    let no_waits = 0_u64;
    // SAFETY: as above; the list says that it has nothing to wait for.
    unsafe { function(flags, 1, host, size, kind, SYNC, &raw const no_waits) };
}

/// The `wait` directive: for queues that are listed, or for all. Four of them are in registers.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOACC_wait(
    asynchronous: i32,
    waits: i32,
    first: u64,
    second: u64,
    third: u64,
    fourth: u64,
    list: *const u64,
) {
    guard((), || {
        let count = usize::try_from(waits).unwrap_or(0);
        let registers = [first, second, third, fourth].map(|word| word as i32);
        let mut numbers = registers[..count.min(4)].to_vec();
        // SAFETY: the caller's promise.
        let mut list = unsafe { List::at(list) };
        numbers.extend(list.numbers(u32::try_from(count.saturating_sub(4)).unwrap_or(0)));
        let is_for_all = numbers.is_empty() || numbers.contains(&NOVAL);
        let queues = (!is_for_all).then_some(&numbers[..]);
        let construct = profiling::Construct::Wait;
        Wait { asynchronous, device: None, queues, construct }.run::<Libgomp>();
    });
}

/// What programs of before GCC 6 ask on the host.
pub extern "C" fn GOACC_get_num_threads() -> i32 {
    1
}

/// As [`GOACC_get_num_threads`].
pub extern "C" fn GOACC_get_thread_num() -> i32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_say_whether_data_begins() {
        let begins = |kinds: &[u8]| begins(&kinds.iter().map(|&kind| kind.into()).collect::<Vec<_>>());
        assert!(begins(&[kind::TO]) && begins(&[kind::STRUCT, kind::POINTER, kind::ATTACH]));
        assert!(!begins(&[kind::FROM]) && !begins(&[kind::TO_PSET, kind::RELEASE, kind::TO]));
        assert!(!begins(&[]) && !begins(&[kind::POINTER]));
    }
}
