//! Failures of the runtime.
//!
//! A message says what was asked for, what was found, where in the source and which
//! variable. It is only put together when it is shown. What to do next stands here where it is the
//! same in every language; how a language or a compiler says it, its front end adds
//! (`frontends/frontend/src/words.rs`).

use crate::allocations::{self, WrongFree};
use gangway_backend::{AllocationKind, SourceLocation};
use gangway_present::Label;
use std::fmt;

/// Result of a runtime operation. The error is boxed: it is large, and success
/// is what the launch path returns.
pub type Result<T> = std::result::Result<T, Box<Error>>;

/// A host range, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRange {
    /// First byte.
    pub begin: usize,
    /// Bytes.
    pub size: usize,
    /// Its name, if known.
    pub label: Label,
}

impl fmt::Display for HostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.label.name() {
            write!(f, "`{name}` ")?;
        }
        write!(f, "[{:#x}, {:#x}) of {} bytes", self.begin, self.begin.wrapping_add(self.size), self.size)?;
        if let Some(location) = self.label.location() {
            write!(f, " (declared at {}:{})", location.file, location.line)?;
        }
        Ok(())
    }
}

/// What is wrong with the description of a section, in words that go on from "the
/// compiler describes it with ".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage(pub String);

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorKind {
    /// The program's device number names no device.
    NoSuchDevice {
        /// The number asked for.
        number: i64,
        /// How many there are.
        available: usize,
    },
    /// No image of the program runs on any device.
    NoDevices {
        /// What the program brings, one line each.
        images: Vec<String>,
        /// What the machine has, one line per back end.
        backends: Vec<String>,
    },
    /// The library a region is in has no image for this device.
    NoImage {
        /// The device's back end.
        backend: String,
        /// What the library brings, one line each.
        images: Vec<String>,
        /// The devices there are, one line each.
        devices: Vec<String>,
    },
    /// The device could not be opened.
    DeviceOpen(gangway_backend::Error),
    /// The program requires unified shared memory, and the device has none.
    LacksUnifiedMemory,
    /// The device was open when the process was forked; this is the child.
    Forked,
    /// An image could not be loaded.
    ImageLoad(gangway_backend::Error),
    /// The region's address is in no registered library.
    UnknownRegion {
        /// Host address that identifies it.
        address: usize,
    },
    /// The image lacks the region's kernel.
    NoKernel(gangway_backend::Error),
    /// No memory is there: the range begins at null, or ends beyond the last address.
    NoMemory {
        /// The range.
        wanted: HostRange,
    },
    /// The item overlaps mapped storage without being inside it.
    PartlyPresent {
        /// The item.
        wanted: HostRange,
        /// What is mapped.
        mapped: HostRange,
    },
    /// A member of a structure that does not stand on the device beside another one, as in the structure.
    MembersApart {
        /// The member.
        wanted: HostRange,
        /// The other one.
        mapped: HostRange,
    },
    /// Data of a construct that names no device is on devices none of which has all of it.
    Scattered {
        /// Two items and where they are.
        items: [(HostRange, i32); 2],
    },
    /// The range to be associated overlaps mapped storage.
    AlreadyMapped {
        /// The range.
        wanted: HostRange,
        /// What is mapped.
        mapped: HostRange,
    },
    /// The item has to be new and is mapped, at least in part.
    AlreadyPresent {
        /// The item.
        wanted: HostRange,
        /// What is mapped.
        mapped: HostRange,
    },
    /// `present` was given and the item is not.
    NotPresent {
        /// The item.
        wanted: HostRange,
        /// Mapped ranges near it.
        near: Vec<HostRange>,
    },
    /// A pointer is to be detached that is not attached, or not any more.
    NotAttached {
        /// Its address on the host.
        pointer: usize,
        /// What has it in it, if no pointer in there has ever been attached.
        within: Option<HostRange>,
    },
    /// Something to be unmapped or updated is not mapped (only reported on request).
    NeverMapped {
        /// The item.
        wanted: HostRange,
        /// What was to be done with it.
        action: MappedAction,
        /// Mapped ranges near it.
        near: Vec<HostRange>,
    },
    /// A region gets a pointer with the host's address (only reported on request).
    HostPointer {
        /// The pointer; the range is what it points to.
        pointer: HostRange,
        /// Mapped ranges near it.
        near: Vec<HostRange>,
    },
    /// A region may use all of a structure of which members are mapped (only reported on request).
    PartlyMapped {
        /// The structure.
        wanted: HostRange,
        /// What is mapped of it.
        parts: Vec<HostRange>,
    },
    /// A mapped variable has a pointer with the host's address in it (only reported on request).
    InnerPointer {
        /// The variable.
        holder: HostRange,
        /// Where in it the pointer is, in bytes.
        offset: usize,
        /// The address.
        value: usize,
        /// What the user calls the pointer, if that is known.
        member: Option<String>,
    },
    /// The device has no memory left.
    OutOfMemory {
        /// Which memory.
        memory: AllocationKind,
        /// The item; none for compiler-made copies.
        wanted: HostRange,
        /// Bytes asked of the device.
        requested: usize,
        /// Bytes the program has mapped on the device.
        mapped: usize,
    },
    /// Host memory could not be pinned for the device.
    Pin {
        /// The memory.
        wanted: HostRange,
        /// What the back end says.
        source: gangway_backend::Error,
    },
    /// A copy failed.
    Transfer(gangway_backend::Error),
    /// A kernel could not be started or failed.
    Launch {
        /// The kernel.
        kernel: String,
        /// What the back end says.
        source: gangway_backend::Error,
    },
    /// A kernel that was launched earlier has failed, in this construct or another one, and
    /// the device cannot be used any more.
    Lost {
        /// The kernels that may have been under way, with their places: one of them failed.
        kernels: Vec<String>,
        /// Functions of the host that they had called, and that had not returned.
        host_calls: Vec<String>,
        /// What the back end says.
        source: gangway_backend::Error,
    },
    /// An operation in a queue of the program's failed.
    Queue {
        /// Kernels that were in the queue.
        kernels: Vec<String>,
        /// What the back end says.
        source: gangway_backend::Error,
    },
    /// The program launches a kernel in a way that is not known.
    UnknownLaunch {
        /// The version that the compiler gives it.
        version: u32,
        /// The newest one that is known.
        newest: u32,
    },
    /// A construct has another number of arguments than its kernel.
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// How many the construct has, with those of the runtime.
        given: usize,
        /// How many the image says.
        taken: usize,
    },
    /// A launch insists on more threads per team than its kernel can have.
    TeamSize {
        /// The kernel.
        kernel: String,
        /// Threads in each dimension that the launch wants.
        wanted: [u32; 3],
        /// Threads that a team of it can have.
        most: u32,
    },
    /// A launch wants more group memory than its kernel can have.
    GroupMemory {
        /// The kernel.
        kernel: String,
        /// Bytes per team that the construct wants.
        wanted: u32,
        /// Bytes per team that it can have.
        most: u32,
        /// Bytes per team that the kernel has besides.
        fixed: u32,
    },
    /// Memory was to be freed by the wrong call, or twice.
    WrongFree(Box<WrongFree>),
    /// The device does not free what a routine was to free.
    NotFreed {
        /// The address that the routine was given.
        address: usize,
        /// What kind of memory the routine frees.
        kind: AllocationKind,
        /// The device's words.
        source: gangway_backend::Error,
    },
    /// Another operation of the back end failed.
    Backend(gangway_backend::Error),
    /// The compiler describes a section in a way that makes no sense.
    DamagedSection {
        /// The item's name.
        label: Label,
        /// What is wrong.
        reason: Damage,
    },
    /// The compiler asked for something this runtime does not know.
    UnknownKind {
        /// The item's name.
        label: Label,
        /// What of the compiler's encoding is not known.
        encoding: String,
        /// Position among the items.
        argument: usize,
    },
    /// The reference count is at its limit.
    TooManyReferences {
        /// The item.
        wanted: HostRange,
    },
    /// Translation units disagree about a `requires` clause.
    Requires {
        /// The clause.
        clause: &'static str,
    },
}

