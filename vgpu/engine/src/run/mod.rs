//! Running kernels.
//!
//! A launch is a [`Job`](job::Job): its [`kernel`], its [`extent`], the [`room`] that it has, the blocks
//! that are left ([`handout`]), the barrier of its [`grid`], and how it ends ([`ending`]). The [`Pool`] lets threads take part in it, each with a
//! [`Worker`](worker::Worker) that takes blocks. A [`Block`](block::Block) lets its warps run in
//! turns. A warp is a [`Slot`](slot::Slot) with a fiber, on which compiled code runs. What
//! compiled code asks for while it runs goes to its [`WarpHost`](warp::WarpHost). Signals are
//! made into faults by [`trap`], and faults into reports by [`report`].

mod arena;
mod at_once;
mod barrier;
mod block;
mod builtin;
mod clock;
mod ending;
mod extent;
mod fiber;
mod grid;
mod handout;
mod host_access;
mod interpret;
mod job;
mod kernel;
mod listen;
mod local;
mod order;
mod pace;
mod place;
mod pool;
mod report;
mod room;
mod slot;
#[cfg(test)]
mod tests;
mod trap;
mod warp;
mod worker;

pub(crate) use at_once::AtOnce;
pub(crate) use builtin::code as provided;
pub use clock::CLOCK_KHZ;
pub(crate) use interpret::Interpreter;
pub(crate) use job::Job;
pub use listen::{Listener, when_warps_wait};
pub(crate) use pool::Pool;
pub use trap::catch_signals;
