//! Calls the exported functions as a C program does: each family's success, and the errors
//! that the driver API documents for it. Every test works in a context of its own.

mod constant;
mod context;
mod copy;
mod cuda;
mod device;
mod fault;
mod launch;
mod link;
mod memory;
mod module;
mod race;
mod symbol;
