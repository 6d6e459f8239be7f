//! `cuLink*`: several inputs become one image that can be loaded.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use gangway_linker::{Input, container};

use super::image::{complain, with_advice};
use super::jit::JitOptions;
use crate::abi::number::jit_input;
use crate::abi::{Result, Status, kind};
use crate::objects::context::Context;
use crate::objects::table::backed;

/// A link that is going on.
#[derive(Debug)]
pub struct Link {
    capability: u16,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    options: JitOptions,
    inputs: Vec<Input>,
    /// What `cuLinkComplete` has handed out; it stays until the link is destroyed.
    image: Option<Box<[u8]>>,
}

backed!(kind::Link, Link);

impl Link {
    #[must_use]
    pub fn new(context: &Context, options: JitOptions) -> Self {
        let capability = context.device.capability().number();
        Self { capability, state: Mutex::new(State { options, inputs: Vec::new(), image: None }) }
    }

    pub fn add(&self, kind: u32, bytes: &[u8], name: &str) -> Result {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.image.is_some() {
            return Err(Status::INVALID_VALUE);
        }
        match kind {
            jit_input::CUBIN | jit_input::NVVM => {
                let what = if kind == jit_input::CUBIN { "machine code" } else { "NVVM IR" };
                complain(&state.options, &format!("{name}: the virtual GPU links PTX, not {what}"));
                return Err(Status::NO_BINARY_FOR_GPU);
            }
            jit_input::PTX..=jit_input::LIBRARY => {}
            _ => return Err(Status::INVALID_VALUE),
        }
        match gangway_linker::read(name, bytes, self.capability) {
            Ok(inputs) => state.inputs.extend(inputs),
            Err(error) => {
                complain(&state.options, &with_advice(error.to_string(), self.capability));
                return Err(error.code().into());
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
            Status::from(errors.code())
        })?;
        state.options.limit_registers(&mut module);
        if state.options.verbose {
            let (functions, variables) = (module.functions.len(), module.variables.len());
            state.options.info(&format!(
                "info    : {count} modules linked: {functions} functions, {variables} variables"
            ));
        }
        let image = state.image.insert(container::pack(module).into());
        Ok((image.as_mut_ptr(), image.len()))
    }
}
