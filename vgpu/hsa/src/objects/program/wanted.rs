//! Kernels that are to be compiled: at once, or by a thread while they run already.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use gangway_code_object::Descriptor;
use gangway_engine::Program;
use gangway_gcn_interpreter::{FaultKind, Memory};
use gangway_gcn_lifter::{Apart, Lifted, Refusal, Shape};
use gangway_settings::file_variable;

use super::compiled::{BUG, Code, Listener, Outcome, State, Why};
use super::kernel::Kernel;
use crate::objects::agent::Agent;
use crate::objects::process::config::Execution;

/// A kernel that is to be compiled for launches of a shape.
#[derive(Clone)]
pub struct Wanted<M> {
    pub agent: &'static Agent,
    pub kernel: Kernel,
    pub memory: M,
    /// The address of its descriptor.
    pub object: u64,
    pub shape: Shape,
}

impl<M: Memory> Wanted<M> {
    /// What has come out, if that is known.
    pub fn known(&self) -> Option<Outcome> {
        match self.kernel.compiled.shapes().get(&self.shape) {
            Some(State::Done(outcome)) => Some(outcome.clone()),
            Some(State::UnderWay(_)) | None => None,
        }
    }

    /// The code, which is made now if it is not there; `note` hears the first time why there is none.
    pub fn code(&self, note: impl FnOnce(&str)) -> Outcome {
        let compiled = &self.kernel.compiled;
        let mut shapes = compiled.shapes();
        loop {
            match shapes.get(&self.shape) {
                Some(State::Done(outcome)) => return outcome.clone(),
                Some(State::UnderWay(_)) => {
                    shapes = compiled.done.wait(shapes).unwrap_or_else(PoisonError::into_inner);
                }
                None => break,
            }
        }
        shapes.insert(self.shape, State::UnderWay(Vec::new()));
        drop(shapes);
        self.make(note)
    }

    /// Makes it, which is noted to be under way.
    fn make(&self, note: impl FnOnce(&str)) -> Outcome {
        // Nobody waits for ever, whatever happens here.
        let mut ending = Ending { wanted: self, outcome: Err(Why::of(BUG)) };
        ending.outcome = compile(self).inspect_err(|why| {
            // With others it may be compiled yet.
            if !self.may_be_together(why) {
                note(&why.what);
            }
        });
        ending.outcome.clone()
    }

    /// Whether it may be compiled with the others of its code object, for a launch like this one.
    pub fn may_be_together(&self, why: &Why) -> bool {
        why.is_of_calls && self.shape.is_any()
    }

    fn end(&self, outcome: &Outcome) {
        let compiled = &self.kernel.compiled;
        let before = compiled.shapes().insert(self.shape, State::Done(outcome.clone()));
        compiled.done.notify_all();
        if let Some(State::UnderWay(listeners)) = before {
            tell(listeners, outcome);
        }
    }
}

impl<M: Memory + Clone + Send + 'static> Wanted<M> {
    /// The code, if it is there. If not a thread makes it; `listener` hears of it there.
    pub fn begin(
        &self,
        note: impl FnOnce(&str) + Send + 'static,
        listener: impl FnOnce(Outcome) + Send + 'static,
    ) -> Option<Outcome> {
        let mut shapes = self.kernel.compiled.shapes();
        match shapes.get_mut(&self.shape) {
            Some(State::Done(outcome)) => return Some(outcome.clone()),
            Some(State::UnderWay(listeners)) => {
                listeners.push(Box::new(listener));
                return None;
            }
            None => shapes.insert(self.shape, State::UnderWay(vec![Box::new(listener)])),
        };
        drop(shapes);
        let wanted = self.clone();
        let make = move || {
            // One after the other: the program has the processors.
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = wanted.make(note);
        };
        if thread::Builder::new().name("gangway-hsa-code".to_owned()).spawn(make).is_err() {
            self.end(&Err(Why::of("there is no thread to compile it")));
        }
        None
    }
}

/// Whose turn it is to compile.
static TURN: Mutex<()> = Mutex::new(());

/// The end of compiling, also if it is a panic.
struct Ending<'a, M: Memory> {
    wanted: &'a Wanted<M>,
    outcome: Outcome,
}

impl<M: Memory> Drop for Ending<'_, M> {
    fn drop(&mut self) {
        self.wanted.end(&self.outcome);
    }
}

/// Tells listeners, each on a thread of its own where they run kernels then. That there is no code they hear at once,
/// also where there are no more threads.
pub fn tell(listeners: Vec<Listener>, outcome: &Outcome) {
    for listener in listeners {
        let outcome = outcome.clone();
        if outcome.is_err() {
            listener(outcome);
            continue;
        }
        let told = thread::Builder::new().name("gangway-hsa-rest".to_owned());
        // Without a thread the kernel is interpreted to its end.
        let _ = told.spawn(move || listener(outcome));
    }
}