/// A failure with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// Device number; -1 where there is none.
    pub device: i32,
    /// The construct.
    pub construct: Option<SourceLocation<'static>>,
}

impl Error {
    /// A boxed error, the form that results carry.
    #[cold]
    #[must_use]
    pub fn new(kind: ErrorKind, device: i32, construct: Option<SourceLocation<'static>>) -> Box<Self> {
        Box::new(Self { kind: kind.told_as_fault(device), device, construct })
    }
}

impl ErrorKind {
    /// What an operation answers after a kernel has failed is no failure of the operation.
    fn told_as_fault(self, device: i32) -> Self {
        match self {
            Self::Transfer(source @ gangway_backend::Error::Fault { .. })
            | Self::NoKernel(source @ gangway_backend::Error::Fault { .. })
            | Self::ImageLoad(source @ gangway_backend::Error::Fault { .. })
            | Self::Backend(source @ gangway_backend::Error::Fault { .. }) => {
                Self::lost(source).told_as_fault(device)
            }
            Self::Lost { kernels, host_calls, source } if host_calls.is_empty() => {
                gangway_host_calls::forget_lost(device);
                Self::Lost { kernels, host_calls: gangway_host_calls::under_way(device), source }
            }
            other => other,
        }
    }
}

impl ErrorKind {
    /// What the driver tells of a kernel's failure, if that is what happened.
    pub(crate) fn fault_report(&mut self) -> Option<&mut gangway_backend::FaultReport> {
        match self {
            Self::DeviceOpen(source)
            | Self::ImageLoad(source)
            | Self::NoKernel(source)
            | Self::Transfer(source)
            | Self::Backend(source)
            | Self::Pin { source, .. }
            | Self::Launch { source, .. }
            | Self::Lost { source, .. }
            | Self::Queue { source, .. } => match source {
                gangway_backend::Error::Fault { report, .. } => report.as_deref_mut(),
                _ => None,
            },
            _ => None,
        }
    }

