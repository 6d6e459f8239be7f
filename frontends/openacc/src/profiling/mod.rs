//! The profiling interface (OpenACC 3.3 chapter 5): callbacks of tools for what happens.
//!
//! A tool registers callbacks for events ([`registry`], by the functions in [`routines`]). A construct
//! or routine makes a [`Scope`], which has what callbacks are told about it. Steps of the runtime under
//! way in a scope (launches, copies, allocations, data that comes and goes) are events of it, too ([`steps`]), and so are
//! its waits for queues ([`waiting`](mod@waiting)). Before an error ends the program, that is an event ([`errors`]).
//!
//! As long as no tool has registered anything, a scope costs one relaxed load.

mod abi;
mod errors;
mod registry;
mod routines;
mod scope;
mod steps;
mod tools;
mod waiting;

pub use abi::{Construct, ErrorCode, Event, EventInfo};
pub use errors::tell_error;
pub use routines::{acc_prof_lookup, acc_prof_register, acc_prof_unregister};
pub use scope::{Scope, Span};
pub use tools::{acc_register_library, load_tools};
pub use waiting::waiting;

/// Takes the lock of the callbacks, for a fork.
pub fn hold() -> impl Sized + 'static {
    registry::hold()
}
