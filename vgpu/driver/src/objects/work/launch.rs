//! Launches: what is checked before a kernel runs, and running it in its stream.

use std::ffi::c_void;
use std::sync::Arc;

use gangway_engine::{Engine, Kernel};
use gangway_streams::{Failure, Outcome, Payload};

use crate::abi::pointer::In;
use crate::abi::status::{Result, Status};
use crate::abi::types::{CUfunction, CUlaunchAttribute};
use crate::objects::device::attribute::{MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK};
use crate::objects::process::report::report;
use crate::objects::program::function::Function;
use crate::objects::program::occupancy;
use crate::objects::stream::{StreamRef, sort};

/// The sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub cooperative: bool,
}

impl Shape {
    fn is_empty(&self) -> bool {
        self.grid.contains(&0) || self.block.contains(&0)
    }
}

/// A launch that has been checked, with its own copy of the parameters.
#[derive(Clone, Debug)]
pub struct Launch {
    engine: Arc<Engine>,
    pub function: Arc<Function>,
    pub shape: Shape,
    pub parameters: Box<[u8]>,
}

/// `CU_LAUNCH_PARAM_*`: how the array `extra` is made up.
mod extra {
    pub const END: usize = 0;
    pub const BUFFER_POINTER: usize = 1;
    pub const BUFFER_SIZE: usize = 2;
}

/// `CUlaunchAttributeID`
mod attribute {
    pub const COOPERATIVE: u32 = 2;
    pub const CLUSTER_DIMENSION: u32 = 4;
    pub const PROGRAMMATIC_EVENT: u32 = 7;
    pub const LAUNCH_COMPLETION_EVENT: u32 = 12;
    pub const LAST: u32 = 14;
}

/// The two ways to pass parameters; at most one is not null.
#[derive(Clone, Copy)]
pub struct Arguments {
    /// A pointer to each parameter.
    pub each: In<*const c_void>,
    /// Names and values, up to an end.
    pub extra: In<*const c_void>,
}

impl Launch {
    /// Checks a launch against the limits of device and kernel.
    pub fn prepare(function: CUfunction, shape: Shape, arguments: Arguments) -> Result<Launch> {
        let function = Function::find(function)?;
        check(&function, &shape)?;
        Launch::collect(function, shape, arguments)
    }

    fn collect(function: Arc<Function>, shape: Shape, arguments: Arguments) -> Result<Launch> {
        let parameters = arguments.collect(function.described())?;
        let engine = Arc::clone(function.context()?.device.engine());
        Ok(Launch { engine, function, shape, parameters })
    }

    /// A launch as the node of a graph. It may be empty as yet: programs give it its size before the
    /// graph is launched, and [`Payload::ready`] looks for that.
    pub fn of_node(function: CUfunction, shape: Shape, arguments: Arguments) -> Result<Launch> {
        let function = Function::find(function)?;
        if !shape.is_empty() {
            check(&function, &shape)?;
        }
        Launch::collect(function, shape, arguments)
    }

    /// The launch of a node, if it is empty or within the limits: for those who have changed its shape.
    pub fn checked(self) -> Result<Launch> {
        if !self.shape.is_empty() {
            check(&self.function, &self.shape)?;
        }
        Ok(self)
    }

    pub fn submit_to(self, stream: &StreamRef) -> Result {
        // A function belongs to the context that its module was loaded into.
        if !Arc::ptr_eq(&self.function.context()?, &stream.context) {
            return Err(Status::INVALID_HANDLE);
        }
        stream.submit(self)
    }
}

impl Payload for Launch {
    fn run(&self) -> Outcome {
        let launch = gangway_engine::Launch {
            program: &self.function.program,
            kernel: self.function.kernel,
            grid: self.shape.grid,
            block: self.shape.block,
            shared: self.shape.shared,
            parameters: &self.parameters,
            cooperative: self.shape.cooperative,
        };
        self.engine.launch_until(&launch, Some(Arc::clone(&self.function.stop))).map_err(|fault| {
            report!("{fault}");
            Failure::known(Status::from(fault.reason).0)
        })
    }

    /// What is not empty was checked when the node got its parameters.
    fn ready(&self) -> std::result::Result<(), gangway_streams::Error> {
        if self.shape.is_empty() { Err(gangway_streams::Error::InvalidValue) } else { Ok(()) }
    }

    fn sort(&self) -> u32 {
        sort::KERNEL
    }
}

