//! Finds races: accesses of a kernel's threads to one place, of which one writes, and that nothing orders
//! (PTX ISA 9.0 section 8.9.7 "data race", of morally strong operations section 8.8).
//!
//! Order comes from where threads wait for each other, not from how they happened to run: of two accesses that
//! a barrier should have stood between, either may have come first this time. So what runs on two
//! processors finds the races of a card.
//!
//! | Module | What is in it |
//! |---|---|
//! | `cell` | an access as the shadow of memory keeps it, in 64 bits |
//! | `line` | the last accesses of each word of a line of memory |
//! | `shadow` | the lines of memory |
//! | `known` | what a warp knows of other blocks |
//! | `handed` | what is handed on with a word |
//! | `meeting_place` | where launches beside each other may meet |
//! | `warp` | the clock of a warp, and what its lanes know of each other |
//! | `finding` | what has been found, each place once |
//! | `device` | the launches of a device, and what fences and atomics hand on between its blocks |
//! | `row` | accesses of the lanes of a warp by one instruction |
//! | `look` | the look at an access: what it races with |
//! | `elements` | what one instruction accesses in many turns of a loop, all lanes the same |
//! | `block` | a block that runs: who knows what |
//! | `transfer` | copies and fills |
//! | `host` | accesses of the program itself |
//!
//! Each warp has a clock, which goes on where its lanes wait for each other, for other warps, or publish
//! something. An access is known by thread and clock. It is ordered before another one if the other thread
//! knows of that clock. Barriers, `bar.warp.sync`, and fences with atomics make it known (section 8.9.5
//! "causality order"). Knowledge is kept for warps, not for lanes, but within a warp: what is handed on too
//! generously hides a race and never invents one.
//!
//! A word has its last write and two reads. So a race may be missed where many threads use one word
//! in between.

mod block;
mod cell;
mod device;
mod elements;
mod finding;
mod handed;
mod host;
mod known;
mod line;
mod look;
mod meeting_place;
mod row;
mod shadow;
mod transfer;
mod warp;

pub use block::{Access, Block, Order};
pub use device::{Device, Launch, Past};
pub use elements::Elements;
pub use finding::{By, Example, Finding, Place, Side};
pub use host::{Host, HostAccess};
pub use row::{Pattern, Places, Row, Values};
pub use transfer::{Origin, Transfer};

/// Threads of a warp.
pub const LANES: usize = 32;
