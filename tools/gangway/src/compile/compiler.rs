//! Which of the stock compilers is called, and where it is.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Language;
use super::target::Target;
use crate::exit::{FAILURE, Failure};
use crate::program;

/// The releases of LLVM that are taken by themselves, the newest that is installed: they can make all that
/// Gangway runs.
pub const USUAL: [u32; 2] = [23, 22];

/// The releases whose programs Gangway runs. Those before [`USUAL`] cannot make GPU code with its device
/// runtime, whose bitcode they cannot read.
pub const KNOWN: std::ops::RangeInclusive<u32> = 19..=23;

/// LLVM's linker.
const LLD: &str = "ld.lld";

/// A compiler that is there.
#[derive(Debug)]
pub struct Compiler {
    pub program: PathBuf,
    /// The folder of its tools.
    pub tools: PathBuf,
    pub release: u32,
    language: Language,
}

/// What names a release, or where one is.
const VARIABLE: &str = "GANGWAY_LLVM";

impl Compiler {
    /// The compiler for a language: of the release that the user has chosen, of the LLVM that `GANGWAY_LLVM`
    /// names by number or folder, or of the newest usual one that is installed.
    /// For GPU code, the newest that can make it.
    pub fn find(language: Language, chosen: Option<&str>, gpu: bool) -> Result<Self, Failure> {
        let named = env::var_os(VARIABLE).filter(|llvm| !llvm.is_empty());
        let number = |text: &str| text.parse::<u32>().ok();
        let by_number = named.as_deref().and_then(|named| named.to_str()).and_then(number);
        match (chosen, by_number, named) {
            (Some(text), _, _) => Self::of_release(language, known(text, "--llvm=")?),
            (None, Some(release), _) => {
                Self::of_release(language, known(&release.to_string(), "GANGWAY_LLVM=")?)
            }
            (None, None, Some(folder)) => Self::of_folder(language, Path::new(&folder)),
            (None, None, None) => {
                let mut fit = USUAL.into_iter().filter(|&release| !gpu || makes_gpu_code(language, release));
                let found = fit.find_map(|release| Self::installed(language, release));
                let [.., oldest] = USUAL;
                found.map_or_else(|| Self::of_release(language, oldest), Ok)
            }
        }
    }

    fn of_release(language: Language, release: u32) -> Result<Self, Failure> {
        Self::installed(language, release).ok_or_else(|| {
            let text = format!(
                "{}-{release} is not in PATH; install it (Debian: apt-get install {}), or set GANGWAY_LLVM to where \
                 LLVM {release} is",
                language.compiler(release),
                packages(language, release)
            );
            Failure::new(FAILURE, text)
        })
    }

    /// The compiler of a release in the search path, or where Debian installs it.
    pub fn installed(language: Language, release: u32) -> Option<Self> {
        let name = language.compiler(release);
        let debian = Path::new("/usr/lib").join(format!("llvm-{release}")).join("bin");
        let versioned = format!("{name}-{release}");
        let found = program::find(versioned.as_ref(), env::var_os("PATH").as_deref()).ok();
        let program = found.or_else(|| Some(debian.join(name)).filter(|path| path.is_file()))?;
        // The tools stand beside what the link in the search path leads to.
        let real = program.canonicalize().ok()?;
        let tools = real.parent().unwrap_or(&debian).to_owned();
        Some(Self { program, tools, release, language })
    }

    fn of_folder(language: Language, llvm: &Path) -> Result<Self, Failure> {
        let tools = llvm.join("bin");
        let [first, last] = [KNOWN.start(), KNOWN.end()].map(|&end| tools.join(language.compiler(end)));
        let program = if !last.is_file() && first.is_file() { first } else { last };
        if !program.is_file() {
            let text = format!("there is no {}, which {VARIABLE} leads to", program.display());
            return Err(Failure::new(FAILURE, text));
        }
        let release = release_of(&program).ok_or_else(|| {
            Failure::new(FAILURE, format!("{} does not say which version it is", program.display()))
        })?;
        Ok(Self { program, tools, release, language })
    }

    /// `clang-22`
    pub fn name(&self) -> String {
        format!("{}-{}", self.language.compiler(self.release), self.release)
    }

    /// Whether its linker knows how GPU code is linked with Gangway's device runtime.
    pub fn links_gpu_code(&self) -> bool {
        USUAL.iter().any(|&usual| usual <= self.release)
    }

