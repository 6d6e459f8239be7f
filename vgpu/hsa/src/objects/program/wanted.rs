//! Kernels that are to be compiled: at once, or by a thread while they run already.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use gangway_code_object::Descriptor;
use gangway_engine::KernelLaunch;
use gangway_gcn_interpreter::{FaultKind, Memory};
use gangway_gcn_lifter::{Apart, Lifted, Shape};
use gangway_settings::file_variable;

use super::compiled::{Code, Listener, Outcome, State};
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
        let mut ending = Ending { wanted: self, outcome: Err("a bug in the virtual GPU".into()) };
        ending.outcome = compile(self).map(Arc::new).map_err(|why| {
            note(&why);
            why.into()
        });
        ending.outcome.clone()
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
            self.end(&Err("there is no thread to compile it".into()));
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
fn tell(listeners: Vec<Listener>, outcome: &Outcome) {
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

/// Functions stand apart only where the user wants kernels to be compiled, as long as that may take.
const fn apart(execution: Execution) -> Apart {
    match execution {
        Execution::Compiled | Execution::CompiledOnly => Apart::Gccs,
        Execution::Meanwhile | Execution::Interpreted => Apart::Nobodys,
    }
}

fn compile<M: Memory>(wanted: &Wanted<M>) -> Result<Code, String> {
    let Wanted { agent, kernel, memory, object, shape } = wanted;
    let mut bytes = [0; gangway_code_object::descriptor::SIZE as usize];
    memory.read(*object, &mut bytes).map_err(|fault: FaultKind| fault.to_string())?;
    let descriptor = Descriptor::read(&bytes).map_err(|error| error.to_string())?;
    let entry = object.wrapping_add_signed(descriptor.entry_offset);
    let gpu = agent.config().processor;
    let read = |address: u64, bytes: &mut [u8]| memory.read(address, bytes).is_ok();
    let constant = |address: u64, size: u64| kernel.code.is_constant(address, size);
    let lifted = gangway_gcn_lifter::lift(&gangway_gcn_lifter::Kernel {
        gpu,
        descriptor,
        entry,
        shape: *shape,
        read: &read,
        constant: &constant,
        is_code: &|address| kernel.code.is_code(address),
        held: &kernel.code.held,
        apart: apart(agent.config().execution),
    });
    let Lifted { text, base, private, scratch, nowhere } = lifted.map_err(|refusal| {
        let offset = refusal.address.wrapping_sub(entry).cast_signed();
        format!("{} (kernel{offset:+#x})", refusal.what)
    })?;
    if let Some(folder) = file_variable("GANGWAY_VGPU_DUMP") {
        // It is for work on the engine, which tells what is wrong with the folder. The name is the code object's: it leads
        // nowhere else.
        let file = format!("{}.ptx", kernel.name.replace('/', "_"));
        let _ = std::fs::write(Path::new(&folder).join(file), &text);
    }
    let module = gangway_ptx::parse(&text).map_err(|errors| format!("its PTX is wrong: {errors}"))?;
    drop(text);
    let program = agent.engine().load(module).map_err(|error| format!("its PTX is not loaded: {error:?}"))?;
    let id = program.kernel("kernel").ok_or("its PTX has no kernel")?;
    agent.engine().make_ready(&KernelLaunch {
        program: &program,
        kernel: id,
        grid: [1; 3],
        block: shape.block(),
        shared: 0,
        parameters: &[],
        cooperative: false,
    });
    let name = Arc::clone(&kernel.name);
    Ok(Code { name, program, kernel: id, descriptor, base, nowhere, private, scratch })
}
