//! The interface every Gangway back end implements.
//!
//! A [`Backend`] is one *type* of device ("cpu", "cuda", …): it says which
//! images it can run and opens devices. A [`Device`] is one opened device: it
//! owns memory, loads images and opens streams. A [`Stream`] is an ordered queue of its
//! operations: copies, launches, events. A [`Module`] is one image that a device has
//! loaded: it knows where kernels and globals are. The runtime calls all four; front
//! ends never do.
//!
//! # Who checks what
//!
//! Validation lives in the runtime. By the time a method of a `Device` or a `Stream` is called,
//! sizes are non-zero, device pointers came from this device, modules and
//! kernels belong to it. A back end may
//! rely on that and stays thin; it must still turn every failure of the layer
//! below it into an [`Error`], and must never panic or print.
//!
//! # Threads
//!
//! Every method may be called by any host thread at any time. The runtime holds
//! none of its own locks while it is inside a back end.
//!
//! # Modules
//!
//! | Module | What is in it |
//! |---|---|
//! | `handles` | numbers of a device: addresses, kernels, events |
//! | `poison` | the pattern of device memory that nobody has written |
//! | `source` | places and names in the source, as the compiler says them |
//! | `controls` | what the environment says for all devices |
//! | `completion` | who is told that operations are done |
//! | `foreign` | runtimes underneath, for `interop` |
//! | `error` | errors, and faults of kernels |
//! | `host_call` | functions of the host that kernels call |
//! | `kernel` | what a kernel is, and how it is called |
//! | `accesses` | what kernels have accessed |
//! | `host_watch` | what the program's own threads do |
//! | `types` | what a device can do; a launch; notices |
//! | `session_state` | what of a session a back end may look at |
//! | `arguments` | the arguments of one launch |
//! | `session` | what is kept from one launch of a job to the next |
//! | `module` | an image that a device has loaded |
//! | `stream` | an ordered queue of operations |
//! | `device` | an opened device |
//! | `backend` | a type of device |
//!
//! Each uses those above it only.
//!
//! # Writing one
//!
//! Implement the methods without a default body; everything else answers "not
//! supported" and the runtime takes another way. `backends/cpu` is the smallest
//! real one. `runtime/tests/null_vendor` has rings of packets, signals and segments for
//! arguments, as a second vendor's GPU would. A back end outside this repository
//! implements the C interface in `gangway/rtl.h` instead, which `backends/external` adapts
//! to these traits.

mod accesses;
mod arguments;
mod backend;
mod completion;
mod controls;
mod device;
mod error;
mod foreign;
mod handles;
mod host_call;
mod host_watch;
mod kernel;
mod module;
mod poison;
mod session;
mod session_state;
mod source;
mod stream;
mod types;

pub use accesses::{AccessKind, AccessPlace, Accessed, Accesses};
pub use arguments::{ArgumentTable, OwnSlots, TableRequest};
pub use backend::Backend;
pub use completion::Completion;
pub use controls::DeviceControls;
pub use device::Device;
pub use error::{Access, Error, FaultReport, Result, Suspect};
pub use foreign::{ForeignRuntime, ForeignRuntimeKind, Vendor};
pub use handles::{DevicePtr, EventHandle, KernelHandle};
pub use host_call::{
    HostCallHandler, HostCallLink, HostCallOutcome, HostCallService, HostCalls, LARGEST_BLOCK, VisibleMemory,
    host_block,
};
pub use host_watch::{FindCode, Follows, HostAccess, HostCopy, HostWatcher, TaskEvent};
pub use kernel::{
    ArgumentForm, CallingConvention, ExecutionMode, GroupMemory, Kernel, KernelLimits, KernelResources,
    Occupancy, Parameter, Parameters,
};
pub use module::Module;
pub use poison::{POISON, poison};
pub use session::Session;
pub use session_state::{SEPARATE_SLOTS, SessionState};
pub use source::{Described, ReadSource, Readers, SourceLocation, SourceText, read_sources_with};
pub use stream::Stream;
pub use types::{
    AllocationKind, Capabilities, Copies, Launch, LaunchShape, Origin, Properties, RangeChange, RangeNotice,
    Rank,
};
