//! Modules: loading images, and finding kernels and variables in them.

use std::sync::Arc;

use super::entry::{Call, entry};
use super::{image, jit};
use crate::abi::{CUdeviceptr, CUfunction, CUmodule, In, Out, Result, Status, Text, Untyped};
use crate::objects::context::Context;
use crate::objects::program::jit::JitOptions;
use crate::objects::program::module::Module;

fn load(context: &Arc<Context>, out: Out<CUmodule>, image: Untyped, options: &JitOptions) -> Result {
    out.check()?;
    out.set(Module::load(context, image::bytes(&image)?, options)?)
}

#[entry]
fn cuModuleLoad(call: &Call, out: Out<CUmodule>, path: Text) -> Result {
    out.check()?;
    let context = call.context()?;
    let bytes = image::read(&path)?;
    out.set(Module::load(&context, &bytes, &JitOptions::none())?)
}

#[entry]
fn cuModuleLoadData(call: &Call, out: Out<CUmodule>, image: Untyped) -> Result {
    load(&call.context()?, out, image, &JitOptions::none())
}

#[entry]
fn cuModuleLoadDataEx(
    call: &Call,
    out: Out<CUmodule>,
    image: Untyped,
    count: u32,
    options: In<u32>,
    values: In<Untyped>,
) -> Result {
    let options = jit::options(count, options, values)?;
    load(&call.context()?, out, image, &options)
}

#[entry]
fn cuModuleLoadFatBinary(call: &Call, out: Out<CUmodule>, image: Untyped) -> Result {
    load(&call.context()?, out, image, &JitOptions::none())
}

/// There need not be a current context.
#[entry]
fn cuModuleUnload(_: &Call, module: CUmodule) -> Result {
    module.get()?.context()?.usable()?;
    Module::unload(module)
}

/// Code is compiled when it is first called, which is what lazy loading is about.
#[entry]
fn cuModuleGetLoadingMode(_: &Call, mode: Out<u32>) -> Result {
    const LAZY: u32 = 2;
    mode.set(LAZY)
}

#[entry]
fn cuModuleGetFunction(call: &Call, out: Out<CUfunction>, module: CUmodule, name: Text) -> Result {
    out.check()?;
    call.context()?;
    out.set(module.get()?.function(name.str()?)?)
}

#[entry]
fn cuModuleGetFunctionCount(call: &Call, count: Out<u32>, module: CUmodule) -> Result {
    count.check()?;
    call.context()?;
    count.set(module.get()?.program.kernels().len() as u32)
}

#[entry]
fn cuModuleEnumerateFunctions(
    call: &Call,
    functions: Out<CUfunction>,
    count: u32,
    module: CUmodule,
) -> Result {
    functions.check()?;
    call.context()?;
    functions.fill(module.get()?.functions(count as usize)?)
}

#[entry]
fn cuModuleGetGlobal_v2(
    call: &Call,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    module: CUmodule,
    name: Text,
) -> Result {
    call.context()?;
    if address.is_null() && size.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let (at, bytes) = module.get()?.global(name.str()?)?;
    address.set_if_wanted(at);
    size.set_if_wanted(bytes);
    Ok(())
}

/// Modules with references to textures are not loaded, so there is none to be found.
#[entry]
fn cuModuleGetTexRef(call: &Call, _out: Out<usize>, _module: CUmodule, _name: Text) -> Result {
    call.context()?;
    Err(Status::NOT_FOUND)
}

#[entry]
fn cuModuleGetSurfRef(call: &Call, _out: Out<usize>, _module: CUmodule, _name: Text) -> Result {
    call.context()?;
    Err(Status::NOT_FOUND)
}
