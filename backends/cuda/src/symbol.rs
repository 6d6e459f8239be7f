//! What an image has by name, and device memory that is read, written or allocated at once,
//! while an image is loaded.

use crate::context::Context;
use crate::driver::failure::{NOT_FOUND, OUT_OF_MEMORY};
use crate::driver::types::{Address, Handle, SUCCESS};
use gangway_backend::{Error, Result};
use gangway_device_code::LoadedImage;
use std::ffi::CString;

/// An image that the driver has loaded.
pub(crate) struct Loaded<'a> {
    pub context: &'a Context,
    pub module: Handle,
}

impl LoadedImage for Loaded<'_> {
    fn variable(&self, name: &str) -> Result<Option<(Address, usize)>> {
        global(self.context, self.module, name)
    }

    fn read(&self, to: &mut [u8], from: Address) -> Result<()> {
        read_now(self.context, to, from)
    }

    fn write(&self, to: Address, from: &[u8]) -> Result<()> {
        write_now(self.context, to, from)
    }

    fn allocate(&self, bytes: usize) -> Result<Address> {
        allocate_now(self.context, bytes)
    }

    fn free(&self, address: Address) {
        free_now(self.context, address);
    }
}

/// Looks a function up.
pub(crate) fn function(context: &Context, module: Handle, name: &str) -> Result<Handle> {
    let missing = || Error::NoSuchSymbol { name: name.to_owned() };
    let spelled = CString::new(name).map_err(|_| missing())?;
    let mut function = 0;
    let to = &raw mut function;
    // SAFETY: the driver writes one handle, and the name ends in a zero byte.
    let code = context.code_within(|api| unsafe { (api.module_get_function)(to, module, spelled.as_ptr()) });
    match code {
        SUCCESS => Ok(function),
        NOT_FOUND => Err(missing()),
        code => Err(context.failure(code, "cuModuleGetFunction")),
    }
}

/// Looks a variable up: its address and its size, if there is one.
pub(crate) fn global(context: &Context, module: Handle, name: &str) -> Result<Option<(Address, usize)>> {
    let Ok(spelled) = CString::new(name) else { return Ok(None) };
    let (mut address, mut size) = (0, 0);
    let (to, bytes) = (&raw mut address, &raw mut size);
    // SAFETY: the driver writes two numbers, and the name ends in a zero byte.
    let code =
        context.code_within(|api| unsafe { (api.module_get_global)(to, bytes, module, spelled.as_ptr()) });
    match code {
        SUCCESS => Ok(Some((address, size))),
        NOT_FOUND => Ok(None),
        code => Err(context.failure(code, "cuModuleGetGlobal")),
    }
}

/// Reads device memory at once.
pub(crate) fn read_now(context: &Context, to: &mut [u8], from: Address) -> Result<()> {
    let (pointer, size) = (to.as_mut_ptr().cast(), to.len());
    // SAFETY: the caller has found so many bytes at the address.
    context.within("cuMemcpyDtoH", |api| unsafe { (api.copy_from_device_now)(pointer, from, size) })
}

/// Writes device memory at once.
pub(crate) fn write_now(context: &Context, to: Address, from: &[u8]) -> Result<()> {
    let (pointer, size) = (from.as_ptr().cast(), from.len());
    // SAFETY: the caller has found so many bytes at the address.
    context.within("cuMemcpyHtoD", |api| unsafe { (api.copy_to_device_now)(to, pointer, size) })
}

/// Allocates device memory for the runtime itself.
pub(crate) fn allocate_now(context: &Context, bytes: usize) -> Result<Address> {
    let mut address = 0;
    let to = &raw mut address;
    // SAFETY: the driver writes one address.
    match context.code_within(|api| unsafe { (api.memory_allocate)(to, bytes) }) {
        SUCCESS => {
            if let Some(gpu) = context.driver.virtual_gpu {
                gpu.keep(address);
            }
            Ok(address)
        }
        OUT_OF_MEMORY => Err(Error::OutOfMemory { requested: bytes }),
        code => Err(context.failure(code, "cuMemAlloc")),
    }
}

/// Frees what [`allocate_now`] gave, when an image goes; a failure has nobody to be told to.
pub(crate) fn free_now(context: &Context, address: Address) {
    // SAFETY: allocated there, and the image's kernels are done.
    let _ = context.code_within(|api| unsafe { (api.memory_free)(address) });
}
