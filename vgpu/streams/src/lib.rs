//! Streams, events and graphs of the virtual GPU: what runs after what.
//!
//! The driver API turns handles into these objects and calls into closures; nothing here knows a
//! CUDA handle, an address or a kernel. What it promises:
//!
//! * Operations of one stream run one after another, in the order of submission. They start without
//!   anybody waiting for them.
//! * A *blocking* stream and the *legacy* stream of its context wait for each other's earlier work
//!   (CUDA programming guide, "default stream"). Non-blocking streams do not take part.
//! * What an operation wrote is visible to the operations after it, and to those that wait for an
//!   event recorded after it. A host thread sees it once it has synchronised, or a query has said
//!   that the operation is done.
//! * The first operation that fails makes its context fail for good ([`Context::failure`]). What is
//!   queued is skipped, and everything that is asked of its streams answers [`Error::Failed`]. A
//!   waiting thread gets that answer, too, as soon as no work of the device is under way in the
//!   stream. A host function is not waited for, as it may never return.
//!
//! Threads: everything may be called from any thread at any time. A waiting thread runs the
//! operations that it waits for itself where no worker has begun with them. That makes an empty
//! launch and its synchronisation cheap. So an operation may run on any thread of the process. Only
//! host functions are left to the workers: the program would not expect them on its own thread.
//!
//! | Module | What is in it |
//! |---|---|
//! | `sync` | locks and atomics, or those of the model checker |
//! | `error` | errors, and failures of a context |
//! | `id` | numbers of streams, captures and nodes |
//! | `task` | an operation as a closure |
//! | `process` | forks, signals and what a thread is running |
//! | `clock` | what comes before an operation |
//! | `task_known` | what tasks of the program know |
//! | `known` | what comes before what, for who looks for races |
//! | `pool` | the threads that run what no waiting thread runs |
//! | `order` | what the streams of a context have in common |
//! | `queue` | the operations of a stream: who runs them, and when |
//! | `event` | a place in a stream, and its time |
//! | `graph` | operations and what each depends on |
//! | `capture` | a stream's part in captures |
//! | `stream` | a stream as the driver uses it |
//! | `exec` | an executable graph |
//! | `context` | streams that fail together |
//! | `loom_tests` | models of queues and pool |
//!
//! Each uses those above it only.
//!
//! ```
//! use gangway_streams::{Blocking, Context, Event};
//! let context = Context::new();
//! let stream = context.create_stream(Blocking::WithLegacy, 0);
//! stream.submit(|| Ok(())).unwrap();
//! let event = Event::new(true);
//! stream.record(&event).unwrap();
//! context.legacy().wait(&event).unwrap();
//! context.synchronize().unwrap();
//! ```

#![warn(clippy::must_use_candidate, clippy::use_self)]

mod capture;
mod clock;
mod context;
mod error;
mod event;
mod exec;
mod graph;
mod id;
mod known;
mod order;
mod pool;
mod process;
mod queue;
mod stream;
mod sync;
mod task;
mod task_known;

#[cfg(all(test, loom))]
mod loom_tests;

pub use capture::{CaptureInfo, CaptureMode, CaptureStatus, check_unsafe_call, exchange_capture_mode};
pub use clock::{Clock, Moment};
pub use context::Context;
pub use error::{Error, Failure, Outcome};
pub use event::Event;
pub use exec::GraphExec;
pub use graph::{Graph, NodeKind, Payload};
pub use id::NodeId;
pub use known::{
    Follows, Task, hand_on, prepare, program_after, program_moment, run_task, running_after, serve_kernels,
    task_begins, task_depends, task_follows, task_for_device, task_made, task_met, task_spreads, tasks_met,
    wait_for_task, watch, watch_unseen,
};
pub use process::{
    Running, count_unfinished, forked, in_host_function, is_any_unfinished, observe, running, take_waited,
};
pub use stream::{Blocking, Stream};