    /// The device is lost, as the back end has said.
    pub(crate) fn lost(source: gangway_backend::Error) -> Self {
        let kernels = match &source {
            gangway_backend::Error::Fault { suspects, .. } => suspects.iter().map(describe_suspect).collect(),
            _ => Vec::new(),
        };
        Self::Lost { kernels, host_calls: Vec::new(), source }
    }
}

/// A kernel that may have failed, with its place.
fn describe_suspect(suspect: &gangway_backend::Suspect) -> String {
    let kernel = gangway_trace::pretty_kernel_name(&suspect.kernel);
    match suspect.source.decode() {
        Some(at) => format!("{kernel} ({}:{}:{})", at.file, at.line, at.column),
        None => kernel.into(),
    }
}

/// Lists things under a heading, or says that there are none.
fn list(f: &mut fmt::Formatter<'_>, heading: &str, items: &[impl fmt::Display]) -> fmt::Result {
    if items.is_empty() {
        return write!(f, "\n  {heading}: none");
    }
    write!(f, "\n  {heading}:")?;
    items.iter().try_for_each(|item| write!(f, "\n    {item}"))
}

/// Where an error happened, in words that stand before what happened.
struct Place<'e>(&'e Error);

impl Error {
    /// Its construct and its device: `file:line:column: in function: device 0: `, as far as they are known.
    #[must_use]
    pub fn place(&self) -> impl fmt::Display {
        Place(self)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(Error { construct, device, .. }) = self;
        if let Some(at) = construct {
            write!(f, "{}:{}:{}: ", at.file, at.line, at.column)?;
            if !at.function.is_empty() {
                write!(f, "in {}: ", at.function)?;
            }
        }
        if *device >= 0 {
            write!(f, "device {device}: ")?;
        }
        Ok(())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place(), self.kind)
    }
}

/// A pointer, whose name may be known.
pub(crate) fn pointer(member: Option<&str>) -> String {
    member.map_or("the pointer".to_owned(), |name| format!("`{name}`, the pointer"))
}

/// What a construct was to do with an item that has to be mapped for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedAction {
    /// `from`, `release` and their like.
    Unmap,
    /// `delete`
    Delete,
    /// `target update`
    Update,
}

const MAY_PIN: &str = "system and driver bound what a process may pin (`ulimit -l`): pin less, or use ordinary \
                       memory, which every copy can use";
