//! The messages of failures, word for word: each program in `failures/` fails as
//! a user's would, under the staged library.
//!
//! A program describes its runs in comments:
//!
//! ```text
//! // run: NAME [args=WORD] [flags=FLAG] [patch=DAMAGE] [VARIABLE=VALUE]... exit=N|signal=NAME
//! ```
//!
//! `{null}` in a value is the directory of a back end with devices that run
//! nothing. What a run writes to standard error is compared with `PROGRAM.NAME.stderr`,
//! addresses apart. `GANGWAY_BLESS=1` writes those files anew.

mod support;

use gangway_commands::{Folder, Run as _, golden};
use libtest_mimic::{Arguments, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::{Arc, Mutex};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let staged = support::staged();
    let built = Arc::new(Built::default());
    let mut trials = Vec::new();
    for source in sources() {
        for run in runs(&source) {
            let (staged, built) = (staged.clone(), built.clone());
            let name = format!("{}::{}", run.program(), run.name);
            trials.push(Trial::test(name, move || {
                run.check(&staged, &built);
                Ok(())
            }));
        }
    }
    assert!(!trials.is_empty());
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/failures")
}

fn sources() -> Vec<PathBuf> {
    let files = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let mut sources: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "c")).collect();
    sources.sort();
    sources
}

/// How a program ends: its status or its signal.
type End = (Option<i32>, Option<i32>);

fn signal_named(name: &str) -> i32 {
    match name {
        "ABRT" => libc::SIGABRT,
        "FPE" => libc::SIGFPE,
        "SEGV" => libc::SIGSEGV,
        _ => panic!("signal {name}: ABRT, FPE and SEGV are known"),
    }
}

/// One line `run:`.
#[derive(Clone)]
struct Run {
    source: PathBuf,
    name: String,
    arguments: Vec<String>,
    flags: Vec<String>,
    patch: Option<String>,
    variables: Vec<(String, String)>,
    end: End,
}

fn runs(source: &Path) -> Vec<Run> {
    let text = fs::read_to_string(source).unwrap();
    let lines =
        |key: &'static str| text.lines().filter_map(move |line| line.strip_prefix(key)).map(str::trim);
    lines("// run:").map(|line| Run::parse(source, line)).collect()
}

impl Run {
    fn parse(source: &Path, line: &str) -> Self {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_else(|| panic!("{}: a run without a name", source.display()));
        let mut run = Self {
            source: source.to_owned(),
            name: name.to_owned(),
            arguments: Vec::new(),
            flags: Vec::new(),
            patch: None,
            variables: Vec::new(),
            end: (None, None),
        };
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("{line}: what is {word}?"));
            match key {
                "args" => run.arguments.push(value.to_owned()),
                "flags" => run.flags.push(value.to_owned()),
                "patch" => run.patch = Some(value.to_owned()),
                "exit" => run.end.0 = Some(value.parse().unwrap()),
                "signal" => run.end.1 = Some(signal_named(value)),
                _ => run.variables.push((key.to_owned(), value.to_owned())),
            }
        }
        assert_ne!(run.end, (None, None), "{line}: how does it end?");
        run
    }

    fn program(&self) -> String {
        self.source.file_stem().unwrap().to_string_lossy().into_owned()
    }

    fn check(&self, staged: &Path, built: &Built) {
        let ran = Command::new(built.program(self))
            .args(&self.arguments)
            .env_clear()
            .env("LD_LIBRARY_PATH", staged)
            .envs(self.variables.iter().map(|(name, value)| (name, value.replace("{null}", &built.null()))))
            .run();
        assert_eq!((ran.code(), ran.signal()), self.end, "{ran}");
        let file = directory().join(format!("{}.{}.stderr", self.program(), self.name));
        golden(&file, &normalise(&ran.stderr));
    }
}

/// Replaces what differs from run to run, from machine to machine and from
/// compiler to compiler: addresses, offsets in functions, sizes of images, the
/// file's identity in the names of kernels, what of CUDA and HSA there is.
fn normalise(text: &str) -> String {
    let addresses =
        |before: &str, digits: &str| (digits.len() >= 7 || before.ends_with('+')).then(|| "ADDR".to_owned());
    let text = replace(text, "0x", |c| c.is_ascii_hexdigit(), addresses);
    let large = |_: &str, digits: &str| (digits.len() >= 5).then(|| "N".to_owned());
    let text = replace(&text, " ", |c| c.is_ascii_digit(), large);
    let kernel = |_: &str, identity: &str| identity.contains('_').then(|| "FILE_".to_owned());
    let text = replace(&text, "__omp_offloading_", |c| c.is_ascii_hexdigit() || c == '_', kernel);
    // There may be such a driver, and devices.
    let text = replace(&text, "\n    cuda: ", |c| c != '\n', |_, _| Some("CUDA".to_owned()));
    replace(&text, "\n    hsa: ", |c| c != '\n', |_, _| Some("HSA".to_owned()))
}

