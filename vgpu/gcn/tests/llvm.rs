//! Our text of instructions equals LLVM's, and what LLVM refuses is refused.
//!
//! - `corpus`: what clang makes of the C sources in `tests/corpus`, for every processor, at every
//!   level of optimisation.
//! - `random`: random words, and random fields of every instruction of the table.
//! - `systematic`: every form of every instruction of the table with each special number in each field. The
//!   processors that have an instruction share these words; with `GANGWAY_GCN_WHOLE=1` each has them all.
//! - `libraries`: GCC's device libraries, if `GANGWAY_GCN_LIBRARIES` names the folder that they are
//!   in: `scripts/gcn-libraries.sh` fetches Debian's package and runs these.
//!
//! Words are decoded where `llvm-objdump` decodes: at each address that it prints.

mod llvm {
    pub mod oracle;
    pub mod words;
}

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gangway_commands::Folder;
use gangway_gcn::{Decoder, Encoding, Gpu, Gpus, Refusal};
use libtest_mimic::{Arguments, Failed, Trial};
use object::read::archive::ArchiveFile;

use llvm::oracle::{self, Line};
use llvm::words::Words;

/// How many words of each kind are tried for a processor; `GANGWAY_GCN_WORDS` says another number.
const WORDS: usize = 100_000;
/// As many at a time.
const BATCH: usize = 20_000;

