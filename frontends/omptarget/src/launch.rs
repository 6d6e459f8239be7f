//! Launching target regions: the present function and its older forms.

use crate::abi::{FAIL, Ident, KernelArguments, LaunchForm, SUCCESS, flags, site};
use crate::arrays::Arrays;
use crate::devices::several;
use crate::libomp::Libomp;
use crate::mapper::MapperFunction;
use crate::openacc::compute;
use crate::words::WORDS;
use crate::{ompt, section, tasks};
use gangway_frontend::construct::Construct;
use gangway_frontend::guard::guard;
use gangway_frontend::policy::settle;
use gangway_frontend::state::RUNTIME;
use gangway_frontend::trace::ran_on_host;
use gangway_openmp::devices::{DEFAULT_DEVICE, Destination, chosen, destination};
use gangway_runtime::events::Site;
use gangway_runtime::placement::{Place, Purpose, is_balancing};
use gangway_runtime::{Device, Error, ErrorKind, GroupMemoryFallback, Label, Shape};
use std::ffi::c_void;

/// What compilers pass as the number of teams of a region without `teams`.
const NO_TEAMS: i32 = -1;

/// Runs a target region on a device. Nonzero: the host version is to run.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn __tgt_target_kernel(
    location: *const Ident,
    device: i64,
    teams: i32,
    thread_limit: i32,
    host: *const c_void,
    arguments: *mut KernelArguments,
) -> i32 {
    guard(FAIL, || {
        // SAFETY: the caller's promise.
        let run_on = |device| unsafe { run(location, device, teams, thread_limit, host, &*arguments) };
        match several(device) {
            None => run_on(device),
            Some(devices) => devices.into_iter().fold(SUCCESS, |result, device| result | run_on(device)),
        }
    })
}

/// # Safety
/// As [`__tgt_target_kernel`].
#[inline]
unsafe fn run(
    location: *const Ident,
    device: i64,
    teams: i32,
    thread_limit: i32,
    host: *const c_void,
    kernel: &KernelArguments,
) -> i32 {
    // SAFETY: the caller's promise.
    let site = unsafe { site(location) };
    let number = device;
    if compute::is_launch(number) {
        // SAFETY: the caller's promise.
        return unsafe { run_construct(number, host, kernel) };
    }
    let device = match destination::<Libomp>(number, &site) {
        Destination::Device(device) => device,
        Destination::Host(error) => {
            ran_on_host(host.addr(), &site, error.as_deref());
            return FAIL;
        }
    };
    // SAFETY: the caller's promise.
    unsafe {
        if number == DEFAULT_DEVICE && is_balancing() {
            return run_where_chosen(device, site, teams, thread_limit, host, kernel);
        }
        run_on(device, device, site, teams, thread_limit, host, kernel)
    }
}

/// Runs the region of a compute construct of OpenACC's.
///
/// # Safety
/// As [`__tgt_target_kernel`].
#[cold]
#[inline(never)]
unsafe fn run_construct(number: i64, host: *const c_void, kernel: &KernelArguments) -> i32 {
    let Some(form) = LaunchForm::of(kernel.version) else { return FAIL };
    let shape = Shape {
        teams: dimensions(kernel.teams, 0),
        thread_limit: dimensions(kernel.thread_limit, 0),
        own_slots: form.own_slots,
        by_address: form.by_address,
        ..Shape::default()
    };
    // SAFETY: the compiler's arrays live until the call returns.
    let arguments = unsafe { Arrays::of(kernel).arguments() };
    if compute::launch(number, host.addr(), &arguments, &shape) { FAIL } else { SUCCESS }
}

/// Runs a region on the device that is chosen by load, in place of the default device. Apart, so that
/// other launches have no part of it.
///
/// # Safety
/// As [`__tgt_target_kernel`].
#[cold]
#[inline(never)]
unsafe fn run_where_chosen(
    default: &'static Device,
    site: Site,
    teams: i32,
    thread_limit: i32,
    host: *const c_void,
    kernel: &KernelArguments,
) -> i32 {
    // SAFETY: the compiler's arrays live until the call returns.
    let arguments = unsafe { Arrays::of(kernel).arguments() };
    match chosen::<Libomp>(default, Purpose::Region(host.addr()), &site, &arguments) {
        // SAFETY: the caller's promise.
        Destination::Device(place) => unsafe {
            run_on(place.device(), place, site, teams, thread_limit, host, kernel)
        },
        Destination::Host(error) => {
            ran_on_host(host.addr(), &site, error.as_deref());
            FAIL
        }
    }
}

