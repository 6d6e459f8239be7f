//! The environment variables that Gangway reads: one table for the man page and for the names
//! that nothing reads.

use std::ffi::OsString;

/// Names and what they mean. README's table has the same names, which a test compares.
pub const VARIABLES: &[(&str, &str)] = &[
    ("GANGWAY_DEVICE", "use only devices of this back end; none: no devices"),
    ("GANGWAY_REPORT", "1, text[:FILE], json[:FILE] or html[:FILE]: make a report when the program ends"),
    ("GANGWAY_TRACE", "write a trace to this file; %p becomes the process id"),
    ("GANGWAY_TRACE_EVENTS", "how many spans a trace keeps (default 1048576)"),
    ("GANGWAY_DEBUG", "1: say what the runtime does, on standard error"),
    (
        "GANGWAY_CHECK",
        "1: tell of what is not mapped, and of writes beside what is; 2: also of uses of the host's copy",
    ),
    (
        "GANGWAY_BALANCE",
        "1: what names no device runs where its data is, or else on the device with the least to do",
    ),
    ("GANGWAY_RTL_PATH", "directories to search for external back ends, libgangway-rtl-NAME.so"),
    ("GANGWAY_CPU_DEVICES", "how many devices the CPU back end offers, 1 to 64 (default 4)"),
    ("GANGWAY_CPU_MEMORY", "memory of each of them, such as 512MiB (default: no limit)"),
    ("GANGWAY_CPU_POISON", "0, 1 or all: how much of fresh device memory is filled with a pattern"),
    ("GANGWAY_CPU_CATCH_SIGNALS", "0: do not report crashes in kernels"),
    (
        "GANGWAY_HOST_CALLS_LOOK",
        "1: look for host calls on the virtual GPU as on a card, which does not tell of them",
    ),
    ("GANGWAY_DEVICE_DEBUG", "assert,trace: what the device runtime in GPU images checks and prints"),
    ("GANGWAY_CUDA_PATH", "a CUDA toolkit whose ptxas makes machine code, for cc, c++ and fc"),
    (
        "GANGWAY_LLVM",
        "the release of LLVM, or where it is installed, for cc, c++ and fc, and for images of bitcode",
    ),
    ("GANGWAY_PERF_MAP", "1: give perf the names of kernels' functions, with files in /tmp"),
    ("GANGWAY_LIBDIR", "where this command finds Gangway's libraries"),
    ("GANGWAY_VGPU_DEVICES", "how many virtual GPUs there are (default 1)"),
    ("GANGWAY_VGPU_NAME", "their name"),
    ("GANGWAY_VGPU_CAPABILITY", "their compute capability, M.N (default 9.0)"),
    ("GANGWAY_VGPU_MAKERS", "whose virtual GPUs there are: nvidia, amd (default both)"),
    ("GANGWAY_VGPU_PROCESSOR", "the processor of virtual AMD GPUs, gfx900 to gfx942 (default gfx90a)"),
    ("GANGWAY_VGPU_MEMORY", "the memory of each"),
    ("GANGWAY_VGPU_DRIVER", "the version of CUDA that the virtual driver says it has (default 13.5)"),
    ("GANGWAY_VGPU_WORKERS", "threads that kernels run on (default: one a processor)"),
    ("GANGWAY_VGPU_KERNELS", "kernels that each runs at once, 1 to 128 (default: as many as there are)"),
    ("GANGWAY_VGPU_UNIFIED", "1: kernels use the host's memory; 0: not even where the program requires it"),
    (
        "GANGWAY_VGPU_CHECK",
        "memory: check every access of a kernel to the byte, and leaks; race: look for accesses that nothing orders",
    ),
    ("GANGWAY_CHECK_SUPPRESS", "a file with lines such as race:heat.c:17, of which nothing is said"),
    ("GANGWAY_CHECK_LOG", "a file that gets a line of JSON for each race"),
    ("GANGWAY_VGPU_TRACE", "1 or a file: count and time the calls of the driver API"),
    ("GANGWAY_VGPU_CACHE", "where compiled kernels are kept; 0: nowhere"),
    ("GANGWAY_VGPU_ENGINE", "compiler, compiler-only or interpreter: how kernels run"),
    ("GANGWAY_VGPU_TIER", "cranelift, llvm or auto: what makes machine code of kernels"),
    ("GANGWAY_VGPU_DUMP", "a folder for what is made of each kernel's functions"),
];

/// How many letters a name may be off and still be a misspelling.
const SLIPS: usize = 2;

/// Says which names in the environment look like ours and are none.
///
/// Names that resemble no variable are left alone: they may be an external back end's.
pub fn warn_of_misspelt() {
    for (name, right) in misspelt(std::env::vars_os().map(|(name, _)| name)) {
        eprintln!("gangway: warning: nothing reads the environment variable {name}; did you mean {right}?");
    }
}

fn misspelt(names: impl Iterator<Item = OsString>) -> Vec<(String, &'static str)> {
    let known = |name: &str| VARIABLES.iter().any(|(one, _)| *one == name);
    names
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.to_ascii_uppercase().starts_with("GANG") && !known(name))
        .filter_map(|name| nearest(&name).map(|right| (name, right)))
        .collect()
}

fn nearest(name: &str) -> Option<&'static str> {
    let slips = |right: &str| strsim::damerau_levenshtein(&name.to_ascii_uppercase(), right);
    let candidates = VARIABLES.iter().map(|&(right, _)| (slips(right), right));
    candidates.filter(|&(slips, _)| slips <= SLIPS).min().map(|(_, right)| right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_named_and_other_names_left_alone() {
        let found = |name: &str| misspelt([OsString::from(name)].into_iter()).pop().map(|(_, right)| right);
        for (name, right) in [
            ("GANGWAY_REPROT", "GANGWAY_REPORT"),
            ("GANGWAY_DEVICES", "GANGWAY_DEVICE"),
            ("GANGWAY_VGPU_CEHCK", "GANGWAY_VGPU_CHECK"),
            ("GANGAWY_TRACE", "GANGWAY_TRACE"),
            ("gangway_trace", "GANGWAY_TRACE"),
        ] {
            assert_eq!(found(name), Some(right), "{name}");
        }
        for name in ["GANGWAY_TRACE", "GANGWAY_FPGA_BOARD", "GANGWAY_HOME", "TRACE", "GANG"] {
            assert_eq!(found(name), None, "{name}");
        }
    }
}
