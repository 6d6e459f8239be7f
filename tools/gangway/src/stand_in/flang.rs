//! `flang`: the step of flang-22 that compiles, called by flang-22 itself.
//!
//! `gangway fc` makes flang-22 look for it here. The step for a GPU leaves LLVM bitcode, as it does for AMD's
//! anyway: for NVIDIA's it is told to, instead of PTX, as clang's is with `-foffload-lto`. It leaves it without
//! debug information: flang-22 makes some that LLVM refuses, of outlined regions. It is told to
//! call mathematical functions, which the device runtime has: LLVM cannot turn its own
//! intrinsics for them into calls for a GPU. It optimises at least a little ([`optimised`]). It links functions
//! that take complex numbers as flang hands them over, and what stands in for NVIDIA's libdevice, as clang does.
//! Names in the bitcode are put right
//! ([`bitcode`]), and so are reductions of arrays and locks ([`flang_text`]). What flang-22 does not compile
//! as functions take complex numbers is compiled otherwise ([`complex_numbers`]). The step for a CPU device
//! loses the GPU's processor: flang-22 gives `--offload-arch` to all of them.

use std::env;
use std::ffi::OsString;
use std::io::{Write, stderr};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{bitcode, complex_numbers, flang_text, ptxas};
use crate::compile::{FLANG_TOOLS, GpuKind, linked_by_flang};
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, Outcome, SUCCESS};

pub fn compile(arguments: &[OsString]) -> Outcome {
    let linked = gpu(arguments).map_or(Ok(Vec::new()), linked_by_flang)?;
    let (arguments, bitcode) = changed(arguments, &linked);
    let Some(output) = bitcode else { return execute("flang", arguments) };
    let tool = real("flang")?;
    let compiled = Command::new(&tool).args(&arguments).stderr(Stdio::piped()).output().map_err(|error| {
        Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", tool.display()))
    })?;
    let messages = String::from_utf8_lossy(&compiled.stderr);
    let status = compiled.status;
    let others = if status.success() { None } else { complex_numbers::other_messages(&messages) };
    let done = match &others {
        Some(_) => complex_numbers::compile(&tool, &arguments, &output).is_ok(),
        None => status.success(),
    };
    let said = if done { others.as_deref().unwrap_or(&messages) } else { &messages };
    // Not `eprint`: the driver may have closed the pipe.
    let _ = stderr().write_all(said.as_bytes());
    if !done {
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILURE));
    }
    let mut module = ptxas::read(&output)?;
    let gpu = gpu(&arguments);
    if others.is_none() && flang_text::mend(&tool, &arguments, &output, gpu, &module)? {
        module = ptxas::read(&output)?;
    }
    if bitcode::mend_names(&mut module) {
        return ptxas::write(&output, &module);
    }
    Ok(SUCCESS)
}

