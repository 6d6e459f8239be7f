//! What the user's arguments say about devices. All others are the compiler's business.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::response::{self, Word};
use crate::checks;
use crate::exit::{FAILURE, Failure};

/// The arguments of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub openmp: bool,
    /// The host's accesses, and those of CPU devices, are to be told (`--check=map`, `--check=race`).
    pub tells_accesses: bool,
    /// Constructs of OpenACC are translated.
    pub openacc: bool,
    /// What OpenACC's loops and variables have become is to be said.
    pub openacc_notes: bool,
    /// How many gangs, workers and lanes constructs of OpenACC have that do not say it (`-fopenacc-dim=`).
    pub openacc_dimensions: Option<String>,
    /// Kernels of CUDA's language are for LLVM's offloading, and so for Gangway (`-foffload-via-llvm`).
    pub kernel_language: bool,
    /// Images are to be LLVM bitcode, compiled when the program runs (`-fopenmp-target-jit`).
    pub bitcode: bool,
    /// The call ends with a link.
    pub links: bool,
    /// The call makes an object, or links: it does more than to look at the source, and than to answer.
    pub makes_code: bool,
    /// Debug information is wanted.
    pub debug: bool,
    /// And of one kind for devices.
    device_debug: bool,
    optimised: bool,
    /// `-O0` is asked for, which a link by LLD does, too: without an option it optimises.
    pub unoptimised: bool,
    /// The host's code is linked with a sanitizer's runtime.
    pub sanitized: bool,
    /// Only the device's side is wanted, in the form that `-S` or `-emit-llvm` name.
    pub device_only: bool,
    /// `--offload-arch=` names the CPU.
    pub cpu: bool,
    /// The GPUs of NVIDIA's that `--offload-arch=` names, and AMD's.
    pub gpus: Vec<String>,
    pub amd_gpus: Vec<String>,
    /// The triples of `-fopenmp-targets=`: then the user chooses, and nothing is chosen here.
    pub triples: Option<Vec<String>>,
    /// A real CUDA toolkit.
    pub cuda: Option<PathBuf>,
    pub print: Option<Part>,
    /// The source as clang gets it is to be printed.
    pub emit_translated: bool,
    /// The release of LLVM that is to compile.
    pub llvm: Option<String>,
    /// All words, those of response files included.
    pub words: Vec<OsString>,
    /// What the compiler gets besides.
    pub rest: Vec<OsString>,
}

/// What of the flags is to be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    All,
    Compile,
    Link,
}

/// The options whose next argument is theirs, whatever it looks like.
const WITH_VALUE: &[&str] = &[
    "-o",
    "-x",
    "-D",
    "-U",
    "-I",
    "-L",
    "-l",
    "-F",
    "-T",
    "-u",
    "-z",
    "-e",
    "-J",
    "-B",
    "-A",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-isysroot",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xflang",
    "-Xanalyzer",
    "-mllvm",
    "-mmlir",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-target",
    "-arch",
    "-dumpdir",
    "-module-dir",
    "-rpath",
];

pub fn takes_value(option: &str) -> bool {
    WITH_VALUE.contains(&option)
        || ["-Xopenmp-target", "-Xoffload-linker", "-Xoffload-compiler", "-Xarch_", "-Xcuda-"]
            .iter()
            .any(|prefix| option.starts_with(prefix))
}

/// Options that ask for debug information, and how much or of which kind.
fn is_debug(option: &str) -> bool {
    option.strip_prefix("-g").is_some_and(|kind| {
        kind.is_empty()
            || kind.starts_with(|first: char| first.is_ascii_digit())
            || ["line", "dwarf", "gdb", "lldb", "full"].iter().any(|known| kind.starts_with(known))
    })
}

/// Options of sanitizers and coverage. What they add calls functions of the program's, and no image for a device has them.
fn is_instrument(option: &str) -> bool {
    matches!(option, "--coverage" | "-coverage" | "-fprofile-arcs" | "-ftest-coverage")
        || option.starts_with(SANITIZERS)
}

/// Has clang use the option behind it for the host's code alone.
pub const FOR_THE_HOST: &str = "-Xarch_host";

const SANITIZERS: &str = "-fsanitize=";

/// What programs are compiled for, to be run under such checks: those that go by what the host accesses need it.
pub const CHECK: &str = "--check=";

