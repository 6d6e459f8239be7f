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

/// The first processor for which code generators use what is refused here, and what of it they use.
const REFUSING: u16 = 90;
const REFUSED: [&str; 4] =
    ["tensor core instructions", "tensor maps", "asynchronous barriers", "atomic operations on vectors"];

/// What is wrong with an image, and what avoids it.
#[must_use]
pub fn with_advice(mut text: String, capability: u16) -> String {
    let is_refused = |what: &&str| text.contains(&format!("{what} are not supported"));
    if capability >= REFUSING && REFUSED.iter().any(is_refused) {
        text += "\nGANGWAY_VGPU_CAPABILITY=8.0 makes programs that generate code for the processor \
                 they find, such as Triton, leave these out";
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
    fn what_is_for_later_processors_can_be_avoided() {
        let refused = || "'wgmma': these tensor core instructions are not supported".to_owned();
        let advised = with_advice(refused(), 90);
        assert_eq!(
            advised,
            "'wgmma': these tensor core instructions are not supported\nGANGWAY_VGPU_CAPABILITY=8.0 makes \
             programs that generate code for the processor they find, such as Triton, leave these out"
        );
        // There it is the program's own text.
        assert_eq!(with_advice(refused(), 80), refused());
        assert_eq!(with_advice("textures are not supported".to_owned(), 90), "textures are not supported");
    }
}
