//! The C layouts that compilers and this library agree on.
//!
//! Checked against what clang-22 emits; `tests/abi.rs` compares them with a
//! compiled program, the assertions here pin them.

use crate::mapper::MapperFunction;
use gangway_backend::{OwnSlots, SourceText};
use gangway_frontend::caller;
use gangway_runtime::Label;
use gangway_runtime::events::Site;
use std::ffi::{c_char, c_void};

/// What the `__tgt_target_*` functions return on success.
pub const SUCCESS: i32 = 0;
/// What they return when the host version of the region is to run.
pub const FAIL: i32 = !0;

/// `ident_t`: where a construct stands in the source.
#[repr(C)]
#[derive(Debug)]
pub struct Ident {
    reserved_1: i32,
    /// Flags of libomp.
    pub flags: i32,
    reserved_2: i32,
    reserved_3: i32,
    /// `";file;function;line;column;;"`.
    pub source: *const c_char,
}

const _: () = assert!(size_of::<Ident>() == 24 && std::mem::offset_of!(Ident, source) == 16);

/// The place a construct was called from.
///
/// # Safety
/// `location` is null or the compiler's.
#[inline]
#[must_use]
pub unsafe fn site(location: *const Ident) -> Site {
    // SAFETY: the caller's promise; the text is a constant of the program.
    let source = unsafe {
        match location.as_ref() {
            None => SourceText::NONE,
            Some(ident) => SourceText::new(ident.source),
        }
    };
    Site { source, return_address: caller::noted() }
}

/// `KernelArgsTy`, version 3 (clang 17 and later). Versions 1 and 2 end before
/// `teams`.
#[repr(C)]
#[derive(Debug)]
pub struct KernelArguments {
    /// Layout version.
    pub version: u32,
    /// Number of arguments.
    pub count: u32,
    /// Addresses of the variables.
    pub bases: *mut usize,
    /// First bytes of the sections.
    pub begins: *mut usize,
    /// Sizes in bytes.
    pub sizes: *mut i64,
    /// Map types.
    pub types: *mut u64,
    /// Names, or null.
    pub names: *mut Label,
    /// Mappers, or null.
    pub mappers: *mut Option<MapperFunction>,
    /// Iterations of the loop, 0 if unknown.
    pub trip_count: u64,
    /// See [`flags`].
    pub flags: u64,
    /// Teams per dimension.
    pub teams: [u32; 3],
    /// Threads per team and dimension.
    pub thread_limit: [u32; 3],
    /// Bytes of dynamic group memory.
    pub dynamic_group_memory: u32,
}

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<KernelArguments>() == 104);
    assert!(offset_of!(KernelArguments, bases) == 8);
    assert!(offset_of!(KernelArguments, names) == 40);
    assert!(offset_of!(KernelArguments, trip_count) == 56);
    assert!(offset_of!(KernelArguments, flags) == 64);
    assert!(offset_of!(KernelArguments, teams) == 72);
    assert!(offset_of!(KernelArguments, thread_limit) == 84);
    assert!(offset_of!(KernelArguments, dynamic_group_memory) == 96);
};

impl KernelArguments {
    /// The version of clang 17 to 22.
    pub const CLANG_17: u32 = 3;
    /// The version of clang 23.
    pub const CLANG_23: u32 = 5;

    /// The program's arguments. In clang 23's lists the launch environment comes last, as a value
    /// that is null.
    #[inline]
    #[must_use]
    pub const fn own_count(&self) -> u32 {
        if self.version == Self::CLANG_23 { self.count.saturating_sub(1) } else { self.count }
    }
}

/// What the version of a launch says of its structure and of how kernels take their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchForm {
    /// The structure has all its fields.
    pub is_full: bool,
    /// Where the kernels expect a launch environment.
    pub own_slots: OwnSlots,
    /// See [`Launch::by_address`](gangway_backend::Launch::by_address).
    pub by_address: bool,
}

impl LaunchForm {
    /// The form of a launch; `None`: no release of LLVM that is known has this version.
    #[inline]
    #[must_use]
    pub const fn of(version: u32) -> Option<Self> {
        let (leading, trailing) = match version {
            0..=2 => (0, 0),
            KernelArguments::CLANG_17 => (1, 0),
            // Number 4 was never in a release.
            KernelArguments::CLANG_23 => (0, 1),
            _ => return None,
        };
        Some(Self {
            is_full: leading + trailing != 0,
            own_slots: OwnSlots { leading, trailing },
            by_address: trailing != 0,
        })
    }
}

