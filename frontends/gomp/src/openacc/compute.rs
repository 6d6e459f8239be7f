//! Compute constructs: `parallel`, `kernels`, `serial`.

use super::dimensions::{self, Dimensions};
use super::kinds;
use super::variadic::List;
use crate::abi::{kind, launch, openacc_flags};
use crate::libgomp::{Body, Libgomp};
use crate::table::Table;
use crate::words::WORDS;
use gangway_frontend::construct::{Construct, complete};
use gangway_frontend::guard::guard;
use gangway_frontend::state::{RUNTIME, routine};
use gangway_openacc::device_type::{DeviceType, SYNC};
use gangway_openacc::failure::{done, mistake};
use gangway_openacc::profiling::{self, ErrorCode, Event, Scope};
use gangway_openacc::thread::{self, Place};
use gangway_openacc::waits::wait_clause;
use gangway_openacc::{debug, device, queues};
use gangway_runtime::{Device, Result, Shape};
use std::cell::Cell;

/// The arrays of a construct, as GCC passes them.
#[derive(Clone, Copy)]
struct Arrays {
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
}

/// Runs a compute construct. Behind the named arguments comes a list: how it is launched.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted. `list` has the address of
/// those that are not named.
pub unsafe extern "C" fn GOACC_parallel_keyed(
    flags: i32,
    body: Body,
    count: usize,
    hosts: *mut usize,
    sizes: *const usize,
    kinds: *const u16,
    list: *const u64,
) {
    guard((), || {
        let arrays = Arrays { count, hosts, sizes, kinds };
        let current = device::current::<Libgomp>();
        let mut scope = device::scope(&current, SYNC);
        let mut span = scope.start(Event::ComputeConstructStart, profiling::Construct::Parallel, false);
        // SAFETY: the compiler's arrays.
        let replaced = unsafe { Replaced::deviceptrs(arrays) };
        match current.place {
            _ if openacc_flags::for_host(flags) => {
                scope.set_device_type(DeviceType::Host as i32);
                // SAFETY: the caller's promise.
                thread::bound_to_host(|| unsafe { body(hosts.cast()) });
            }
            // SAFETY: as above.
            Place::Host => unsafe { body(hosts.cast()) },
            // SAFETY: as above.
            Place::Device(device) => unsafe {
                let arrays = replaced.as_ref().map_or(arrays, |replaced| replaced.arrays(arrays));
                offload(device, body, arrays, List::at(list), &mut scope);
            },
        }
        scope.end(Event::ComputeConstructEnd, &mut span);
    });
}

/// The form of [`GOACC_parallel_keyed`] before GCC 6, whose programs have no code that could be
/// launched so: the host runs them, as with libgomp.
///
/// # Safety
/// Called by compiler-made code: the arguments are what it emitted.
pub unsafe extern "C" fn GOACC_parallel(_flags: i32, body: Body, _count: usize, hosts: *mut usize) {
    guard((), || {
        let _ = device::current::<Libgomp>();
        // SAFETY: the caller's promise.
        thread::bound_to_host(|| unsafe { body(hosts.cast()) });
    });
}

/// How a construct is to be launched.
struct Asked {
    dimensions: Dimensions,
    asynchronous: i32,
}

/// Reads the list, and has the queue wait where a `wait` clause says so.
fn read(device: &'static Device, mut list: List) -> Asked {
    let mut asked = Asked { dimensions: [0; 3], asynchronous: SYNC };
    loop {
        let word = list.number() as u32;
        if word == 0 {
            return asked;
        }
        if launch::device_type(word) != 0 {
            mistake(
                ErrorCode::Other,
                format_args!(
                    "a construct has launch parameters for device type {}, which GCC 12 has none of\n  \
                 help: build the program with GCC 12",
                    launch::device_type(word)
                ),
            );
        }
        let operand = launch::operand(word);
        match launch::code(word) {
            launch::DIMENSIONS => {
                for (index, dimension) in asked.dimensions.iter_mut().enumerate() {
                    if operand >> index & 1 != 0 {
                        *dimension = u32::try_from(list.number()).unwrap_or(0);
                    }
                }
            }
            launch::ASYNC if operand == launch::IN_NEXT_WORD => asked.asynchronous = list.number(),
            // Small values, of which negative ones are not.
            launch::ASYNC => asked.asynchronous = operand as i32,
            launch::WAIT => wait_clause(device, asked.asynchronous, list.numbers(operand)),
            code => mistake(
                ErrorCode::Other,
                format_args!(
                    "a construct has launch parameters of code {code}, which GCC 12 has none of\n  \
                 help: build the program with GCC 12"
                ),
            ),
        }
    }
}

