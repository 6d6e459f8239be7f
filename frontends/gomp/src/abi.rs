//! The C layouts and numbers that code of GCC 11 to 16 and this library agree on.
//!
//! They are those of GCC's `gomp-constants.h`, of what `mkoffload` writes into a program for
//! nvptx, and of the table that the linker makes of `.gnu.offload_funcs` and
//! `.gnu.offload_vars`.

use std::ffi::{CStr, c_char, c_void};

/// Kinds of list items: the low byte of a kind; the high one is the logarithm of the
/// alignment.
pub mod kind {
    /// The flag of items that the compiler has added by itself, with one of the first four
    /// kinds or their forced forms.
    pub const IMPLICIT: u8 = 0x60;
    /// The bits that say whether the flag is there.
    pub const IMPLICIT_MASK: u8 = 0x7c;

    /// Of this library's own: the item has no slot in the kernel's table.
    pub const NO_SLOT: u16 = 1 << 15;

    pub const ALLOC: u8 = 0;
    pub const TO: u8 = 1;
    pub const FROM: u8 = 2;
    pub const TOFROM: u8 = 3;
    pub const POINTER: u8 = 4;
    pub const TO_PSET: u8 = 5;
    pub const FORCE_PRESENT: u8 = 6;
    pub const DELETE: u8 = 7;
    pub const FORCE_DEVICEPTR: u8 = 8;
    pub const DEVICE_RESIDENT: u8 = 9;
    pub const LINK: u8 = 10;
    pub const IF_PRESENT: u8 = 11;
    pub const FIRSTPRIVATE: u8 = 12;
    pub const FIRSTPRIVATE_INT: u8 = 13;
    pub const USE_DEVICE_PTR: u8 = 14;
    pub const ZERO_LEN_ARRAY_SECTION: u8 = 15;
    pub const USE_DEVICE_PTR_IF_PRESENT: u8 = 16;
    pub const ALWAYS_TO: u8 = 17;
    pub const ALWAYS_FROM: u8 = 18;
    pub const ALWAYS_TOFROM: u8 = 19;
    pub const RELEASE: u8 = 23;
    pub const STRUCT: u8 = 28;
    pub const ALWAYS_POINTER: u8 = 29;
    pub const POINTER_TO_ZERO_LENGTH_ARRAY_SECTION: u8 = 30;
    pub const DELETE_ZERO_LEN_ARRAY_SECTION: u8 = 31;
    /// As [`STRUCT`], with the members in any order. Of GCC 14 and later, as the next ones.
    pub const STRUCT_UNORD: u8 = 92;
    /// OpenMP's `present` alone arrives as [`FORCE_PRESENT`]: nothing has to be copied then.
    pub const ALWAYS_PRESENT_TO: u8 = 149;
    pub const ALWAYS_PRESENT_FROM: u8 = 150;
    pub const ALWAYS_PRESENT_TOFROM: u8 = 151;
    pub const ATTACH: u8 = 80;
    pub const DETACH: u8 = 81;
    pub const ATTACH_ZERO_LENGTH_ARRAY_SECTION: u8 = 82;
    pub const FORCE_ALLOC: u8 = 128;
    pub const FORCE_TO: u8 = 129;
    pub const FORCE_FROM: u8 = 130;
    pub const FORCE_TOFROM: u8 = 131;
    pub const FORCE_DETACH: u8 = 209;
}

/// Device numbers that compilers pass.
pub mod device {
    /// The default device.
    pub const ICV: i32 = -1;
    /// The host: the construct's `if` clause says so, or (since GCC 13) `omp_initial_device`.
    pub const HOST_FALLBACK: i32 = -2;
    /// `omp_initial_device`, which may be the default device since GCC 13.
    pub const INITIAL: i64 = -1;
    /// `omp_invalid_device`, since GCC 13.
    pub const INVALID: i32 = -4;
    /// `omp_default_device`, since GCC 16: in constructs and in routines.
    pub const DEFAULT: i32 = -5;
}

/// Bits of the flags of `GOMP_target_ext` and kin.
pub mod flags {
    pub const NOWAIT: u32 = 1;
    pub const EXIT_DATA: u32 = 2;
}

