//! Kernels of CUDA's language on this library (`-foffload-via-llvm`): `kernel<<<grid, block>>>(...)`.
//!
//! clang makes of such a statement [`__llvmPushCallConfiguration`] and a call of the kernel's function on
//! the host, which takes the configuration back with [`__llvmPopCallConfiguration`] and launches the kernel
//! that was registered under its own address with [`llvmLaunchKernel`].
//!
//! A kernel has no version for the host, and nobody looks at what `llvmLaunchKernel` returns. So a kernel
//! that cannot run ends the program. As in the stock library, a launch waits for its kernel, and streams
//! mean nothing.
#![allow(non_snake_case, reason = "the ABI's names")]

use crate::abi::{SUCCESS, site};
use crate::libomp::Libomp;
use crate::words::WORDS;
use gangway_frontend::construct::{Construct, UnderWay};
use gangway_frontend::devices::ready;
use gangway_frontend::guard::guard;
use gangway_frontend::host::{Host, Offload};
use gangway_frontend::policy::{self, mistake, terminate};
use gangway_openmp::devices::omp_get_num_devices;
use gangway_runtime::{Item, Items, Label, MapKind, Shape};
use std::cell::Cell;
use std::ffi::c_void;

/// `dim3` as clang's headers pass it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Dimensions {
    /// Extents.
    pub x: u32,
    /// See `x`.
    pub y: u32,
    /// See `x`.
    pub z: u32,
}

impl Dimensions {
    /// The extents. clang-22's `dim3` leaves those at 0 that nobody has named, where CUDA's has 1.
    fn extents(self) -> [u32; 3] {
        [self.x, self.y.max(1), self.z.max(1)]
    }
}

/// What stands between `<<<` and `>>>`.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dimensions,
    block: Dimensions,
    shared: usize,
    stream: *mut c_void,
}

thread_local! {
    /// Of the call that the thread is about to make.
    static CONFIGURATION: Cell<Option<Configuration>> = const { Cell::new(None) };
}

/// Notes the configuration of the next call of a kernel. Zero: the call is to be made.
pub extern "C" fn __llvmPushCallConfiguration(
    grid: Dimensions,
    block: Dimensions,
    shared: usize,
    stream: *mut c_void,
) -> u32 {
    CONFIGURATION.set(Some(Configuration { grid, block, shared, stream }));
    0
}

/// Takes the configuration that was noted; zero if there is one.
///
/// # Safety
/// Called by compiler-made code: each pointer leads to a variable of its type.
pub unsafe extern "C" fn __llvmPopCallConfiguration(
    grid: *mut Dimensions,
    block: *mut Dimensions,
    shared: *mut usize,
    stream: *mut *mut c_void,
) -> u32 {
    let Some(noted) = CONFIGURATION.take() else {
        guard((), || mistake(format_args!("a kernel is called without `<<<grid, block>>>`")));
        return 1;
    };
    // SAFETY: the caller's promise.
    unsafe {
        grid.write(noted.grid);
        block.write(noted.block);
        shared.write(noted.shared);
        stream.write(noted.stream);
    }
    0
}

/// The kernel's parameters, as clang's function on the host lays them out.
#[repr(C)]
#[derive(Debug)]
pub struct Parameters {
    /// Bytes.
    size: usize,
    /// A structure of them, as the kernel reads it.
    bytes: *const u8,
    reserved: *mut c_void,
}

/// Runs a kernel and waits for it.
///
/// # Safety
/// Called by compiler-made code: the parameters are what it emitted.
pub unsafe extern "C" fn llvmLaunchKernel(
    function: *const c_void,
    grid: Dimensions,
    block: Dimensions,
    parameters: *const Parameters,
    shared: usize,
    _stream: *mut c_void,
) -> u32 {
    guard(1, || {
        // SAFETY: the caller's promise.
        let words = unsafe { Words::of(&*parameters) };
        launch(function.addr(), grid, block, &words, shared);
        SUCCESS.cast_unsigned()
    })
}

fn launch(function: usize, grid: Dimensions, block: Dimensions, words: &Words, shared: usize) {
    // SAFETY: the compiler gives no place.
    let site = unsafe { site(std::ptr::null()) };
    if policy::offload() == Offload::Disabled {
        mistake(format_args!(
            "a kernel is launched with `<<<grid, block>>>`, and OMP_TARGET_OFFLOAD=DISABLED leaves it no device\n  \
             note: such kernels have no version for the host"
        ));
    }
    if grid.x == 0 || block.x == 0 {
        mistake(format_args!(
            "a kernel is launched with a grid of {} blocks of {} threads: there has to be one at least",
            grid.x, block.x
        ));
    }
    let shape = Shape {
        teams: grid.extents(),
        thread_limit: block.extents(),
        // What does not fit in 32 bits is more than any device has, and is refused as such.
        dynamic_group_memory: u32::try_from(shared).unwrap_or(u32::MAX),
        is_exact: true,
        ..Shape::default()
    };
    // Devices are counted at the first question about them.
    omp_get_num_devices::<Libomp>();
    let device = ready(Libomp::default_device(), &site).unwrap_or_else(|error| terminate(&error, WORDS));
    let construct = Construct::untold(&site);
    let finished = construct.run(device, function, words, &shape).and_then(UnderWay::complete);
    if let Err(error) = finished {
        terminate(&error, WORDS);
    }
}

/// Parameters as the runtime passes them on: words that mean nothing to it, one behind the other.
#[derive(Debug)]
struct Words(Vec<usize>);

impl Words {
    /// # Safety
    /// There are as many bytes as the parameters say.
    unsafe fn of(parameters: &Parameters) -> Self {
        const WORD: usize = size_of::<usize>();
        let bytes = match parameters.size {
            0 => &[][..],
            // SAFETY: the caller's promise.
            size => unsafe { std::slice::from_raw_parts(parameters.bytes, size) },
        };
        let word = |part: &[u8]| {
            let mut word = [0; WORD];
            word[..part.len()].copy_from_slice(part);
            usize::from_ne_bytes(word)
        };
        Self(bytes.chunks(WORD).map(word).collect())
    }
}

impl Items for Words {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn kind(&self, _index: usize) -> MapKind {
        MapKind::PARAMETER | MapKind::LITERAL
    }

    fn item(&self, index: usize) -> Item {
        let word = self.0[index];
        Item { base: word, begin: word, size: 0, kind: self.kind(index), label: Label::NONE }
    }

    fn knows(&self, _kind: MapKind) -> bool {
        true
    }

    fn explain_unknown(&self, _kind: MapKind) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_words_the_last_of_which_may_be_short() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2, 3];
        let of = |size| {
            let parameters = Parameters { size, bytes: bytes.as_ptr(), reserved: std::ptr::null_mut() };
            // SAFETY: no size below is larger than the array.
            unsafe { Words::of(&parameters) }.0
        };
        assert_eq!(of(10), [1, 0x302]);
        assert_eq!(of(8), [1]);
        assert!(of(0).is_empty());
    }
}