impl Request {
    /// Reads the arguments; `cuda` is the toolkit that the environment names.
    pub fn read(arguments: &[OsString], cuda: Option<OsString>) -> Result<Self, Failure> {
        let words = response::expand(arguments);
        let mut request = Self { links: true, makes_code: true, ..Self::default() };
        request.cuda = cuda.filter(|path| !path.is_empty()).map(PathBuf::from);
        let mut architectures = Vec::new();
        let mut no_lto = false;
        let mut taken = vec![false; words.len()];
        let mut hosts = vec![false; words.len()];
        let mut at = 0;
        while let Some(Word { text, .. }) = words.get(at) {
            let here = at;
            at += 1;
            // What is not UTF-8 is a file.
            let Some(option) = text.to_str().filter(|text| text.starts_with('-')) else { continue };
            match option {
                "-fno-openmp" => request.openmp = false,
                "-fopenacc" => request.openacc = true,
                "-fno-openacc" => request.openacc = false,
                "-fopenacc-notes" | "--param=openacc-privatization=noisy" => request.openacc_notes = true,
                "-foffload-via-llvm" => request.kernel_language = true,
                "-fopenmp-target-jit" => request.bitcode = true,
                "-fno-openmp-target-jit" => request.bitcode = false,
                "-fno-offload-via-llvm" => request.kernel_language = false,
                "-c" => request.links = false,
                "-S" | "-E" | "-M" | "-MM" | "-fsyntax-only" | "-emit-llvm" => {
                    request.links = false;
                    request.makes_code = false;
                }
                "-###" | "--version" => request.makes_code = false,
                "--offload-device-only" | "--cuda-device-only" => request.device_only = true,
                "-foffload-lto" | "-foffload-lto=full" => no_lto = false,
                "-fno-offload-lto" => no_lto = true,
                "-g0" => request.debug = false,
                _ if option.starts_with("-O") => {
                    request.unoptimised = option == "-O0";
                    request.optimised = !request.unoptimised;
                }
                _ if is_debug(option) => request.debug = true,
                "--print-flags" => request.print = Some(Part::All),
                "--print-flags=compile" => request.print = Some(Part::Compile),
                "--print-flags=link" => request.print = Some(Part::Link),
                "--emit-translated" => request.emit_translated = true,
                _ if option.starts_with(CHECK) => {
                    let checks = checks::named(&option[CHECK.len()..]);
                    request.tells_accesses =
                        checks.map_err(|text| Failure::new(FAILURE, text))?.hear_the_host();
                }
                _ if takes_value(option) => {
                    let for_devices = option.starts_with("-Xopenmp-target") || option.starts_with("-Xarch_");
                    let value = words.get(at).and_then(|word| word.text.to_str());
                    request.device_debug |= for_devices && value.is_some_and(is_debug);
                    at += 1;
                }
                _ => {
                    hosts[here] = is_instrument(option);
                    taken[here] = request.valued(option, text, &mut architectures);
                    continue;
                }
            }
            taken[here] = option.starts_with("--print-flags")
                || option == "--emit-translated"
                || option.starts_with(CHECK)
                || option == "-fopenacc-notes"
                || option == "--param=openacc-privatization=noisy";
        }
        if request.triples.is_some() {
            // `--offload-arch` means then what clang makes of it.
            for (word, taken) in words.iter().zip(&mut taken) {
                *taken &= !word.text.as_bytes().starts_with(b"--offload-arch=");
            }
        } else {
            for architecture in &architectures {
                request.choose(architecture)?;
            }
        }
        if request.kernel_language && (request.cpu || !request.gpu()) {
            return Err(Failure::new(
                FAILURE,
                "-foffload-via-llvm: kernels of CUDA's language run on GPUs only; name one of NVIDIA's, such as \
                 --offload-arch=sm_80 (it runs on the virtual GPU, too)",
            ));
        }
        if no_lto && (request.gpu() || !request.amd_gpus.is_empty()) {
            return Err(Failure::new(
                FAILURE,
                "-fno-offload-lto is not supported for GPUs: their code is joined with the device \
                 runtime as LLVM bitcode; leave the option out",
            ));
        }
        if !request.offloads() {
            hosts.fill(false);
        }
        request.sanitized = words.iter().any(|word| word.text.as_bytes().starts_with(SANITIZERS.as_bytes()));
        request.rest = remaining(arguments, &words, &taken, &hosts);
        request.words = words.into_iter().map(|word| word.text).collect();
        Ok(request)
    }

    /// Whether the options ask for descriptions of the variables of GPU code. clang-22 makes wrong code
    /// then: functions that it adds for the descriptions leave a reduction variable of teams in memory
    /// of one thread, though others write to it, and take a `float _Complex` in another form than the
    /// host passes it. Optimised code has no such descriptions.
    pub fn describes_gpu_variables(&self) -> bool {
        self.debug && !self.optimised && !self.device_debug
    }

