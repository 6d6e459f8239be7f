//! What the runtime and the virtual GPU's driver tell each other, beside the driver API: one [`Table`] of functions that
//! only this driver has.
//!
//! The runtime asks for it by its number with `cuGetExportTable`, before it starts the driver. The driver of a
//! real card does not know the number. Both come from one build, but a folder of another release may stand before ours: so
//! the table begins with its size, as NVIDIA's do, and grows only at its end. What changes anything else changes the number.
//!
//! Every function may be called by any thread. What a [`Text`] or a structure points to is there during the call.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;

/// The table's number. Release 0.1.0 had `gangway-runtime`, with faults and places in another form, and `gangway-runtime2`
/// told of accesses byte by byte.
pub const NUMBER: [u8; 16] = *b"gangway-runtime3";

/// `CUdevice`.
pub type Device = i32;

/// `CUdeviceptr`.
pub type Address = u64;

/// `CUcontext`, `CUmodule`, `CUstream`: what only the driver knows. Zero is none.
pub type Handle = usize;

/// The functions. As NVIDIA's tables begin: with their size, in bytes.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Table {
    pub size: usize,
    /// Reports and traces are the runtime's: nothing is to be counted twice.
    pub runtime_reports: extern "C" fn(),
    /// Has a function called, with an argument, again and again while warps of any device wait.
    pub when_warps_wait: extern "C" fn(listener: extern "C" fn(*mut c_void), context: *mut c_void),
    /// The runtime has loaded this module, and reports what its kernels do.
    pub runtimes_module: extern "C" fn(module: Handle),
    /// Tells why a kernel has failed and with it the context, once: calls a function with an
    /// argument. Answers whether it has.
    pub take_fault: extern "C" fn(context: Handle, receive: ReceiveFault, argument: *mut c_void) -> bool,
    /// Whether each access of a device's kernels is checked to the byte: each variable is to have memory of its
    /// own.
    pub checks_memory: extern "C" fn(device: Device) -> bool,
    /// The runtime keeps what it has allocated at an address: it is none that the program has never freed.
    pub runtimes_memory: extern "C" fn(address: Address),
    /// The program requires that devices use the host's memory. They do from now on, unless the user has forbidden it.
    pub requires_unified_memory: extern "C" fn(),
    /// Whether reports of a device want to know which variables its memory is of.
    pub wants_names: extern "C" fn(device: Device) -> bool,
    /// So many bytes at an address are of a variable.
    pub name_memory: extern "C" fn(address: Address, size: u64, name: &Text<'_>),
    /// The runtime has made a stream.
    pub runtimes_stream: extern "C" fn(stream: Handle),
    /// Whose affair it is what the calling thread copies and waits for from now on: 0 the runtime's, 1 the program has
    /// asked for it, 2 that of somebody who watches, 3 that of all who use the device, which is made ready. Answers whose
    /// it was.
    pub copies_are: extern "C" fn(copies: u8) -> u8,
    /// Takes what is noted of the accesses to so many bytes: calls a function with an argument for each range. Answers 0
    /// where accesses are not noted, and otherwise one more than how many kernels have run that nobody has looked at.
    pub take_accesses: extern "C" fn(
        device: Device,
        address: Address,
        size: u64,
        receive: ReceiveAccess,
        argument: *mut c_void,
    ) -> u64,
    /// Has reads of so many bytes noted one by one, or only that there were some.
    pub watch_reads: extern "C" fn(device: Device, address: Address, size: u64, whether: bool),
    /// Tells the place of an access that has such a number: calls a function with an argument.
    pub access_place:
        extern "C" fn(device: Device, number: u32, receive: ReceivePlace, argument: *mut c_void),
    /// Whether races are looked for, also with what the program itself does.
    pub looks_for_races: extern "C" fn() -> bool,
    /// The program tells its accesses to pages that have their bit in a table of so many words, by the low bits of their
    /// numbers; the driver sets it for pages that devices use. `find` tells the place of an instruction. Answers whether
    /// they are wanted. The table stays.
    pub hear_host: extern "C" fn(pages: *const AtomicU64, words: usize, find: FindPlace) -> bool,
    /// The program is about to access so many bytes, by the instruction at an address.
    pub host_accessed: extern "C" fn(address: u64, size: u64, code: u64, write: bool),
    /// Memory of the program is given back.
    pub host_freed: extern "C" fn(address: u64, size: u64),
    /// The copy that was put last into a stream reads or writes memory of the program.
    pub host_copied: extern "C" fn(stream: Handle, copy: &HostCopy<'_>),
    /// What the program's tasks do, one of [`task`].
    pub task: extern "C" fn(event: u32, value: u64) -> u64,
    /// What of the program has had the memory at an address allocated.
    pub memory_obtained: extern "C" fn(address: Address, obtained: &Obtained<'_>),
    /// What of the program is about to give up so many bytes of memory, with 0 all that has been allocated at the address: in
    /// the order of a stream, or at once without one.
    pub memory_given_up: extern "C" fn(stream: Handle, address: Address, size: u64, by: &Obtained<'_>),
}

/// Tells the place of an instruction of the program's: calls a function with an argument.
pub type FindPlace = extern "C" fn(code: u64, receive: ReceivePlace, argument: *mut c_void);

/// Gets a place, and the argument that was passed with this function.
pub type ReceivePlace = extern "C" fn(argument: *mut c_void, place: &Place<'_>);

/// How memory has been accessed.
pub mod access {
    /// Kernels have read it, before any write. Without a number: they have read something of it.
    pub const READ: u32 = 0;
    /// Kernels have written it, last where the number says.
    pub const WRITE: u32 = 1;
    /// Something else than a kernel may have written it.
    pub const CHANGE: u32 = 2;
}

/// A range of a device's memory that has been accessed in one way.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Accessed {
    pub address: Address,
    pub size: u64,
    /// One of [`access`].
    pub kind: u32,
    /// Which the table knows the place of, 0 if none.
    pub number: u32,
}

/// Gets what has been accessed, and the argument that was passed with this function.
pub type ReceiveAccess = extern "C" fn(argument: *mut c_void, accessed: &Accessed);

/// Gets why a kernel has failed, and the argument that was passed with this function.
pub type ReceiveFault = extern "C" fn(argument: *mut c_void, fault: &KernelFault<'_>);

/// Bytes of UTF-8; none if there is nothing to say.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Text<'a> {
    bytes: *const u8,
    size: usize,
    text: PhantomData<&'a str>,
}

impl<'a> Text<'a> {
    #[must_use]
    pub const fn of(text: &'a str) -> Self {
        Self { bytes: text.as_ptr(), size: text.len(), text: PhantomData }
    }

    #[must_use]
    pub fn of_option(text: Option<&'a str>) -> Self {
        Self::of(text.unwrap_or_default())
    }

    /// A copy of the text, which lasts longer than the call.
    #[must_use]
    pub fn copy(&self) -> String {
        if self.size == 0 {
            return String::new();
        }
        // SAFETY: only `of` makes a text, of bytes that are there for as long as its lifetime says.
        let bytes = unsafe { std::slice::from_raw_parts(self.bytes, self.size) };
        // The other library's word that it is UTF-8 costs little to check.
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// A place in a source; no file if it is not known.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Source<'a> {
    pub file: Text<'a>,
    pub line: u32,
    pub column: u32,
}

impl<'a> Source<'a> {
    #[must_use]
    pub fn of(place: Option<(&'a str, u32, u32)>) -> Self {
        let (file, line, column) = place.unwrap_or_default();
        Self { file: Text::of(file), line, column }
    }

    /// File, line and column.
    #[must_use]
    pub fn copy(&self) -> Option<(String, u32, u32)> {
        (self.file.size > 0).then(|| (self.file.copy(), self.line, self.column))
    }
}

/// Where something is done.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Place<'a> {
    pub function: Text<'a>,
    /// The instruction's own text, if the device's code says no more.
    pub instruction: Text<'a>,
    pub source: Source<'a>,
}

/// What of the program has had memory allocated, or gives it up.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Obtained<'a> {
    /// A construct maps or unmaps a variable there; otherwise a routine has allocated or frees it.
    pub maps: bool,
    /// The construct.
    pub source: Source<'a>,
    /// An address in the instruction that called the runtime, 0 if it is not known, and what tells its place.
    pub code: u64,
    pub find: FindPlace,
}

/// A copy's part that is memory of the program.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HostCopy<'a> {
    pub address: u64,
    /// In bytes.
    pub size: u64,
    /// The construct.
    pub source: Source<'a>,
    pub write: bool,
    /// It is a part of mapping data, and not what the program asks for.
    pub mapped: bool,
}

/// Why a kernel has failed.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct KernelFault<'a> {
    /// The symbol of the kernel.
    pub kernel: Text<'a>,
    pub what: Text<'a>,
    /// What is near the address.
    pub near: Text<'a>,
    pub remark: Text<'a>,
    pub place: Place<'a>,
    pub threads: Text<'a>,
    /// The first byte of the access that is wrong.
    pub address: u64,
    /// In bytes.
    pub size: u64,
    /// An access was refused: the two fields before and the two behind are its own.
    pub accessed: bool,
    pub write: bool,
    /// No device has this address.
    pub foreign: bool,
    /// The stack of a thread has no room left.
    pub stack_full: bool,
}

/// What the runtime and the virtual AMD GPU's library tell each other. The runtime asks for the table with
/// `hsa_system_get_major_extension_table`, by a number that no extension has.
pub mod amd {
    use super::ReceiveFault;
    use std::ffi::c_void;

    /// `hsa_extension_t` has no such number.
    pub const EXTENSION: u16 = 0x6777;
    /// What changes anything but the table's end changes this.
    pub const VERSION: u16 = 2;

    /// The functions.
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct Table {
        /// In bytes.
        pub size: usize,
        /// The runtime has made the queue at an address, and tells why a kernel in it fails.
        pub runtimes_queue: extern "C" fn(queue: u64),
        /// Tells why a kernel of an agent's has failed, once: calls a function with an argument. Answers whether it has.
        pub take_fault: extern "C" fn(agent: u64, receive: ReceiveFault, argument: *mut c_void) -> bool,
        /// The program requires devices that use the host's memory: they do from now on, unless the user has
        /// forbidden it.
        pub requires_unified_memory: extern "C" fn(),
    }
}

/// What the program's tasks do, by a number.
pub mod task {
    /// It makes one: answers the moment.
    pub const MADE: u32 = 0;
    /// The calling thread begins one that runs code of the program; the value says whether it depends on others.
    pub const BEGIN: u32 = 1;
    /// The calling thread begins one that moves data and was made at a moment: one of its own, and one that depends on
    /// others.
    pub const BEGIN_FOR_DEVICE: u32 = 2;
    pub const BEGIN_DEPENDENT_FOR_DEVICE: u32 = 3;
    /// The calling thread ends the task that it has begun last.
    pub const END: u32 = 4;
    /// The program has waited for tasks.
    pub const MET: u32 = 5;
    /// A task goes on in several threads, and does so no more.
    pub const SPREADS: u32 = 6;
    pub const GATHERS: u32 = 7;
    /// The calling thread waits from now on on behalf of the task that was made at a moment, or for itself, if that is 0:
    /// answers on behalf of which it did.
    pub const WAITS: u32 = 8;
    /// Answers the moment at which the task was made that moves data and that the calling thread is in, or 0.
    pub const FOR_DEVICE: u32 = 9;
    /// The calling thread is about to run a function of the program's that a kernel waits for.
    pub const SERVES: u32 = 10;
    /// The task that moves data and that the calling thread begins next comes after the one that was made at a moment, or one
    /// of [these](self::FOLLOWS_OF_PROGRAM).
    pub const FOLLOWS: u32 = 11;
    /// One that runs code of the program.
    pub const FOLLOWS_OF_PROGRAM: u64 = 0;
    /// All.
    pub const FOLLOWS_ALL: u64 = u64::MAX;
    /// The program has waited for the task that was made at a moment.
    pub const MET_ONE: u32 = 12;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_arrives() {
        let text = "über".to_owned();
        assert_eq!(Text::of(&text).copy(), text);
        assert_eq!(Text::of_option(None).copy(), "");
        let source = Some(("a.c", 3, 7));
        assert_eq!(Source::of(source).copy(), Some(("a.c".to_owned(), 3, 7)));
        assert_eq!(Source::of(None).copy(), None);
    }
}
