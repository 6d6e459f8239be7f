//! How many gangs and workers a compute construct gets, and vectors of what length.
//!
//! The compiler fixes what a kernel has been compiled for; it writes that into the program's
//! image. What it leaves open the clauses of the construct say, then `GOMP_OPENACC_DIM`, and at
//! last the device: twice as many gangs as its warps can run at the same time, and as many workers
//! as a gang has room for. These are the rules of libgomp's plugin for nvptx in GCC 12.

use crate::abi::PtxFunction;
use gangway_backend::Occupancy;
use gangway_runtime::{KernelQuestions, Result};
use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

const GANGS: usize = 0;
const WORKERS: usize = 1;
const VECTOR: usize = 2;

/// Workers of a gang whose vectors are longer than a warp: each needs a barrier of its own.
const WORKERS_WITH_BARRIERS: u32 = 15;

/// Gangs, workers, and the length of vectors; 0 where that is open.
pub type Dimensions = [u32; 3];

/// What kernels have been compiled for, by image and host address.
type Fixed = HashMap<usize, (usize, Dimensions)>;

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
pub(crate) fn add(image: usize, hosts: &[usize], kernels: &[PtxFunction]) {
    let open = |kernel: &PtxFunction| kernel.dimensions == [0; 3];
    let fixed = hosts.iter().zip(kernels).filter(|(_, kernel)| !open(kernel));
    let entries = fixed.map(|(&host, kernel)| (host, (image, kernel.dimensions.map(u32::from))));
    write().extend(entries);
}

/// The image has gone.
pub(crate) fn remove(image: usize) {
    write().retain(|_, (of, _)| *of != image);
}

/// What a kernel has been compiled for.
pub(crate) fn fixed(host: usize) -> Dimensions {
    read().get(&host).map_or([0; 3], |(_, dimensions)| *dimensions)
}

/// `GOMP_OPENACC_DIM`: numbers between colons, each of which may be left out.
fn in_environment() -> Dimensions {
    static KNOWN: OnceLock<Dimensions> = OnceLock::new();
    *KNOWN.get_or_init(|| std::env::var("GOMP_OPENACC_DIM").map_or([0; 3], |text| parse(&text)))
}

/// Numbers up to the first that is none.
fn parse(text: &str) -> Dimensions {
    let mut dimensions = [0; 3];
    for (dimension, number) in dimensions.iter_mut().zip(text.split(':')) {
        match number.trim().parse() {
            Ok(value) => *dimension = value,
            Err(_) if number.is_empty() => {}
            Err(_) => break,
        }
    }
    dimensions
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
    Ok(check(kernel.name, dimensions, threads).map(|()| dimensions))
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

/// Whether a gang can have so many threads.
fn check(kernel: &str, [_, workers, vector]: Dimensions, most: u32) -> std::result::Result<(), String> {
    if workers.saturating_mul(vector) > most {
        return Err(format!(
            "The Nvidia accelerator has insufficient resources to launch '{kernel}' with num_workers = \
             {workers} and vector_length = {vector}\n  help: compile the region with 'num_workers = x and \
             vector_length = y', or the program with '-fopenacc-dim=:x:y', where x * y <= {most}"
        ));
    }
    if workers > WORKERS_WITH_BARRIERS && vector > 32 {
        return Err(format!(
            "The Nvidia accelerator has insufficient barrier resources to launch '{kernel}' with num_workers = \
             {workers} and vector_length = {vector}\n  help: compile the region with 'num_workers = x' where \
             x <= {WORKERS_WITH_BARRIERS}, or with 'vector_length = 32'"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Option<Occupancy> = Some(Occupancy { teams: 4, threads: 1024, warp: 32 });

    #[test]
    fn the_variable_has_numbers_between_colons() {
        assert_eq!(parse("32:8:64"), [32, 8, 64]);
        assert_eq!(parse(":8"), [0, 8, 0]);
        assert_eq!(parse("16::32"), [16, 0, 32]);
        assert_eq!(parse("16:x:32"), [16, 0, 0]);
        assert_eq!(parse(""), [0; 3]);
        assert_eq!(parse("1:2:3:4"), [1, 2, 3]);
    }

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
    fn what_cannot_be_launched_is_refused() {
        assert!(check("k", [1, 32, 32], 1024).is_ok());
        assert!(check("k", [1, 33, 32], 1024).unwrap_err().contains("x * y <= 1024"));
        assert!(check("k", [1, 16, 64], 1024).unwrap_err().contains("barrier"));
        assert!(check("k", [1, u32::MAX, u32::MAX], 1024).is_err());
    }

    #[test]
    fn images_come_and_go() {
        assert_eq!(fixed(0x40), [0; 3]);
        write().insert(0x40, (1, [1, 2, 32]));
        assert_eq!(fixed(0x40), [1, 2, 32]);
        remove(1);
        assert_eq!(fixed(0x40), [0; 3]);
    }
}