/// Bits of [`KernelArguments::flags`].
pub mod flags {
    /// The region is a `nowait` target task.
    pub const NOWAIT: u64 = 1;
    /// From clang 23 on: what is to be without the dynamic group memory (`dyn_groupprivate(fallback(...))`).
    pub const GROUP_MEMORY_FALLBACK: u64 = 3 << 2;
    /// `fallback(null)`.
    pub const FALLBACK_NULL: u64 = 1 << 2;
    /// `fallback(default_mem)`, and no modifier at all.
    pub const FALLBACK_DEFAULT_MEMORY: u64 = 2 << 2;
}

/// An offload entry, clang 20 and later.
#[repr(C)]
#[derive(Debug)]
pub struct OffloadEntry {
    /// Zero; the older layout has an address here.
    pub reserved: u64,
    /// Layout version.
    pub version: u16,
    /// Who made it: 1 is OpenMP.
    pub kind: u16,
    /// See [`entry_flags`].
    pub flags: u32,
    /// Host address.
    pub address: usize,
    /// Symbol name.
    pub name: *const c_char,
    /// Bytes, 0 for functions.
    pub size: u64,
    /// Extra data; the clauses of a `requires` entry.
    pub data: u64,
    /// Extra address.
    pub auxiliary: usize,
}

const _: () = assert!(size_of::<OffloadEntry>() == 56 && std::mem::offset_of!(OffloadEntry, data) == 40);

/// An offload entry up to clang 19.
#[repr(C)]
#[derive(Debug)]
pub struct LegacyOffloadEntry {
    /// Host address; not null.
    pub address: usize,
    /// Symbol name.
    pub name: *const c_char,
    /// Bytes, 0 for functions.
    pub size: u64,
    /// See [`entry_flags`].
    pub flags: i32,
    /// Extra data.
    pub data: i32,
}

const _: () = assert!(size_of::<LegacyOffloadEntry>() == 32);

/// [`OffloadEntry::kind`] of OpenMP.
pub const KIND_OPENMP: u16 = 1;

/// Bits of [`OffloadEntry::flags`].
pub mod entry_flags {
    /// A `declare target link` variable.
    pub const LINK: u32 = 1;
    /// Constructor, destructor: relics, run by the image itself.
    pub const CONSTRUCTOR: u32 = 2;
    /// See [`CONSTRUCTOR`].
    pub const DESTRUCTOR: u32 = 4;
    /// A `declare target indirect` function.
    pub const INDIRECT: u32 = 8;
    /// Not a symbol: the `requires` clauses, in `data`.
    pub const REQUIRES: u32 = 0x10;
    /// The virtual table of a class that is used in a target region.
    pub const INDIRECT_VTABLE: u32 = 0x20;
    /// All of them.
    pub const ALL: u32 = 0x3f;
}

/// A device image and the entries that go with it.
#[repr(C)]
#[derive(Debug)]
pub struct DeviceImage {
    /// First byte.
    pub start: *const u8,
    /// One past the last byte.
    pub end: *const u8,
    /// First entry.
    pub entries_begin: *const OffloadEntry,
    /// One past the last entry.
    pub entries_end: *const OffloadEntry,
}

/// What `__tgt_register_lib` is given.
#[repr(C)]
#[derive(Debug)]
pub struct BinaryDescriptor {
    /// Number of images.
    pub image_count: i32,
    /// The images.
    pub images: *const DeviceImage,
    /// First host entry.
    pub entries_begin: *const OffloadEntry,
    /// One past the last host entry.
    pub entries_end: *const OffloadEntry,
}

const _: () = assert!(size_of::<DeviceImage>() == 32 && size_of::<BinaryDescriptor>() == 32);

/// `kmp_depend_info_t`: a task dependence.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Dependence {
    /// Base address.
    pub base: usize,
    /// Length in bytes.
    pub length: usize,
    /// Kind bits.
    pub flags: u8,
}

const _: () = assert!(size_of::<Dependence>() == 24);

/// `kmp_task_t`: the part of a task that is ABI.
#[repr(C)]
#[derive(Debug)]
pub struct Task {
    /// The task's data.
    pub shared: *mut c_void,
    /// What it runs.
    pub routine: Option<unsafe extern "C" fn(i32, *mut Task) -> i32>,
    /// Where it is in its parts.
    pub part: i32,
    destructors: *mut c_void,
    priority: *mut c_void,
}

const _: () = assert!(size_of::<Task>() == 40);
