//! Launching a kernel: one call of the driver, unless the kernel has reductions.
//!
//! The session's table is the kernel's buffer of parameters, so nothing is copied or
//! allocated here. What is asked of the driver about a kernel is asked at its first launch.

use crate::context::Context;
use crate::driver::types::{Handle, launch_key};
use crate::kernel::{LoadedKernel, Needs};
use crate::properties::Properties;
use crate::stream::Stream;
use gangway_backend::{ArgumentTable, Launch, LaunchShape, Result};
use gangway_device_code::gcc::{Entry, STACK};
use gangway_device_code::llvm::{NO_LAUNCH_ENVIRONMENT, Reductions};
use gangway_device_code::{Asked, Geometry, Wishes};
use std::ffi::c_void;
use std::ptr::without_provenance as word;

/// What launches on a device have in common.
#[derive(Debug)]
pub(crate) struct Launcher {
    pub wishes: Wishes,
    /// Bytes of dynamic shared memory that every team gets at least.
    pub shared_memory: u32,
}

impl Launcher {
    /// Launches a kernel in a stream.
    ///
    /// # Safety
    /// As [`Stream::launch`](gangway_backend::Stream::launch).
    #[inline]
    pub unsafe fn launch(
        &self,
        context: &Context,
        properties: &Properties,
        stream: &Stream,
        launch: &Launch<'_>,
        mut table: ArgumentTable<'_>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        let kernel = unsafe { LoadedKernel::of(launch.kernel.handle) };
        let asked = asked(launch);
        let shared = self.shared(launch, kernel);
        kernel.allow_shared(context, shared)?;
        let replaced = launch.replaced_group_memory.unwrap_or(0);
        if kernel.needs != Needs::Nothing || replaced != 0 {
            let parts = Parts { context, properties, kernel, stream, shared, replaced };
            // SAFETY: the caller's promise.
            unsafe { self.launch_with_more(&parts, &asked, table) }?;
        } else {
            let geometry = kernel.bounds.geometry(&asked, &self.wishes, |threads| {
                kernel.teams_at_once(context, properties, threads, shared)
            });
            if let Some(environment) = table.environment() {
                *environment = NO_LAUNCH_ENVIRONMENT;
            }
            // SAFETY: the caller's promise.
            unsafe { submit(context, kernel, geometry, shared, stream.handle, table.slots()) }?;
        }
        stream.kernels.note(&kernel.name, launch.source);
        Ok(())
    }

    /// Bytes of dynamic shared memory that every team gets: none where it is replaced, so that device code
    /// finds none.
    fn shared(&self, launch: &Launch<'_>, kernel: &LoadedKernel) -> u32 {
        match launch.replaced_group_memory {
            Some(_) => 0,
            None => launch.dynamic_group_memory.max(self.shared_memory).max(kernel.shared),
        }
    }

    /// The shape that a launch has. Where memory is short for GCC's stacks, it gets fewer teams.
    ///
    /// # Safety
    /// The kernel's module is loaded.
    pub unsafe fn shape(
        &self,
        context: &Context,
        properties: &Properties,
        launch: &Launch<'_>,
    ) -> LaunchShape {
        // SAFETY: the caller's promise.
        let kernel = unsafe { LoadedKernel::of(launch.kernel.handle) };
        let shared = self.shared(launch, kernel);
        let at_once = |threads| kernel.teams_at_once(context, properties, threads, shared);
        let asked = asked(launch);
        let Geometry { teams, threads } = match kernel.needs {
            Needs::Gcc(Entry::OpenMp) => kernel.warps.geometry(&asked, &self.wishes, at_once),
            Needs::Gcc(Entry::OpenAcc) => Geometry::as_asked(&asked),
            Needs::Gcc(Entry::Initialiser { .. }) => Geometry::ONE_THREAD,
            Needs::Nothing | Needs::Reductions(_) => kernel.bounds.geometry(&asked, &self.wishes, at_once),
        };
        LaunchShape { teams, threads }
    }