    /// The devices that its programs can have: `cpu`, `nvptx`; and why it is not more.
    pub fn abilities(&self) -> (Vec<&'static str>, Option<String>) {
        let cpu = Target { cpu: true, ..Target::default() };
        if let Err(failure) = self.check(&cpu, true) {
            return (Vec::new(), Some(failure.to_string()));
        }
        let gpu = Target { gpus: vec![String::new()], ..Target::default() };
        match self.check(&gpu, true) {
            Ok(()) => (vec!["cpu", "nvptx"], None),
            Err(failure) => (vec!["cpu"], Some(failure.to_string())),
        }
    }

    /// Checks that it can make what is asked for, and that the tools are there that it calls: its own words
    /// are "posix_spawn failed". Debian has them in packages of their own.
    pub fn check(&self, target: &Target, links: bool) -> Result<(), Failure> {
        let [.., oldest] = USUAL;
        if target.gpu() && self.links_gpu_code() && !makes_gpu_code(self.language, self.release) {
            let text = format!(
                "{} makes no GPU code that Gangway's device runtime can be linked with: it leaves no LLVM bitcode; use \
                 flang-{oldest} (--llvm={oldest}), or CPU devices",
                self.name()
            );
            return Err(Failure::new(FAILURE, text));
        }
        if target.any_gpu() && !self.links_gpu_code() {
            let text = format!(
                "{} cannot make GPU code with Gangway's device runtime: that is bitcode of LLVM {oldest}, which older \
                 releases cannot read; use LLVM {oldest} or later (--llvm={oldest}), or CPU devices. GPU programs that \
                 it has linked with LLVM's own device runtime (Debian: liboffload-{}-dev) run on Gangway",
                self.name(),
                self.release
            );
            return Err(Failure::new(FAILURE, text));
        }
        let mut needed = vec!["clang"];
        // LLVM has renamed its packager.
        let packager =
            if self.release < PACKAGER_RENAMED { "clang-offload-packager" } else { "llvm-offload-binary" };
        needed.push(packager);
        if links {
            needed.push("clang-linker-wrapper");
            needed.extend(target.gpu().then_some("clang-nvlink-wrapper"));
            needed.extend((target.links_bitcode_for_cpu() || target.amd()).then_some(LLD));
        }
        let missing: Vec<&str> = needed.into_iter().filter(|tool| !self.tools.join(tool).is_file()).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let release = self.release;
        // Only bitcode for CPU devices, and code for AMD's GPUs, needs it.
        let linker = if missing.contains(&LLD) { format!(" lld-{release}") } else { String::new() };
        let text = format!(
            "{} calls {}, and there is no such program in {}; install what offloading needs (Debian: apt-get \
             install {}{linker})",
            self.name(),
            missing.join(" and "),
            self.tools.display(),
            packages(self.language, release)
        );
        Err(Failure::new(FAILURE, text))
    }
}

/// The last release of flang whose step for GPU code Gangway has its stand-in for: later ones call themselves.
const LAST_FLANG: u32 = 22;

/// Whether a compiler's GPU code can be linked with Gangway's device runtime.
fn makes_gpu_code(language: Language, release: u32) -> bool {
    USUAL.contains(&release) && (language != Language::Fortran || release <= LAST_FLANG)
}

/// The first release whose packager is called `llvm-offload-binary`.
const PACKAGER_RENAMED: u32 = 22;

/// A release that the user has named.
fn known(text: &str, by: &str) -> Result<u32, Failure> {
    text.parse().ok().filter(|release| KNOWN.contains(release)).ok_or_else(|| {
        let (first, last) = (KNOWN.start(), KNOWN.end());
        Failure::new(FAILURE, format!("{by}{text}: Gangway knows the releases {first} to {last} of LLVM"))
    })
}

/// The release whose compiler is to be called with flags that are printed: the user's choice, or the oldest
/// usual one.
pub fn release_of_flags(chosen: Option<&str>) -> Result<u32, Failure> {
    let [.., oldest] = USUAL;
    chosen.map_or(Ok(oldest), |text| known(text, "--llvm="))
}

/// What a compiler says of itself: `clang version 23.1.4 (2)`.
fn release_of(program: &Path) -> Option<u32> {
    let said = Command::new(program).arg("--version").output().ok()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let (_, version) = said.split_once("version ")?;
    version.split('.').next()?.parse().ok()
}

/// The packages of Debian that offloading in a language needs; clang++ comes with clang, and both compilers
/// have clang link device code.
fn packages(language: Language, release: u32) -> String {
    let compilers: &[&str] = if language == Language::Fortran { &["flang", "clang"] } else { &["clang"] };
    let tools = ["clang-tools", "llvm"];
    let all = compilers.iter().chain(&tools).map(|name| format!("{name}-{release}"));
    all.chain([format!("libomp-{release}-dev")]).collect::<Vec<_>>().join(" ")
}
