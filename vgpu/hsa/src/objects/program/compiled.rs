//! Kernels that the engine has compiled, one for each shape of a launch that their code depends on.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gangway_code_object::Descriptor;
use gangway_engine::{KernelId, Program};
use gangway_gcn_interpreter::{FaultKind, Memory};
use gangway_gcn_lifter::{Lifted, Shape};
use gangway_settings::file_variable;

use crate::objects::agent::Agent;

/// A kernel in the engine.
#[derive(Debug)]
pub struct Code {
    pub program: Arc<Program>,
    pub kernel: KernelId,
    pub descriptor: Descriptor,
    /// The address that lines of the engine's text count from.
    pub base: u64,
    /// Bytes of private memory of a lane.
    pub private: u64,
}

/// A kernel's code, or why there is none.
type Outcome = Result<Arc<Code>, Arc<str>>;

/// What has been compiled of a kernel.
#[derive(Debug, Default)]
pub struct Compiled(Mutex<HashMap<Shape, Outcome>>);

impl Compiled {
    /// The code for launches of a shape; `note` hears the first time why there is none.
    pub fn code(
        &self,
        agent: &Agent,
        memory: &dyn Memory,
        object: u64,
        name: &str,
        shape: Shape,
        note: impl FnOnce(&str),
    ) -> Outcome {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.entry(shape).or_insert_with(|| {
            let made = compile(agent, memory, object, name, shape);
            made.map(Arc::new).map_err(|why| {
                note(&why);
                why.into()
            })
        });
        found.clone()
    }
}

fn compile(
    agent: &Agent,
    memory: &dyn Memory,
    object: u64,
    name: &str,
    shape: Shape,
) -> Result<Code, String> {
    let mut bytes = [0; gangway_code_object::descriptor::SIZE as usize];
    memory.read(object, &mut bytes).map_err(|fault: FaultKind| fault.to_string())?;
    let descriptor = Descriptor::read(&bytes).map_err(|error| error.to_string())?;
    let entry = object.wrapping_add_signed(descriptor.entry_offset);
    let gpu = agent.config().processor;
    let read = |address: u64, bytes: &mut [u8]| memory.read(address, bytes).is_ok();
    let kernel = gangway_gcn_lifter::Kernel { gpu, descriptor, entry, shape, read: &read };
    let Lifted { text, base, private } = gangway_gcn_lifter::lift(&kernel).map_err(|refusal| {
        let offset = refusal.address.wrapping_sub(entry).cast_signed();
        format!("{} (kernel{offset:+#x})", refusal.what)
    })?;
    if let Some(folder) = file_variable("GANGWAY_VGPU_DUMP") {
        // It is for work on the engine, which tells what is wrong with the folder. The name is the code object's: it leads
        // nowhere else.
        let file = format!("{}.ptx", name.replace('/', "_"));
        let _ = std::fs::write(Path::new(&folder).join(file), &text);
    }
    let module = gangway_ptx::parse(&text).map_err(|errors| format!("its PTX is wrong: {errors}"))?;
    let program = agent.engine().load(module).map_err(|error| format!("its PTX is not loaded: {error:?}"))?;
    let kernel = program.kernel("kernel").ok_or("its PTX has no kernel")?;
    Ok(Code { program, kernel, descriptor, base, private })
}