/// The real tool takes the place of this process.
pub fn execute(name: &str, arguments: Vec<OsString>) -> Outcome {
    let tool = real(name)?;
    let error = Command::new(&tool).args(arguments).exec();
    Err(Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", tool.display())))
}

fn real(name: &str) -> Result<PathBuf, Failure> {
    let tools = env::var_os(FLANG_TOOLS).map(PathBuf::from).ok_or_else(|| {
        Failure::new(FAILURE, format!("{FLANG_TOOLS} does not say where LLVM's tools are; use `gangway fc`"))
    })?;
    Ok(tools.join(name))
}

/// Which GPUs a step compiles for.
fn gpu(arguments: &[OsString]) -> Option<GpuKind> {
    let triple = arguments.iter().position(|argument| argument == "-triple").map(|at| at + 1);
    GpuKind::of_triple(arguments.get(triple?)?.to_str()?)
}

/// The arguments of the real compiler, and the file where it leaves bitcode of a GPU.
fn changed(arguments: &[OsString], linked: &[PathBuf]) -> (Vec<OsString>, Option<PathBuf>) {
    let after = |name: &str| arguments.iter().position(|argument| argument == name).map(|at| at + 1);
    let output = after("-o").and_then(|at| arguments.get(at)).map(PathBuf::from);
    let mut bitcode = None;
    let gpu = gpu(arguments);
    let mut arguments = arguments.to_vec();
    if let Some(gpu) = gpu {
        let left = match gpu {
            GpuKind::Nvidia => "-S",
            GpuKind::Amd => "-emit-llvm-bc",
        };
        if let Some(emit) = arguments.iter_mut().find(|argument| *argument == left) {
            if gpu == GpuKind::Nvidia {
                *emit = "-emit-llvm-bc".into();
                arguments.push("-flto=full".into());
            }
            bitcode = output;
            arguments.retain(|argument| !argument.as_encoded_bytes().starts_with(b"-debug-info-kind="));
            optimised(&mut arguments);
            if !arguments.iter().any(|argument| argument.as_encoded_bytes().starts_with(b"-math-runtime=")) {
                arguments.extend(["-mmlir", "-math-runtime=precise"].map(OsString::from));
            }
            for file in linked {
                arguments.extend(["-mlink-builtin-bitcode".into(), file.into()]);
            }
        }
    } else if let Some(processor) = after("-target-cpu").and_then(|at| arguments.get_mut(at))
        && processor.to_str().and_then(GpuKind::of_processor).is_some()
    {
        *processor = "x86-64".into();
    }
    (arguments, bitcode)
}

/// At -O0, flang-22 leaves what threads share on the stack of one of them, where others cannot
/// read, and calls its own runtime library, which there is not for GPUs, to assign and add arrays.
/// LLVM's passes mend both, so there is no -O0 for GPUs.
fn optimised(arguments: &mut Vec<OsString>) {
    let level = |argument: &OsString| matches!(argument.as_encoded_bytes(), [b'-', b'O', ..]);
    match arguments.iter_mut().rfind(|argument| level(argument)) {
        Some(level) if level == "-O0" => *level = "-O1".into(),
        Some(_) => {}
        None => arguments.push("-O1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(line: &str) -> String {
        let arguments: Vec<_> = line.split(' ').map(OsString::from).collect();
        let (arguments, bitcode) = super::changed(&arguments, &["libdevice".into(), "complex".into()]);
        let is_bitcode = arguments.iter().any(|word| word == "-emit-llvm-bc");
        let is_named = line.contains(" -o a.o ");
        assert_eq!(bitcode, (is_bitcode && is_named).then(|| "a.o".into()));
        arguments.join(std::ffi::OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn gpu_code_stays_bitcode() {
        assert_eq!(
            changed("-fc1 -triple nvptx64-nvidia-cuda -S -target-cpu sm_80 -O2 -o a.o a.f90"),
            "-fc1 -triple nvptx64-nvidia-cuda -emit-llvm-bc -target-cpu sm_80 -O2 -o a.o a.f90 -flto=full \
             -mmlir -math-runtime=precise \
             -mlink-builtin-bitcode libdevice -mlink-builtin-bitcode complex"
        );
        assert_eq!(
            changed("-fc1 -triple nvptx64-nvidia-cuda -S -debug-info-kind=standalone a.f90"),
            "-fc1 -triple nvptx64-nvidia-cuda -emit-llvm-bc a.f90 -flto=full -O1 -mmlir -math-runtime=precise \
             -mlink-builtin-bitcode libdevice -mlink-builtin-bitcode complex"
        );
        let least = changed("-fc1 -triple nvptx64-nvidia-cuda -S -O0 a.f90");
        assert!(least.contains(" -O1 a.f90 "), "GPU code needs LLVM's passes: {least}");
        let host = "-fc1 -triple x86_64-pc-linux-gnu -S -O0 a.f90";
        assert_eq!(changed(host), host);
        let asked = "-fc1 -triple nvptx64-nvidia-cuda -S -mmlir -math-runtime=fast a.f90";
        assert!(changed(asked).contains("-math-runtime=fast a.f90 -flto=full -O1 -mlink"), "the user's wish");
        let other = "-fc1 -triple nvptx64-nvidia-cuda -fsyntax-only a.f90";
        assert_eq!(changed(other), other);
    }

    #[test]
    fn code_for_amd_is_bitcode_already() {
        assert_eq!(
            changed(
                "-fc1 -triple amdgcn-amd-amdhsa -emit-llvm-bc -debug-info-kind=standalone -O0 -o a.o a.f90"
            ),
            "-fc1 -triple amdgcn-amd-amdhsa -emit-llvm-bc -O1 -o a.o a.f90 -mmlir -math-runtime=precise \
             -mlink-builtin-bitcode libdevice -mlink-builtin-bitcode complex"
        );
        let other = "-fc1 -triple amdgcn-amd-amdhsa -fsyntax-only a.f90";
        assert_eq!(changed(other), other);
    }

    #[test]
    fn cpu_code_is_for_a_cpu() {
        assert_eq!(
            changed("-fc1 -triple x86_64-pc-linux-gnu -emit-obj -target-cpu gfx90a a.f90"),
            "-fc1 -triple x86_64-pc-linux-gnu -emit-obj -target-cpu x86-64 a.f90"
        );
        assert_eq!(
            changed("-fc1 -triple x86_64-pc-linux-gnu -emit-obj -target-cpu sm_80 a.f90"),
            "-fc1 -triple x86_64-pc-linux-gnu -emit-obj -target-cpu x86-64 a.f90"
        );
        let host = "-fc1 -triple x86_64-pc-linux-gnu -S -target-cpu znver3 a.f90";
        assert_eq!(changed(host), host);
    }
}
