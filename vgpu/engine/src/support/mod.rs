//! The helpers that compiled code calls: everything that has no code of its own.
//!
//! Compiled code finds them through [`Warp::helpers`](crate::abi::Warp::helpers). Each
//! takes the warp and some numbers, reads operands from the warp's `addresses` and `values`, and
//! leaves results there. None panics towards compiled code, and all failures of the
//! program go to [`Host::fault`], which does not return.

mod access;
mod atomic;
mod call;
mod compute;
mod frames;
mod host;
mod local;
mod matrix;
mod meet;
mod own;
mod pointers;
mod quick;
mod regular;
mod schedule;

use std::panic::{AssertUnwindSafe, catch_unwind};

use gangway_interpreter::FaultKind;

pub(crate) use access::{Access, FIRST_LOCAL, IsIn, Space};
pub(crate) use atomic::Operation;
pub(crate) use frames::start;
pub use host::{Arrivals, Host, Ticket};
pub(crate) use matrix::most_bytes as most_fragment_bytes;
pub(crate) use regular::Regular;

use crate::abi::Warp;

/// What a load or an exchange that others may be waited for with takes from the fuel: loops that
/// spin are to give way soon.
const SPIN: i64 = 64;

/// Such a load or exchange is done.
fn spin(warp: &mut Warp) {
    warp.fuel -= SPIN;
    warp.spins = warp.spins.saturating_add(1);
}

/// Declares the helpers: their numbers, and the table of their entries.
macro_rules! helpers {
    ($($name:ident = $entry:ident => $function:path),+ $(,)?) => {
        /// The number of a helper in [`HELPERS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Helper { $($name),+ }

        $(crate::abi::helper!($entry => $function);)+

        /// The entries of the helpers, by number.
        pub(crate) static HELPERS: [unsafe extern "C" fn(); [$(Helper::$name),+].len()] = [$($entry),+];
    };
}

helpers! {
    Evaluate = enter_evaluate => compute::evaluate,
    Collective = enter_collective => compute::collective,
    Matrix = enter_matrix => matrix::matrix,
    Clock = enter_clock => compute::clock,
    Nanoseconds = enter_nanoseconds => compute::nanoseconds,
    Load = enter_load => access::load,
    Store = enter_store => access::store,
    LoadSame = enter_load_same => own::load_same,
    StoreSame = enter_store_same => own::store_same,
    LoadRow = enter_load_row => access::load_row,
    StoreRow = enter_store_row => access::store_row,
    Copy = enter_copy => access::copy,
    IsSpace = enter_is_space => access::is_space,
    Atomic = enter_atomic => atomic::atomic,
    Spread = enter_spread => regular::spread,
    Compare = enter_compare => regular::compare,
    Clear = enter_clear => schedule::clear,
    Prepare = enter_prepare => schedule::prepare,
    Next = enter_next => schedule::next,
    StepBack = enter_step_back => schedule::step_back,
    Meet = enter_meet => meet::meet,
    Barrier = enter_barrier => schedule::barrier,
    BarrierAll = enter_barrier_all => schedule::barrier_all,
    Turn = enter_turn => schedule::turn,
    Arrive = enter_arrive => schedule::arrive,
    Enter = enter_enter => frames::enter,
    Run = enter_run => frames::run_frame,
    Start = enter_start => frames::start_frame,
    Deliver = enter_deliver => frames::deliver,
    Trap = enter_trap => call::trap,
    StackOverflow = enter_stack_overflow => call::stack_overflow,
    CheckTargets = enter_check_targets => call::check_targets,
    LanesEqual = enter_lanes_equal => call::lanes_equal,
    Code = enter_code => call::code,
    Target = enter_target => call::target,
    Alloca = enter_alloca => local::alloca,
    StackRestore = enter_stack_restore => local::stack_restore,
    CopyIn = enter_copy_in => local::copy_in,
    CopyOut = enter_copy_out => local::copy_out,
}

/// Runs a helper's work; a panic, which would be a mistake of ours, ends the launch and not the
/// process.
///
/// # Safety
///
/// `warp` is the running warp, and nothing else uses it meanwhile.
unsafe fn run<R>(warp: *mut Warp, work: impl FnOnce(&mut Warp) -> R) -> R {
    // SAFETY: the warp is ours alone, by the caller.
    let result = catch_unwind(AssertUnwindSafe(|| work(unsafe { &mut *warp })));
    result.unwrap_or_else(|_| {
        // SAFETY: as above.
        let warp = unsafe { &mut *warp };
        fault(warp, !warp.exited, FaultKind::Unsupported("a helper of the engine failed".to_owned()))
    })
}

/// Ends the launch because of what lanes did.
fn fault(warp: &mut Warp, lanes: u32, kind: FaultKind) -> ! {
    // SAFETY: helpers are called by running warps only.
    let host = unsafe { warp.host() };
    host.fault(warp, lanes, kind)
}

/// The lanes of a mask, in order.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = (rest != 0).then(|| rest.trailing_zeros())?;
        rest &= rest - 1;
        Some(lane as usize)
    })
}

/// A value that compiled code has left, in either of its forms.
fn value(values: &[u64; 32], wide: bool, lane: usize) -> u64 {
    if wide { values[lane] } else { u64::from(narrow(values)[lane]) }
}

/// Values of up to 32 bits lie densely.
fn narrow(values: &[u64; 32]) -> &[u32; 32] {
    // SAFETY: the first half of 32 aligned `u64` is 32 aligned `u32`, of which any bits are valid.
    unsafe { &*values.as_ptr().cast() }
}

fn narrow_mut(values: &mut [u64; 32]) -> &mut [u32; 32] {
    // SAFETY: as for `narrow`.
    unsafe { &mut *values.as_mut_ptr().cast() }
}
