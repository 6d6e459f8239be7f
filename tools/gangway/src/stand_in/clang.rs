//! `clang`: the step of clang-22 that compiles GPU code, in the place of which `tools/compile-step` calls
//! this with the real compiler and its arguments.
//!
//! clang compiles to LLVM's text before LLVM's passes, which is mended ([`reductions`], [`aligned_pointers`],
//! [`struct_stores`], [`extended_numbers`], [`lock_turns`]) or refused ([`long_double`]), and then compiles the text. So what clang says of the source it
//! says once, and what LLVM says of the code, too.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::{aligned_pointers, extended_numbers, lock_turns, long_double, ptxas, reductions, struct_stores};
use crate::compile::expanded;
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE, Outcome, SUCCESS, of_program};
use crate::faults::{Fault, release_of_text};
use crate::scratch::Scratch;

/// The plugin that has led here.
const PLUGIN: &str = "libgangway-compile-step.so";
/// What of the step's arguments names its output's form.
const FORMS: [&str; 4] = ["-emit-llvm-bc", "-emit-llvm", "-S", "-emit-obj"];
/// Without this option values keep the names by which clang's functions are known.
const WITHOUT_NAMES: &str = "-discard-value-names";
/// With this option the text says in which order values are used, which does not fit when what is mended uses
/// a value more or less often.
const WITH_ORDER_OF_USES: &str = "-emit-llvm-uselists";
const WITHOUT_PASSES: &str = "-disable-llvm-passes";
/// Has functions of `math.h` called. clang takes NVIDIA's GPUs to have no `errno` and makes instructions of LLVM's, such
/// as `llvm.tan`, of what its headers do not name otherwise: `__builtin_tan`, C++'s `std::tan` of an integer. LLVM
/// stops there, as the GPUs have most of them not. `modf` is an instruction whatever `errno` is.
const MATHEMATICS_CALLED: [&str; 3] = ["-fmath-errno", "-fno-builtin-modf", "-fno-builtin-modff"];

pub fn compile(arguments: &[OsString]) -> Outcome {
    let [tool, arguments @ ..] = arguments else {
        return Err(Failure::new(FAILURE, "no compiler is given"));
    };
    let tool = Path::new(tool);
    let arguments = without_plugin(&expanded(arguments));
    let folder = Scratch::new()?;
    let file = folder.path().join("device.ll");
    let Some((to_text, from_text)) = steps(&arguments, &file) else {
        folder.close()?;
        return Err(cannot_execute(tool, &Command::new(tool).args(arguments).exec()));
    };
    let mut code = run(tool, &to_text)?;
    if code == SUCCESS {
        let mut text = read(&file)?;
        let release = release_of_text(&text);
        let doubles = extended_numbers::mended(&text).filter(|_| Fault::LongDouble.is_in(release));
        if let Some(doubles) = doubles {
            ptxas::write(&file, doubles.as_bytes())?;
            text = doubles;
        } else if Fault::LongDouble.is_in(release) && long_double::is_in(&text) {
            // Lines of the source take a step of their own, which is quiet as its words have been said.
            let lines = ["-debug-info-kind=line-tables-only", "-w"].map(OsString::from);
            run(tool, &[to_text, lines.to_vec()].concat())?;
            for message in long_double::refused(&read(&file)?) {
                eprintln!("{message}");
            }
            folder.close()?;
            return Ok(FAILURE);
        }
        if let Some(mended) = mended(&text, release) {
            ptxas::write(&file, mended.as_bytes())?;
        }
        code = run(tool, &from_text)?;
    }
    folder.close()?;
    Ok(code)
}

/// Gives a text without a fault; `None` if it is not there.
type Mend = fn(&str) -> Option<String>;

/// The text that LLVM is to have; `None` if it is this.
fn mended(text: &str, release: Option<u32>) -> Option<String> {
    const AMD: &str = "target triple = \"amdgcn-";
    let steps: [(Fault, Mend); 3] = [
        (Fault::Reductions, reductions::mended),
        (Fault::AlignedPointers, aligned_pointers::mended),
        (Fault::StructStores, struct_stores::mended),
    ];
    // What LLVM does with masked pointers is a matter of its code for NVIDIA's GPUs.
    let is_amd = text.contains(AMD);
    let is_there = |fault: Fault| fault.is_in(release) && !(is_amd && fault == Fault::AlignedPointers);
    let steps = steps.into_iter().filter(|(fault, _)| is_there(*fault));
    // Locks of lanes in lockstep are no fault of a release.
    let steps = steps.map(|(_, mend)| mend).chain([lock_turns::mended as Mend]);
    steps.fold(None, |done, mend| mend(done.as_deref().unwrap_or(text)).or(done))
}

fn read(file: &Path) -> Result<String, Failure> {
    Ok(String::from_utf8_lossy(&ptxas::read(file)?).into_owned())
}

