//! What the compilers have to be told so that a program offloads, in one place.

use std::ffi::{OsStr, OsString};

use super::Language;
use super::request::Part;
use super::target::{AMD_TRIPLE, CPU_TRIPLE, GPU_TRIPLE, Target};
use super::toolkit::{LIBOMPDEVICE, Toolkit};

/// The arguments that go before the user's.
#[derive(Debug)]
pub struct Flags {
    language: Language,
    compile: Vec<OsString>,
    /// What has GPU code mended on its way.
    mend: Vec<OsString>,
    link: Vec<OsString>,
}

/// What LLVM 22 makes wrong code for AMD's GPUs with is left out.
///
/// - Registers are allocated across functions: one that does not recur keeps none for its callers. clang says of all
///   regions that they do not, and LLVM then of what they alone call: the function that starts regions as well,
///   though a region inside of another one comes there twice.
/// - Common subexpressions of machine code: two selections share the `s_and_b64` that makes the condition (SCC) of a
///   branch before them, and `si-pre-emit-peephole` removes it, as the branch has VCC.
/// - Small improvements of machine code (`peephole-opt`): a copy of a double constant becomes an `s_mov_b64` of it, which has
///   room for 32 bits, and moves 0. Above all copies are concerned that common subexpressions would have taken away.
const WITHOUT_FAULTS_FOR_AMD: [&str; 3] =
    ["-mllvm=-enable-ipra=0", "-mllvm=-disable-machine-cse", "-mllvm=-disable-peephole"];

impl Flags {
    /// For a compiler of a release that links GPU code with Gangway's device runtime, or of one that does not:
    /// its linker does not know how GPU code in objects is linked.
    pub fn new(
        language: Language,
        target: &Target,
        toolkit: &Toolkit,
        release: u32,
        links_gpu_code: bool,
    ) -> Self {
        let mut flags = Self { language, compile: Vec::new(), mend: Vec::new(), link: Vec::new() };
        flags.triples(target);
        flags.headers(toolkit);
        if target.gpu() {
            flags.gpu(target, toolkit);
        }
        if target.amd() {
            flags.amd(toolkit);
        }
        if links_gpu_code {
            flags.objects_for_gpus(target, toolkit);
            flags.objects_for_amd(toolkit);
        }
        if language == Language::Fortran {
            flags.fortran_library(target);
        }
        if target.links_bitcode_for_cpu() {
            // The linker of GNU leaves no bitcode.
            flags.linker(&[format!("--device-compiler={CPU_TRIPLE}=-fuse-ld=lld").into()]);
        }
        if target.cpu && language == Language::Fortran {
            flags.device_linker(CPU_TRIPLE, toolkit.host_archive().into());
        }
        flags.link.extend(toolkit.linked(release).into_iter().map(|folder| joined("-L", folder)));
        flags.linker(&["-rpath".into(), toolkit.libraries().into()]);
        flags
    }

    /// Which devices there is code for, and for which processors.
    fn triples(&mut self, target: &Target) {
        if !target.chosen.is_empty() {
            return;
        }
        let mut triples = Vec::new();
        triples.extend(target.cpu.then_some(CPU_TRIPLE));
        triples.extend(target.gpu_triples());
        if !target.kernel_language {
            self.compile.push(format!("-fopenmp-targets={}", triples.join(",")).into());
        }
        if target.gpu() {
            if self.language != Language::Fortran && !target.kernel_language {
                self.compile.push(format!("-Xopenmp-target={GPU_TRIPLE}").into());
            }
            self.compile.push(format!("--offload-arch={}", target.gpus.join(",")).into());
        }
        if target.amd() {
            if self.language != Language::Fortran {
                self.compile.push(format!("-Xopenmp-target={AMD_TRIPLE}").into());
            }
            self.compile.push(format!("--offload-arch={}", target.amd_gpus.join(",")).into());
        }
    }

    /// Gangway's headers come after all that the user names. Fortran's module is a source, which
    /// programs include or compile.
    fn headers(&mut self, toolkit: &Toolkit) {
        let folder = toolkit.headers();
        self.compile.push(match self.language {
            Language::Fortran => joined("-I", folder.join("gangway")),
            Language::C | Language::Cxx => joined("-idirafter", folder),
        });
    }

    fn gpu(&mut self, target: &Target, toolkit: &Toolkit) {
        if self.language == Language::Fortran {
            return;
        }
        self.compile.push("-foffload-lto".into());
        // What compiles for GPUs becomes `gangway stand-in clang`.
        self.mend.push(format!("-Xopenmp-target={GPU_TRIPLE}").into());
        self.mend.push(joined("-fplugin=", toolkit.compile_step()));
        self.compile.push(joined("--cuda-path=", toolkit.cuda_for(target)));
    }

    /// Without ROCm's libraries and headers, for which clang would look: what they have is in the archive. And
    /// with calls of functions of `math.h`: LLVM has no instructions for what clang would make of them. Of clang's
    /// own headers, which go with ROCm's, that of the streams is wanted. flang has the first option alone, and no
    /// headers; its stand-in sees to the functions.
    fn amd(&mut self, toolkit: &Toolkit) {
        if self.language == Language::Fortran {
            self.compile.push("-nogpulib".into());
            return;
        }
        let headers = joined("-isystem", toolkit.device_runtime_of(AMD_TRIPLE).join("include"));
        let options = ["-nogpulib", "-nogpuinc", "-fmath-errno"].map(OsString::from);
        for option in options.into_iter().chain([headers]) {
            self.compile.extend([format!("-Xopenmp-target={AMD_TRIPLE}").into(), option]);
        }
        // As for NVIDIA's GPUs.
        self.mend.push(format!("-Xopenmp-target={AMD_TRIPLE}").into());
        self.mend.push(joined("-fplugin=", toolkit.compile_step()));
    }

