//! The reductions of the device runtime on simulated warps: who is counted, in which order, and
//! that nobody waits for ever.

mod block;
mod grid;
mod simulation;
mod warp;
