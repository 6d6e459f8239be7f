//! The objects of the driver API: what handles stand for, and what calls mean.
//!
//! No function in this room is exported, and none has a C signature. [`crate::api`] checks what a
//! caller passes, turns handles into objects and structures into values, and calls these. The rooms
//! in here form a ladder. A room knows those above it in this list and none below; the test
//! `layers` reads the list and refuses anything else:
//!
//! 1. [`process`]: settings, messages, the trace, whether the driver has been started
//! 2. [`table`]: from handles to objects
//! 3. [`device`]: devices and what they are like
//! 4. [`memory`]: which context memory belongs to
//! 5. [`context`]: contexts, the stack of each thread, primary contexts
//! 6. [`stream`]: streams and events
//! 7. [`program`]: images, modules, functions, libraries, links
//! 8. [`work`]: what streams and graphs do
//! 9. [`pool`]: memory in the order of streams, of pools and of graphs
//! 10. [`graph`]: graphs, their nodes, executable graphs
//!
//! What runs after what, how memory is laid out and how kernels run is not decided here but
//! in the crates `gangway-streams`, `gangway-device-memory` and `gangway-engine`.

pub mod context;
pub mod device;
pub mod graph;
pub mod memory;
pub mod pool;
pub mod process;
pub mod program;
pub mod stream;
pub mod table;
pub mod work;
