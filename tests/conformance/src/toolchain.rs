//! The stock compilers and libraries that the suite works with.
//!
//! Made once by the test target and asked by [`crate::build`] and
//! [`crate::execute`]. Every part that is absent is an error that names the
//! Debian package to install; nothing is replaced by something near to it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The release of LLVM whose compilers and libraries are used.
///
/// # Panics
/// `GANGWAY_CONFORMANCE_LLVM` is no number.
pub fn release() -> u32 {
    static RELEASE: LazyLock<u32> = LazyLock::new(|| match env::var("GANGWAY_CONFORMANCE_LLVM") {
        Ok(number) => number.parse().expect("GANGWAY_CONFORMANCE_LLVM is the number of a release"),
        Err(_) => 22,
    });
    *RELEASE
}

/// The library that programs of the release ask for.
pub fn offload_library() -> String {
    format!("libomptarget.so.{}.1", release())
}

/// The language of a program, which decides its directory, compiler and comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// The directories below `programs/`, in the order in which tests are listed.
    pub const DIRECTORIES: [(&'static str, Language); 3] =
        [("c", Language::C), ("cxx", Language::Cxx), ("fortran", Language::Fortran)];

    pub fn extension(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cxx => "cpp",
            Language::Fortran => "f90",
        }
    }

    pub fn comment(self) -> &'static str {
        match self {
            Language::C | Language::Cxx => "//",
            Language::Fortran => "!",
        }
    }

    fn compiler(self) -> String {
        let name = match self {
            Language::C => "clang",
            Language::Cxx => "clang++",
            // Its name up to LLVM 19.
            Language::Fortran if release() < 20 => "flang-new",
            Language::Fortran => "flang",
        };
        format!("{name}-{}", release())
    }

    /// The subcommand of `gangway` that calls the compiler.
    pub fn subcommand(self) -> &'static str {
        match self {
            Language::C => "cc",
            Language::Cxx => "c++",
            Language::Fortran => "fc",
        }
    }

    fn package(self) -> String {
        let name = match self {
            Language::C | Language::Cxx => "clang",
            Language::Fortran => "flang",
        };
        format!("{name}-{}", release())
    }
}

/// One compiler, with the text that tells its builds apart.
#[derive(Debug, Clone)]
pub struct Compiler {
    pub program: String,
    pub version: String,
}

/// What was found on this machine. A missing part is kept as its message, so
/// that the tests which need it fail with that message and the others run.
#[derive(Debug)]
pub struct Toolchain {
    c: Result<Compiler, String>,
    cxx: Result<Compiler, String>,
    fortran: Result<Compiler, String>,
    stock_libraries: Result<PathBuf, String>,
}

impl Toolchain {
    /// Looks for the compilers and for the stock offload library.
    pub fn find() -> Toolchain {
        Toolchain {
            c: find_compiler(Language::C),
            cxx: find_compiler(Language::Cxx),
            fortran: find_compiler(Language::Fortran),
            stock_libraries: find_stock_libraries(),
        }
    }

    /// The compiler for `language`, if all that it needs to link is there.
    pub fn compiler(&self, language: Language) -> Result<&Compiler, String> {
        self.stock_libraries.as_ref().map_err(String::clone)?;
        let compiler = match language {
            Language::C => &self.c,
            Language::Cxx => &self.cxx,
            Language::Fortran => &self.fortran,
        };
        compiler.as_ref().map_err(String::clone)
    }

    /// The directory of the stock libomptarget and `libomp.so.5`.
    pub fn stock_libraries(&self) -> Result<&Path, String> {
        self.stock_libraries.as_deref().map_err(String::clone)
    }
}

fn missing(what: &str, package: &str) -> String {
    format!("{what} is not installed: `apt-get install {package}` (apt.llvm.org or Debian)")
}

fn find_compiler(language: Language) -> Result<Compiler, String> {
    let program = language.compiler();
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|_| missing(&program, &language.package()))?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    // The packager and the linker of device images are a package of their own.
    find_program("clang-linker-wrapper", "clang-tools")?;
    find_program("ld.lld", "lld")?;
    Ok(Compiler { program, version })
}

fn find_program(name: &str, package: &str) -> Result<(), String> {
    let path = ask_clang(&format!("-print-prog-name={name}"))?;
    if path.is_absolute() { Ok(()) } else { Err(missing(name, &format!("{package}-{}", release()))) }
}

fn find_stock_libraries() -> Result<PathBuf, String> {
    let release = release();
    for (file, package) in [
        ("libomp.so", format!("libomp-{release}-dev")),
        ("libomptarget.so", format!("liboffload-{release}-dev")),
        (&*offload_library(), format!("liboffload-{release}")),
    ] {
        let path = ask_clang(&format!("-print-file-name={file}"))?;
        if !path.is_absolute() {
            return Err(missing(file, &package));
        }
    }
    let path = ask_clang(&format!("-print-file-name={}", offload_library()))?;
    let resolved = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(resolved.parent().unwrap_or(Path::new("/")).to_owned())
}

/// clang answers `-print-*-name=X` with X itself where it does not know X.
fn ask_clang(question: &str) -> Result<PathBuf, String> {
    let program = Language::C.compiler();
    let output = Command::new(&program)
        .arg(question)
        .output()
        .map_err(|_| missing(&program, &Language::C.package()))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}
