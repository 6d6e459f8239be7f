//! The kernel of a launch, and what of it is compiled.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use gangway_interpreter::FaultKind;

use crate::abi::Flavour;
use crate::analysis::block::BlockShape;
use crate::launch::KernelLaunch;
use crate::program::{KernelId, Program};

/// What a launch runs.
#[derive(Debug)]
pub(crate) struct LaunchedKernel {
    program: Arc<Program>,
    id: KernelId,
    /// Its function.
    pub function: u32,
    /// How the threads of a block lie in warps, which code is made for.
    shape: BlockShape,
    /// What warps of which no lane is missing run, and its code once that is compiled.
    whole: Flavour,
    entry: AtomicPtr<c_void>,
}

impl LaunchedKernel {
    #[must_use]
    pub fn of(launch: &KernelLaunch<'_>) -> Self {
        LaunchedKernel {
            program: launch.program.clone(),
            id: launch.kernel,
            function: launch.program.function(launch.kernel),
            shape: BlockShape::of(launch.block),
            whole: Flavour::Masked,
            entry: AtomicPtr::default(),
        }
    }

    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    #[must_use]
    pub fn id(&self) -> KernelId {
        self.id
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.program.describe(self.id).name
    }

    /// Makes the kernel's own code; why there is none, if so. `whole` says whether blocks have
    /// warps of which no lane is missing.
    pub fn compile(&mut self, whole: bool) -> Result<(), FaultKind> {
        let converged = whole.then(|| self.code(self.function, Flavour::Converged));
        let code = match converged {
            Some(Ok(code)) => {
                self.whole = Flavour::Converged;
                code
            }
            _ => self.code(self.function, Flavour::Masked)?,
        };
        self.entry = AtomicPtr::new(code.cast_mut());
        Ok(())
    }

    /// The code for warps of which no lane is missing, and its flavour.
    #[must_use]
    pub fn entry(&self) -> (Flavour, *const c_void) {
        (self.whole, self.entry.load(Ordering::Relaxed))
    }

    /// The code of all functions, for compiled code.
    #[must_use]
    pub fn functions(&self) -> &[AtomicPtr<c_void>] {
        self.program.functions().entries(self.shape)
    }

    /// The code of a function, which is compiled now when it is not yet.
    pub fn code(&self, function: u32, flavour: Flavour) -> Result<*const c_void, FaultKind> {
        self.program.functions().resolve(self.shape, function, flavour)
    }
}