/// Replaces the characters after each `prefix` by what `replacement` says, given
/// what is before them.
fn replace(
    text: &str,
    prefix: &str,
    is_part: impl Fn(char) -> bool,
    replacement: impl Fn(&str, &str) -> Option<String>,
) -> String {
    let mut parts = text.split(prefix);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(&is_part);
        let found = &part[..part.len() - rest.len()];
        let new = replacement(&all, found).unwrap_or_else(|| found.to_owned());
        all.push_str(prefix);
        all.push_str(&new);
        all.push_str(rest);
    }
    all
}

/// Compiled programs, each made once, however many runs there are of it.
struct Built {
    folder: Folder,
    programs: Mutex<BTreeMap<String, Arc<std::sync::OnceLock<PathBuf>>>>,
}

impl Default for Built {
    fn default() -> Self {
        Self { folder: Folder::new(), programs: Mutex::default() }
    }
}

impl Built {
    fn program(&self, run: &Run) -> PathBuf {
        let plain = self.made(run.program() + &run.flags.concat(), |path| compile(run, path));
        let Some(patch) = &run.patch else { return plain };
        self.made(format!("{}.{patch}", plain.file_name().unwrap().to_string_lossy()), |path| {
            let mut bytes = fs::read(&plain).unwrap();
            damage(&mut bytes, patch);
            // Copied and rewritten, so that it can be executed.
            fs::copy(&plain, path).unwrap();
            fs::write(path, bytes).unwrap();
        })
    }

    /// Directory of a second back end, with devices that run nothing.
    fn null(&self) -> String {
        let library = self.made("null/libgangway-rtl-null.so".to_owned(), |path| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backends/external");
            Command::new("clang-22")
                .args(["-O1", "-fPIC", "-shared", "-I"])
                .args([&sources.join("include"), &sources.join("tests/null/null.c")])
                .arg("-o")
                .arg(path)
                .run()
                .succeeded();
        });
        library.parent().unwrap().to_string_lossy().into_owned()
    }

    fn made(&self, name: String, make: impl FnOnce(&Path)) -> PathBuf {
        let cell = self.programs.lock().unwrap().entry(name.clone()).or_default().clone();
        let made = || {
            let path = self.folder.path(&name);
            make(&path);
            path
        };
        cell.get_or_init(made).clone()
    }
}

fn compile(run: &Run, output: &Path) {
    let mut command = Command::new("clang-22");
    // Without optimisation a crash stays where it was written.
    command.args(["-O0", "-g", "-fopenmp", support::OFFLOAD, "-Wall", "-Wno-openmp-mapping"]);
    command.args(&run.flags).arg(run.source.file_name().unwrap()).arg("-o").arg(output);
    command.current_dir(directory()).run().succeeded();
}

/// Damages the device image inside a program.
fn damage(program: &mut [u8], how: &str) {
    let find = |bytes: &[u8], what: &[u8]| bytes.windows(what.len()).position(|window| window == what);
    let binary = find(program, &[0x10, 0xff, 0x10, 0xad]).expect("an offload binary");
    let image = binary + find(&program[binary..], b"\x7fELF").expect("an ELF image in it");
    match how {
        "magic" => program[image..image + 4].fill(0),
        // e_machine: a processor that nobody has.
        "machine" => program[image + 18..image + 20].fill(0xee),
        "segments" => {
            // The last segment with contents ends far beyond the image, as if that had been cut off.
            let word = |at: usize| u64::from_le_bytes(program[at..at + 8].try_into().unwrap()) as usize;
            let (table, size) = (image + word(image + 32), usize::from(program[image + 54]));
            let count = usize::from(program[image + 56]);
            let mut loads = (0..count).map(|number| table + number * size).filter(|&at| program[at] == 1);
            let last = loads.next_back().expect("a loadable segment");
            for field in [32, 40] {
                program[last + field..last + field + 8].copy_from_slice(&0x4000_0000u64.to_le_bytes());
            }
        }
        _ => panic!("{how} is no damage"),
    }
}
