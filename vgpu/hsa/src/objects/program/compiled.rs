//! Kernels that the engine has compiled, one for each shape of a launch that their code depends on.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use gangway_code_object::Descriptor;
use gangway_engine::{KernelId, KernelLaunch, Program};
use gangway_gcn_lifter::Shape;

use crate::objects::agent::Agent;

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

impl Code {
    /// Has the engine make code of the kernel itself, but for what it calls.
    pub(super) fn make_ready(&self, agent: &Agent, shape: Shape) {
        agent.engine().make_ready(&KernelLaunch {
            program: &self.program,
            kernel: self.kernel,
            grid: [1; 3],
            block: shape.block(),
            shared: 0,
            parameters: &[],
            cooperative: false,
        });
    }
}

/// Why there is no code of a kernel.
#[derive(Clone, Debug)]
pub struct Why {
    pub what: Arc<str>,
    /// Functions that stand apart may do without what is in the way.
    pub is_of_calls: bool,
}

impl Why {
    pub(super) fn of(what: &str) -> Self {
        Self { what: what.into(), is_of_calls: false }
    }
}

/// What is in the way where compiling has ended without an outcome.
pub(super) const BUG: &str = "a bug in the virtual GPU";

/// A kernel's code, or why there is none.
pub type Outcome = Result<Arc<Code>, Why>;

/// Hears what has come out.
pub type Listener = Box<dyn FnOnce(Outcome) + Send>;

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
    /// What has come out of compiling it with the others of its code object, for all launches.
    pub(super) together: OnceLock<Outcome>,
    /// Whether it has been lifted for another kernel, with it and the others: next time it is lifted without them.
    pub(super) is_left_out: AtomicBool,
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