/// The words that say how a region is to be launched: an identifier, with the value in its
/// upper half or in the next word. The list ends with 0.
pub mod argument {
    /// The device type that a word is for; 0 is for all.
    pub const DEVICE_MASK: isize = 0x7f;
    /// The value is the next word.
    pub const SUBSEQUENT: isize = 0x80;
    pub const ID_MASK: isize = 0xff00;
    /// Positive: so many teams. Otherwise one of the values below.
    pub const NUM_TEAMS: isize = 1 << 8;
    /// Positive: so many threads. 0: no clause. -1: the device evaluates the clause.
    pub const THREAD_LIMIT: isize = 2 << 8;
    /// No `teams` construct in the region, which is for one thread then. GCC 12 says 1.
    pub const NO_TEAMS_CONSTRUCT: isize = -2;
    /// A `num_teams` clause that the device evaluates.
    pub const TEAMS_OF_DEVICE: isize = -1;
    /// A `teams` construct without `num_teams`.
    pub const TEAMS_OPEN: isize = 0;
    pub const VALUE_SHIFT: u32 = 16;
}

/// How OpenACC's compute constructs are launched: each word has a code, a device type, and an
/// operand, and values may follow it. The list ends with 0.
pub mod launch {
    pub const DIMENSIONS: u32 = 1;
    pub const ASYNC: u32 = 2;
    pub const WAIT: u32 = 3;
    /// The value of [`ASYNC`] is the next word.
    pub const IN_NEXT_WORD: u32 = 0xffff;

    /// The code of a word.
    #[must_use]
    pub const fn code(word: u32) -> u32 {
        word >> 28
    }

    /// The type of device that it is for; 0 is for all.
    #[must_use]
    pub const fn device_type(word: u32) -> u32 {
        word >> 16 & 0xfff
    }

    /// The operand.
    #[must_use]
    pub const fn operand(word: u32) -> u32 {
        word & 0xffff
    }
}

/// Flags of OpenACC's constructs, which are passed inverted.
pub mod openacc_flags {
    /// The `if` clause says so.
    const HOST_FALLBACK: i32 = 1 << 0;
    /// The `self` clause says so: since GCC 14.
    const LOCAL_DEVICE: i32 = 1 << 1;

    /// Whether the calling thread does what a construct says, whatever device there is.
    #[must_use]
    pub const fn for_host(passed: i32) -> bool {
        !passed & (HOST_FALLBACK | LOCAL_DEVICE) != 0
    }
}

/// Types of offload targets.
pub mod target {
    use gangway_image::GccTarget;

    /// The accelerator's compiler that a number stands for. There is none for HSA any more.
    #[must_use]
    pub const fn of(number: i32) -> Option<GccTarget> {
        match number {
            5 => Some(GccTarget::Nvptx),
            6 => Some(GccTarget::IntelMic),
            8 => Some(GccTarget::Gcn),
            _ => None,
        }
    }
}

/// The newest form of a registration, and of images for nvptx and GCN. GCC 11 and 12 make registrations
/// of form 1, GCC 13 of form 2, GCC 14 to 16 of form 3. The number is that of libgomp's interface
/// with its plug-ins, too: sessions of launches, which are for GCC 17, raise it to 4, and
/// registrations are as before.
pub const VERSION: u32 = 4;
pub const NVPTX_VERSION: u32 = 1;
/// GCC 12's. Kernels of GCC 13 and later, whose images are of form 3, take other arguments.
pub const GCN_VERSION: u32 = 2;

/// The first form with a word before the image that says what the program requires.
const WITH_REQUIREMENTS: u32 = 2;
/// The first form with functions that are called by their host addresses.
const WITH_INDIRECT: u32 = 3;

/// Bits of what a program requires.
pub mod requires {
    pub const UNIFIED_ADDRESS: u32 = 0x10;
    pub const UNIFIED_SHARED_MEMORY: u32 = 0x20;
    pub const REVERSE_OFFLOAD: u32 = 0x80;
    /// Which implies unified shared memory.
    pub const SELF_MAPS: u32 = 0x400;
}

/// The part of a registration's version that says its form.
#[must_use]
pub const fn library_version(version: u32) -> u32 {
    version >> 16 & 0xffff
}