    /// Launches a kernel that needs more than its arguments.
    ///
    /// # Safety
    /// As [`launch`](Self::launch).
    #[inline(never)]
    unsafe fn launch_with_more(
        &self,
        parts: &Parts<'_>,
        asked: &Asked,
        mut table: ArgumentTable<'_>,
    ) -> Result<()> {
        let &Parts { context, properties, kernel, stream, shared, replaced } = parts;
        let at_once = |threads| kernel.teams_at_once(context, properties, threads, shared);
        // Held until the kernel is in the stream: another one must not get between what it
        // needs and it.
        let mut scratch = stream.scratch();
        let memory = stream.memory(context);
        let geometry = match kernel.needs {
            Needs::Nothing | Needs::Reductions(_) => {
                let geometry = kernel.bounds.geometry(asked, &self.wishes, at_once);
                let [teams, ..] = geometry.teams;
                let mut environment = NO_LAUNCH_ENVIRONMENT;
                let mut reduction = None;
                if let Needs::Reductions(kind) = kernel.needs {
                    environment = scratch.reductions.prepare(&memory, kind, teams)?;
                    reduction = Some((kind, Reductions::buffer(environment)));
                }
                if replaced != 0 {
                    let replacements = &mut scratch.replacements;
                    environment = replacements.prepare(&memory, reduction, teams, replaced)?;
                }
                if let Some(slot) = table.environment() {
                    *slot = environment;
                }
                geometry
            }
            Needs::Gcc(Entry::OpenMp) => {
                let mut geometry = kernel.warps.geometry(asked, &self.wishes, at_once);
                let [teams, warps] = [geometry.teams[0], geometry.threads[1]];
                let (stacks, teams) = scratch.stacks.prepare(&memory, properties.memory, teams, warps)?;
                geometry.teams[0] = teams;
                let table = stream.write_table(context, &mut scratch, table.slots())?;
                let parameters = [table, stacks, STACK as u64];
                // SAFETY: the caller's promise; the table stays until the stream is done.
                return unsafe { submit(context, kernel, geometry, shared, stream.handle, &parameters) };
            }
            Needs::Gcc(Entry::OpenAcc) => {
                // Its dimensions are the front end's: the kernel has been compiled for some of them.
                let geometry = Geometry::as_asked(asked);
                let parameters = [stream.write_table(context, &mut scratch, table.slots())?];
                // SAFETY: as above.
                return unsafe { submit(context, kernel, geometry, shared, stream.handle, &parameters) };
            }
            Needs::Gcc(Entry::Initialiser { stack: false }) => {
                // SAFETY: as above.
                return unsafe { submit(context, kernel, Geometry::ONE_THREAD, shared, stream.handle, &[]) };
            }
            Needs::Gcc(Entry::Initialiser { stack: true }) => {
                let (stack, _) = scratch.stacks.prepare(&memory, properties.memory, 1, 1)?;
                let parameters = [stack + STACK as u64];
                // SAFETY: as above.
                return unsafe {
                    submit(context, kernel, Geometry::ONE_THREAD, shared, stream.handle, &parameters)
                };
            }
        };
        // SAFETY: the caller's promise.
        unsafe { submit(context, kernel, geometry, shared, stream.handle, table.slots()) }
    }
}

const fn asked(launch: &Launch<'_>) -> Asked {
    Asked { teams: launch.teams, threads: launch.thread_limit, trip_count: launch.trip_count }
}

/// What a launch is made of.
struct Parts<'a> {
    context: &'a Context,
    properties: &'a Properties,
    kernel: &'a LoadedKernel,
    stream: &'a Stream,
    shared: u32,
    /// Bytes of other memory for each team in the place of shared memory.
    replaced: u32,
}

/// # Safety
/// As [`Launcher::launch`].
#[inline]
unsafe fn submit(
    context: &Context,
    kernel: &LoadedKernel,
    geometry: Geometry,
    shared: u32,
    stream: Handle,
    slots: &[u64],
) -> Result<()> {
    let size = size_of_val(slots);
    let buffer: [*const c_void; 5] = [
        word(launch_key::BUFFER_POINTER),
        slots.as_ptr().cast(),
        word(launch_key::BUFFER_SIZE),
        (&raw const size).cast(),
        word(launch_key::END),
    ];
    let extra = if slots.is_empty() { std::ptr::null() } else { buffer.as_ptr() };
    let Geometry { teams, threads } = geometry;
    context.with("cuLaunchKernel", |api| {
        // SAFETY: the caller's promise; the driver copies the parameters.
        unsafe {
            (api.launch_kernel)(
                kernel.function,
                teams[0],
                teams[1],
                teams[2],
                threads[0],
                threads[1],
                threads[2],
                shared,
                stream,
                std::ptr::null(),
                extra,
            )
        }
    })
}