fn main() {
    let mut trials = Vec::new();
    let missing = ["clang-22", "llvm-objdump-22"]
        .into_iter()
        .find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        eprintln!("skipping the comparisons with LLVM: {tool} is not installed");
    }
    let ignored = missing.is_some();
    for gpu in Gpu::ALL {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let trial = Trial::test(format!("corpus/{gpu}{level}"), move || corpus(gpu, level));
            trials.push(trial.with_ignored_flag(ignored));
        }
        for (kind, run) in [("random", random as fn(_) -> _), ("systematic", systematic)] {
            let trial = Trial::test(format!("{kind}/{gpu}"), move || run(gpu));
            trials.push(trial.with_ignored_flag(ignored));
        }
    }
    let folder = std::env::var_os("GANGWAY_GCN_LIBRARIES").map(PathBuf::from);
    for gpu in [Gpu::Gfx900, Gpu::Gfx906, Gpu::Gfx908] {
        let folder = folder.clone().unwrap_or_default().join(gpu.name());
        let here = folder.is_dir();
        let trial = Trial::test(format!("libraries/{gpu}"), move || libraries(gpu, &folder));
        trials.push(trial.with_ignored_flag(ignored || !here));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// What was compared.
#[derive(Debug, Default)]
struct Counts {
    equal: usize,
    refused: usize,
    /// LLVM complains in a comment.
    complaints: usize,
    graphics: usize,
    /// LLVM accepts what the processor has not, by [`LENIENT`].
    lenient: [usize; LENIENT.len()],
    differences: Vec<String>,
}

/// Decodes at each address that the oracle has, and compares.
fn compare(gpu: Gpu, lines: &[Line], counts: &mut Counts) {
    let code: Vec<u8> =
        lines.iter().flat_map(|line| &line.words).flat_map(|word| word.to_le_bytes()).collect();
    let decoder = Decoder::of(gpu);
    let mut at = 0;
    for line in lines {
        let ours = decoder.decode(&code[at..]);
        let size = line.words.len() * 4;
        match (&ours, line.complaint || line.refused()) {
            (Ok(ours), false) if ours.to_string() == line.text && usize::from(ours.size) == size => {
                counts.equal += 1;
            }
            (Err(Refusal::Graphics(_)), _) if line.is_graphics() || line.refused() => counts.graphics += 1,
            (Err(refusal), false) if lenience(gpu, refusal, &line.text).is_some() => {
                let known = lenience(gpu, refusal, &line.text).expect("the guard saw it");
                counts.lenient[known] += 1;
            }
            (Err(_), true) if line.complaint => counts.complaints += 1,
            (Err(_), true) => counts.refused += 1,
            _ => {
                let ours = ours.map_or_else(|refusal| format!("({refusal})"), |ours| ours.to_string());
                let words = line.words.iter().fold(String::new(), |mut text, word| {
                    let _ = write!(text, " {word:08x}");
                    text
                });
                let behind = code
                    .get(at + size..at + size + 4)
                    .map_or(0, |next| u32::from_le_bytes(next.try_into().expect("four bytes")));
                counts.differences.push(format!(
                    "{gpu}{words} [{behind:08x}]\n  LLVM: {}{}\n  ours: {ours}",
                    line.text,
                    if line.complaint { " (with a complaint)" } else { "" }
                ));
            }
        }
        at += size;
    }
}

/// What LLVM decodes, though the processor's description has no such thing, and we do not.
struct Lenience {
    what: &'static str,
    gpus: Gpus,
    is: fn(&Refusal, &str) -> bool,
}

/// The systematic words meet each of them on each of its processors.
const LENIENT: [Lenience; 9] = [
    Lenience {
        what: "125, which is `null` on later processors",
        gpus: Gpus::ALL,
        is: |refusal, _| matches!(refusal, Refusal::Operand(125) | Refusal::Group(125, _)),
    },
    Lenience {
        what: "230 and 231, which later processors have for values of their own",
        gpus: Gpus::ALL,
        is: |refusal, _| matches!(refusal, Refusal::Operand(230 | 231)),
    },
    Lenience {
        what: "values that are no registers where only vector registers can be",
        gpus: Gpus::ALL,
        is: |refusal, _| matches!(refusal, Refusal::Operand(235..=239 | 251..=253)),
    },
    Lenience {
        what: "groups of registers that go beyond the last",
        gpus: Gpus::ALL,
        is: |refusal, _| matches!(refusal, Refusal::Group(first, words) if first + u16::from(*words) > 256),
    },
    Lenience {
        what: "groups that begin at odd numbers, where LLVM's operand has no such rule",
        gpus: Gpus::FROM_90A,
        is: |refusal, text| {
            let forgotten = ["tbuffer_", "ds_", "global_atomic_", "flat_atomic_"];
            matches!(refusal, Refusal::Group(first, _) if first % 2 != 0)
                && forgotten.iter().any(|name| text.starts_with(name))
        },
    },
    Lenience {
        what: "vector registers as masks",
        gpus: Gpus::ALL,
        is: |refusal, text| {
            matches!(refusal, Refusal::Operand(256..))
                && (text.contains("_co_u32_e64") || text.starts_with("v_cndmask"))
        },
    },
    Lenience {
        what: "`v_nop` with lanes exchanged",
        gpus: Gpus::ALL,
        is: |refusal, text| matches!(refusal, Refusal::Field("src0", 249 | 250)) && text.starts_with("v_nop"),
    },
    Lenience {
        what: "accumulation registers in memory instructions",
        gpus: Gpus::UNTIL_908,
        is: |refusal, _| matches!(refusal, Refusal::Field("acc", 1)),
    },
    Lenience {
        what: "`buffer_store_lds_dword`, which no compiler makes",
        gpus: Gpus::UNTIL_90A,
        is: |refusal, text| {
            matches!(refusal, Refusal::Opcode(Encoding::Mubuf, 0x3d))
                && text.starts_with("buffer_store_lds_dword")
        },
    },
];

/// Which of [`LENIENT`] it is.
fn lenience(gpu: Gpu, refusal: &Refusal, text: &str) -> Option<usize> {
    LENIENT.iter().position(|known| known.gpus.contains(gpu) && (known.is)(refusal, text))
}

/// All is equal, or as the processor's known differences say.
fn judge(name: &str, counts: &Counts) -> Result<(), Failed> {
    let Counts { equal, refused, complaints, graphics, lenient, differences } = counts;
    eprintln!(
        "{name}: {equal} equal, {refused} refused by both, {complaints} with a complaint of LLVM's, \
         {graphics} of graphics, {} where LLVM is lenient, {} differ",
        lenient.iter().sum::<usize>(),
        differences.len()
    );
    if differences.is_empty() {
        return Ok(());
    }
    let shown: Vec<_> = differences.iter().take(12).map(String::as_str).collect();
    Err(format!("{} differences, the first:\n{}", differences.len(), shown.join("\n")).into())
}

fn corpus(gpu: Gpu, level: &str) -> Result<(), Failed> {
    let folder = Folder::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut counts = Counts::default();
    for source in ["arithmetic", "memory", "matrix"] {
        if source == "matrix" && gpu < Gpu::Gfx908 {
            continue;
        }
        let object = folder.join(format!("{source}.o"));
        let built = Command::new("clang-22")
            .args(["--target=amdgcn-amd-amdhsa", "-nogpulib", "-w", "-ffp-contract=fast", "-c", level])
            .arg(format!("-mcpu={gpu}"))
            .arg(sources.join(source).with_extension("c"))
            .arg("-o")
            .arg(&object)
            .output()?;
        if !built.status.success() {
            return Err(String::from_utf8_lossy(&built.stderr).into_owned().into());
        }
        compare(gpu, &oracle::disassemble(&object, gpu)?.lines, &mut counts);
    }
    if counts.equal < 1000 {
        return Err(format!("only {} instructions", counts.equal).into());
    }
    judge(&format!("corpus/{gpu}{level}"), &counts)
}

fn random(gpu: Gpu) -> Result<(), Failed> {
    let folder = Folder::new();
    let number =
        std::env::var("GANGWAY_GCN_WORDS").ok().and_then(|number| number.parse().ok()).unwrap_or(WORDS);
    let mut words = Words::new(gpu);
    let mut counts = Counts::default();
    let mut crashes = 0;
    for _ in 0..number.div_ceil(BATCH) {
        for list in [words.any(BATCH), words.of_table(BATCH), words.of_encodings(BATCH / 2)] {
            crashes += compare_words(gpu, &list, &folder, &mut counts)?;
        }
    }
    eprintln!("random/{gpu}: llvm-objdump crashed {crashes} times");
    // What is left out goes when LLVM no longer needs it.
    if counts.complaints == 0 || counts.graphics == 0 {
        return Err(format!("a known difference is not there any more: {counts:?}").into());
    }
    judge(&format!("random/{gpu}"), &counts)
}

/// Compares what these words are; says how often LLVM's tool crashed.
fn compare_words(gpu: Gpu, list: &[u32], folder: &Folder, counts: &mut Counts) -> Result<usize, Failed> {
    let (mut rest, mut crashes) = (list, 0);
    while !rest.is_empty() {
        let object = folder.join("words.o");
        fs::write(&object, oracle::object(gpu, rest))?;
        let printed = oracle::disassemble(&object, gpu)?;
        compare(gpu, &printed.lines, counts);
        // LLVM's tool ends by a signal at some words: the next run begins behind them.
        let done = printed.lines.iter().map(|line| line.words.len()).sum::<usize>();
        crashes += usize::from(printed.crashed);
        rest = if printed.crashed { rest.get(done + 1..).unwrap_or_default() } else { &[] };
    }
    Ok(crashes)
}

fn systematic(gpu: Gpu) -> Result<(), Failed> {
    let folder = Folder::new();
    let mut counts = Counts::default();
    let share = std::env::var_os("GANGWAY_GCN_WHOLE").is_none();
    let crashes = compare_words(gpu, &Words::new(gpu).systematic(share), &folder, &mut counts)?;
    eprintln!("systematic/{gpu}: llvm-objdump crashed {crashes} times");
    for (known, count) in LENIENT.iter().zip(counts.lenient) {
        if known.gpus.contains(gpu) && count == 0 {
            return Err(format!("LLVM is not lenient any more, or never was: {}", known.what).into());
        }
    }
    judge(&format!("systematic/{gpu}"), &counts)
}

fn libraries(gpu: Gpu, folder: &Path) -> Result<(), Failed> {
    let scratch = Folder::new();
    let mut counts = Counts::default();
    let mut files: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<_, Failed>>()?;
    files.sort();
    for file in files {
        let data = fs::read(&file)?;
        match file.extension().and_then(|extension| extension.to_str()) {
            // `libg.a` is `libc.a` under another name.
            Some("a") if !file.ends_with("libg.a") => {
                for (number, member) in ArchiveFile::parse(&*data)?.members().enumerate() {
                    let object = scratch.join(format!("{number}.o"));
                    fs::write(&object, member?.data(&*data)?)?;
                    compare(gpu, &oracle::disassemble(&object, gpu)?.lines, &mut counts);
                }
            }
            Some("o") => compare(gpu, &oracle::disassemble(&file, gpu)?.lines, &mut counts),
            _ => {}
        }
    }
    if counts.equal < 10_000 {
        return Err(format!("only {} instructions", counts.equal).into());
    }
    judge(&format!("libraries/{gpu}"), &counts)
}