/// The part of a registration's version that says the form of its image.
#[must_use]
pub const fn image_version(version: u32) -> u32 {
    version & 0xffff
}

/// The host's addresses of what is also on devices (`__OFFLOAD_TABLE__`).
#[repr(C)]
#[derive(Debug)]
pub struct HostTable {
    functions: *const usize,
    functions_end: *const usize,
    variables: *const HostVariable,
    variables_end: *const HostVariable,
}

const _: () = assert!(size_of::<HostTable>() == 32);

/// A variable with a copy on the device.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct HostVariable {
    /// Host address.
    pub address: usize,
    size: usize,
}

/// The bit in a variable's size that says `declare target link`.
const LINK_BIT: usize = 1 << (usize::BITS - 1);

impl HostVariable {
    /// Bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size & !LINK_BIT
    }

    /// Whether the device has only a pointer to what is mapped (`declare target link`).
    #[must_use]
    pub const fn is_link(&self) -> bool {
        self.size & LINK_BIT != 0
    }
}

/// What follows the table in registrations of form 3.
#[repr(C)]
struct IndirectTable {
    functions: *const usize,
    functions_end: *const usize,
}

impl HostTable {
    /// Addresses of the functions that device code calls by them.
    ///
    /// # Safety
    /// The table is the linker's, of a registration of this version.
    #[must_use]
    pub unsafe fn indirect(&self, version: u32) -> &'static [usize] {
        if library_version(version) < WITH_INDIRECT {
            return &[];
        }
        // SAFETY: the caller's promise.
        unsafe {
            let table = &*(&raw const *self).add(1).cast::<IndirectTable>();
            between(table.functions, table.functions_end)
        }
    }

    /// Addresses of the regions.
    ///
    /// # Safety
    /// The table is the linker's.
    #[must_use]
    pub unsafe fn functions(&self) -> &'static [usize] {
        // SAFETY: the caller's promise.
        unsafe { between(self.functions, self.functions_end) }
    }

    /// The variables.
    ///
    /// # Safety
    /// As [`functions`](Self::functions).
    #[must_use]
    pub unsafe fn variables(&self) -> &'static [HostVariable] {
        // SAFETY: the caller's promise.
        unsafe { between(self.variables, self.variables_end) }
    }
}

/// # Safety
/// The two delimit an array of the program's.
unsafe fn between<T>(begin: *const T, end: *const T) -> &'static [T] {
    let bytes = end.addr().saturating_sub(begin.addr());
    // SAFETY: the caller's promise.
    if begin.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(begin, bytes / size_of::<T>()) } }
}

/// An image for nvptx (`target_data` of `mkoffload`).
#[repr(C)]
#[derive(Debug)]
pub struct PtxImage {
    objects: *const PtxObject,
    object_count: u32,
    variables: *const *const c_char,
    variable_count: u32,
    functions: *const PtxFunction,
    function_count: u32,
    /// In registrations of form 3.
    indirect_count: u32,
}

const _: () = assert!(size_of::<PtxImage>() == 48);

/// A PTX text.
#[repr(C)]
#[derive(Debug)]
struct PtxObject {
    text: *const u8,
    size: usize,
}

/// A kernel, with OpenACC's launch dimensions.
#[repr(C)]
#[derive(Debug)]
pub struct PtxFunction {
    name: *const c_char,
    /// Gangs, workers, vector length; 0 where they are open, and for OpenMP.
    pub dimensions: [u16; 3],
}

const _: () = assert!(size_of::<PtxObject>() == 16 && size_of::<PtxFunction>() == 16);

impl PtxFunction {
    /// Its symbol.
    ///
    /// # Safety
    /// The function is of an image in the program.
    #[must_use]
    pub unsafe fn name(&self) -> &'static CStr {
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(self.name) }
    }
}

impl PtxImage {
    /// The image that a registration passes, and what the program requires. 0 where that is not
    /// said.
    ///
    /// # Safety
    /// The data is of a registration of this version.
    #[must_use]
    pub unsafe fn registered(version: u32, data: *const c_void) -> (&'static Self, u32) {
        let words = data.cast::<usize>();
        // SAFETY: the caller's promise.
        unsafe {
            match library_version(version) < WITH_REQUIREMENTS {
                true => (&*data.cast(), 0),
                false => (&*words.add(1).cast(), *words as u32),
            }
        }
    }

