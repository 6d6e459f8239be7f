//! Libraries and their kernels, which belong to no context.

use std::ffi::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::device::Device;
use crate::entry::entries;
use crate::error::Status;
use crate::jit::Options;
use crate::library::Library;
use crate::module;
use crate::pointer::{In, Memory, Out, Text};
use crate::types::{CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule};

entries! {
    fn cuLibraryLoadData(
        _, out: Out<CUlibrary>, code: Memory,
        jit_options: In<u32>, jit_values: In<usize>, jit_count: u32,
        _options: In<u32>, _values: In<usize>, _count: u32,
    ) {
        out.check()?;
        let options = Options::read(jit_count, jit_options, jit_values)?;
        out.set(Library::load(module::image(code.0)?, &options)?)
    }

    fn cuLibraryLoadFromFile(
        _, out: Out<CUlibrary>, path: Text,
        jit_options: In<u32>, jit_values: In<usize>, jit_count: u32,
        _options: In<u32>, _values: In<usize>, _count: u32,
    ) {
        out.check()?;
        let options = Options::read(jit_count, jit_options, jit_values)?;
        let path = Path::new(std::ffi::OsStr::from_bytes(path.bytes()?));
        let bytes = std::fs::read(path).map_err(|_| Status::FILE_NOT_FOUND)?;
        out.set(Library::load(&bytes, &options)?)
    }

    fn cuLibraryUnload(_, library: CUlibrary) {
        Library::unload(library)
    }

    fn cuLibraryGetKernel(_, out: Out<CUkernel>, library: CUlibrary, name: Text) {
        out.check()?;
        out.set(library.get()?.kernel(name.str()?)?)
    }

    fn cuLibraryGetKernelCount(_, count: Out<u32>, library: CUlibrary) {
        count.check()?;
        count.set(library.get()?.kernel_count() as u32)
    }

    fn cuLibraryEnumerateKernels(_, kernels: Out<CUkernel>, count: u32, library: CUlibrary) {
        kernels.check()?;
        kernels.fill(library.get()?.kernels(count as usize)?)
    }

    fn cuLibraryGetModule(_, out: Out<CUmodule>, library: CUlibrary) {
        out.check()?;
        out.set(library.get()?.current_module()?.handle)
    }

    fn cuLibraryGetGlobal(_, address: Out<CUdeviceptr>, size: Out<usize>, library: CUlibrary, name: Text) {
        if address.is_null() && size.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let (at, bytes) = library.get()?.current_module()?.global(name.str()?)?;
        address.set_if_wanted(at);
        size.set_if_wanted(bytes);
        Ok(())
    }

    fn cuLibraryGetManaged(_, address: Out<CUdeviceptr>, size: Out<usize>, library: CUlibrary, name: Text) {
        let module = library.get()?.current_module()?;
        let global = module.program.global(name.str()?).filter(|global| global.managed);
        let global = global.ok_or(Status::NOT_FOUND)?;
        address.set_if_wanted(global.address);
        size.set_if_wanted(global.size as usize);
        Ok(())
    }

    fn cuKernelGetFunction(_, out: Out<CUfunction>, kernel: CUkernel) {
        out.check()?;
        out.set(kernel.get()?.function()?)
    }

    fn cuKernelGetLibrary(_, out: Out<CUlibrary>, kernel: CUkernel) {
        out.check()?;
        out.set(kernel.get()?.library)
    }

    fn cuKernelGetName(_, out: Out<*const c_char>, kernel: CUkernel) {
        out.check()?;
        // The text lives as long as the kernel, which goes with its library.
        out.set(kernel.get()?.name().as_ptr())
    }

    fn cuKernelGetParamInfo(_, kernel: CUkernel, index: usize, offset: Out<usize>, size: Out<usize>) {
        offset.check()?;
        let function = kernel.get()?.function()?.get()?;
        let parameter = function.described().parameters.get(index).ok_or(Status::INVALID_VALUE)?;
        offset.set(parameter.offset as usize)?;
        size.set_if_wanted(parameter.size as usize);
        Ok(())
    }

    fn cuKernelGetAttribute(_, value: Out<i32>, attribute: i32, kernel: CUkernel, device: CUdevice) {
        value.check()?;
        value.set(kernel.get()?.attribute(attribute, Device::get(device)?)?)
    }

    fn cuKernelSetAttribute(_, attribute: i32, value: i32, kernel: CUkernel, device: CUdevice) {
        kernel.get()?.set_attribute(attribute, value, Device::get(device)?)
    }

    fn cuKernelSetCacheConfig(_, kernel: CUkernel, config: i32, device: CUdevice) {
        Device::get(device)?;
        kernel.get()?.set_cache_config(config)
    }
}
