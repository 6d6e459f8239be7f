//! Launches that the interpreter runs: all of them when the user wants so, otherwise those
//! of kernels that the compiler does not take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use gangway_interpreter as interpreter;
use gangway_interpreter::FaultKind;

use super::trap;
use crate::device::Device;
use crate::fault::{Fault, Place, Threads};
use crate::launch::KernelLaunch;

/// Runs one launch at a time: the interpreter's atomic operations are plain reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Interpreter {
    alone: Mutex<()>,
}

impl Interpreter {
    /// Ends early, without a fault, when `stop` becomes true.
    pub fn launch(
        &self,
        device: &Device,
        launch: &KernelLaunch<'_>,
        stop: Option<&AtomicBool>,
    ) -> Result<(), Box<Fault>> {
        trap::catch_signals();
        let kernel = launch.program.describe(launch.kernel);
        let failed = |kind: &FaultKind| Fault::new(device, &kernel.name, kind, &Place::default());
        let mut memory = device.checked().map_err(|kind| failed(&kind))?;
        memory.stop = stop;
        let mut arguments = Vec::with_capacity(kernel.parameters.len());
        for parameter in &kernel.parameters {
            let (start, size) = (parameter.offset as usize, parameter.size as usize);
            let Some(bytes) = launch.parameters.get(start..start + size) else {
                let have = launch.parameters.len();
                let wanted = kernel.parameter_size;
                return Err(failed(&FaultKind::Launch(format!("{have} bytes of parameters, not {wanted}"))));
            };
            arguments.push(bytes.to_vec());
        }
        let request = interpreter::InterpretedLaunch {
            kernel: &kernel.name,
            grid: launch.grid,
            block: launch.block,
            shared: launch.shared,
            limit: u64::MAX,
            arguments: &arguments,
        };
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = interpreter::launch(launch.program.interpreted(), &request, &mut memory);
        let stopped = stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
        if stopped && ended.as_ref().is_err_and(|fault| fault.kind == FaultKind::TooLong) {
            return Ok(());
        }
        ended.map_err(|fault| {
            let place = Place {
                function: Some(fault.function),
                instruction: Some(fault.instruction),
                source: fault.source,
                block: Some(fault.block),
                threads: Threads::One(fault.thread),
                shared: Some(launch.program.shared() + u64::from(launch.shared)),
            };
            Fault::new(device, &kernel.name, &fault.kind, &place)
        })
    }
}
