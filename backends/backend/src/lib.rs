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
//! # Writing one
//!
//! Implement the methods without a default body; everything else answers "not
//! supported" and the runtime takes another way. `backends/cpu` is the smallest
//! real one; a back end outside this repository implements the C interface in
//! `gangway/rtl.h` instead, which `backends/external` adapts to these traits.

mod arguments;
mod backend;
mod completion;
mod controls;
mod device;
mod error;
mod foreign;
mod handles;
mod host_call;
mod kernel;
mod module;
mod poison;
mod session;
mod source;
mod stream;
mod types;

pub use arguments::{ArgumentTable, OwnSlots, SEPARATE_SLOTS, TableRequest};
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
pub use kernel::{
    ArgumentForm, CallingConvention, ExecutionMode, GroupMemory, Kernel, KernelLimits, KernelResources,
    Occupancy, Parameter, Parameters,
};
pub use module::Module;
pub use poison::{POISON, poison};
pub use session::{Session, SessionState};
pub use source::{Described, ReadSource, Readers, SourceLocation, SourceText, read_sources_with};
pub use stream::Stream;
pub use types::{
    AllocationKind, Capabilities, Launch, LaunchShape, Properties, RangeChange, RangeNotice, Rank,
};