const UNMAP_BY_ADDRESS: &str = "\n  help: an item is unmapped by the address it was mapped with";

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchDevice { number, available } => write!(
                f,
                "there is no device {number}: this program has {available} device(s), numbered from 0"
            ),
            Self::NoDevices { images, backends } => {
                f.write_str(match images.is_empty() {
                    true => "the program has no code for devices",
                    false if backends.is_empty() => "no back end is in use",
                    false => "no device can run this program's device code",
                })?;
                list(f, "images in the program", images)?;
                list(f, "back ends", backends)?;
                if backends.is_empty() {
                    f.write_str(
                        "\n  help: GANGWAY_DEVICE chooses back ends; without it all of them are used",
                    )?;
                }
                Ok(())
            }
            Self::NoImage { backend, images, devices } => {
                write!(f, "the program has no image for this {backend} device")?;
                list(f, "images in the program", images)?;
                list(f, "devices", devices)
            }
            Self::Forked => f.write_str(
                "the device was in use when the process was forked, and its back end does not work in the \
                 child\n  help: fork before the device is used, or start another program in the child (exec)",
            ),
            Self::DeviceOpen(source) => write!(f, "the device cannot be opened: {source}"),
            Self::LacksUnifiedMemory => {
                f.write_str("the device lacks unified shared memory, which the program requires")
            }
            Self::ImageLoad(gangway_backend::Error::InvalidImage { reason }) => write!(
                f,
                "the program's device image cannot be loaded: {reason}\n  \
                 help: build the program again; `gangway inspect` shows its images"
            ),
            Self::ImageLoad(source) => write!(f, "the program's device image cannot be loaded: {source}"),
            Self::UnknownRegion { address } => write!(
                f,
                "the target region at host address {address:#x} belongs to no registered image\n  \
                 help: the library it is in may have been closed"
            ),
            Self::NoKernel(source) => write!(f, "the target region's kernel is missing: {source}"),
            Self::NoMemory { wanted } if wanted.begin == 0 => write!(
                f,
                "{wanted} cannot be mapped: its address is null\n  \
                 help: let the pointer point to data before, or give the section the length 0"
            ),
            Self::NoMemory { wanted } => write!(
                f,
                "{wanted} cannot be mapped: no memory is so large; as a signed number the size is {}\n  \
                 help: check how the length of the section is computed",
                wanted.size.cast_signed()
            ),
            Self::Scattered { items: [(one, on), (other, elsewhere)] } => write!(
                f,
                "{one} is present on device {on} and {other} on device {elsewhere}\n  \
                 note: with GANGWAY_BALANCE a construct runs where its data is, and this one needs both"
            ),
            Self::PartlyPresent { wanted, mapped } => {
                write!(f, "{wanted} is only partly present on the device\n  already mapped: {mapped}")
            }
            Self::MembersApart { wanted, mapped } => write!(
                f,
                "{wanted} is a member of a structure of which others were mapped without it, so that kernels cannot \
                 find it beside them\n  already mapped: {mapped}"
            ),
            Self::AlreadyMapped { wanted, mapped } => write!(
                f,
                "{wanted} cannot be associated: it is mapped or associated already, at least in part\n  \
                 already mapped: {mapped}\n  \
                 help: unmap it or disassociate it first"
            ),
            Self::AlreadyPresent { wanted, mapped } => write!(
                f,
                "{wanted} must be new on the device and is mapped already, at least in part\n  \
                 already mapped: {mapped}\n  help: unmap it before"
            ),
            Self::NotPresent { wanted, near } => {
                write!(f, "{wanted} must be present on the device and is not")?;
                list(f, "mapped nearby", near)
            }
            Self::NotAttached { pointer, within: None } => write!(
                f,
                "the pointer at {pointer:#x} has been detached as often as it was attached\n  \
                 help: detach it once for each time that it is attached"
            ),
            Self::NotAttached { pointer, within: Some(structure) } => write!(
                f,
                "the pointer at {pointer:#x} is to be detached, and none in {structure} has been attached\n  \
                 help: attach it before"
            ),
            Self::HostPointer { pointer, near } => {
                match pointer.label.name() {
                    Some(name) => write!(f, "pointer `{name}`")?,
                    None => f.write_str("a pointer")?,
                }
                if let Some(at) = pointer.label.location() {
                    write!(f, " (declared at {}:{})", at.file, at.line)?;
                }
                let begin = pointer.begin;
                write!(f, " keeps the host's address {begin:#x}: what it points to is not mapped")?;
                list(f, "mapped nearby", near)
            }
            Self::PartlyMapped { wanted, parts } => {
                write!(f, "{wanted} is only partly mapped, and the region may use all of it")?;
                list(f, "mapped", parts)
            }
            Self::InnerPointer { holder, offset, value, member } => write!(
                f,
                "{} at byte {offset} of {holder} keeps the host's address {value:#x}: what it points to is not \
                 mapped",
                pointer(member.as_deref())
            ),
            Self::NeverMapped { wanted, action, near } => {
                let (what, help) = match action {
                    MappedAction::Unmap => ("mapped: there is nothing to unmap", UNMAP_BY_ADDRESS),
                    MappedAction::Delete => ("mapped: there is nothing to delete", UNMAP_BY_ADDRESS),
                    MappedAction::Update => ("wholly mapped: nothing is updated", ""),
                };
                write!(f, "{wanted} is not {what}")?;
                list(f, "mapped nearby", near)?;
                f.write_str(help)
            }
            Self::OutOfMemory { memory, wanted, requested, mapped } => {
                let (which, help) = match memory {
                    AllocationKind::Device => ("device memory", None),
                    AllocationKind::Host => ("pinned memory of the host", Some(MAY_PIN)),
                    AllocationKind::Shared => (
                        "memory that host and device share",
                        Some("free what is not needed, or work in smaller pieces"),
                    ),
                };
                write!(f, "out of {which}: {requested} bytes wanted")?;
                if wanted.begin != 0 {
                    write!(f, " for {wanted}")?;
                }
                write!(f, ", {mapped} bytes mapped already")?;
                help.map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
            }
            Self::Pin { wanted, source } => {
                write!(f, "{wanted} cannot be pinned: {source}\n  help: ")?;
                f.write_str(match source {
                    gangway_backend::Error::Unsupported { .. } => "this device copies from ordinary memory",
                    _ => MAY_PIN,
                })
            }
            Self::Transfer(source) => write!(f, "copying failed: {source}"),
            Self::Launch { kernel, source } => write!(f, "kernel {kernel} failed: {source}"),
            Self::Lost { kernels, host_calls, source } => {
                f.write_str("the device is lost: ")?;
                match &**kernels {
                    [] => write!(f, "{source}")?,
                    [kernel] => write!(f, "kernel {kernel} failed: {source}")?,
                    kernels => {
                        write!(f, "one of {} kernels failed: {source}", kernels.len())?;
                        list(f, "kernels that were under way", kernels)?;
                    }
                }
                if !host_calls.is_empty() {
                    list(f, "functions of the host that it waited for", host_calls)?;
                }
                f.write_str("\n  help: nothing can be done on the device before the program is started again")
            }
            Self::Queue { kernels, source } => {
                write!(f, "an operation in a queue failed: {source}")?;
                list(f, "kernels that were in the queue", kernels)
            }
            Self::UnknownLaunch { version, newest } => write!(
                f,
                "the program's compiler launches regions by version {version} of its interface, and the newest \
                 that is known here is {newest}\n  help: build the program with a compiler that this release of \
                 Gangway lists"
            ),
            Self::ArgumentCount { kernel, given, taken } => write!(
                f,
                "kernel {kernel} takes {taken} arguments, but the construct passes {given}\n  \
                 help: program and image do not belong together; build the program again"
            ),
            Self::TeamSize { kernel, wanted: [x, y, z], most } => write!(
                f,
                "kernel {kernel} cannot have blocks of {x} x {y} x {z} threads: {most} are the most on this \
                 device\n  help: launch it with smaller blocks"
            ),
            Self::GroupMemory { kernel, wanted, most: 0, fixed: 0 } => write!(
                f,
                "kernel {kernel} cannot have {wanted} bytes of dynamic group memory per team: the device has none"
            ),
            Self::GroupMemory { kernel, wanted, most, fixed } => write!(
                f,
                "kernel {kernel} cannot have {wanted} bytes of dynamic group memory per team: the device has \
                 {most} for it, besides {fixed} of its own"
            ),
            Self::WrongFree(mistake) => mistake.fmt(f),
            // Our own back ends name the address and what is wrong with it, drivers do not.
            Self::NotFreed { source: source @ gangway_backend::Error::Device { code: 0, .. }, .. } => {
                source.fmt(f)
            }
            Self::NotFreed { address, kind, source } => write!(
                f,
                "cannot free {address:#x} as {}: {source}\n  note: it may have been freed already, or no routine has \
                 returned it",
                allocations::name(*kind)
            ),
            Self::Backend(source) => source.fmt(f),
            Self::UnknownKind { label, encoding, argument } => {
                match label.name() {
                    Some(name) => write!(f, "`{name}`")?,
                    None => write!(f, "argument {argument}")?,
                }
                write!(
                    f,
                    " is mapped in a way that is not known: {encoding}\n  \
                     help: the program was made by a compiler newer than this runtime"
                )
            }
            Self::DamagedSection { label, reason: Damage(reason) } => {
                match label.name() {
                    Some(name) => write!(f, "the section of `{name}`")?,
                    None => f.write_str("the section of a list item")?,
                }
                write!(f, " cannot be updated: the compiler describes it with {reason}")
            }
            Self::TooManyReferences { wanted } => {
                write!(
                    f,
                    "{wanted} has been mapped more often than can be counted\n  help: unmap it as often as it is mapped"
                )
            }
            Self::Requires { clause } => {
                write!(f, "not every part of the program that has target regions requires {clause}")
            }
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::ErrorKind;

    #[test]
    fn nothing_is_to_be_compiled_for_devices_that_nobody_wants() {
        let told = |backends: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            ErrorKind::NoDevices { images: owned(&["PTX"]), backends: owned(backends) }.to_string()
        };
        assert!(!told(&["cpu"]).contains("help"));
        assert!(told(&[]).contains("help: GANGWAY_DEVICE chooses"));
    }
}