    /// Whether clang is to describe the variables of optimised code for AMD's GPUs. It says of a region then that what
    /// is mapped is reached by the variables' names alone (`noalias`): what other names, the program's functions or
    /// other regions store meanwhile, the code does not see.
    pub fn describes_optimised_variables(&self) -> bool {
        self.debug && self.optimised && !self.device_debug
    }

    /// An option with `=` in it. Tells whether it is for Gangway only.
    fn valued(&mut self, option: &str, text: &OsStr, architectures: &mut Vec<String>) -> bool {
        let items = |list: &str| list.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect();
        if option == "-fopenmp" || option.starts_with("-fopenmp=") {
            // GCC's and Intel's runtimes have no devices.
            self.openmp = matches!(option, "-fopenmp" | "-fopenmp=libomp");
        } else if let Some(list) = option.strip_prefix("-fopenmp-targets=") {
            self.triples = Some(items(list));
        } else if let Some(list) = option.strip_prefix("--offload-arch=") {
            architectures.extend::<Vec<_>>(items(list));
            return true;
        } else if let Some(dimensions) = option.strip_prefix("-fopenacc-dim=") {
            self.openacc_dimensions = Some(dimensions.to_owned());
            return true;
        } else if let Some(release) = option.strip_prefix("--llvm=") {
            self.llvm = Some(release.to_owned());
            return true;
        } else if option.starts_with("--cuda-path=") {
            self.cuda = Some(PathBuf::from(OsStr::from_bytes(&text.as_bytes()["--cuda-path=".len()..])));
            return true;
        }
        false
    }

