//! Kernels that the engine has compiled, one for each shape of a launch that their code depends on.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use gangway_code_object::Descriptor;
use gangway_engine::{KernelId, Program};
use gangway_gcn_lifter::Shape;

/// A kernel in the engine.
#[derive(Debug)]
pub struct Code {
    pub name: Arc<str>,
    pub program: Arc<Program>,
    pub kernel: KernelId,
    pub descriptor: Descriptor,
    /// The address that lines of the engine's text count from, and those that stand for addresses without code.
    pub base: u64,
    pub nowhere: Vec<u64>,
    /// Bytes of private memory of a lane.
    pub private: u64,
    /// Its waves need memory of their own, whose addresses it computes with.
    pub scratch: bool,
}

/// A kernel's code, or why there is none.
pub type Outcome = Result<Arc<Code>, Arc<str>>;

/// Hears what has come out.
pub(super) type Listener = Box<dyn FnOnce(Outcome) + Send>;

pub(super) enum State {
    /// Somebody compiles it; whoever wants to hears of it.
    UnderWay(Vec<Listener>),
    Done(Outcome),
}

/// What has been compiled of a kernel.
#[derive(Default)]
pub struct Compiled {
    shapes: Mutex<HashMap<Shape, State>>,
    pub(super) done: Condvar,
}

impl Compiled {
    pub(super) fn shapes(&self) -> MutexGuard<'_, HashMap<Shape, State>> {
        self.shapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Compiled {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Compiled({})", self.shapes().len())
    }
}
