//! Gives images to the driver, which compiles and links PTX.

use crate::context::Context;
use crate::driver::failure;
use crate::driver::types::{Code, Handle, LINK_INPUT_PTX, SUCCESS, jit_option};
use gangway_backend::{Error, Result};
use gangway_image::ptx_objects;
use std::ffi::{CString, c_void};

/// Bytes of what the driver's compiler says about an image that it refuses.
const LOG: usize = 8 << 10;

/// What the driver's compiler writes into, and the options that tell it so.
struct Log {
    text: Vec<u8>,
    options: [i32; 2],
}

impl Log {
    fn new() -> Self {
        Self { text: vec![0; LOG], options: [jit_option::ERROR_LOG, jit_option::ERROR_LOG_SIZE] }
    }

    /// The values of the options: each is a word.
    fn values(&mut self) -> [*mut c_void; 2] {
        [self.text.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG)]
    }

    /// The error for what the driver has answered.
    fn error(&self, context: &Context, code: Code, operation: &'static str, bytes: usize) -> Error {
        let log = self.text.split(|&byte| byte == 0).next().unwrap_or_default();
        let log = String::from_utf8_lossy(log);
        match code {
            code if failure::is_image_refused(code) => {
                let words = context.driver.describe(code);
                let reason = match log.trim() {
                    "" => format!("the driver refuses it: {words}"),
                    log => format!("the driver refuses it: {words}\n    {}", log.replace('\n', "\n    ")),
                };
                Error::InvalidImage { reason }
            }
            // What the image's variables need the driver does not tell, unless in its log.
            failure::OUT_OF_MEMORY => {
                let mut message = format!(
                    "the device has no memory for code and variables of the image, which has {bytes} bytes itself"
                );
                if !log.trim().is_empty() {
                    message += "\n    ";
                    message += &log.trim().replace('\n', "\n    ");
                }
                Error::Device { code: code.into(), message }
            }
            code => context.failure(code, operation),
        }
    }
}

/// Loads an image.
pub(super) fn load(context: &Context, image: &[u8]) -> Result<Handle> {
    if ptx_objects::is_ptx_objects(image) {
        return load_objects(context, image);
    }
    // PTX has to end in a zero byte, which the program's copy of it need not have.
    let mut text = Vec::with_capacity(image.len() + 1);
    text.extend_from_slice(image);
    text.push(0);
    load_data(context, text.as_ptr().cast(), image.len())
}

/// Loads what is at an address: machine code, a fat binary, or PTX that ends in a zero byte.
fn load_data(context: &Context, image: *const c_void, bytes: usize) -> Result<Handle> {
    let mut log = Log::new();
    let (options, values) = (log.options, log.values());
    let mut module = 0;
    let to = &raw mut module;
    let code = context.code_within(|api| {
        // SAFETY: the image is a whole one by the runtime's promise, and PTX ends; the log has
        // as many bytes as its option says.
        unsafe { (api.module_load_data)(to, image, 2, options.as_ptr(), values.as_ptr()) }
    });
    if code != SUCCESS {
        return Err(log.error(context, code, "cuModuleLoadDataEx", bytes));
    }
    if let Some(virtual_gpu) = context.driver.virtual_gpu {
        virtual_gpu.runtimes_module(module);
    }
    Ok(module)
}

/// Links the texts of an image and loads the result.
fn load_objects(context: &Context, image: &[u8]) -> Result<Handle> {
    let texts =
        ptx_objects::texts(image).map_err(|error| Error::InvalidImage { reason: error.to_string() })?;
    let mut log = Log::new();
    let (options, values) = (log.options, log.values());
    let mut link = 0;
    let to = &raw mut link;
    context.within("cuLinkCreate", |api| {
        // SAFETY: the driver writes one handle; log and options live until the link is destroyed.
        unsafe { (api.link_create)(2, options.as_ptr(), values.as_ptr(), to) }
    })?;
    let module = link_texts(context, link, &texts, &log, image.len());
    // SAFETY: made above; a failure to destroy it has nobody to be told to.
    let _ = context.code_within(|api| unsafe { (api.link_destroy)(link) });
    module
}

fn link_texts(context: &Context, link: Handle, texts: &[&[u8]], log: &Log, bytes: usize) -> Result<Handle> {
    for (number, text) in texts.iter().enumerate() {
        // What messages of the driver call it.
        let name = CString::new(format!("object {number}")).unwrap_or_default();
        let code = context.code_within(|api| {
            // SAFETY: the text ends in a zero byte, which its size counts.
            unsafe {
                (api.link_add_data)(
                    link,
                    LINK_INPUT_PTX,
                    text.as_ptr().cast(),
                    text.len(),
                    name.as_ptr(),
                    0,
                    std::ptr::null(),
                    std::ptr::null(),
                )
            }
        });
        if code != SUCCESS {
            return Err(log.error(context, code, "cuLinkAddData", bytes));
        }
    }
    let (mut linked, mut size) = (std::ptr::null_mut(), 0);
    let (to, to_size) = (&raw mut linked, &raw mut size);
    // SAFETY: the driver writes an address and a size, valid until the link is destroyed.
    match context.code_within(|api| unsafe { (api.link_complete)(link, to, to_size) }) {
        SUCCESS => load_data(context, linked, size),
        code => Err(log.error(context, code, "cuLinkComplete", bytes)),
    }
}
