//! Modules: loading images, and finding kernels and variables in them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::context::Context;
use crate::entry::entries;
use crate::error::{Result, Status};
use crate::jit::Options;
use crate::module::{self, Module};
use crate::pointer::{In, Memory, Out, Text};
use crate::types::{CUdeviceptr, CUfunction, CUmodule};

fn load(context: &std::sync::Arc<Context>, out: Out<CUmodule>, image: Memory, options: &Options) -> Result {
    out.check()?;
    out.set(Module::load(context, module::image(image.0)?, options)?)
}

entries! {
    fn cuModuleLoad(call, out: Out<CUmodule>, path: Text) {
        out.check()?;
        let context = call.context()?;
        let path = Path::new(std::ffi::OsStr::from_bytes(path.bytes()?));
        let bytes = std::fs::read(path).map_err(|_| Status::FILE_NOT_FOUND)?;
        out.set(Module::load(&context, &bytes, &Options::none())?)
    }

    fn cuModuleLoadData(call, out: Out<CUmodule>, image: Memory) {
        load(&call.context()?, out, image, &Options::none())
    }

    fn cuModuleLoadDataEx(call, out: Out<CUmodule>, image: Memory, count: u32, options: In<u32>, values: In<usize>) {
        let options = Options::read(count, options, values)?;
        load(&call.context()?, out, image, &options)
    }

    fn cuModuleLoadFatBinary(call, out: Out<CUmodule>, image: Memory) {
        load(&call.context()?, out, image, &Options::none())
    }

    /// There need not be a current context.
    fn cuModuleUnload(_, module: CUmodule) {
        module.get()?.context()?.usable()?;
        Module::unload(module)
    }

    /// Code is compiled when it is first called, which is what lazy loading is about.
    fn cuModuleGetLoadingMode(_, mode: Out<u32>) {
        const LAZY: u32 = 2;
        mode.set(LAZY)
    }

    fn cuModuleGetFunction(call, out: Out<CUfunction>, module: CUmodule, name: Text) {
        out.check()?;
        call.context()?;
        out.set(module.get()?.function(name.str()?)?)
    }

    fn cuModuleGetFunctionCount(call, count: Out<u32>, module: CUmodule) {
        count.check()?;
        call.context()?;
        count.set(module.get()?.program.kernels().len() as u32)
    }

    fn cuModuleEnumerateFunctions(call, functions: Out<CUfunction>, count: u32, module: CUmodule) {
        functions.check()?;
        call.context()?;
        functions.fill(module.get()?.functions(count as usize)?)
    }

    fn cuModuleGetGlobal_v2(call, address: Out<CUdeviceptr>, size: Out<usize>, module: CUmodule, name: Text) {
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
    fn cuModuleGetTexRef(call, _out: Out<usize>, _module: CUmodule, _name: Text) {
        call.context()?;
        Err(Status::NOT_FOUND)
    }

    fn cuModuleGetSurfRef(call, _out: Out<usize>, _module: CUmodule, _name: Text) {
        call.context()?;
        Err(Status::NOT_FOUND)
    }
}
