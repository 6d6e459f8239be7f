//! The objects of the HSA API: what handles stand for, and what calls mean.
//!
//! No function in this room is exported, and none has a C signature. [`crate::api`] checks what a
//! caller passes, turns handles into objects and structures into values, and calls these. The rooms
//! in here form a ladder. A room knows those above it in this list and none below; the test
//! `layers` reads the list and refuses anything else:
//!
//! 1. [`process`]: settings, messages, clocks, whether the runtime has been initialised
//! 2. [`table`]: from handles to objects
//! 3. [`agent`]: agents, their instruction sets, regions and caches
//! 4. [`memory`]: allocations, locked host memory, copies and fills
//! 5. [`signal`]: signals, waiting for them, what is called when they change
//! 6. [`transfer`]: copies that wait for signals
//! 7. [`program`]: code objects, executables, symbols
//! 8. [`fault`]: who is told that a kernel has failed
//! 9. [`queue`]: queues, their packets, launches
//!
//! How memory is laid out and what code objects mean is not decided here but in the crates
//! `gangway-device-memory` and `gangway-code-object`.

pub mod agent;
pub mod fault;
pub mod memory;
pub mod process;
pub mod program;
pub mod queue;
pub mod signal;
pub mod table;
pub mod transfer;
