//! Every file in `programs/` is compiled with and without optimisation, and with no word of it, for GPUs and for processors, and runs
//! there. A program checks what it has computed, and prints `ok`, or what the same source prints without OpenACC if
//! its first line says so. `// options:` in its first line are given to the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::{Folder, Run, gangway};
use libtest_mimic::{Arguments, Failed, Trial};

/// Levels of optimisation, and devices. Without a level GPU code is optimised where it is linked, and only there.
const WAYS: [(&str, &str, &str); 4] =
    [("", "sm_80", "vgpu"), ("-O0", "sm_80", "vgpu"), ("-O2", "sm_80", "vgpu"), ("-O2", "x86_64", "cpu")];

fn main() -> std::process::ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let files =
        fs::read_dir(folder).expect("programs are there").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let mut trials = Vec::new();
    for file in files {
        for (level, architecture, device) in WAYS {
            let name = format!("{}{level}_{device}", file.file_name().unwrap_or_default().display());
            let file = file.clone();
            trials.push(Trial::test(name, move || runs(&file, level, architecture, device)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn runs(file: &Path, level: &str, architecture: &str, device: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(file)?;
    let options = text.lines().next().and_then(|line| line.strip_prefix("// options: ")).unwrap_or_default();
    let compiler = if file.extension().is_some_and(|extension| extension == "cpp") { "c++" } else { "cc" };
    let folder = Folder::new();
    let program = folder.path("program");
    let mut compile = gangway();
    compile
        .args([compiler, "-fopenacc", "-Wall", "-Werror"])
        .args(level.split_whitespace())
        .args(options.split_whitespace());
    compile
        .arg(format!("--offload-arch={architecture}"))
        .arg(file)
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .run()
        .succeeded();
    let expected = match text.starts_with("// as without OpenACC\n") {
        true => {
            let plain = folder.path("plain");
            Command::new("clang-22")
                .args(["-w", "-O1"])
                .arg(file)
                .arg("-o")
                .arg(&plain)
                .arg("-lm")
                .run()
                .succeeded();
            Command::new(&plain).run().succeeded().stdout
        }
        false => "ok\n".to_owned(),
    };
    gangway().args(["run", "--device", device]).arg(&program).run().printed(&expected);
    Ok(())
}
