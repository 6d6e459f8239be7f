//! The helpers that compiled code calls: everything that has no code of its own.
//!
//! Compiled code finds them through [`Warp::helpers`](crate::abi::Warp::helpers). Each
//! takes the warp and some numbers, reads operands from the warp's `addresses` and `values`, and
//! leaves results there. None panics towards compiled code, and all failures of the
//! program go to [`Host::fault`], which does not return.

mod access;
mod atomic;
mod barrier;
mod call;
mod collective;
mod compute;
mod copy;
mod frames;
mod helper;
mod host;
mod lanes;
mod local;
mod matrix;
mod meet;
mod operation;
mod own;
mod place;
mod pointers;
mod quick;
mod regular;
mod rows;
mod same;
mod schedule;
mod space;
mod waiting;
mod watch;

pub(crate) use copy::{CHECK, WATCH};
pub(crate) use frames::start;
pub use host::{Arrivals, Began, Host, Noted, Passed, Ticket};
pub(crate) use lanes::lanes;
pub(crate) use matrix::most_bytes as most_fragment_bytes;
pub(crate) use operation::Operation;
pub(crate) use place::{Access, FIRST_LOCAL, Space};
pub(crate) use regular::Regular;
pub(crate) use space::IsIn;

/// Declares the helpers: their numbers, and the table of their entries.
macro_rules! helpers {
    ($($name:ident = $entry:ident => $function:path $([$notes:ident])?),+ $(,)?) => {
        /// The number of a helper in [`HELPERS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Helper { $($name),+ }

        $(crate::abi::helper!($entry => $function $([$notes])?);)+

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
    LoadSame = enter_load_same => same::load_same,
    StoreSame = enter_store_same => same::store_same,
    LoadRow = enter_load_row => rows::load_row,
    StoreRow = enter_store_row => rows::store_row,
    Copy = enter_copy => copy::copy,
    IsSpace = enter_is_space => space::is_space,
    Atomic = enter_atomic => atomic::atomic,
    Spread = enter_spread => regular::spread,
    Compare = enter_compare => regular::compare,
    Clear = enter_clear => waiting::clear,
    Prepare = enter_prepare => waiting::prepare,
    Next = enter_next => schedule::next,
    StepBack = enter_step_back => schedule::step_back [frame],
    Meet = enter_meet => meet::meet [frame],
    Barrier = enter_barrier => barrier::barrier [frame],
    BarrierAll = enter_barrier_all => barrier::barrier_all [frame],
    Turn = enter_turn => schedule::turn [frame],
    Arrive = enter_arrive => barrier::arrive [frame],
    Enter = enter_enter => frames::enter,
    Run = enter_run => frames::run_frame [frame],
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
    WatchLoads = enter_watch_loads => watch::watch_loads,
    WatchStores = enter_watch_stores => watch::watch_stores,
    Grant = enter_grant => pointers::grant,
    BeginLine = enter_begin_line => watch::begin_line,
    WatchPassed = enter_watch_passed => watch::watch_passed,
    Fence = enter_fence => watch::fence,
    Synchronize = enter_synchronize => watch::synchronize,
}