fn check(function: &Function, shape: &Shape) -> Result {
    let within = |sizes: &[u32; 3], most: &[u32; 3]| {
        sizes.iter().zip(most).all(|(size, most)| (1..=*most).contains(size))
    };
    if !within(&shape.grid, &MAX_GRID) || !within(&shape.block, &MAX_BLOCK) {
        return Err(Status::INVALID_VALUE);
    }
    let kernel = function.described();
    let threads = shape.block.iter().product::<u32>();
    if threads > MAX_THREADS_PER_BLOCK || threads > kernel.max_threads {
        return Err(Status::INVALID_VALUE);
    }
    if kernel.required_threads.is_some_and(|required| required != shape.block) {
        return Err(Status::INVALID_VALUE);
    }
    let device = function.context()?.device;
    if shape.shared > function.max_dynamic_shared()
        || kernel.static_shared.saturating_add(shape.shared) > device.limits().shared_opt_in
    {
        return Err(Status::INVALID_VALUE);
    }
    let per_multiprocessor = occupancy::blocks(device, kernel, threads, shape.shared);
    if per_multiprocessor == 0 {
        return Err(Status::LAUNCH_OUT_OF_RESOURCES);
    }
    if shape.cooperative {
        let blocks = shape.grid.iter().map(|&size| u64::from(size)).product::<u64>();
        if blocks > u64::from(per_multiprocessor) * u64::from(device.multiprocessors()) {
            return Err(Status::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    Ok(())
}

impl Arguments {
    /// Copies the parameters: the caller's memory is its own again when the call is over.
    fn collect(&self, kernel: &Kernel) -> Result<Box<[u8]>> {
        let size = kernel.parameter_size as usize;
        if !self.extra.is_null() {
            return if self.each.is_null() { self.take_buffer(size) } else { Err(Status::INVALID_VALUE) };
        }
        let mut buffer = vec![0_u8; size].into_boxed_slice();
        let pointers = self.each.array(kernel.parameters.len())?;
        for (parameter, pointer) in kernel.parameters.iter().zip(pointers) {
            let place = parameter.offset as usize..(parameter.offset + parameter.size) as usize;
            let place = buffer.get_mut(place).ok_or(Status::INVALID_IMAGE)?;
            if pointer.is_null() {
                return Err(Status::INVALID_VALUE);
            }
            // SAFETY: the caller promises a pointer to a value of each parameter's size.
            unsafe { std::ptr::copy_nonoverlapping(pointer.cast(), place.as_mut_ptr(), place.len()) };
        }
        Ok(buffer)
    }

    fn take_buffer(&self, size: usize) -> Result<Box<[u8]>> {
        let mut buffer = std::ptr::null::<u8>();
        let mut given = None;
        let mut at = self.extra.as_ptr();
        // Both names and an end make five entries; whatever is longer says something twice.
        for _ in 0..3 {
            // SAFETY: the caller promises an array with an end, which has not been reached yet.
            let name = unsafe { at.read() } as usize;
            if name == extra::END {
                break;
            }
            // SAFETY: a name has a value after it.
            let value = unsafe { at.add(1).read() };
            match name {
                extra::BUFFER_POINTER => buffer = value.cast(),
                extra::BUFFER_SIZE if value.is_null() => return Err(Status::INVALID_VALUE),
                // SAFETY: the value of this name is a pointer to a size.
                extra::BUFFER_SIZE => given = Some(unsafe { value.cast::<usize>().read_unaligned() }),
                _ => return Err(Status::INVALID_VALUE),
            }
            at = at.wrapping_add(2);
        }
        match given {
            Some(given) if given >= size && (size == 0 || !buffer.is_null()) => {
                if size == 0 {
                    return Ok(Box::default());
                }
                // SAFETY: the caller promises a buffer of the size that it gives, which is enough.
                Ok(unsafe { std::slice::from_raw_parts(buffer, size) }.into())
            }
            None if size == 0 => Ok(Box::default()),
            _ => Err(Status::INVALID_VALUE),
        }
    }
}

/// Takes the attributes of `cuLaunchKernelEx` into account. Those that are hints are taken without effect.
pub fn apply(attributes: &[CUlaunchAttribute], shape: &mut Shape) -> Result {
    for set in attributes {
        let value = set.value[0];
        match set.id {
            attribute::COOPERATIVE => shape.cooperative = value as u32 != 0,
            attribute::CLUSTER_DIMENSION => {
                let [x, y, z] = [value as u32, (value >> 32) as u32, set.value[1] as u32];
                if [x, y, z].iter().any(|&size| size > 1) {
                    report!("the virtual GPU does not support clusters of blocks");
                    return Err(Status::NOT_SUPPORTED);
                }
            }
            attribute::PROGRAMMATIC_EVENT | attribute::LAUNCH_COMPLETION_EVENT => {
                report!("the virtual GPU does not support events within launches");
                return Err(Status::NOT_SUPPORTED);
            }
            0..=attribute::LAST => {}
            _ => return Err(Status::INVALID_VALUE),
        }
    }
    Ok(())
}