    fn choose(&mut self, architecture: &str) -> Result<(), Failure> {
        match architecture {
            "x86_64" | "x86-64" => self.cpu = true,
            "native" => self.gpus.push(architecture.to_owned()),
            _ if is_new_enough(architecture) => add(&mut self.gpus, architecture),
            _ if AMD_PROCESSORS.contains(&processor(architecture)) => add(&mut self.amd_gpus, architecture),
            _ => {
                let meant =
                    meant(architecture).map_or(String::new(), |name| format!(" (did you mean {name}?)"));
                return Err(Failure::new(
                    FAILURE,
                    format!(
                        "--offload-arch={architecture}{meant}: Gangway has no device runtime for it; it has those of \
                         sm_70 and newer (NVIDIA), of {} (AMD), and of x86_64",
                        AMD_PROCESSORS.join(", ")
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Code for devices is made, or linked with.
    pub fn offloads(&self) -> bool {
        self.openmp || self.openacc || self.kernel_language
    }

    /// Code for a GPU of NVIDIA is among what is asked for.
    fn gpu(&self) -> bool {
        !self.gpus.is_empty() || self.triples.iter().flatten().any(|triple| triple.starts_with("nvptx"))
    }
}

/// The oldest GPUs of NVIDIA whose threads of a warp can wait for each other, and whose memory is ordered
/// as the device runtime needs it: LLVM stops with a crash where it translates that for older ones.
const OLDEST: u32 = 70;

/// Whether an architecture is one of NVIDIA's that the device runtime is for, such as `sm_90a`.
fn is_new_enough(architecture: &str) -> bool {
    let number = architecture.strip_prefix("sm_").map(|rest| rest.trim_end_matches(['a', 'f']));
    number.and_then(|number| number.parse::<u32>().ok()).is_some_and(|number| number >= OLDEST)
}

/// AMD's processors that the device runtime is for.
const AMD_PROCESSORS: [&str; 7] = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100"];

/// A processor without its features, as in `gfx90a:xnack-`.
fn processor(architecture: &str) -> &str {
    architecture.split(':').next().unwrap_or(architecture)
}

fn add(known: &mut Vec<String>, architecture: &str) {
    if !known.iter().any(|known| known == architecture) {
        known.push(architecture.to_owned());
    }
}

/// The architecture that another spelling stands for, such as `sm80` and `compute_80` for `sm_80`.
fn meant(architecture: &str) -> Option<String> {
    let lower = architecture.to_ascii_lowercase();
    if matches!(&*lower, "x86" | "x64" | "x86_64" | "amd64" | "cpu" | "host") {
        return Some("x86_64".to_owned());
    }
    let (family, number) = lower.split_at(lower.find(|letter: char| letter.is_ascii_digit())?);
    let name = format!("sm_{number}");
    let family = family.trim_end_matches(['_', '-']);
    (matches!(family, "" | "sm" | "cc" | "compute") && is_new_enough(&name)).then_some(name)
}

/// The arguments without what was taken out of them, and with what is for the host alone marked so. A response file
/// stays one, as long as nothing in it changes: it may be longer than a command line can be.
fn remaining(arguments: &[OsString], words: &[Word], taken: &[bool], hosts: &[bool]) -> Vec<OsString> {
    let mut rest = Vec::new();
    let mut at = 0;
    for (origin, argument) in arguments.iter().enumerate() {
        let count = words[at..].iter().take_while(|word| word.origin == origin).count();
        let range = at..at + count;
        at += count;
        if taken[range.clone()].contains(&true) || hosts[range.clone()].contains(&true) {
            for word in range.filter(|&word| !taken[word]) {
                rest.extend(hosts[word].then(|| FOR_THE_HOST.into()));
                rest.push(words[word].text.clone());
            }
        } else {
            rest.push(argument.clone());
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Request {
        let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
        Request::read(&arguments, None).unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn architectures_are_taken_out() {
        let request =
            read(&["-fopenmp", "--offload-arch=sm_80,x86_64", "a.c", "--offload-arch=sm_90", "-O2"]);
        assert!(request.openmp && request.links && request.cpu);
        assert_eq!(request.gpus, ["sm_80", "sm_90"]);
        assert_eq!(request.rest, ["-fopenmp", "a.c", "-O2"]);
    }

    #[test]
    fn the_release_is_taken_out() {
        let request = read(&["-fopenmp", "--llvm=22", "a.c", "--llvm=23"]);
        assert_eq!(
            (request.llvm.as_deref(), &request.rest[..]),
            (Some("23"), &["-fopenmp", "a.c"].map(OsString::from)[..])
        );
    }

    #[test]
    fn architectures_without_a_device_runtime_are_refused() {
        for (architecture, known) in [
            ("sm_70", true),
            ("sm_90a", true),
            ("sm_100f", true),
            ("x86_64", true),
            ("native", true),
            ("sm_62", false),
            ("sm_52", false),
            ("sm_", false),
            ("sm_a", false),
            ("gfx90a", true),
            ("gfx90a:xnack-", true),
            ("gfx1100", true),
            ("gfx803", false),
            ("gfx90", false),
        ] {
            let option = format!("--offload-arch={architecture}");
            assert_eq!(Request::read(&[option.into()], None).is_ok(), known, "{architecture}");
        }
    }

    #[test]
    fn another_spelling_of_an_architecture_is_recognised() {
        for (architecture, name) in [
            ("sm80", Some("sm_80")),
            ("SM_80", Some("sm_80")),
            ("compute_90a", Some("sm_90a")),
            ("cc80", Some("sm_80")),
            ("80", Some("sm_80")),
            ("amd64", Some("x86_64")),
            ("sm52", None),
            ("gfx90", None),
            ("smaller", None),
        ] {
            assert_eq!(meant(architecture).as_deref(), name, "{architecture}");
            let told = Request::read(&[format!("--offload-arch={architecture}").into()], None);
            let text = told
                .map(|_| ())
                .map_err(|failure| failure.to_string())
                .expect_err("no architecture is so called");
            let said = name.map(|name| format!("--offload-arch={architecture} (did you mean {name}?): "));
            assert!(text.starts_with(&said.unwrap_or(format!("--offload-arch={architecture}: "))), "{text}");
        }
    }

    #[test]
    fn the_user_may_choose_triples() {
        let given = ["-fopenmp-targets=nvptx64-nvidia-cuda", "--offload-arch=sm_80", "-fopenmp", "a.c"];
        let request = read(&given);
        assert_eq!(request.triples, Some(vec!["nvptx64-nvidia-cuda".to_owned()]));
        assert_eq!((request.gpus.is_empty(), &request.rest[..]), (true, &given.map(OsString::from)[..]));
    }

    #[test]
    fn values_of_options_are_not_options() {
        let request = read(&["-o", "-c", "-Xclang", "-fopenmp", "-Xopenmp-target=x", "--offload-arch=sm_70"]);
        assert!(request.links && !request.openmp && request.gpus.is_empty());
        assert_eq!(request.rest.len(), 6);
    }

    #[test]
    fn the_last_word_counts() {
        assert!(!read(&["-fopenmp", "-fno-openmp"]).openmp);
        assert!(read(&["-fno-openmp", "-fopenmp=libomp"]).openmp);
        assert!(!read(&["-fopenmp=libgomp"]).openmp);
        assert!(!read(&["-c", "a.c"]).links);
    }

    #[test]
    fn sanitizers_and_coverage_are_for_the_host() {
        let request = read(&["-fopenmp", "-fsanitize=address", "-fno-sanitize=address", "--coverage", "a.c"]);
        assert!(request.sanitized);
        let marked =
            ["-Xarch_host", "-fsanitize=address", "-fno-sanitize=address", "-Xarch_host", "--coverage"];
        assert_eq!(request.rest[1..6], marked.map(OsString::from));
        let request = read(&["-fsanitize=address", "a.c"]);
        assert_eq!(request.rest, ["-fsanitize=address", "a.c"], "nothing is for devices");
        assert!(!read(&["-fopenmp", "-fsanitize-coverage=edge"]).sanitized);
    }

    #[test]
    fn variables_of_optimised_code_are_not_described() {
        assert!(read(&["-g", "-O2"]).describes_optimised_variables());
        for options in [&["-g"][..], &["-O2"], &["-O2", "-g", "-Xarch_device", "-g"]] {
            assert!(!read(options).describes_optimised_variables(), "{options:?}");
        }
    }

    #[test]
    fn variables_of_gpu_code_are_described_where_nothing_says_otherwise() {
        for options in [&["-g"][..], &["-O2", "-O0", "-ggdb3"], &["-Xarch_host", "-O2", "-g"]] {
            assert!(read(options).describes_gpu_variables(), "{options:?}");
        }
        for options in [
            &["-O0"][..],
            &["-g", "-O2"],
            &["-g", "-g0"],
            &["-Og", "-g"],
            &["-g", "-Xopenmp-target", "-g"],
            &["-g", "-Xopenmp-target=nvptx64-nvidia-cuda", "-g1"],
            &["-g", "-Xarch_device", "-gline-tables-only"],
        ] {
            assert!(!read(options).describes_gpu_variables(), "{options:?}");
        }
    }

    #[test]
    fn debug_information_is_asked_for_in_several_ways() {
        for option in ["-g", "-g2", "-ggdb3", "-gdwarf-4", "-gline-tables-only"] {
            assert!(read(&[option]).debug, "{option}");
        }
        for options in [&["-g", "-g0"][..], &["-gcc-toolchain"], &["-grecord-command-line"], &["-o", "-g"]] {
            assert!(!read(options).debug, "{options:?}");
        }
    }

    #[test]
    fn response_files_stay_unless_something_is_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            format!("@{}", folder.path().join(name).display())
        };
        let plain = write("plain", "-fopenmp -c 'a b.c'");
        let arch = write("arch", "--offload-arch=sm_80 'a b.c'");
        let request = read(&[&plain, &arch]);
        assert!(request.openmp && !request.links);
        assert_eq!(request.rest, [plain.as_str(), "a b.c"]);
    }

    #[test]
    fn what_there_is_no_runtime_for_is_refused() {
        let refused = |arguments: &[&str]| {
            let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
            Request::read(&arguments, None).unwrap_err().to_string()
        };
        assert!(refused(&["--offload-arch=gfx803"]).starts_with("--offload-arch=gfx803: "));
        assert!(refused(&["--offload-arch=sm_80", "-fno-offload-lto"]).starts_with("-fno-offload-lto is"));
        assert!(read(&["-fno-offload-lto", "-fopenmp"]).openmp);
    }

    #[test]
    fn kernels_of_cuda_are_for_gpus() {
        let request = read(&["-foffload-via-llvm", "--offload-arch=sm_80", "a.cu"]);
        assert!(request.offloads() && !request.openmp);
        for arguments in [&["-foffload-via-llvm"][..], &["-foffload-via-llvm", "--offload-arch=sm_80,x86_64"]]
        {
            let arguments: Vec<_> = arguments.iter().map(OsString::from).collect();
            let refused = Request::read(&arguments, None).unwrap_err().to_string();
            assert!(refused.contains("run on GPUs only"), "{refused}");
        }
    }

    #[test]
    fn the_toolkit_of_the_command_line_wins() {
        let arguments = ["--cuda-path=/a".into()];
        assert_eq!(Request::read(&arguments, Some("/b".into())).unwrap().cuda, Some("/a".into()));
        assert_eq!(Request::read(&[], Some("/b".into())).unwrap().cuda, Some("/b".into()));
        assert_eq!(Request::read(&[], Some("".into())).unwrap().cuda, None);
    }
}
