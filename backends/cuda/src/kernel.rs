//! A kernel of a loaded image: what is asked of the driver and of the image once, so that
//! a launch asks nothing.
//!
//! A [`KernelHandle`](gangway_backend::KernelHandle) is the address of a [`LoadedKernel`],
//! which belongs to its module.

use crate::context::Context;
use crate::driver::types::{FunctionAttribute, Handle};
use crate::properties::Properties;
use crate::symbol::{Loaded, function};
use crate::under_way::KernelName;
use gangway_backend::{GroupMemory, Kernel, KernelHandle, KernelLimits, KernelResources, Occupancy, Result};
use gangway_device_code::gcc::{Entry, WarpBounds};
use gangway_device_code::llvm::{self, KernelBounds, Reduction};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Bytes of dynamic shared memory that a kernel may have without being told.
const SHARED_WITHOUT_ASKING: u32 = 48 << 10;

/// What a launch of a kernel has to have ready besides its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Nothing,
    /// A buffer for reductions, and counters.
    Reductions(Reduction),
    /// What a kernel of GCC's gets.
    Gcc(Entry),
}

/// A kernel of a loaded image.
pub(crate) struct LoadedKernel {
    pub name: KernelName,
    pub function: Handle,
    pub bounds: KernelBounds,
    /// The same for a kernel of GCC's.
    pub warps: WarpBounds,
    /// What a launch has to have ready besides the arguments.
    pub needs: Needs,
    /// Bytes of dynamic shared memory that every launch has.
    pub shared: u32,
    /// Bytes of dynamic shared memory that launches may have by now.
    allowed_shared: AtomicU32,
    /// What was last answered by [`teams_at_once`](Self::teams_at_once).
    occupancy: AtomicU64,
    /// What was last answered by [`busiest_launch`](Self::busiest_launch).
    busiest: AtomicU64,
}

impl LoadedKernel {
    /// The kernel `name` of a module.
    pub fn load(
        context: &Context,
        properties: &Properties,
        module: Handle,
        name: &str,
        entry: Option<Entry>,
        shared: u32,
    ) -> Result<(Box<Self>, Kernel)> {
        let function = function(context, module, name)?;
        let attribute = |attribute: FunctionAttribute| {
            let mut value = 0;
            let to = &raw mut value;
            // SAFETY: the driver writes one number.
            let asked = context.within("cuFuncGetAttribute", |api| unsafe {
                (api.function_get_attribute)(to, attribute as i32, function)
            });
            asked.map(|()| u32::try_from(value).unwrap_or(0))
        };
        let (environment, configuration) = llvm::configuration(&Loaded { context, module }, name)?;
        let static_shared = attribute(FunctionAttribute::StaticSharedMemory)?;
        let threads = attribute(FunctionAttribute::MaxThreads)?;
        // For reports alone: a driver that does not say it launches all the same.
        let registers = attribute(FunctionAttribute::Registers).ok().filter(|&registers| registers > 0);
        let bounds = KernelBounds::new(&configuration, threads, &properties.limits);
        let loaded = Box::new(Self {
            name: KernelName(name.into()),
            function,
            bounds,
            warps: WarpBounds::new(threads, &properties.limits),
            needs: match (entry, configuration.reduction()) {
                (Some(entry), _) => Needs::Gcc(entry),
                (None, None) => Needs::Nothing,
                (None, Some(reduction)) => Needs::Reductions(reduction),
            },
            shared,
            allowed_shared: AtomicU32::new(SHARED_WITHOUT_ASKING.saturating_sub(static_shared)),
            occupancy: AtomicU64::new(0),
            busiest: AtomicU64::new(0),
        });
        let handle = KernelHandle(std::ptr::from_ref(&*loaded).expose_provenance());
        let limits = KernelLimits {
            threads: NonZeroU32::new(bounds.max_threads()),
            group_memory: GroupMemory::Replaceable,
            static_group_memory: static_shared,
            dynamic_group_memory: Some(properties.shared_memory.saturating_sub(static_shared)),
        };
        // GCC's kernels have no mode. Their table of arguments is the launch's to place.
        let mode = entry.is_none().then_some(configuration.mode);
        let resources = KernelResources { registers, group_memory: Some(static_shared) };
        Ok((loaded, Kernel { mode, environment, limits, resources, ..Kernel::new(handle) }))
    }