/// Runs a region on a device.
///
/// # Safety
/// As [`__tgt_target_kernel`].
#[inline]
unsafe fn run_on(
    device: &'static Device,
    place: impl Into<Place>,
    site: Site,
    teams: i32,
    thread_limit: i32,
    host: *const c_void,
    kernel: &KernelArguments,
) -> i32 {
    let Some(form) = LaunchForm::of(kernel.version) else { return unknown(device, &site, host, kernel) };
    if form.by_address {
        section::note_later_code();
    }
    let full = form.is_full;
    let shape = Shape {
        teams: if full { dimensions(kernel.teams, teams) } else { dimensions([0; 3], teams) },
        thread_limit: if full {
            dimensions(kernel.thread_limit, thread_limit)
        } else {
            dimensions([0; 3], thread_limit)
        },
        trip_count: kernel.trip_count,
        dynamic_group_memory: if full { kernel.dynamic_group_memory } else { 0 },
        group_memory_fallback: if form.by_address {
            fallback(kernel.flags)
        } else {
            GroupMemoryFallback::Unsaid
        },
        own_slots: form.own_slots,
        by_address: form.by_address,
        is_exact: false,
    };
    // SAFETY: the compiler's arrays live until the call returns.
    let arguments = unsafe { Arrays::of(kernel).arguments() };
    let nowait = kernel.flags & flags::NOWAIT != 0;
    let teams = || format!("NumTeams={}", shape.teams[0]);
    let construct = Construct::region(device, &site, "Entering OpenMP kernel", &arguments, teams);
    let _region = ompt::begin(ompt::Construct::Target, device, &site);
    let finished = construct
        .run(place, host.addr(), &arguments, &shape)
        .and_then(|under_way| under_way.end_by(|job| tasks::finish(job, nowait, host.addr())));
    match finished {
        Ok(()) => SUCCESS,
        Err(mut error) => {
            let device_of_error =
                usize::try_from(error.device).ok().and_then(|n| RUNTIME.device_unprepared(n));
            error.explain(device_of_error, &arguments, |remedy| WORDS.remedy(remedy));
            settle(&error, Some(device), WORDS);
            ran_on_host(host.addr(), &site, Some(&error));
            FAIL
        }
    }
}

/// What `dyn_groupprivate` says. `ompx_dyn_cgroup_mem`, which devices without such memory leave out of
/// account, has the bits of `fallback(abort)`.
#[inline]
fn fallback(flags: u64) -> GroupMemoryFallback {
    match flags & flags::GROUP_MEMORY_FALLBACK {
        flags::FALLBACK_NULL => GroupMemoryFallback::Without,
        flags::FALLBACK_DEFAULT_MEMORY => GroupMemoryFallback::DeviceMemory,
        _ => GroupMemoryFallback::Unsaid,
    }
}

/// A launch of a version that is not known: what its kernel expects cannot be told.
#[cold]
fn unknown(device: &'static Device, site: &Site, host: *const c_void, kernel: &KernelArguments) -> i32 {
    let kind = ErrorKind::UnknownLaunch { version: kernel.version, newest: KernelArguments::CLANG_23 };
    let error = Error::new(kind, device.number(), site.location());
    settle(&error, Some(device), WORDS);
    ran_on_host(host.addr(), site, Some(&error));
    FAIL
}

/// The sizes in three dimensions: what the structure says, in the first dimension
/// the call's argument where the structure is silent; a region without `teams`
/// has one. A clause's number that is no positive `int` leaves the size open: it would be billions
/// of teams on a GPU.
#[inline]
fn dimensions(stated: [u32; 3], first: i32) -> [u32; 3] {
    let first = match (stated[0], first) {
        (_, NO_TEAMS) => 1,
        (0, first) => first.max(0) as u32,
        (stated, _) => stated.cast_signed().max(0) as u32,
    };
    [first, stated[1].max(1), stated[2].max(1)]
}

/// As [`__tgt_target_kernel`]; libomp has waited for the dependences.
///
/// # Safety
/// As [`__tgt_target_kernel`].
pub unsafe extern "C" fn __tgt_target_kernel_nowait(
    location: *const Ident,
    device: i64,
    teams: i32,
    thread_limit: i32,
    host: *const c_void,
    arguments: *mut KernelArguments,
    _dependences: i32,
    _dependence_list: *const c_void,
    _no_alias_dependences: i32,
    _no_alias_list: *const c_void,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { __tgt_target_kernel(location, device, teams, thread_limit, host, arguments) }
}

