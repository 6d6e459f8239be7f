//! `cuLink*`: several inputs become one image that can be loaded.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use gangway_linker::{Input, container};

use crate::abi::status::{Result, Status};
use crate::objects::context::Context;
use crate::objects::program::jit::Options;
use crate::objects::program::module::{complain, with_advice};
use crate::objects::table::object;

/// A link that is going on.
#[derive(Debug)]
pub struct Link {
    capability: u16,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    options: Options,
    inputs: Vec<Input>,
    /// What `cuLinkComplete` has handed out; it stays until the link is destroyed.
    image: Option<Box<[u8]>>,
}

object!(Link, 5);

/// `CUjitInputType`
mod input {
    pub const CUBIN: u32 = 0;
    pub const PTX: u32 = 1;
    pub const LIBRARY: u32 = 4;
    pub const NVVM: u32 = 5;
}

impl Link {
    pub fn new(context: &Context, options: Options) -> Link {
        let capability = context.device.capability().number();
        Link { capability, state: Mutex::new(State { options, inputs: Vec::new(), image: None }) }
    }

    pub fn add(&self, kind: u32, bytes: &[u8], name: &str) -> Result {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.image.is_some() {
            return Err(Status::INVALID_VALUE);
        }
        match kind {
            input::CUBIN | input::NVVM => {
                let what = if kind == input::CUBIN { "machine code" } else { "NVVM IR" };
                complain(&state.options, &format!("{name}: the virtual GPU links PTX, not {what}"));
                return Err(Status::NO_BINARY_FOR_GPU);
            }
            input::PTX..=input::LIBRARY => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        match gangway_linker::read(name, bytes, self.capability) {
            Ok(inputs) => state.inputs.extend(inputs),
            Err(error) => {
                complain(&state.options, &with_advice(error.to_string(), self.capability));
                return Err(Status(error.code() as u32));
            }
        }
        Ok(())
    }

    pub fn add_file(&self, kind: u32, path: &Path) -> Result {
        let bytes = std::fs::read(path).map_err(|_| Status::FILE_NOT_FOUND)?;
        self.add(kind, &bytes, &path.to_string_lossy())
    }

    /// Links what has been added; address and length of the image.
    pub fn complete(&self) -> Result<(*mut u8, usize)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.image.is_some() {
            return Err(Status::INVALID_VALUE);
        }
        let inputs = std::mem::take(&mut state.inputs);
        let count = inputs.len();
        let linked = gangway_linker::link(inputs);
        state.options.finish();
        let mut module = linked.map_err(|errors| {
            complain(&state.options, &with_advice(errors.to_string(), self.capability));
            Status(errors.code() as u32)
        })?;
        state.options.limit_registers(&mut module);
        if state.options.is_verbose() {
            let (functions, variables) = (module.functions.len(), module.variables.len());
            state.options.info(&format!(
                "info    : {count} modules linked: {functions} functions, {variables} variables"
            ));
        }
        let image = state.image.insert(container::pack(module).into());
        Ok((image.as_mut_ptr(), image.len()))
    }
}