fn run(tool: &Path, arguments: &[OsString]) -> Outcome {
    let status = Command::new(tool).args(arguments).status();
    Ok(of_program(status.map_err(|error| cannot_execute(tool, &error))?))
}

fn cannot_execute(tool: &Path, error: &std::io::Error) -> Failure {
    Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", tool.display()))
}

fn without_plugin(arguments: &[OsString]) -> Vec<OsString> {
    let is_plugin = |word: &OsString| Path::new(word).file_name() == Some(OsStr::new(PLUGIN));
    let mut rest = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter().peekable();
    while let Some(word) = words.next() {
        if word == "-load" && words.next_if(|next| is_plugin(next)).is_some() {
            continue;
        }
        rest.push(word.clone());
    }
    rest
}

/// The arguments that compile the source to text, and those that compile the text; `None` for what does not
/// compile for a GPU, or leaves code that another step optimises.
fn steps(arguments: &[OsString], file: &Path) -> Option<(Vec<OsString>, Vec<OsString>)> {
    let at = |name: &str| arguments.iter().position(|word| word == name);
    let triple = arguments.get(at("-triple")? + 1)?.to_str()?;
    let is_gpu = ["nvptx", "amdgcn"].iter().any(|maker| triple.starts_with(maker));
    if !is_gpu || at(WITHOUT_PASSES).is_some() {
        return None;
    }
    let form = arguments.iter().position(|word| FORMS.iter().any(|form| word == form))?;
    let output = at("-o")? + 1;
    // The input stands behind its language.
    let input = arguments.iter().rposition(|word| word == "-x")? + 1;
    if output >= arguments.len() || input + 1 >= arguments.len() {
        return None;
    }
    let mut to_text = arguments.to_vec();
    to_text[form] = "-emit-llvm".into();
    to_text[output] = file.into();
    to_text.retain(|word| word != WITHOUT_NAMES && word != WITH_ORDER_OF_USES);
    to_text.push(WITHOUT_PASSES.into());
    if triple.starts_with("nvptx") {
        to_text.extend(MATHEMATICS_CALLED.map(OsString::from));
    }
    let mut from_text = arguments.to_vec();
    from_text[input] = "ir".into();
    from_text[input + 1] = file.into();
    Some((to_text, from_text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn line(words: &[OsString]) -> String {
        words.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn gpu_code_is_compiled_through_text() {
        let given =
            words("-cc1 -triple nvptx64-nvidia-cuda -O2 -emit-llvm-bc -discard-value-names -o a.o -x c a.c");
        let (to_text, from_text) = steps(&given, Path::new("/t/device.ll")).unwrap();
        assert_eq!(
            line(&to_text),
            "-cc1 -triple nvptx64-nvidia-cuda -O2 -emit-llvm -o /t/device.ll -x c a.c -disable-llvm-passes \
             -fmath-errno -fno-builtin-modf -fno-builtin-modff"
        );
        assert_eq!(
            line(&from_text),
            "-cc1 -triple nvptx64-nvidia-cuda -O2 -emit-llvm-bc -discard-value-names -o a.o -x ir /t/device.ll"
        );
    }

    #[test]
    fn the_text_does_not_say_in_which_order_values_are_used() {
        let given = words("-cc1 -triple amdgcn-amd-amdhsa -emit-llvm-bc -emit-llvm-uselists -o a.o -x c a.c");
        let (to_text, from_text) = steps(&given, Path::new("t.ll")).unwrap();
        assert_eq!(
            line(&to_text),
            "-cc1 -triple amdgcn-amd-amdhsa -emit-llvm -o t.ll -x c a.c -disable-llvm-passes"
        );
        assert_eq!(
            line(&from_text),
            "-cc1 -triple amdgcn-amd-amdhsa -emit-llvm-bc -emit-llvm-uselists -o a.o -x ir t.ll"
        );
    }

    #[test]
    fn other_steps_stay() {
        for other in [
            "-cc1 -triple x86_64-pc-linux-gnu -emit-obj -o a.o -x c a.c",
            "-cc1 -triple nvptx64-nvidia-cuda -E -o a.i -x c a.c",
            "-cc1 -triple nvptx64-nvidia-cuda -fsyntax-only -x c a.c",
            "-cc1 -triple nvptx64-nvidia-cuda -emit-llvm-bc -disable-llvm-passes -o a.bc -x c a.c",
        ] {
            assert_eq!(steps(&words(other), Path::new("t")), None, "{other}");
        }
    }

    #[test]
    fn the_plugin_is_not_loaded_again() {
        let given = words("-cc1 -load other.so -load /g/lib/gangway/libgangway-compile-step.so -O2");
        assert_eq!(line(&without_plugin(&given)), "-cc1 -load other.so -O2");
    }
}
