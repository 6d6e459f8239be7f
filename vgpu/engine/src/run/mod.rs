//! Running kernels.
//!
//! A launch is a [`Job`](job::Job): its [`kernel`], the [`extent`] of grid and blocks, the
//! [`order`] of warps, the [`room`] of blocks and threads, the blocks that are left ([`handout`]),
//! the barrier of its [`grid`], and its [`ending`]. The [`Pool`] lets threads take part in it, each
//! with a [`Worker`](worker::Worker) that takes blocks. A [`Block`](block::Block) lets its warps
//! run in turns, and has their [`barriers`]. A warp is a [`Slot`](slot::Slot) with a fiber, on
//! which compiled code runs. What compiled code asks for while it runs goes to its
//! [`WarpHost`](warp::WarpHost), with the [`time`] of the warp, what it may [`wait`] for, and its
//! [`failure`]. Signals are made into faults by [`trap`], and faults into reports by [`report`]. A [`watch`]
//! tells of a block's accesses where races are looked for, or [`accesses`] are noted. What is found is put into words by
//! [`race`], for those who are named in [`findings`]. Where it is checked how threads wait for each other, [`meetings`]
//! knows who has come to a block's barriers, and from which [`stand`]; what is found [`sync`] puts into words.
//! [`standstill`] knows whether all wait who seem to run.

mod accesses;
mod arena;
mod at_once;
mod barrier;
mod barriers;
mod block;
mod builtin;
mod clock;
mod ending;
mod extent;
mod failure;
mod fiber;
mod findings;
mod grid;
mod handout;
mod host_access;
mod interpret;
mod job;
mod kernel;
mod listen;
mod local;
mod meetings;
mod order;
mod pace;
mod place;
mod pool;
mod race;
mod report;
mod room;
mod slot;
mod stand;
mod standstill;
mod sync;
#[cfg(test)]
mod tests;
mod time;
mod trap;
mod wait;
mod warp;
mod watch;
mod worker;

pub(crate) use accesses::Accesses;
pub use accesses::{Accessed, Kind as AccessKind};
pub(crate) use at_once::AtOnce;
pub(crate) use builtin::code as provided;
pub use clock::CLOCK_KHZ;
pub use findings::Listeners;
pub(crate) use interpret::Interpreter;
pub(crate) use job::{Job, Watched};
pub use listen::{Listener, when_warps_wait};
pub(crate) use pool::Pool;
pub(crate) use race::of_transfer as told_race;
pub use trap::catch_signals;
