//! Target regions.

use crate::abi::{argument, device, flags};
use crate::arrays::Arrays;
use crate::construct::{Aim, Owned, keep_private_values, site};
use crate::debug;
use crate::libgomp::{Body, libgomp};
use crate::limits::Asked;
use crate::pending::Deferred;
use crate::private_arrays::{self, Private};
use crate::table::{Construct, Table};
use crate::tasks::{defer, is_alone, wait_for};
use crate::words::WORDS;
use gangway_frontend::construct::{self, UnderWay};
use gangway_frontend::devices::asked_for;
use gangway_frontend::guard::guard;
use gangway_frontend::host::Offload;
use gangway_frontend::policy::{self, settle};
use gangway_frontend::trace::ran_on_host;
use gangway_openmp::devices::Destination;
use gangway_runtime::events::Site;
use gangway_runtime::placement::{Place, Purpose};
use gangway_runtime::{Device, Error, ErrorKind, Result, Shape};
use std::ffi::c_void;

/// A region as the compiler passes it.
struct Region {
    device: i32,
    body: Body,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *mut u16,
    flags: u32,
    dependences: *mut *mut c_void,
    arguments: *const isize,
}

/// Runs a target region on a device, or on the host where that is meant or no device can.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOMP_target_ext(
    device: i32,
    body: Body,
    count: usize,
    hosts: *mut usize,
    sizes: *mut usize,
    kinds: *mut u16,
    flags: u32,
    dependences: *mut *mut c_void,
    arguments: *const isize,
) {
    let region = Region { device, body, count, hosts, sizes, kinds, flags, dependences, arguments };
    // SAFETY: the caller's promise.
    guard((), || unsafe { region.run() });
}