    /// The kernel of a handle.
    ///
    /// # Safety
    /// The handle's module is loaded.
    #[inline]
    pub unsafe fn of<'a>(handle: KernelHandle) -> &'a Self {
        // SAFETY: the caller's promise.
        unsafe { &*std::ptr::with_exposed_provenance::<Self>(handle.0) }
    }

    /// Lets launches have so much dynamic shared memory; they have to ask for much of it.
    #[inline]
    pub fn allow_shared(&self, context: &Context, bytes: u32) -> Result<()> {
        if bytes <= self.allowed_shared.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.raise_shared(context, bytes)
    }

    #[cold]
    fn raise_shared(&self, context: &Context, bytes: u32) -> Result<()> {
        let attribute = FunctionAttribute::MaxDynamicSharedMemory as i32;
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        context.with("cuFuncSetAttribute", |api| {
            // SAFETY: the function belongs to a loaded module.
            unsafe { (api.function_set_attribute)(self.function, attribute, value) }
        })?;
        self.allowed_shared.fetch_max(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Teams of so many threads that the device runs at the same time; the driver is asked
    /// once for each new shape. Launches ask for one shape again and again.
    #[inline]
    pub fn teams_at_once(
        &self,
        context: &Context,
        properties: &Properties,
        threads: u32,
        shared: u32,
    ) -> u32 {
        let known = self.occupancy.load(Ordering::Relaxed);
        let shape = u64::from(shared) << 11 | u64::from(threads & 0x7ff);
        if known >> 20 == shape && known != 0 {
            return (known & 0xf_ffff) as u32;
        }
        self.ask_occupancy(context, properties, threads, shared, shape)
    }

    #[cold]
    fn ask_occupancy(
        &self,
        context: &Context,
        properties: &Properties,
        threads: u32,
        shared: u32,
        shape: u64,
    ) -> u32 {
        let mut each = 0;
        let to = &raw mut each;
        let count = i32::try_from(threads).unwrap_or(i32::MAX);
        // SAFETY: the driver writes one number; the function belongs to a loaded module.
        let asked = context.with("cuOccupancyMaxActiveBlocksPerMultiprocessor", |api| unsafe {
            (api.occupancy_blocks)(to, self.function, count, shared as usize)
        });
        // What cannot be launched at all is the launch's to say.
        let each = if asked.is_ok() { u32::try_from(each).unwrap_or(1).max(1) } else { 1 };
        let teams = each.saturating_mul(properties.limits.multiprocessors.max(1)).min(0xf_ffff);
        self.occupancy.store(shape << 20 | u64::from(teams), Ordering::Relaxed);
        teams
    }
}

impl LoadedKernel {
    /// The launch that keeps the device busiest, with so many threads in a team at most.
    pub fn busiest_launch(&self, context: &Context, warp: u32, most_threads: u32) -> Result<Occupancy> {
        let most = i32::try_from(most_threads).unwrap_or(i32::MAX);
        // Teams above, then threads, then the question.
        let known = self.busiest.load(Ordering::Relaxed);
        if known != 0 && known & 0xffff == u64::from(most_threads) {
            return Ok(Occupancy { teams: (known >> 32) as u32, threads: known as u32 >> 16, warp });
        }
        let (mut teams, mut threads) = (0, 0);
        let (to_teams, to_threads) = (&raw mut teams, &raw mut threads);
        context.within("cuOccupancyMaxPotentialBlockSize", |api| {
            // SAFETY: the driver writes two numbers; the function belongs to a loaded module.
            unsafe { (api.occupancy_launch)(to_teams, to_threads, self.function, std::ptr::null(), 0, most) }
        })?;
        let positive = |number| u32::try_from(number).unwrap_or(0).max(1);
        let (teams, threads) = (positive(teams), positive(threads));
        if threads <= 0xffff && most_threads <= 0xffff {
            let answer = u64::from(teams) << 32 | u64::from(threads) << 16 | u64::from(most_threads);
            self.busiest.store(answer, Ordering::Relaxed);
        }
        Ok(Occupancy { teams, threads, warp })
    }
}