    /// How many functions device code calls by their host addresses.
    #[must_use]
    pub const fn indirect_count(&self, version: u32) -> usize {
        if library_version(version) < WITH_INDIRECT { 0 } else { self.indirect_count as usize }
    }

    /// The texts that are to be linked.
    ///
    /// # Safety
    /// The image is the program's.
    #[must_use]
    pub unsafe fn texts(&self) -> Vec<&'static [u8]> {
        // SAFETY: the caller's promise.
        let objects = unsafe { counted(self.objects, self.object_count) };
        // SAFETY: as above.
        objects.iter().map(|object| unsafe { std::slice::from_raw_parts(object.text, object.size) }).collect()
    }

    /// The kernels, in the order of the host's functions.
    ///
    /// # Safety
    /// As [`texts`](Self::texts).
    #[must_use]
    pub unsafe fn functions(&self) -> &'static [PtxFunction] {
        // SAFETY: the caller's promise.
        unsafe { counted(self.functions, self.function_count) }
    }

    /// Symbols of the variables, in the order of the host's.
    ///
    /// # Safety
    /// As [`texts`](Self::texts).
    #[must_use]
    pub unsafe fn variables(&self) -> Vec<&'static CStr> {
        // SAFETY: the caller's promise.
        let names = unsafe { counted(self.variables, self.variable_count) };
        // SAFETY: as above.
        names.iter().map(|&name| unsafe { CStr::from_ptr(name) }).collect()
    }
}

/// An image for AMD's GPUs (`target_data` of `mkoffload` for `amdgcn-amdhsa`).
#[repr(C)]
#[derive(Debug)]
pub struct GcnImage {
    code: *const GcnCode,
    kernel_count: u32,
    kernels: *const GcnKernel,
    variable_count: u32,
}

const _: () = assert!(size_of::<GcnImage>() == 32);

/// A code object.
#[repr(C)]
#[derive(Debug)]
struct GcnCode {
    size: usize,
    bytes: *const u8,
}

/// A kernel, with OpenACC's launch dimensions, and the registers that it uses.
#[repr(C)]
#[derive(Debug)]
pub struct GcnKernel {
    name: *const c_char,
    /// Gangs, workers, vector length; all are 0 for OpenMP.
    pub dimensions: [i32; 3],
    _scalar_registers: i32,
    _vector_registers: i32,
}

const _: () = assert!(size_of::<GcnKernel>() == 32);

impl GcnKernel {
    /// Its symbol.
    ///
    /// # Safety
    /// The kernel is of an image in the program.
    #[must_use]
    pub unsafe fn name(&self) -> &'static CStr {
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(self.name) }
    }
}

impl GcnImage {
    /// The image that a registration passes. Until GCC 12 nothing stands before it.
    ///
    /// # Safety
    /// The data is of a registration whose image has a form that is known.
    #[must_use]
    pub unsafe fn registered(data: *const c_void) -> &'static Self {
        // SAFETY: the caller's promise.
        unsafe { &*data.cast() }
    }

    /// The code object.
    ///
    /// # Safety
    /// The image is the program's.
    #[must_use]
    pub unsafe fn code(&self) -> &'static [u8] {
        // SAFETY: the caller's promise.
        unsafe {
            let code = &*self.code;
            std::slice::from_raw_parts(code.bytes, code.size)
        }
    }

    /// The kernels: in the order of the host's functions, and those that run constructors and destructors.
    ///
    /// # Safety
    /// As [`code`](Self::code).
    #[must_use]
    pub unsafe fn kernels(&self) -> &'static [GcnKernel] {
        // SAFETY: the caller's promise.
        unsafe { counted(self.kernels, self.kernel_count) }
    }

    /// How many variables the code has a table of, in the order of the host's.
    #[must_use]
    pub const fn variable_count(&self) -> usize {
        self.variable_count as usize
    }
}

/// # Safety
/// So many elements are there.
unsafe fn counted<T>(begin: *const T, count: u32) -> &'static [T] {
    // SAFETY: the caller's promise.
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(begin, count as usize) } }
}