impl Region {
    /// # Safety
    /// The region is the compiler's.
    unsafe fn run(&self) {
        let site = site();
        let aim = match Aim::of(self.device, &site) {
            Ok(aim) => aim,
            Err(error) => {
                ran_on_host(self.body as usize, &site, error.as_deref());
                // SAFETY: the caller's promise.
                return unsafe { self.run_on_host() };
            }
        };
        let kinds = match self.count {
            0 => &[],
            // SAFETY: the compiler's arrays have so many elements.
            count => unsafe { std::slice::from_raw_parts(self.kinds, count) },
        };
        if private_arrays::are_there(kinds) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_with_private_arrays(aim, site, kinds) };
        }
        // SAFETY: the compiler's arrays live until the call returns.
        let arrays = unsafe { Arrays::new(self.count, self.hosts, self.sizes, self.kinds) };
        let table = arrays.table(Construct::Region);
        if self.flags & flags::NOWAIT != 0 {
            // SAFETY: the caller's promise.
            let deferred = unsafe { DeferredRegion::new(self, &table, aim, site) };
            // SAFETY: as above.
            if unsafe { defer(self.dependences, Box::new(deferred)) } {
                return;
            }
        }
        if self.dependences.is_null() {
            // SAFETY: the caller's promise.
            return unsafe { self.run_at(aim, site, &table) };
        }
        // SAFETY: the caller's promise; the values outlive the region.
        unsafe {
            let values = keep_private_values(&table);
            wait_for(self.dependences);
            self.run_at(aim, site, &table);
            drop(values);
        }
    }

    /// Runs the region when what it depends on has been done, and waits for it: its arrays have memory
    /// of the device until then.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[cold]
    #[inline(never)]
    unsafe fn run_with_private_arrays(&self, aim: Aim, site: Site, kinds: &[u16]) {
        let (device, host) = (aim.device(), self.body as usize);
        // SAFETY: the caller's promise; there is at least one item.
        let (hosts, sizes, shape) = unsafe {
            if !self.dependences.is_null() {
                wait_for(self.dependences);
            }
            let hosts = std::slice::from_raw_parts(self.hosts, self.count);
            (hosts, std::slice::from_raw_parts(self.sizes, self.count), asked(self.arguments).on(device))
        };
        // SAFETY: as above.
        let run = unsafe { Private::new(device, hosts, sizes, kinds) }.and_then(|mut private| {
            let (hosts, sizes, kinds) =
                (private.hosts.as_mut_ptr(), private.sizes.as_ptr(), private.kinds.as_ptr());
            // SAFETY: the arrays are those of the region, and last until it has ended.
            let arrays = unsafe { Arrays::new(self.count, hosts, sizes, kinds) };
            let table = arrays.table(Construct::Region);
            issue(device, device, site, host, &table, &shape).and_then(UnderWay::complete)
        });
        if let Err(error) = run {
            hand_to_host(&error, device);
            ran_on_host(host, &site, Some(&error));
            // SAFETY: the caller's promise.
            unsafe { self.run_on_host() };
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[inline]
    unsafe fn run_at(&self, aim: Aim, site: Site, table: &Table<'_>) {
        match aim.fixed() {
            // SAFETY: the caller's promise.
            Some(device) => unsafe { self.run_on(device, device, site, table) },
            // SAFETY: as above.
            None => unsafe { self.run_where_chosen(aim, site, table) },
        }
    }

    /// Runs the region on the device that is chosen by load. Apart, so that other launches have no part of it.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[cold]
    #[inline(never)]
    unsafe fn run_where_chosen(&self, aim: Aim, site: Site, table: &Table<'_>) {
        let host = self.body as usize;
        match aim.destination(Purpose::Region(host), &site, table) {
            // SAFETY: the caller's promise.
            Destination::Device(place) => unsafe { self.run_on(place.device(), place, site, table) },
            Destination::Host(error) => {
                ran_on_host(host, &site, error.as_deref());
                // SAFETY: the caller's promise.
                unsafe { self.run_on_host() };
            }
        }
    }

    /// # Safety
    /// As [`run`](Self::run).
    #[inline]
    unsafe fn run_on(&self, device: &'static Device, place: impl Into<Place>, site: Site, table: &Table<'_>) {
        let host = self.body as usize;
        // SAFETY: the caller's promise.
        let shape = unsafe { asked(self.arguments) }.on(device);
        if let Err(mut error) = issue(device, place, site, host, table, &shape).and_then(UnderWay::complete) {
            error.explain(Some(device), table, |remedy| WORDS.remedy(remedy));
            hand_to_host(&error, device);
            ran_on_host(host, &site, Some(&error));
            // SAFETY: the caller's promise.
            unsafe { self.run_on_host() };
        }
    }

    /// Has libgomp run the region as it does without devices: in a contention group of its
    /// own, after its dependences, in a task if nobody waits for it. Outside of parallel regions
    /// it is waited for: libgomp's task would make a team there ([`open`](crate::open)).
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[cold]
    unsafe fn run_on_host(&self) {
        let &Self { body, count, hosts, sizes, kinds, flags, dependences, arguments, .. } = self;
        let alone = is_alone();
        let flags = if alone { flags & !flags::NOWAIT } else { flags };
        // SAFETY: the caller's promise.
        unsafe {
            if alone {
                wait_for(dependences);
            }
            match libgomp().target {
                Some(target) => {
                    let host = device::HOST_FALLBACK;
                    target(host, body, count, hosts, sizes, kinds, flags, dependences, arguments);
                }
                None => body(hosts.cast()),
            }
        }
    }
}

/// Launches a region.
#[inline]
fn issue(
    device: &'static Device,
    place: impl Into<Place>,
    site: Site,
    host: usize,
    table: &Table<'_>,
    shape: &Shape,
) -> Result<UnderWay> {
    let teams = || format!("NumTeams={}", shape.teams[0]);
    let construct = construct::Construct::region(device, &site, "Entering OpenMP kernel", table, teams);
    debug::openmp(device, &site, host, shape);
    construct.run(place, host, table, shape)
}

/// Returns if the host may take a region over that has failed on a device.
#[cold]
fn hand_to_host(error: &Error, device: &'static Device) {
    // A region that has been compiled for the host alone runs there.
    let for_host = matches!(error.kind, ErrorKind::UnknownRegion { .. });
    if !for_host || policy::offload() == Offload::Mandatory {
        settle(error, Some(device), WORDS);
    } else if let Some(names) = asked_for() {
        policy::tell_of_host(
            error,
            format_args!(
                "the host runs a target region that GCC has compiled for it alone, although GANGWAY_DEVICE names \
             {names}\n  help: compile its file with -foffload=nvptx-none, too"
            ),
        );
    }
}

/// A region that a task issues.
struct DeferredRegion {
    aim: Aim,
    likely: &'static Device,
    site: Site,
    body: Body,
    asked: Asked,
    arrays: Owned,
}

impl DeferredRegion {
    /// # Safety
    /// The region and its table are the compiler's.
    unsafe fn new(region: &Region, table: &Table<'_>, aim: Aim, site: Site) -> Self {
        let likely = aim.likely(Purpose::Region(region.body as usize), &site, table);
        // SAFETY: the caller's promise.
        let (asked, arrays) = unsafe { (asked(region.arguments), Owned::with_private_values(likely, table)) };
        Self { aim, likely, site, body: region.body, asked, arrays }
    }
}

impl Deferred for DeferredRegion {
    fn issue(&self) -> Option<Result<UnderWay>> {
        let Self { aim, site, body, asked, arrays, .. } = self;
        let table = arrays.table(Construct::Region);
        let host = *body as usize;
        let issued = match aim.destination(Purpose::Region(host), site, &table) {
            Destination::Device(place) => {
                let device = place.device();
                issue(device, place, *site, host, &table, &asked.on(device)).map_err(|error| {
                    hand_to_host(&error, device);
                    Some(error)
                })
            }
            Destination::Host(error) => Err(error),
        };
        match issued {
            Ok(under_way) => Some(Ok(under_way)),
            Err(error) => {
                ran_on_host(host, site, error.as_deref());
                let own = arrays.with_slots();
                let (hosts, sizes, kinds) = own.pointers();
                let (thread_limit, null) = (asked.shape.thread_limit[0] as isize, std::ptr::null_mut());
                let arguments = [argument::THREAD_LIMIT | argument::SUBSEQUENT, thread_limit, 0];
                let region = Region {
                    device: device::HOST_FALLBACK,
                    body: *body,
                    count: own.len(),
                    hosts,
                    sizes,
                    kinds,
                    flags: 0,
                    dependences: null,
                    arguments: arguments.as_ptr(),
                };
                // SAFETY: the arrays are the compiler's, and outlive the call.
                unsafe { region.run_on_host() };
                None
            }
        }
    }

    fn holds_up(&self) -> bool {
        self.arrays.holds_up(self.likely, Construct::Region)
    }

    fn is_due_at_once(&self, has_dependences: bool) -> bool {
        self.arrays.is_due_at_once(self.likely, Construct::Region, has_dependences)
    }
}

/// The numbers of teams and threads that the clauses of a region ask for.
///
/// # Safety
/// The list is null or the compiler's.
#[inline]
unsafe fn asked(mut arguments: *const isize) -> Asked {
    let of = |teams, threads, has_teams| {
        let shape = Shape { teams: [teams, 1, 1], thread_limit: [threads, 1, 1], ..Shape::default() };
        Asked { shape, has_teams }
    };
    if arguments.is_null() {
        return of(0, 0, false);
    }
    let (mut teams, mut threads, mut has_teams) = (0, 0, false);
    // SAFETY: the caller's promise: the list ends with 0, and a word that says so has another.
    let mut next = || unsafe {
        let word = *arguments;
        arguments = arguments.add(1);
        word
    };
    loop {
        let word = next();
        if word == 0 {
            break;
        }
        let value = if word & argument::SUBSEQUENT != 0 { next() } else { word >> argument::VALUE_SHIFT };
        if word & argument::DEVICE_MASK != 0 {
            continue;
        }
        match word & argument::ID_MASK {
            argument::NUM_TEAMS => {
                teams = teams_of(value);
                has_teams = value != argument::NO_TEAMS_CONSTRUCT;
            }
            argument::THREAD_LIMIT => threads = at_most_int(value),
            _ => {}
        }
    }
    of(teams, threads, has_teams)
}

/// What a number of teams stands for; 0 is the runtime's choice.
#[inline]
fn teams_of(value: isize) -> u32 {
    match value {
        argument::NO_TEAMS_CONSTRUCT => 1,
        argument::TEAMS_OF_DEVICE | argument::TEAMS_OPEN => 0,
        value => at_most_int(value),
    }
}

/// A value of a clause, of C's type `int`; 0 if the compiler does not know it.
#[inline]
fn at_most_int(value: isize) -> u32 {
    u32::try_from(value.clamp(0, i32::MAX as isize)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[isize]) -> (u32, u32) {
        // SAFETY: the lists of the tests end with 0.
        let shape = unsafe { asked(if list.is_empty() { std::ptr::null() } else { list.as_ptr() }) }.shape;
        (shape.teams[0], shape.thread_limit[0])
    }

    #[test]
    fn what_the_clauses_of_a_region_say() {
        use argument::{NUM_TEAMS, SUBSEQUENT, THREAD_LIMIT};
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(of(&[0]), (0, 0));
        assert_eq!(of(&[NUM_TEAMS | 4 << 16, THREAD_LIMIT | 64 << 16, 0]), (4, 64));
        assert_eq!(of(&[NUM_TEAMS | SUBSEQUENT, 1 << 20, THREAD_LIMIT | 8 << 16, 0]), (1 << 20, 8));
        assert_eq!(of(&[NUM_TEAMS | SUBSEQUENT, isize::MAX, 0]), (i32::MAX as u32, 0));
        assert_eq!(of(&[NUM_TEAMS | SUBSEQUENT, 0, THREAD_LIMIT | 2 << 16, 0]), (0, 2));
        // No teams; a number that the device works out; a number that is open.
        for (number, teams) in [(-2, 1), (-1, 0), (0, 0)] {
            assert_eq!(of(&[NUM_TEAMS | number << 16, THREAD_LIMIT | -1 << 16, 0]), (teams, 0));
            assert_eq!(of(&[NUM_TEAMS | SUBSEQUENT, number, THREAD_LIMIT | 8 << 16, 0]), (teams, 8));
        }
        // For another type of device.
        assert_eq!(of(&[5 | NUM_TEAMS | 4 << 16, THREAD_LIMIT | 3 << 16, 0]), (0, 3));
    }
}
