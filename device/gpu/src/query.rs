//! `omp_get_*` and `omp_set_*`: what a thread may ask and change.

use crate::icv;
use crate::kernel;
use crate::place::Place;
use crate::target;

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_thread_num() -> i32 {
    Place::current().thread().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_threads() -> i32 {
    Place::current().size().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_in_parallel() -> i32 {
    i32::from(Place::current().active_level() > 0)
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_level() -> i32 {
    Place::current().level().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_active_level() -> i32 {
    Place::current().active_level().cast_signed()
}

/// The number of the thread's ancestor at a level; -1 if there is no such level.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_ancestor_thread_num(level: i32) -> i32 {
    let place = Place::current();
    match level {
        1 if place.level() >= 1 => place.outermost_thread().cast_signed(),
        _ if level < 0 || level.cast_unsigned() > place.level() => -1,
        _ => 0,
    }
}

/// How many threads the team at a level has; -1 if there is no such level.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_team_size(level: i32) -> i32 {
    let place = Place::current();
    match level {
        1 if place.level() >= 1 => place.outermost_size().cast_signed(),
        _ if level < 0 || level.cast_unsigned() > place.level() => -1,
        _ => 1,
    }
}

/// How many threads a region without `num_threads` would get.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_threads() -> i32 {
    match icv::threads() {
        0 => kernel::most_threads(),
        threads => threads,
    }
    .cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_num_threads(threads: i32) {
    if threads > 0 {
        icv::change(|controls| controls.threads = threads.min(target::MOST_THREADS as i32) as u16);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_thread_limit() -> i32 {
    kernel::most_threads().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_procs() -> i32 {
    kernel::most_threads().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_teams() -> i32 {
    target::blocks_in_grid().cast_signed()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_team_num() -> i32 {
    target::block_id().cast_signed()
}

/// `nteams-var` of the device (OpenMP 5.2, 2.4); 0 leaves the number of teams to the implementation. What
/// the host launches does not ask it.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_teams() -> i32 {
    icv::TEAMS.get()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_num_teams(teams: i32) {
    if teams >= 0 {
        icv::TEAMS.set(teams);
    }
}

/// `teams-thread-limit-var` of the device; 0 leaves the limit to the implementation.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_teams_thread_limit() -> i32 {
    icv::TEAMS_THREAD_LIMIT.get()
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_teams_thread_limit(threads: i32) {
    if threads >= 0 {
        icv::TEAMS_THREAD_LIMIT.set(threads);
    }
}

/// The kinds are those of `omp_sched_t`; `monotonic`, its highest bit, changes nothing.
///
/// # Safety
/// The pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_schedule(kind: *mut u32, chunk: *mut i32) {
    let controls = icv::current();
    // SAFETY: as the caller says.
    unsafe {
        kind.write(u32::from(controls.schedule));
        chunk.write(controls.chunk);
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_schedule(kind: u32, chunk: i32) {
    let kind = kind & 0x7fff_ffff;
    if (1..=4).contains(&kind) {
        icv::change(|controls| (controls.schedule, controls.chunk) = (kind as u8, chunk));
    }
}

/// Regions inside of an active one are serialised.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_supported_active_levels() -> i32 {
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_active_levels() -> i32 {
    i32::from(icv::current().active_levels)
}

/// More than one level is not supported, and taken as one; none makes all regions serial.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_max_active_levels(levels: i32) {
    if levels >= 0 {
        icv::change(|controls| controls.active_levels = u8::from(levels > 0));
    }
}

macro_rules! fixed {
    ($($(#[$text:meta])* $name:ident($($type:ty),*) $(= $value:expr)?;)*) => {$(
        $(#[$text])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($(_: $type),*) -> i32 {
            0 $(+ $value)?
        }
    )*};
}

fixed! {
    omp_get_nested();
    /// `dyn-var` is false: a region gets what it asks for, if there is as much.
    omp_get_dynamic();
    omp_get_cancellation();
    /// `false`: threads stay where the hardware puts them.
    omp_get_proc_bind();
    omp_get_num_places();
    omp_get_place_num_procs(i32);
    omp_get_place_num() = -1;
    omp_get_partition_num_places();
    omp_get_max_task_priority();
}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_nested(_: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn omp_set_dynamic(_: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_place_proc_ids(_: i32, _: *mut i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn omp_get_partition_place_nums(_: *mut i32) {}

/// Every task runs where it is made, as a final one does.
#[unsafe(no_mangle)]
pub extern "C" fn omp_in_final() -> i32 {
    1
}

/// Seconds since some moment, the same for all threads of the device.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_wtime() -> f64 {
    target::nanoseconds() as f64 * 1e-9
}

/// The clock counts nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_wtick() -> f64 {
    1e-9
}
