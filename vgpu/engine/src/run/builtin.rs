//! Functions that device code only declares and the driver provides: `vprintf`, `malloc`
//! and their kin, as compiled code calls them.
//!
//! The interpreter says what they do, lane by lane. Here is what they need of the engine, and the
//! barrier of the grid, which only the engine can be.

use std::ffi::c_void;

use gangway_device_memory::{LOCAL_SIZE, LOCAL_WINDOW};
use gangway_interpreter::{Builtin, Caller, FaultKind, GRID_HANDLE, Host as Services, Memory, call};
use gangway_ptx::Function;

use super::slot::host_of;
use crate::abi::{ALL, Flavour, LANES, Lanes32, Lanes64, Warp, helper};
use crate::device::Device;
use crate::output;
use crate::support::Host;

/// What a function of the driver's takes, in the time of warps that are kept abreast: on hardware,
/// `malloc` takes some thousand instructions.
const SERVICE: i64 = 1024;

/// `cudaErrorNotPermitted`: the launch is not cooperative.
const NOT_PERMITTED: u64 = 800;

/// The code of a function, if it is one that the driver provides.
pub(crate) fn code(function: &Function, flavour: Flavour) -> Option<*const c_void> {
    let builtin = Builtin::named(&function.name).filter(|builtin| builtin.is_declared_by(function))?;
    let (converged, masked) = entries(builtin);
    Some(if flavour == Flavour::Converged { converged } else { masked })
}

/// Makes the two flavours of each function.
macro_rules! provide {
    ($($builtin:ident: $converged:ident $masked:ident,)*) => {
        mod entry {
            use super::*;
            $(
                helper!($converged => converged::$converged);
                helper!($masked => masked::$masked);
            )*
        }

        mod converged {
            use super::*;
            $(pub unsafe extern "C" fn $converged(warp: *mut Warp, arguments: *const *mut c_void) -> u32 {
                // SAFETY: as compiled code calls functions.
                unsafe { run(Builtin::$builtin, warp, arguments, ALL) };
                ALL
            })*
        }

        mod masked {
            use super::*;
            $(pub unsafe extern "C" fn $masked(
                warp: *mut Warp,
                arguments: *const *mut c_void,
                _frame: *mut c_void,
                lanes: u32,
            ) -> u64 {
                // SAFETY: as compiled code calls functions.
                unsafe { run(Builtin::$builtin, warp, arguments, lanes) };
                lanes.into()
            })*
        }

        fn entries(builtin: Builtin) -> (*const c_void, *const c_void) {
            match builtin {
                $(Builtin::$builtin => (entry::$converged as *const c_void, entry::$masked as *const c_void),)*
            }
        }
    };
}

provide! {
    Vprintf: vprintf vprintf_masked,
    Malloc: malloc malloc_masked,
    Free: free free_masked,
    AssertFail: assert_fail assert_fail_masked,
    GetIntrinsicHandle: get_intrinsic_handle get_intrinsic_handle_masked,
    Synchronize: synchronize synchronize_masked,
}

/// The values of one parameter or result.
unsafe fn values(arguments: *const *mut c_void, index: usize, size: u32) -> [u64; LANES] {
    // SAFETY: there are as many arrays as the function has parameters and results.
    unsafe {
        let array = *arguments.add(index);
        match size {
            8 => *array.cast::<Lanes64>(),
            _ => (*array.cast::<Lanes32>()).map(u64::from),
        }
    }
}

/// Runs a function for some lanes.
///
/// # Safety
/// `arguments` is as the ABI says, of a function with the builtin's signature; `warp` is the
/// running one.
unsafe fn run(builtin: Builtin, warp: *mut Warp, arguments: *const *mut c_void, lanes: u32) {
    let (sizes, result) = builtin.signature();
    // SAFETY: as the caller promises.
    let (warp, host) = unsafe { (&mut *warp, host_of(warp)) };
    let cooperative = host.job().grid.is_cooperative();
    let mut results = [0; LANES];
    // Memory that it gives back may be others' from then on.
    host.tell_of_lines(warp);
    match builtin {
        Builtin::Synchronize if cooperative => host.grid_barrier(warp, lanes),
        Builtin::Synchronize => results = [NOT_PERMITTED; LANES],
        Builtin::GetIntrinsicHandle => results = [if cooperative { GRID_HANDLE } else { 0 }; LANES],
        _ => {
            let mut parameters = [[0; LANES]; 5];
            for (index, (parameter, &size)) in parameters.iter_mut().zip(sizes).enumerate() {
                // SAFETY: as the caller promises.
                *parameter = unsafe { values(arguments, index, size) };
            }
            host.time.meet(&mut warp.fuel, SERVICE);
            let mut failed = None;
            for lane in (0..LANES).filter(|lane| lanes >> lane & 1 != 0) {
                let caller = Caller { block: warp.block, thread: warp.thread.map(|side| side[lane]) };
                let own = parameters.map(|parameter| parameter[lane]);
                let device = host.job().program().device();
                let answer = {
                    let races = host.job().races.as_deref();
                    let mut services = Lane { warp, lane, device, races };
                    call(builtin, &own[..sizes.len()], &caller, &mut services)
                };
                match answer {
                    Ok(value) => results[lane] = value,
                    // The others have their say too, as where an assertion fails for many.
                    Err(kind) => failed = failed.or(Some((lane, kind))),
                }
            }
            if let Some((lane, kind)) = failed {
                host.fault(warp, 1 << lane, kind);
            }
        }
    }
    // SAFETY: as the caller promises; the array of the result comes after those of the parameters.
    unsafe {
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 != 0) {
            match result {
                0 => {}
                8 => (*(*arguments.add(sizes.len())).cast::<Lanes64>())[lane] = results[lane],
                _ => (*(*arguments.add(sizes.len())).cast::<Lanes32>())[lane] = results[lane] as u32,
            }
        }
    }
}

/// What the functions need, for one lane.
struct Lane<'a> {
    warp: &'a Warp,
    lane: usize,
    device: &'a Device,
    /// Where accesses are watched.
    races: Option<&'a gangway_races::Launch>,
}

impl Services for Lane<'_> {
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), FaultKind> {
        let size = bytes.len();
        let Some(offset) = address.checked_sub(LOCAL_WINDOW).filter(|&offset| offset < LOCAL_SIZE) else {
            return self.device.checked()?.read(address, bytes);
        };
        if offset + size as u64 > self.warp.local_stride {
            return Err(FaultKind::OutOfBounds { address, size, write: false });
        }
        let start = self.lane * self.warp.local_stride as usize + offset as usize;
        // SAFETY: the lane's local memory is as long as the stride.
        unsafe { std::ptr::copy_nonoverlapping(self.warp.local.add(start), bytes.as_mut_ptr(), size) };
        Ok(())
    }

    fn allocate(&mut self, size: u64) -> Result<u64, FaultKind> {
        let address = self.device.heap_allocate(size);
        if let Some(races) = self.races {
            races.device().forget(address, size);
        }
        Ok(address)
    }

    fn free(&mut self, address: u64) -> Result<(), FaultKind> {
        self.device.heap_free(address)
    }

    fn print(&mut self, text: &[u8]) {
        output::print(text);
    }

    fn complain(&mut self, text: &str) {
        output::complain(text);
    }
}