    /// How AMD's GPU code in objects is linked, which the linker passes on where there is such code. Told to do
    /// without libraries, the compilers do not name the device runtime themselves.
    fn objects_for_amd(&mut self, toolkit: &Toolkit) {
        self.device_linker(AMD_TRIPLE, joined("-L", toolkit.device_runtime_of(AMD_TRIPLE)));
        self.device_linker(AMD_TRIPLE, format!("-l{LIBOMPDEVICE}").into());
        for option in WITHOUT_FAULTS_FOR_AMD {
            self.device_linker(AMD_TRIPLE, option.into());
        }
    }

    /// How GPU code in objects is linked. A call that names no GPU may have such objects, too: the compilers
    /// pass on what they say here for the GPUs that the call names only. Without a toolkit clang-22 takes the
    /// GPU to have PTX 4.2, and LLVM stops.
    fn objects_for_gpus(&mut self, target: &Target, toolkit: &Toolkit) {
        let compiler = format!("--device-compiler={GPU_TRIPLE}=");
        if self.language == Language::Fortran || !target.gpu() {
            self.linker(&[format!("{compiler}-flto=full").into()]);
        }
        if self.language == Language::Fortran {
            // There is no debug information in the code, for which -g would leave it unoptimised.
            self.linker(&[format!("{compiler}-g0").into()]);
        }
        if !target.gpu() {
            self.linker(&[joined(&format!("{compiler}--cuda-path="), toolkit.cuda_for(target))]);
            self.device_linker(GPU_TRIPLE, format!("-l{LIBOMPDEVICE}").into());
        }
        self.device_linker(GPU_TRIPLE, joined("-L", toolkit.device_runtime()));
    }

    /// Has unoptimised code for AMD's GPUs lose the functions of the device runtime that nothing calls, as optimised code
    /// does. LLVM warns of each that uses LDS, as no kernel leads to it.
    pub fn without_unused_functions(&mut self) {
        self.device_linker(AMD_TRIPLE, "--lto-newpm-passes=lto<O0>,globaldce".into());
    }

    /// Links code for CPU devices without the runtime of a sanitizer that the host's code is linked with.
    pub fn without_sanitizers(&mut self, toolkit: &Toolkit) {
        let option = format!("--device-compiler={CPU_TRIPLE}=--ld-path=");
        self.linker(&[joined(&option, toolkit.linker_without_runtimes())]);
    }

    /// Output of device code goes through the library of Fortran's that the program is linked with, so
    /// both write to the same units. It is static: the program exports its functions, the runtime looks
    /// them up, and images for CPUs prefer them to their own. What GPU code writes is flushed.
    fn fortran_library(&mut self, target: &Target) {
        const EXPORT: &str = "--export-dynamic-symbol=_FortranA*";
        self.linker(&[EXPORT.into(), "--undefined=_FortranAioBeginFlush".into()]);
        if target.cpu {
            self.device_linker(CPU_TRIPLE, EXPORT.into());
        }
    }

    fn device_linker(&mut self, triple: &str, word: OsString) {
        self.linker(&[joined(&format!("--device-linker={triple}="), word)]);
    }

    /// Arguments of `clang-linker-wrapper`, which is what clang and flang call to link. In one word:
    /// pkg-config drops words that it has seen, such as a second `-Xlinker`.
    fn linker(&mut self, words: &[OsString]) {
        if words.iter().any(|word| word.as_encoded_bytes().contains(&b',')) {
            self.link.extend(words.iter().flat_map(|word| ["-Xlinker".into(), word.clone()]));
        } else {
            self.link.push(joined("-Wl,", words.join(OsStr::new(","))));
        }
    }

    /// For a call of the compiler, which may or may not link.
    pub fn for_command(self, links: bool) -> Vec<OsString> {
        let link = if links { self.link } else { Vec::new() };
        marked(self.language, [self.compile, self.mend, link].concat())
    }

    /// For sources of which clang makes nothing that is mended: a third of the time goes into that.
    pub fn without_mending(mut self) -> Self {
        self.mend.clear();
        self
    }

    /// For a build system. The options that say what is compiled are needed when linking, too.
    pub fn for_print(self, part: Part) -> Vec<OsString> {
        let link = if part == Part::Compile { Vec::new() } else { self.link };
        marked(self.language, [vec!["-fopenmp".into()], self.compile, self.mend, link].concat())
    }
}

/// Has code for the GPUs of a triple get source lines, and no more, whatever the user's options before have asked for.
pub fn describe_lines_only(rest: &mut Vec<OsString>, triple: &str) {
    let for_gpus = format!("-Xopenmp-target={triple}").into();
    add_behind(rest, marked(Language::C, vec![for_gpus, "-gline-tables-only".into()]));
}

/// Words behind the user's, but before the files that follow `--`.
fn add_behind(rest: &mut Vec<OsString>, words: Vec<OsString>) {
    let end = rest.iter().position(|word| word == "--").unwrap_or(rest.len());
    rest.splice(end..end, words);
}

/// clang warns of options that a step has no use for, unless they stand between these marks. flang
/// does not warn of what is here, and has no such marks.
fn marked(language: Language, words: Vec<OsString>) -> Vec<OsString> {
    if language == Language::Fortran {
        return words;
    }
    let marks = ["--start-no-unused-arguments", "--end-no-unused-arguments"].map(OsString::from);
    [&marks[..1], &words, &marks[1..]].concat()
}

fn joined(option: &str, path: impl Into<OsString>) -> OsString {
    let mut word = OsString::from(option);
    word.push(path.into());
    word
}