/// # Safety
/// The arguments are the compiler's.
unsafe fn offload(device: &'static Device, body: Body, arrays: Arrays, list: List, scope: &mut Scope) {
    let Asked { dimensions, asynchronous } = read(device, list);
    scope.set_asynchronous(asynchronous);
    // SAFETY: the compiler's arrays live until the call returns.
    let table = unsafe {
        Table::new(kinds::Construct::Region, arrays.count, arrays.hosts, arrays.sizes, arrays.kinds)
    };
    done(run(device, body as usize, &table, dimensions, asynchronous, scope));
}

fn run(
    device: &'static Device,
    host: usize,
    table: &Table<'_>,
    clauses: Dimensions,
    asynchronous: i32,
    scope: &mut Scope,
) -> Result<()> {
    let site = routine();
    let kernel = RUNTIME.questions_about(device, host, &site)?;
    let dimensions = dimensions::choose(&kernel, clauses, dimensions::fixed(host, device))?;
    let [gangs, workers, vector] =
        dimensions.unwrap_or_else(|why| mistake(ErrorCode::Other, format_args!("{why}")));
    debug::launch(&kernel, [gangs, workers, vector]);
    let shape = || format!("NumGangs={gangs}");
    let construct = Construct::region(device, &site, "Entering OpenACC compute region", table, shape);
    let shape = Shape { teams: [gangs, 1, 1], thread_limit: [vector, workers, 1], ..Shape::default() };
    scope.begin_data();
    let end = |job| {
        complete(job)?;
        scope.end_data();
        Ok(())
    };
    match queues::get(device, asynchronous) {
        None => {
            let done = construct.run(device, host, table, &shape);
            done.and_then(|under_way| under_way.end_by(end)).map_err(|mut error| {
                error.explain(Some(device), table, |remedy| WORDS.remedy(remedy));
                error
            })
        }
        Some(queue) => construct.run_in(&queue, host, table, &shape)?.end_by(end),
    }
}

/// Arrays in place of the compiler's.
struct Replaced {
    sizes: Vec<usize>,
    kinds: Vec<u16>,
}

impl Replaced {
    /// Fortran has two items for a variable in a `deviceptr` clause: what it points to, of some
    /// size, and a pointer to that. Only the pointer is meant. It is not there where the region
    /// does not use the variable.
    ///
    /// # Safety
    /// The arrays are the compiler's.
    unsafe fn deviceptrs(arrays: Arrays) -> Option<Self> {
        let Arrays { count, hosts, sizes, kinds } = arrays;
        if count == 0 {
            return None;
        }
        // SAFETY: the caller's promise.
        let (hosts, sizes, kinds) = unsafe {
            (
                std::slice::from_raw_parts(hosts.cast::<Cell<usize>>(), count),
                std::slice::from_raw_parts(sizes, count),
                std::slice::from_raw_parts(kinds, count),
            )
        };
        const POINTER: usize = size_of::<usize>();
        let is_target = |index: usize| kinds[index] as u8 == kind::FORCE_DEVICEPTR && sizes[index] != POINTER;
        if !(0..count).any(is_target) {
            return None;
        }
        let mut replaced = Self { sizes: sizes.to_vec(), kinds: kinds.to_vec() };
        for index in (0..count).filter(|&index| is_target(index)) {
            let next = index + 1;
            if next < count
                && kinds[next] as u8 == kind::POINTER
                && sizes[next] == 0
                // SAFETY: a pointer is there, says the compiler.
                && unsafe { *(hosts[next].get() as *const usize) } == hosts[index].get()
            {
                replaced.kinds[next] = kinds[index];
                replaced.sizes[next] = POINTER;
            }
            hosts[index].set(0);
        }
        Some(replaced)
    }

    fn arrays(&self, arrays: Arrays) -> Arrays {
        Arrays { sizes: self.sizes.as_ptr(), kinds: self.kinds.as_ptr(), ..arrays }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_deviceptr_of_fortran_the_pointer_is_left() {
        let target = 0x5000_usize;
        let (mut hosts, sizes) = ([target, (&raw const target).addr(), 0x7000], [800, 0, 8]);
        let kinds = [kind::FORCE_DEVICEPTR, kind::POINTER, kind::FORCE_DEVICEPTR].map(u16::from);
        let arrays =
            Arrays { count: 3, hosts: hosts.as_mut_ptr(), sizes: sizes.as_ptr(), kinds: kinds.as_ptr() };
        // SAFETY: the arrays have three elements, and the pointer is one.
        let replaced = unsafe { Replaced::deviceptrs(arrays) }.unwrap();
        assert_eq!((hosts[0], hosts[2]), (0, 0x7000));
        assert_eq!(replaced.sizes, [800, 8, 8]);
        assert_eq!(replaced.kinds, [8, 8, 8]);
        let kinds = [kind::TOFROM, kind::FORCE_DEVICEPTR, kind::FORCE_DEVICEPTR].map(u16::from);
        let sizes = [800, 8, 8];
        let arrays = Arrays { sizes: sizes.as_ptr(), kinds: kinds.as_ptr(), ..arrays };
        // SAFETY: as above.
        assert!(unsafe { Replaced::deviceptrs(arrays) }.is_none());
    }
}
