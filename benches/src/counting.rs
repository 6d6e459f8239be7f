//! A library in front of a driver's that counts its calls (`benches/gpu/interposer.c`).

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::process::{compile, output};

/// What a driver's functions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Cuda,
    Hsa,
}

impl Api {
    /// How the names of its functions begin; what tools of the maker have besides begins otherwise.
    const fn prefix(self) -> &'static str {
        match self {
            Self::Cuda => "cu",
            Self::Hsa => "hsa_",
        }
    }

    /// What the source is compiled with.
    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Cuda => &[],
            Self::Hsa => &["-DBENCH_HSA"],
        }
    }
}

/// Compiles it for all functions of the driver in `file`, into a folder and under the name that programs look for.
///
/// # Errors
/// The driver exports no function, or what the compiler says.
pub fn build(root: &Path, file: &Path, name: &str, api: Api, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let symbols = output(Command::new("nm").args(["-D", "--defined-only"]).arg(file))?;
    let list: String = functions(&symbols, api).map(|name| format!("DRIVER_FUNCTION({name})\n")).collect();
    if list.is_empty() {
        bail!("{} exports no function", file.display());
    }
    std::fs::write(folder.join("names.h"), list)?;
    let source = root.join("benches/gpu/interposer.c");
    compile(Command::new("clang-22"), &source, &folder.join(name), |command| {
        command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]).args(api.options());
        command.arg("-I").arg(folder)
    })
}

/// The functions of an interface in what `nm` prints.
fn functions(symbols: &str, api: Api) -> impl Iterator<Item = &str> {
    symbols.lines().filter_map(move |line| {
        let mut words = line.split_whitespace().rev();
        let name = words.next()?.split('@').next()?;
        (words.next()? == "T" && name.starts_with(api.prefix())).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::{Api, functions};

    #[test]
    fn functions_are_read_from_nm() {
        let text = "0000000000000000 A libcuda.so.1\n\
                    000000000001e2c0 T cuInit@@libcuda.so.1\n\
                    000000000001e2d0 T cuMemAlloc_v2\n\
                    00000000000aaaa0 D cudbgEnabled\n\
                    000000000001e2d8 T hsa_init\n\
                    000000000001e2e0 T other\n";
        assert_eq!(functions(text, Api::Cuda).collect::<Vec<_>>(), ["cuInit", "cuMemAlloc_v2"]);
        assert_eq!(functions(text, Api::Hsa).collect::<Vec<_>>(), ["hsa_init"]);
    }
}