/// Functions stand apart of a kernel that cannot have them in common with others ([`Shape::any`]) only where the user wants
/// kernels to be compiled, as long as that may take.
fn apart(execution: Execution, shape: Shape) -> Apart {
    match execution {
        Execution::Compiled | Execution::CompiledOnly if !shape.is_any() => Apart::Gccs,
        Execution::Compiled | Execution::CompiledOnly | Execution::Meanwhile | Execution::Interpreted => {
            Apart::Nobodys
        }
    }
}

fn compile<M: Memory>(wanted: &Wanted<M>) -> Outcome {
    let Wanted { agent, kernel, object, shape, .. } = wanted;
    let one = wanted.described(*object, kernel.clone())?;
    let apart = apart(agent.config().execution, *shape);
    let lifted = wanted.lift(std::slice::from_ref(&one), *shape, apart)?;
    let program = wanted.load(&lifted.text)?;
    let code = one.code(0, &lifted, &program)?;
    code.make_ready(agent, *shape);
    Ok(Arc::new(code))
}

/// A kernel with its descriptor, and where that is.
pub(super) struct Described {
    pub kernel: Kernel,
    pub object: u64,
    pub descriptor: Descriptor,
}

impl Described {
    /// Where its code begins.
    fn entry(&self) -> u64 {
        self.object.wrapping_add_signed(self.descriptor.entry_offset)
    }

    pub fn told(&self, refusal: &Refusal) -> Why {
        let offset = refusal.address.wrapping_sub(self.entry()).cast_signed();
        let what = format!("{} (kernel{offset:+#x})", refusal.what).into();
        Why { what, is_of_calls: refusal.is_of_calls() }
    }

    /// Its code in a program that has been made of it, with a place in the list.
    pub fn code(&self, number: usize, lifted: &Lifted, program: &Arc<Program>) -> Result<Code, Why> {
        if let Some(refusal) = lifted.refused.get(&number) {
            return Err(self.told(refusal));
        }
        let id = program.kernel(&Lifted::name(number)).ok_or_else(|| Why::of("its PTX has no kernel"))?;
        Ok(Code {
            name: Arc::clone(&self.kernel.name),
            program: Arc::clone(program),
            kernel: id,
            descriptor: self.descriptor,
            base: lifted.base,
            nowhere: lifted.nowhere.clone(),
            private: lifted.private,
            scratch: lifted.scratch,
        })
    }
}

impl<M: Memory> Wanted<M> {
    pub(super) fn described(&self, object: u64, kernel: Kernel) -> Result<Described, Why> {
        let mut bytes = [0; gangway_code_object::descriptor::SIZE as usize];
        self.memory.read(object, &mut bytes).map_err(|fault: FaultKind| Why::of(&fault.to_string()))?;
        let descriptor = Descriptor::read(&bytes).map_err(|error| Why::of(&error.to_string()))?;
        Ok(Described { kernel, object, descriptor })
    }

    /// Lifts kernels of the code object: one for itself, or several with their functions in common.
    pub(super) fn lift(&self, kernels: &[Described], shape: Shape, apart: Apart) -> Result<Lifted, Why> {
        let code = &self.kernel.code;
        let read = |address: u64, bytes: &mut [u8]| self.memory.read(address, bytes).is_ok();
        let constant = |address: u64, size: u64| code.is_constant(address, size);
        let is_code = |address: u64| code.is_code(address);
        let lifters = |one: &Described| gangway_gcn_lifter::Kernel {
            gpu: self.agent.config().processor,
            descriptor: one.descriptor,
            entry: one.entry(),
            shape,
            read: &read,
            constant: &constant,
            is_code: &is_code,
            held: &code.held,
            apart,
        };
        let lifted = if shape == Shape::any() {
            gangway_gcn_lifter::lift_together(&kernels.iter().map(lifters).collect::<Vec<_>>())
        } else {
            gangway_gcn_lifter::lift(&lifters(&kernels[0]))
        };
        lifted.map_err(|refusal| kernels[0].told(&refusal))
    }

    /// Hands PTX to the engine.
    pub(super) fn load(&self, text: &str) -> Result<Arc<Program>, Why> {
        if let Some(folder) = file_variable("GANGWAY_VGPU_DUMP") {
            // It is for work on the engine, which tells what is wrong with the folder. The name is the code object's: it
            // leads nowhere else.
            let file = format!("{}.ptx", self.kernel.name.replace('/', "_"));
            let _ = std::fs::write(Path::new(&folder).join(file), text);
        }
        let module =
            gangway_ptx::parse(text).map_err(|errors| Why::of(&format!("its PTX is wrong: {errors}")))?;
        let program = self.agent.engine().load(module);
        program.map_err(|error| Why::of(&format!("its PTX is not loaded: {error:?}")))
    }
}
