//! Compiles what flang-22 does wrongly for GPUs in two steps: to LLVM's text before LLVM's passes, and from
//! the edited text.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use super::ptxas;
use crate::exit::{FAILURE, Failure, NOT_EXECUTABLE};

/// Has flang leave the text of what `arguments` compile, and compiles what `edit` makes of it into
/// `output`, unless there is nothing to edit. The answer is whether there was.
pub fn recompile(
    tool: &Path,
    arguments: &[OsString],
    output: &Path,
    messages: Stdio,
    edit: impl FnOnce(&str) -> Option<String>,
) -> Result<bool, Failure> {
    let mut file = output.as_os_str().to_owned();
    file.push(".ll");
    run(tool, &as_text(arguments, &file), messages)?;
    let text = String::from_utf8_lossy(&ptxas::read(Path::new(&file))?).into_owned();
    let edited = edit(&text);
    if let Some(edited) = &edited {
        ptxas::write(Path::new(&file), edited.as_bytes())?;
        run(tool, &of_text(arguments, &file), Stdio::inherit())?;
    }
    // What stays is in the folder of flang's own temporary files.
    let _ = std::fs::remove_file(&file);
    Ok(edited.is_some())
}

fn run(tool: &Path, arguments: &[OsString], messages: Stdio) -> Result<(), Failure> {
    let status = Command::new(tool).args(arguments).stderr(messages).status().map_err(|error| {
        Failure::new(NOT_EXECUTABLE, format!("cannot execute {}: {error}", tool.display()))
    })?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(FAILURE, format!("{} cannot compile what was mended: {status}", tool.display())))
}

/// The arguments that leave the code as text, before LLVM's passes.
fn as_text(arguments: &[OsString], file: &OsStr) -> Vec<OsString> {
    let mut arguments = with_output(arguments, file);
    for argument in &mut arguments {
        if argument == "-emit-llvm-bc" {
            *argument = "-emit-llvm".into();
        }
    }
    arguments.extend(["-mllvm", "-opt-bisect-limit=0"].map(OsString::from));
    arguments
}

fn with_output(arguments: &[OsString], file: &OsStr) -> Vec<OsString> {
    let mut arguments = arguments.to_vec();
    if let Some(at) = arguments.iter().position(|argument| argument == "-o") {
        arguments[at + 1] = file.to_owned();
    }
    arguments
}

/// The arguments that compile the text instead of the source.
fn of_text(arguments: &[OsString], file: &OsStr) -> Vec<OsString> {
    let mut arguments = arguments.to_vec();
    // The driver of flang writes the input behind its language.
    if let Some(at) = arguments.iter().position(|argument| argument == "-x") {
        arguments[at + 1] = "ir".into();
        arguments[at + 2] = file.to_owned();
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_takes_the_place_of_the_source() {
        let arguments =
            ["-fc1", "-emit-llvm-bc", "-o", "a.o", "-x", "f95", "a.f90", "-O1"].map(OsString::from);
        let line = |arguments: Vec<OsString>| arguments.join(OsStr::new(" ")).into_string().unwrap();
        assert_eq!(
            line(as_text(&arguments, OsStr::new("a.ll"))),
            "-fc1 -emit-llvm -o a.ll -x f95 a.f90 -O1 -mllvm -opt-bisect-limit=0"
        );
        let again = line(of_text(&arguments, OsStr::new("a.ll")));
        assert_eq!(again, "-fc1 -emit-llvm-bc -o a.o -x ir a.ll -O1");
    }
}
