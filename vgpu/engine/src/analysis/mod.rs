//! What is known of a function before code is made of it, whoever makes it.
//!
//! `unit` puts together what the others find out: where registers and variables are (`slots`, `layout`), what
//! instructions are (`operations`), what of its own memory a lane may keep in slots (`own`), how values run through
//! the lanes (`shape`, in the rows that `rows` finds), the blocks between which lanes part and wait (`graph`, `order`),
//! what lives there (`liveness`), where lanes meet again (`dominance`, `joins`, `region`), what steps back cost
//! (`fuel`), in which quotients neighbours agree (`quotients`), what lanes may run by themselves (`lanewise`), where all
//! do the same (`uniform`, and `called` for what is called there), in which `loops`, and what addresses are counted
//! from (`roots`). `division` goes over a module before. Nothing here names a generator.

pub(crate) mod block;
pub(crate) mod called;
mod division;
mod dominance;
pub(crate) mod fuel;
pub(crate) mod graph;
pub(crate) mod joins;
pub(crate) mod lanewise;
pub(crate) mod layout;
pub(crate) mod liveness;
pub(crate) mod loops;
mod operations;
mod order;
mod own;
pub(crate) mod passes;
pub(crate) mod quotients;
pub(crate) mod region;
pub(crate) mod roots;
mod rows;
pub(crate) mod shape;
mod slots;
pub(crate) mod uniform;
pub(crate) mod unit;

pub(crate) use division::leave_short_ways;
