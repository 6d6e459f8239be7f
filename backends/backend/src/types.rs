//! Plain values that cross the back-end interface.

use crate::handles::DevicePtr;
use crate::host_call::HostCalls;
use crate::kernel::Kernel;
use crate::source::{Described, SourceLocation, SourceText};

/// Which memory an allocation wants (`omp_target_alloc` and the LLVM
/// extensions `llvm_omp_target_alloc_{device,host,shared}`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(i32)]
pub enum AllocationKind {
    /// Memory of the device; the host need not be able to touch it.
    #[default]
    Device = 0,
    /// Host memory that the device can reach. Its address is the host's.
    Host = 1,
    /// Memory that migrates between host and device.
    Shared = 2,
}

/// How well an image suits a device: of several, the one of the highest rank is loaded
/// first. Equal ones are taken in the compiler's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank(pub u32);

/// What a device can do beyond the mandatory operations. Asked once, when the
/// device is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities {
    /// Copies and launches return before they are done and need a stream to be
    /// waited for. When false the runtime never creates a stream.
    pub asynchronous: bool,
    /// [`Stream::record`](crate::Stream::record) and
    /// [`Stream::wait`](crate::Stream::wait) work. Where they do not, a
    /// construct waits for its copies before other streams may use what it has copied.
    pub events: bool,
    /// [`Stream::on_complete`](crate::Stream::on_complete) works. Where it does not, the
    /// runtime asks whether a stream is idle.
    pub completions: bool,
    /// Kernels can dereference host addresses.
    pub unified_memory: bool,
    /// Private and first-private copies may live in host memory of the session:
    /// kernels run in the host's address space. Saves an allocation and a copy.
    pub private_in_session: bool,
    /// The runtime keeps a pool of device memory for mapped data, so that few of its
    /// allocations reach [`Device::allocate`](crate::Device::allocate). For devices whose
    /// allocation is slow.
    pub pooled_memory: bool,
    /// [`Stream::allocate_in_order`](crate::Stream::allocate_in_order) and its
    /// counterpart work. The runtime uses them for mapped data that is not in its pool.
    pub stream_ordered_memory: bool,
    /// One copy costs more than the bytes of several small ones: the runtime has a construct
    /// send its small data, and fetch it, in one copy each way. For devices that are
    /// asynchronous.
    pub packed_transfers: bool,
    /// Copies from and to memory of [`AllocationKind::Host`] do not hold up the host, while
    /// others may: the runtime keeps some of it, in which packed data stands.
    pub pinned_staging: bool,
    /// [`Stream::copy_between`](crate::Stream::copy_between) works among the
    /// devices of this back end.
    pub peer_copy: bool,
    /// How kernels can call functions of the host.
    pub host_calls: HostCalls,
    /// [`Stream::host_range`](crate::Stream::host_range) is to be told what is mapped. Costs
    /// nothing where it is not set, and a launch whose data is present nothing either way.
    pub mapping_notices: bool,
    /// [`Stream::host_copy`](crate::Stream::host_copy) is to be told of copies from and to the program's memory.
    pub host_copies: bool,
    /// The device keeps so many bytes of its own in each job's session, and is told when
    /// sessions start and end ([`Stream::session_start`](crate::Stream::session_start)).
    pub sessions: Option<usize>,
}

/// What programs ask about a device (OpenACC 3.3 section 3.2.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Bytes of its memory; 0 if that is not known.
    pub memory: usize,
    /// Bytes of it that are free now; 0 if that is not known.
    pub free_memory: usize,
    /// Bytes of memory that the threads of a team can share; 0 if there is none.
    pub group_memory: usize,
    /// What its maker calls it.
    pub name: String,
    /// Its maker.
    pub vendor: String,
    /// The driver and its version.
    pub driver: String,
}

/// A range of host memory whose relation to the device has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeNotice {
    /// Address of its first byte. It belongs to the program, which may have freed it already
    /// when it is no longer mapped.
    pub begin: usize,
    /// Bytes; not zero.
    pub size: usize,
    /// What has changed.
    pub change: RangeChange,
    /// The variable that is mapped, if it is known. Of a range that is no longer mapped
    /// nothing is told.
    pub variable: Described,
}

/// What of the program has had memory allocated, or gives it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// A construct maps or unmaps a variable there; otherwise a routine has allocated or frees it.
    pub maps: bool,
    /// The construct's place, if its compiler tells it.
    pub location: Option<SourceLocation<'static>>,
    /// An address in the instruction that has called the runtime; 0 if it is not known.
    pub code: usize,
}

/// Whose affair copies and waits are, for devices that look for mistakes of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Copies {
    /// The runtime's: what it makes present and brings back.
    Runtimes = 0,
    /// The program has asked for them, as `target update` does.
    AskedFor = 1,
    /// Somebody who watches looks at what is there, and waits for it: the program gets nothing and learns nothing by it.
    Looks = 2,
    /// The device is made ready for all who use it, whoever happens to be the first.
    Prepares = 3,
}

/// How a range's relation to the device has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RangeChange {
    /// It has storage on the device from now on, with its first byte here. Copies follow: the
    /// moment to pin or register the range.
    Mapped(DevicePtr),
    /// It no longer has that storage, and no operation of the device uses the range for it.
    /// The same range may have been mapped anew before that: notices are counted.
    Unmapped(DevicePtr),
    /// A construct is about to use it where it is, as host and device share memory: the moment
    /// to prefetch it. No notice says that this has ended.
    UsedInPlace,
}

/// How many teams and threads a launch has, in each dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    /// Teams.
    pub teams: [u32; 3],
    /// Threads of a team.
    pub threads: [u32; 3],
}

impl Launch<'_> {
    /// What the program has asked for; one of what it has left open.
    #[must_use]
    pub fn asked_shape(&self) -> LaunchShape {
        LaunchShape {
            teams: self.teams.map(|count| count.max(1)),
            threads: self.thread_limit.map(|count| count.max(1)),
        }
    }

    /// Where the construct stands, if the program has debug information.
    #[must_use]
    pub fn location(&self) -> Option<SourceLocation<'static>> {
        self.source.decode()
    }
}

/// One kernel launch: everything but the arguments, which stand in an
/// [`ArgumentTable`](crate::ArgumentTable).
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its symbol name.
    pub name: &'a str,
    /// The construct, for messages; see [`Launch::location`].
    pub source: SourceText,
    /// Number of teams in each dimension; 0 leaves it to the device.
    pub teams: [u32; 3],
    /// Upper bound of threads per team in each dimension; 0 leaves it to the device.
    pub thread_limit: [u32; 3],
    /// Iterations of the associated loop; 0 if unknown.
    pub trip_count: u64,
    /// Bytes of dynamic group memory each team wants.
    pub dynamic_group_memory: u32,
    /// The device cannot give what the construct wants of it, so each team gets so many bytes of other
    /// memory instead (0: none), and no dynamic group memory at all.
    pub replaced_group_memory: Option<u32>,
    /// A kernel for the host's processor takes one pointer, to the addresses of its arguments' slots, as
    /// clang 23 makes it. Kernels of other devices, and kernels with an environment (flang's), take the
    /// arguments all the same.
    pub by_address: bool,
}
