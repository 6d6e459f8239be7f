//! C programs and random ones, compiled for AMD's processors, lifted, compiled and run by the engine: the results are
//! those of the host, to the bit. What of them is not lifted `tests/refused.txt` tells.

#[path = "../../gcn-interpreter/tests/support/generator.rs"]
mod generator;
#[path = "../../gcn-interpreter/tests/support/host.rs"]
mod host;
mod launched;
mod memory;
#[path = "../../gcn-interpreter/tests/support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gangway_code_object::CodeObject;
use gangway_commands::Folder;
use gangway_gcn::Gpu;
use gangway_gcn_interpreter::Dispatch;
use gangway_gcn_lifter::{Apart, Refusal};
use host::{LEVELS, Run};
use libtest_mimic::{Arguments, Trial};
use memory::DeviceMemory;
use support::Device;

/// Kernels that are lifted whole.
const KERNELS: &[&str] =
    &["words.c", "numbers.c", "classes.c", "flow.c", "sizes.c", "calls.c", "first.c", "own.c", "rows.c"];
/// The interpreter's, of which much is not yet.
const PROGRAMS: &[&str] = &["integers.c", "floats.c", "structures.c", "group.c"];
/// How many random programs are tried.
const SEEDS: u64 = 8;

/// What was not lifted, by the program's name.
type Refused = Arc<Mutex<BTreeMap<String, String>>>;

fn main() {
    let ignored = !support::is_possible();
    let arguments = Arguments::from_args();
    let refused = Refused::default();
    let mut trials = Vec::new();
    for kernel in KERNELS {
        for gpu in Gpu::ALL {
            for level in ["-O1", "-O2", "-O3"] {
                let trial =
                    Trial::test(format!("{kernel}/{gpu}{level}"), move || Ok(whole(gpu, level, kernel)?));
                trials.push(trial.with_ignored_flag(ignored));
            }
        }
    }
    trials.push(Trial::test("apart", || Ok(nobodys()?)).with_ignored_flag(ignored));
    trials.push(Trial::test("chain", || Ok(chain()?)).with_ignored_flag(ignored));
    trials.push(Trial::test("columns", || Ok(columns()?)).with_ignored_flag(ignored));
    trials.push(Trial::test("steps", || Ok(steps()?)).with_ignored_flag(ignored));
    trials.push(Trial::test("together", || Ok(together()?)).with_ignored_flag(ignored));
    for program in PROGRAMS {
        for gpu in [Gpu::Gfx90a] {
            for level in LEVELS {
                let (name, refused) = (format!("{program}/{gpu}{level}"), Arc::clone(&refused));
                let key = name.clone();
                let trial = Trial::test(name, move || {
                    Ok(compare(gpu, level, &host::sources().join(program), &key, &refused, Apart::All)?)
                });
                trials.push(trial.with_ignored_flag(ignored));
            }
        }
    }
    // `GANGWAY_GCN_SEEDS=FIRST,COUNT` chooses the random programs.
    let chosen = std::env::var("GANGWAY_GCN_SEEDS").ok();
    let mut seeds = chosen.iter().flat_map(|text| text.split(',')).filter_map(|number| number.parse().ok());
    let (first, count) = (seeds.next().unwrap_or(0), seeds.next().unwrap_or(SEEDS));
    for seed in first..first + count {
        let refused = Arc::clone(&refused);
        let trial = Trial::test(format!("random/{seed}"), move || {
            let name = format!("random/{seed}");
            Ok(host::random(seed, |gpu, level, source| {
                compare(gpu, level, source, &name, &refused, Apart::All)
            })?)
        });
        trials.push(trial.with_ignored_flag(ignored));
    }
    let all = arguments.filter.is_none() && chosen.is_none() && !ignored && !arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    let text: String = refused.iter().map(|(name, what)| format!("{name}: {what}\n")).collect();
    if chosen.is_some() {
        eprint!("{text}");
    }
    if all && !conclusion.has_failed() {
        gangway_commands::golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused.txt"), &text);
    }
    conclusion.exit();
}

/// A kernel of which nothing may be refused.
fn whole(gpu: Gpu, level: &str, kernel: &str) -> Result<(), String> {
    match why_refused(gpu, level, kernel, Apart::All)? {
        None => Ok(()),
        Some(what) => Err(format!("it is refused: {what}")),
    }
}

/// Functions stand apart only where that is allowed, and clang's are not GCC's.
fn nobodys() -> Result<(), String> {
    for apart in [Apart::Nobodys, Apart::Gccs] {
        let why = why_refused(Gpu::Gfx90a, "-O2", "calls.c", apart)?;
        if why.as_deref() != Some("s_swappc_b64") {
            return Err(format!("{apart:?}: it is refused for {why:?}"));
        }
    }
    Ok(())
}

