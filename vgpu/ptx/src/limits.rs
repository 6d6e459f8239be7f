//! Whether what a module declares fits into a device. The loader of a module asks; what runs it
//! relies on the answer, and may compute with offsets in frames and parameters in 32 bits.
//!
//! The limits are those of NVIDIA's assembler, which the driver applies when it loads a module.
//! So is what depends on the version and the processor.

use crate::ir::{Function, Linkage, Module, Variable};
use crate::types::{StateSpace, Version};

/// Bytes of a kernel's parameters.
const PARAMETERS: u64 = 4352;
/// The same since PTX 8.1 on processors from 70 on.
const MANY_PARAMETERS: u64 = 32_764;
/// Bytes of local memory of a thread: what a function's parameters, results and variables may take.
pub const MOST_LOCAL: u64 = 512 << 10;
/// Bytes of constants of a module.
const CONSTANTS: u64 = 64 << 10;
/// Bytes of shared memory that what a kernel reaches may declare.
pub const MOST_STATIC_SHARED: u64 = 48 << 10;

/// The end of variables that lie one after the other, as far as 64 bits go.
fn end<'a>(variables: impl IntoIterator<Item = &'a Variable>) -> u64 {
    variables.into_iter().fold(0u64, |end, variable| {
        let start = end.checked_next_multiple_of(variable.align.max(1).into());
        start.unwrap_or(u64::MAX).saturating_add(variable.size().unwrap_or(0))
    })
}

fn fits(what: &str, name: &str, bytes: u64, most: u64) -> Result<(), String> {
    if bytes <= most {
        return Ok(());
    }
    Err(format!("{what} '{name}' need {bytes} bytes, and there are {most} at most"))
}

/// Checks the sizes of a module's parameters, local variables and constants, and of each shared
/// variable.
///
/// # Errors
/// What does not fit, and how much would.
pub fn check_sizes(module: &Module) -> Result<(), String> {
    for function in &module.functions {
        check_function(module, function)?;
    }
    let inner = module.functions.iter().filter_map(|function| function.body.as_ref());
    let variables = || module.variables.iter().chain(inner.clone().flat_map(|body| &body.variables));
    let defined = |variable: &&Variable| variable.linkage != Linkage::Extern;
    let constants =
        variables().filter(|variable| variable.space.plain() == StateSpace::Const).filter(defined);
    let constants = end(constants);
    if constants > CONSTANTS {
        let what = "the constants of the module need";
        return Err(format!("{what} {constants} bytes, and there are {CONSTANTS} at most"));
    }
    for variable in variables().filter(|variable| variable.space.plain() == StateSpace::Shared) {
        let size = variable.size().unwrap_or(0);
        fits("the elements of the shared variable", &variable.name, size, MOST_STATIC_SHARED)?;
    }
    Ok(())
}

fn check_function(module: &Module, function: &Function) -> Result<(), String> {
    let name = &function.name;
    if function.entry {
        let many = module.version >= Version::new(8, 1) && module.target.processor >= 70;
        let most = if many { MANY_PARAMETERS } else { PARAMETERS };
        fits("the parameters of the kernel", name, end(&function.parameters), most)?;
    }
    let signature = function.parameters.iter().chain(&function.returns);
    let body = function.body.as_ref();
    let local = body
        .into_iter()
        .flat_map(|body| &body.variables)
        .filter(|variable| matches!(variable.space.plain(), StateSpace::Local | StateSpace::Param));
    fits("the parameters and local variables of", name, end(signature.chain(local)), MOST_LOCAL)?;
    for prototype in body.into_iter().flat_map(|body| &body.prototypes) {
        let signature = prototype.parameters.iter().chain(&prototype.returns);
        fits("the parameters and results of the prototype", &prototype.name, end(signature), MOST_LOCAL)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_sizes;

    fn judge(version: &str, processor: u16, text: &str) -> Result<(), String> {
        let head = format!(".version {version} .target sm_{processor} .address_size 64 ");
        check_sizes(&crate::parse(&(head + text)).expect("PTX"))
    }

    #[test]
    fn kernels_have_few_parameters() {
        for (version, processor, most) in [("7.8", 80, 4352), ("8.1", 61, 4352), ("8.1", 70, 32_764)] {
            let kernel = |size: u64| format!(".entry e(.param .b8 p[{size}]) {{ ret; }}");
            assert_eq!(judge(version, processor, &kernel(most)), Ok(()));
            for size in [most + 1, 1 << 32, (1 << 32) + 1, 1 << 40] {
                let message = format!(
                    "the parameters of the kernel 'e' need {size} bytes, and there are {most} at most"
                );
                assert_eq!(judge(version, processor, &kernel(size)), Err(message));
            }
        }
        // What lies between parameters counts.
        let apart = ".entry e(.param .b8 a, .param .align 8192 .b8 b[4]) { ret; }";
        assert!(judge("7.8", 80, apart).is_err());
    }

    #[test]
    fn frames_fit_into_local_memory() {
        let most = super::MOST_LOCAL;
        for size in [most, most + 1, (1 << 32) - 1, 1 << 32, 1 << 40] {
            for text in [
                format!(".entry e() {{ .local .b8 l[{size}]; ret; }}"),
                format!(".func f(.param .b8 p[{size}]) {{ ret; }}"),
                format!(".func (.param .b8 r[{size}]) f() {{ ret; }}"),
                format!(".func f(.param .b8 p[{size}]);"),
                format!(".entry e() {{ .param .b8 p[{size}]; ret; }}"),
                format!(".entry e() {{ p: .callprototype _ (.param .b8 _[{size}]); ret; }}"),
            ] {
                assert_eq!(judge("7.8", 80, &text).is_ok(), size <= most, "{text}");
            }
        }
    }

    #[test]
    fn constants_and_shared_memory() {
        assert_eq!(judge("7.8", 80, ".const .b8 a[65536];"), Ok(()));
        for text in [
            ".const .b8 a[65537];",
            ".const .b8 a[65536]; .const .b8 b;",
            ".const .b8 a[4294967296];",
            ".shared .b8 a[49153];",
            ".shared .b8 a[4294967296];",
            ".entry e() { .shared .b8 a[4294967297]; ret; }",
        ] {
            assert!(judge("7.8", 80, text).is_err(), "{text}");
        }
        assert_eq!(judge("7.8", 80, ".shared .b8 a[49152]; .extern .const .b8 b[65537];"), Ok(()));
    }
}
