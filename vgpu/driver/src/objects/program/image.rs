//! Images: from the bytes that a program has to PTX that can be loaded, and what is said when
//! that fails.

use super::jit::JitOptions;
use crate::abi::{Result, Status};
use crate::objects::process::report::report;

impl From<gangway_linker::Code> for Status {
    fn from(code: gangway_linker::Code) -> Self {
        Self(code as u32)
    }
}

/// Makes one module of an image that can be loaded; what is wrong goes to the error log, or else to
/// stderr.
pub fn read(bytes: &[u8], capability: u16, options: &JitOptions) -> Result<gangway_ptx::Module> {
    let mut module = gangway_linker::load("image", bytes, capability).map_err(|error| {
        complain(options, &with_advice(error.to_string(), capability));
        Status::from(error.code())
    })?;
    options.limit_registers(&mut module);
    Ok(module)
}

/// The first processor whose tensor cores code generators use.
const TENSOR_CORES: u16 = 75;

/// What is wrong with an image, and what avoids it.
#[must_use]
pub fn with_advice(mut text: String, capability: u16) -> String {
    if capability >= TENSOR_CORES && text.contains("tensor core instructions are not supported") {
        text += "\nGANGWAY_VGPU_CAPABILITY=7.0 makes programs that generate code for the processor \
                 they find, such as Triton and tinygrad, leave these out";
    }
    text
}

/// Tells the program's author what is wrong with an image. Most programs ask for no log, and
/// would only show the number of the error.
pub fn complain(options: &JitOptions, text: &str) {
    if options.wants_error() {
        options.error(text);
    } else {
        report!("{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensor_cores_can_be_avoided() {
        let refused = || "'mma': tensor core instructions are not supported".to_owned();
        let advised = with_advice(refused(), 90);
        assert_eq!(
            advised,
            "'mma': tensor core instructions are not supported\nGANGWAY_VGPU_CAPABILITY=7.0 makes \
             programs that generate code for the processor they find, such as Triton and tinygrad, \
             leave these out"
        );
        // There it is the program's own text.
        assert_eq!(with_advice(refused(), 70), refused());
        assert_eq!(with_advice("textures are not supported".to_owned(), 90), "textures are not supported");
    }
}