/// Where a constant says how many columns there are, addresses are made of nothing that hides their steps: numbers that are
/// small enough anyway are not cut off.
fn columns() -> Result<(), String> {
    let text = "#include \"run.h\"\nstatic void compute(struct run *run) {\n  \
                for (u32 i = run->item; i < 100000; i += 160) OUT(run->in[i / 1022 * 1024 + i % 1022]);\n}\n";
    let lifted = lifted_text("columns.c", text, "-O2")?;
    match lifted.lines().find(|line| line.starts_with("bfe.")) {
        None => Ok(()),
        Some(line) => Err(format!("it has `{line}`")),
    }
}

/// Lanes that all leave a loop in the same turn have not gone apart: in a loop around it, addresses are made of nothing that
/// depends on which lanes were on, in code for all lanes.
fn steps() -> Result<(), String> {
    let text = "#include \"run.h\"\nstatic void compute(struct run *run) {\n  \
                for (u32 from = 0; from < run->in[0]; from += 4096)\n    \
                for (u32 i = run->item; i < 4096; i += 64) run->out[from + i] = run->in[i + from] * 3;\n}\n";
    let lifted = lifted_text("steps.c", text, "-O2")?;
    let stores: Vec<&str> = lifted.lines().filter(|line| line.starts_with("st.global")).collect();
    let is_free = |store: &&str| made_of(&lifted, store).iter().all(|line| !line.starts_with("selp."));
    match stores.iter().any(is_free) {
        true => Ok(()),
        false => Err(format!("all of {stores:?} depend on which lanes were on")),
    }
}

/// All lines of a kernel that the address of an access is made by.
fn made_of<'a>(lifted: &'a str, access: &str) -> HashSet<&'a str> {
    fn registers(text: &str) -> impl Iterator<Item = &str> {
        let is_part = |letter: char| letter == '%' || letter.is_ascii_alphanumeric();
        text.split(move |letter| !is_part(letter)).filter(|word| word.starts_with('%'))
    }
    let address = access.split(']').next().unwrap_or_default();
    let (mut found, mut seen) = (HashSet::new(), HashSet::new());
    let mut work: Vec<&str> = registers(address).collect();
    while let Some(register) = work.pop() {
        if !seen.insert(register) {
            continue;
        }
        for line in lifted.lines().filter(|line| !line.starts_with("st.")) {
            // A vector in braces is written, too.
            let end =
                if line.contains(" {") && !line.contains(", {") { line.find('}') } else { line.find(',') };
            let Some((to, from)) = end.map(|end| line.split_at(end)) else { continue };
            if registers(to).any(|to| to == register) {
                found.insert(line);
                work.extend(registers(from));
            }
        }
    }
    found
}

/// Functions of which each calls the next are lifted on little stack, however many there are.
fn chain() -> Result<(), String> {
    const FUNCTIONS: usize = 400;
    const STACK: usize = 512 << 10;
    let mut text = format!(
        "#include \"run.h\"\nstatic NOINLINE u64 f{FUNCTIONS}(struct run *run, u64 a, u32 n) {{ return a ^ IN(n); }}\n"
    );
    for number in (0..FUNCTIONS).rev() {
        let _ = writeln!(
            text,
            "static NOINLINE u64 f{number}(struct run *run, u64 a, u32 n) {{\n  \
             u64 b = f{}(run, a * {}ul + n, n + 1);\n  OUT(b & 1 ? a : b);\n  return b + (a << 3 | a >> 61) * 7;\n}}",
            number + 1,
            2 * number + 3
        );
    }
    text.push_str("static void compute(struct run *run) { OUT(f0(run, IN(0), 0)); }\n");
    let of_thread = std::thread::Builder::new().stack_size(STACK);
    let thread = of_thread.spawn(move || {
        let lifted = lifted_text("chain.c", &text, "-O1")?;
        gangway_ptx::parse(&lifted).map(drop).map_err(|errors| errors.to_string())
    });
    let thread = thread.map_err(|error| error.to_string())?;
    thread.join().unwrap_or_else(|_| Err("it has panicked".to_owned()))
}

