//! How many gangs and workers a compute construct gets, and vectors of what length.
//!
//! The compiler fixes what a kernel has been compiled for; it writes that into the program's
//! image. What it leaves open the clauses of the construct say, then `GOMP_OPENACC_DIM`, and at
//! last the device: twice as many gangs as its warps can run at the same time, and as many workers
//! as a gang has room for. These are the rules of libgomp's plugin for nvptx in GCC 12.

use gangway_backend::Occupancy;
use gangway_openacc::device_type::DeviceType;
pub(crate) use gangway_openacc::dimensions::Dimensions;
use gangway_openacc::dimensions::{GANGS, VECTOR, WORKERS, WORKERS_WITH_BARRIERS, check, in_environment};
use gangway_runtime::{Device, KernelQuestions, Result};
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

const NVIDIAS_WARP: u32 = 32;

/// Lanes of a wave for which GCC compiles.
const AMDS_WAVE: u32 = 64;

/// What kernels have been compiled for, with the image, by host address and whether the image is for AMD's GPUs: a program
/// may have one for each maker's, where dimensions differ.
type Fixed = HashMap<(usize, bool), (usize, Dimensions)>;

static FIXED: OnceLock<RwLock<Fixed>> = OnceLock::new();

fn fixed_by_kernel() -> &'static RwLock<Fixed> {
    FIXED.get_or_init(RwLock::default)
}

fn read() -> RwLockReadGuard<'static, Fixed> {
    fixed_by_kernel().read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Fixed> {
    fixed_by_kernel().write().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> impl Sized + 'static {
    write()
}

/// Keeps what the kernels of an image have been compiled for.
pub(crate) fn add(image: usize, amds: bool, hosts: &[usize], kernels: impl Iterator<Item = Dimensions>) {
    let fixed = hosts.iter().zip(kernels).filter(|(_, dimensions)| *dimensions != [0; 3]);
    write().extend(fixed.map(|(&host, dimensions)| ((host, amds), (image, dimensions))));
}

/// The image has gone.
pub(crate) fn remove(image: usize) {
    write().retain(|_, (of, _)| *of != image);
}

/// What a kernel has been compiled for, in the image that the device takes. On AMD's GPUs a vector is a wave whatever
/// the image says, as in libgomp's plugin.
pub(crate) fn fixed(host: usize, device: &Device) -> Dimensions {
    let amds = DeviceType::Radeon.has(device);
    let mut fixed = read().get(&(host, amds)).map_or([0; 3], |(_, dimensions)| *dimensions);
    if amds {
        fixed[VECTOR] = AMDS_WAVE;
    }
    fixed
}

/// The dimensions of a launch.
///
/// # Errors
/// What the driver says; or, inside, why the device cannot launch it.
pub(crate) fn choose(
    kernel: &KernelQuestions<'_>,
    clauses: Dimensions,
    fixed: Dimensions,
) -> Result<std::result::Result<Dimensions, String>> {
    let mut dimensions = prefer(fixed, clauses);
    if dimensions.contains(&0) {
        let most = dimensions[WORKERS].saturating_mul(dimensions[VECTOR]);
        dimensions = fill(dimensions, in_environment(), kernel.occupancy(most)?);
    }
    let threads = kernel.limits.threads.map_or(u32::MAX, std::num::NonZeroU32::get);
    let checked = check(kernel.name, dimensions, threads);
    if checked.is_err()
        && let Some(Occupancy { warp, .. }) = kernel.occupancy(0)?
        && let Some(fewer) = with_fewer_workers(dimensions, warp, threads)
    {
        return Ok(Ok(fewer));
    }
    Ok(checked.map(|()| dimensions))
}

/// The dimensions of a launch on a device whose workers are waves of more lanes than NVIDIA's warps: there libgomp's
/// plugin lets a gang have as many workers as it can, and needs no barrier for each.
fn with_fewer_workers(mut dimensions: Dimensions, warp: u32, threads: u32) -> Option<Dimensions> {
    if warp <= NVIDIAS_WARP || dimensions[VECTOR] != warp {
        return None;
    }
    dimensions[WORKERS] = dimensions[WORKERS].min((threads / warp).max(1));
    Some(dimensions)
}

fn prefer(first: Dimensions, second: Dimensions) -> Dimensions {
    std::array::from_fn(|index| if first[index] == 0 { second[index] } else { first[index] })
}

/// Chooses what is open. A device that says nothing runs one of each.
fn fill(dimensions: Dimensions, defaults: Dimensions, occupancy: Option<Occupancy>) -> Dimensions {
    let Some(Occupancy { teams, threads, warp }) = occupancy else {
        return dimensions.map(|size| size.max(1));
    };
    let gangs = match defaults[GANGS] {
        0 => teams.saturating_mul(2).saturating_mul(threads / warp).max(1),
        gangs => gangs,
    };
    let vector = if dimensions[VECTOR] == 0 { warp } else { dimensions[VECTOR] };
    let workers = match defaults[WORKERS] {
        0 => {
            let room = (threads / vector).max(1);
            if vector > warp { room.min(WORKERS_WITH_BARRIERS) } else { room }
        }
        workers => workers,
    };
    prefer(dimensions, [gangs, workers, warp])
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Option<Occupancy> = Some(Occupancy { teams: 4, threads: 1024, warp: 32 });

    #[test]
    fn what_is_open_follows_the_device() {
        assert_eq!(fill([0; 3], [0; 3], BUSY), [256, 32, 32]);
        assert_eq!(fill([7, 0, 0], [0; 3], BUSY), [7, 32, 32]);
        // Barriers are few.
        assert_eq!(fill([0, 0, 64], [0; 3], BUSY), [256, 15, 64]);
        assert_eq!(fill([0, 0, 512], [0; 3], BUSY), [256, 2, 512]);
        assert_eq!(fill([0; 3], [10, 4, 128], BUSY), [10, 4, 32]);
        assert_eq!(fill([0, 3, 0], [0; 3], None), [1, 3, 1]);
    }

    #[test]
    fn waves_are_as_many_as_there_is_room_for() {
        assert_eq!(with_fewer_workers([7, 16, 64], 64, 1024), Some([7, 16, 64]));
        assert_eq!(with_fewer_workers([7, 16, 64], 64, 512), Some([7, 8, 64]));
        assert_eq!(with_fewer_workers([7, 40, 64], 32, 1024), None);
    }

    #[test]
    fn images_come_and_go() {
        let of = |amds| read().get(&(0x40, amds)).map_or([0; 3], |(_, dimensions)| *dimensions);
        add(1, false, &[0x40, 0x50], [[1, 2, 32], [0; 3]].into_iter());
        // The same kernel for another maker's GPUs.
        add(2, true, &[0x40, 0x50], [[1, 2, 64], [0; 3]].into_iter());
        assert_eq!((of(false), of(true)), ([1, 2, 32], [1, 2, 64]));
        remove(1);
        assert_eq!((of(false), of(true)), ([0; 3], [1, 2, 64]));
        remove(2);
        assert_eq!(of(true), [0; 3]);
    }
}
