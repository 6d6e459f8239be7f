//! Parallel regions.

use crate::environment::Location;
use crate::icv::{self, Controls};
use crate::microtask::{self, Microtask};
use crate::place::Place;
use crate::synchronize;
use crate::target;
use crate::worker::{self, Region};
use crate::{debug, explicit, kernel, share, unfinished};
use core::ffi::c_void;

/// A region, as the compiler hands it over.
#[derive(Clone, Copy)]
struct Request {
    function: Microtask,
    wrapper: *const c_void,
    arguments: *mut *mut c_void,
    count: i64,
}

/// Runs a parallel region. `threads` is -1 without a clause.
///
/// # Safety
/// `function` takes `count` pointers behind the first two, and `arguments` has them.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
#[cfg_attr(gpu, unsafe(link_section = ".gangway.inline"))]
pub unsafe extern "C" fn __kmpc_parallel_60(
    location: *const Location,
    word: i32,
    condition: i32,
    threads: i32,
    _bind: i32,
    function: Microtask,
    wrapper: *const c_void,
    arguments: *mut *mut c_void,
    count: i64,
    strict: i32,
) {
    debug::trace(c"__kmpc_parallel_60");
    let place = Place::of(word);
    let request = Request { function, wrapper, arguments, count };
    debug::check(|| place == Place::current(), c"a parallel region starts with another thread's number");
    debug::check(
        || kernel::is_spmd() || place.level() != 0 || target::thread_id() == kernel::main_thread(),
        c"a parallel region of a generic kernel starts in a thread that is not the main one",
    );
    if place.level() != 0 {
        // SAFETY: as the caller says.
        unsafe { serialise(place, request) };
        return;
    }
    let size = if condition == 0 { 1 } else { size(threads, strict != 0, location) };
    if kernel::is_spmd() {
        // SAFETY: as the caller says.
        unsafe { spmd(place, size, request) };
    } else if size == 1 {
        // SAFETY: as the caller says.
        unsafe { serialise(place, request) };
    } else {
        // SAFETY: as the caller says.
        unsafe { generic(size, request) };
    }
}

/// The same for compilers before LLVM 22.
///
/// # Safety
/// As for [`__kmpc_parallel_60`].
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __kmpc_parallel_51(
    location: *const Location,
    word: i32,
    condition: i32,
    threads: i32,
    bind: i32,
    function: Microtask,
    wrapper: *const c_void,
    arguments: *mut *mut c_void,
    count: i64,
) {
    // SAFETY: as the caller says.
    unsafe {
        __kmpc_parallel_60(location, word, condition, threads, bind, function, wrapper, arguments, count, 0);
    }
}

/// All threads are here: the first ones run the region, and all of them wait for it.
#[inline(always)]
unsafe fn spmd(place: Place, size: u32, request: Request) {
    let thread = target::thread_id();
    let controls = icv::save();
    // The threads' copies of variables outside become one variable. No thread of the region may change it
    // before the first one has given it its value. A kernel that LLVM has made SPMD has a barrier there
    // already, and one thread alone may have asked for the variable.
    let joined = share::has_variables_of_team() && kernel::is_for_all_threads();
    if joined {
        // SAFETY: as the caller says.
        unsafe { share::join(request.arguments, request.count) };
        target::barrier_aligned();
    }
    synchronize::prepare(size);
    if thread < size {
        let inner = Place::in_region(thread, size);
        inner.enter();
        let task = explicit::enter_region();
        // SAFETY: as the caller says.
        unsafe { microtask::call(request.function, inner, request.arguments, request.count) };
        unfinished::wait();
        explicit::leave(task);
        place.enter();
    }
    icv::restore(controls);
    target::barrier_aligned();
    if joined {
        // SAFETY: as the caller says.
        unsafe { share::part_again(request.arguments, request.count) };
    }
}

/// The encountering thread runs the region alone.
unsafe fn serialise(place: Place, request: Request) {
    let inner = place.serialised();
    let controls = icv::save();
    inner.enter();
    let task = explicit::enter_region();
    // SAFETY: as the caller says.
    unsafe { microtask::call_out_of_line(request.function, inner, request.arguments, request.count) };
    unfinished::wait();
    explicit::leave(task);
    place.enter();
    icv::restore(controls);
}

/// The main thread hands the region to the workers.
#[inline(never)]
unsafe fn generic(size: u32, request: Request) {
    let Request { function, wrapper, arguments, count } = request;
    // The arguments are on the main thread's stack, where nobody else can read.
    let shared = share::arguments(count.cast_unsigned());
    for index in 0..count.cast_unsigned() as usize {
        // SAFETY: both have `count` elements.
        unsafe { shared.add(index).write(arguments.add(index).read()) };
    }
    synchronize::prepare(size);
    let controls = icv::save();
    worker::parallel(Region { wrapper, function, arguments: shared, count, threads: size, controls });
    share::release_arguments();
}

/// How many threads the region gets.
#[inline(always)]
fn size(requested: i32, strict: bool, location: *const Location) -> u32 {
    let most = kernel::most_threads();
    let wanted = if requested > 0 { requested.cast_unsigned() } else { icv::threads() };
    if wanted == Controls::UNSET || wanted == most {
        return most;
    }
    if wanted > most && strict && requested > 0 {
        debug::too_few_threads(location, wanted, most);
    }
    wanted.min(most)
}

/// No-ops: the clauses come with the region itself.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_proc_bind(_: *const Location, _: i32, _: i32) {}

#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_num_teams(_: *const Location, _: i32, _: i32, _: i32) {}