/// Kernels have their functions in common, each of them once. One that cannot be lifted is left out alone.
fn together() -> Result<(), String> {
    const MORE: &str = "
__attribute__((amdgpu_kernel, visibility(\"protected\"), amdgpu_flat_work_group_size(1, 256)))
void another(GLOBAL const u64 *in, GLOBAL u64 *out) {
  u32 item = __builtin_amdgcn_workgroup_id_x() * GROUP + ITEM;
  struct run run = {item, 0, (const u64 *)in, (u64 *)out + item * WORDS};
  compute(&run);
}
__attribute__((amdgpu_kernel, visibility(\"protected\"), amdgpu_flat_work_group_size(1, 256)))
void refused(GLOBAL const u64 *in, GLOBAL u64 *out) {
  __asm__ volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 1\");
  struct run run = {0, 0, (const u64 *)in, (u64 *)out};
  compute(&run);
}";
    let calls = fs::read_to_string(kernels().join("calls.c")).map_err(|error| error.to_string())?;
    let gpu = Gpu::Gfx90a;
    let folder = sources_with("calls.c", &calls)?;
    folder.write("more.c", format!("#include \"calls.c\"\n#ifdef __AMDGCN__{MORE}\n#endif\n"));
    let image = support::compile(gpu, "-O2", &folder.join("more.c"), &[])?;
    let object = CodeObject::read(&image).map_err(|error| error.to_string())?;
    let device = Device::new(gpu, DeviceMemory::new(), &object);
    let lifted = |names: &[&str], dispatch: &Dispatch| {
        launched::lifted(gpu, &device, &object, names, dispatch, Apart::All)
    };
    let all = ["k", "refused", "another"];
    for (number, name) in all.into_iter().enumerate().filter(|(number, _)| *number != 1) {
        let run = Run::new(&device);
        let dispatch = device.dispatch(&object, name, run.size(), &run.arguments());
        let (alone, shape, descriptor) = lifted(&[name], &dispatch)?;
        let (found, ..) = lifted(&all, &dispatch)?;
        if found.refused.keys().ne(&[1]) {
            return Err(format!("refused: {:?}", found.refused));
        }
        let functions = |text: &str| text.matches("\n.func").count();
        if functions(&alone.text) != functions(&found.text) {
            return Err(format!("{name} alone has other functions"));
        }
        launched::run(&found, number, shape, &descriptor, &dispatch)?;
        run.compare(&device, &folder.join("more.c"))?;
    }
    Ok(())
}

/// Where the kernels are that are lifted whole.
fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels")
}

/// A folder with a source and what it includes.
fn sources_with(name: &str, text: &str) -> Result<Folder, String> {
    let folder = Folder::new();
    let header = fs::read_to_string(host::sources().join("run.h")).map_err(|error| error.to_string())?;
    folder.write("run.h", header);
    folder.write(name, text);
    Ok(folder)
}

/// What a source's kernel becomes.
fn lifted_text(name: &str, text: &str, level: &str) -> Result<String, String> {
    let (folder, gpu) = (sources_with(name, text)?, Gpu::Gfx90a);
    let image = support::compile(gpu, level, &folder.join(name), &[])?;
    let object = CodeObject::read(&image).map_err(|error| error.to_string())?;
    let device = Device::new(gpu, DeviceMemory::new(), &object);
    let run = Run::new(&device);
    let dispatch = device.dispatch(&object, "k", run.size(), &run.arguments());
    let (lifted, ..) = launched::lifted(gpu, &device, &object, &["k"], &dispatch, Apart::All)?;
    Ok(lifted.text)
}

/// Lifts, compiles and runs a kernel, or says why it is refused.
fn why_refused(gpu: Gpu, level: &str, kernel: &str, apart: Apart) -> Result<Option<String>, String> {
    let text = fs::read_to_string(kernels().join(kernel)).map_err(|error| error.to_string())?;
    let folder = sources_with(kernel, &text)?;
    let refused = Refused::default();
    compare(gpu, level, &folder.join(kernel), kernel, &refused, apart)?;
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(refused.values().next().cloned())
}

/// Runs a program here and there.
fn compare(
    gpu: Gpu,
    level: &str,
    source: &Path,
    name: &str,
    refused: &Refused,
    apart: Apart,
) -> Result<(), String> {
    let image = support::compile(gpu, level, source, &[])?;
    let object = CodeObject::read(&image).map_err(|error| error.to_string())?;
    let device = Device::new(gpu, DeviceMemory::new(), &object);
    let run = Run::new(&device);
    let dispatch = device.dispatch(&object, "k", run.size(), &run.arguments());
    match launched::compiled(gpu, &device, &object, "k", &dispatch, apart) {
        Ok(()) => {}
        Err(launched::Error::Failed(what)) => return Err(what),
        Err(launched::Error::Refused(Refusal { what, address })) => {
            if std::env::var_os("GANGWAY_GCN_SEEDS").is_some() {
                eprintln!("{name}: {what} at {address:#x}");
            }
            refused.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), what);
            return Ok(());
        }
    }
    run.compare(&device, source)
}