impl Arrays {
    /// Launches with the arrays of a call that compilers before clang 15 emitted.
    ///
    /// # Safety
    /// As [`__tgt_target_kernel`].
    unsafe fn launch(
        self,
        location: *const Ident,
        device: i64,
        teams: i32,
        threads: i32,
        host: *const c_void,
    ) -> i32 {
        let mut arguments = KernelArguments {
            // Before the implicit pointer.
            version: 1,
            count: self.count.max(0) as u32,
            bases: self.bases,
            begins: self.begins,
            sizes: self.sizes,
            types: self.types,
            names: self.names,
            mappers: self.mappers,
            trip_count: 0,
            flags: 0,
            teams: [0; 3],
            thread_limit: [0; 3],
            dynamic_group_memory: 0,
        };
        // SAFETY: the caller's promise.
        unsafe { __tgt_target_kernel(location, device, teams, threads, host, &raw mut arguments) }
    }
}

/// Generates the launch functions that compilers before clang 15 called. They
/// differ in whether they pass names and mappers, teams, and dependences (which
/// libomp has waited for).
macro_rules! older_forms {
    ($($name:ident($($location:ident)?; $($names:ident, $mappers:ident)?; $($teams:ident, $threads:ident)?; $($dependence:ident)*);)*) => {$(
        /// An older form of [`__tgt_target_kernel`].
        ///
        /// # Safety
        /// Called by compiler-made code: the arguments are what it emitted.
        pub unsafe extern "C" fn $name(
            $($location: *const Ident,)?
            device: i64,
            host: *const c_void,
            count: i32,
            bases: *mut usize,
            begins: *mut usize,
            sizes: *mut i64,
            types: *mut u64,
            $($names: *mut Label, $mappers: *mut Option<MapperFunction>,)?
            $($teams: i32, $threads: i32,)?
            $($dependence: usize,)*
        ) -> i32 {
            #[allow(unused_mut, unused_assignments, reason = "only some forms have them")]
            let (mut location_or_none, mut teams_or_none) = (std::ptr::null(), (NO_TEAMS, 0));
            $(location_or_none = $location;)?
            $(teams_or_none = ($teams, $threads);)?
            let mut arrays = Arrays {
                count, bases, begins, sizes, types,
                names: std::ptr::null_mut(),
                mappers: std::ptr::null_mut(),
            };
            $(arrays.names = $names; arrays.mappers = $mappers;)?
            let _ = &mut arrays;
            $(let _ = $dependence;)*
            // SAFETY: the caller's promise.
            unsafe { arrays.launch(location_or_none, device, teams_or_none.0, teams_or_none.1, host) }
        }
    )*};
}

older_forms! {
    __tgt_target(;;;);
    __tgt_target_mapper(location; names, mappers;;);
    __tgt_target_nowait(;;; count_1 list_1 count_2 list_2);
    __tgt_target_nowait_mapper(location; names, mappers;; count_1 list_1 count_2 list_2);
    __tgt_target_teams(;; teams, threads;);
    __tgt_target_teams_mapper(location; names, mappers; teams, threads;);
    __tgt_target_teams_nowait(;; teams, threads; count_1 list_1 count_2 list_2);
    __tgt_target_teams_nowait_mapper(location; names, mappers; teams, threads; count_1 list_1 count_2 list_2);
}

/// Trip counts now come with the launch; kept for old programs, as in the stock
/// library.
pub extern "C" fn __kmpc_push_target_tripcount(_device: i64, _count: u64) {}

/// See [`__kmpc_push_target_tripcount`].
pub extern "C" fn __kmpc_push_target_tripcount_mapper(_location: *const Ident, _device: i64, _count: u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_compilers_leave_open() {
        assert_eq!(dimensions([0, 0, 0], NO_TEAMS), [1, 1, 1]);
        assert_eq!(dimensions([0, 0, 0], 0), [0, 1, 1]);
        assert_eq!(dimensions([0, 0, 0], 7), [7, 1, 1]);
        assert_eq!(dimensions([5, 2, 0], 7), [5, 2, 1]);
        assert_eq!(dimensions([(-3_i32).cast_unsigned(), 0, 0], 7), [0, 1, 1]);
    }
}
