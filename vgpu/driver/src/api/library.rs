//! Libraries and their kernels, which belong to no context.

use std::ffi::c_char;

use super::entry::{Call, entry};
use super::{image, jit};
use crate::abi::{
    CUdevice, CUdeviceptr, CUfunction, CUkernel, CUlibrary, CUmodule, In, Out, Result, Status, Text, Untyped,
};
use crate::objects::device::Device;
use crate::objects::program::library::Library;

#[entry]
fn cuLibraryLoadData(
    _: &Call,
    out: Out<CUlibrary>,
    code: Untyped,
    jit_options: In<u32>,
    jit_values: In<Untyped>,
    jit_count: u32,
    _options: In<u32>,
    _values: In<Untyped>,
    _count: u32,
) -> Result {
    out.check()?;
    let options = jit::options(jit_count, jit_options, jit_values)?;
    out.set(Library::load(image::bytes(&code)?, &options)?)
}

#[entry]
fn cuLibraryLoadFromFile(
    _: &Call,
    out: Out<CUlibrary>,
    path: Text,
    jit_options: In<u32>,
    jit_values: In<Untyped>,
    jit_count: u32,
    _options: In<u32>,
    _values: In<Untyped>,
    _count: u32,
) -> Result {
    out.check()?;
    let options = jit::options(jit_count, jit_options, jit_values)?;
    let bytes = image::read(&path)?;
    out.set(Library::load(&bytes, &options)?)
}

#[entry]
fn cuLibraryUnload(_: &Call, library: CUlibrary) -> Result {
    Library::unload(library)
}

#[entry]
fn cuLibraryGetKernel(_: &Call, out: Out<CUkernel>, library: CUlibrary, name: Text) -> Result {
    out.check()?;
    out.set(library.get()?.kernel(name.str()?)?)
}

#[entry]
fn cuLibraryGetKernelCount(_: &Call, count: Out<u32>, library: CUlibrary) -> Result {
    count.check()?;
    count.set(library.get()?.kernel_count() as u32)
}

#[entry]
fn cuLibraryEnumerateKernels(_: &Call, kernels: Out<CUkernel>, count: u32, library: CUlibrary) -> Result {
    kernels.check()?;
    kernels.fill(library.get()?.kernels(count as usize)?)
}

#[entry]
fn cuLibraryGetModule(_: &Call, out: Out<CUmodule>, library: CUlibrary) -> Result {
    out.check()?;
    out.set(library.get()?.current_module()?.handle)
}

#[entry]
fn cuLibraryGetGlobal(
    _: &Call,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Result {
    if address.is_null() && size.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let (at, bytes) = library.get()?.current_module()?.global(name.str()?)?;
    address.set_if_wanted(at);
    size.set_if_wanted(bytes);
    Ok(())
}

#[entry]
fn cuLibraryGetManaged(
    _: &Call,
    address: Out<CUdeviceptr>,
    size: Out<usize>,
    library: CUlibrary,
    name: Text,
) -> Result {
    let module = library.get()?.current_module()?;
    let global = module.program.global(name.str()?).filter(|global| global.managed);
    let global = global.ok_or(Status::NOT_FOUND)?;
    address.set_if_wanted(global.address);
    size.set_if_wanted(global.size as usize);
    Ok(())
}

#[entry]
fn cuKernelGetFunction(_: &Call, out: Out<CUfunction>, kernel: CUkernel) -> Result {
    out.check()?;
    out.set(kernel.get()?.function()?)
}

#[entry]
fn cuKernelGetLibrary(_: &Call, out: Out<CUlibrary>, kernel: CUkernel) -> Result {
    out.check()?;
    out.set(kernel.get()?.library)
}

#[entry]
fn cuKernelGetName(_: &Call, out: Out<*const c_char>, kernel: CUkernel) -> Result {
    out.check()?;
    // The text lives as long as the kernel, which goes with its library.
    out.set(kernel.get()?.name().as_ptr())
}

#[entry]
fn cuKernelGetParamInfo(
    _: &Call,
    kernel: CUkernel,
    index: usize,
    offset: Out<usize>,
    size: Out<usize>,
) -> Result {
    offset.check()?;
    let function = kernel.get()?.function()?.get()?;
    let parameter = function.described().parameters.get(index).ok_or(Status::INVALID_VALUE)?;
    offset.set(parameter.offset as usize)?;
    size.set_if_wanted(parameter.size as usize);
    Ok(())
}

#[entry]
fn cuKernelGetAttribute(
    _: &Call,
    value: Out<i32>,
    attribute: i32,
    kernel: CUkernel,
    device: CUdevice,
) -> Result {
    value.check()?;
    value.set(kernel.get()?.attribute(attribute, Device::get(device)?)?)
}

#[entry]
fn cuKernelSetAttribute(_: &Call, attribute: i32, value: i32, kernel: CUkernel, device: CUdevice) -> Result {
    kernel.get()?.set_attribute(attribute, value, Device::get(device)?)
}

#[entry]
fn cuKernelSetCacheConfig(_: &Call, kernel: CUkernel, config: i32, device: CUdevice) -> Result {
    Device::get(device)?;
    kernel.get()?.set_cache_config(config)
}
