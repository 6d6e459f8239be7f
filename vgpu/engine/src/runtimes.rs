//! Which functions are a compiler's device runtime, and no code of the program's.

/// What names of libgomp's sources have in them.
const LIBGOMP: &str = "/libgomp/";
/// How names of its functions begin, for those without lines.
const LIBGOMPS: [&str; 3] = ["GOMP_", "GOACC_", "gomp_"];
/// The same of LLVM's device runtime and of Gangway's.
const LLVMS: [&str; 3] = ["__kmpc_", "omp_", "ompx_"];
/// What names of other functions of Gangway's have in them: its crate's name, mangled.
const GANGWAYS: &str = "11gangway_gpu";

/// Functions of libgomp's in which threads wait for locks.
const LOCKS: [&str; 6] = [
    "GOMP_critical_start",
    "GOMP_critical_name_start",
    "GOMP_atomic_start",
    "omp_set_lock",
    "omp_set_nest_lock",
    "gomp_mutex_lock",
];

/// Whether threads wait for a lock in a function.
pub(crate) fn takes_lock(function: &str) -> bool {
    LOCKS.iter().any(|name| function.starts_with(name))
}

/// Whether it is one of libgomp's functions; `file` is its source, where that is known.
pub(crate) fn is_libgomps(function: &str, file: Option<&str>) -> bool {
    match file {
        Some(file) => file.contains(LIBGOMP),
        None => LIBGOMPS.iter().any(|prefix| function.starts_with(prefix)),
    }
}

/// How names begin of functions for atomic operations, as of libatomic: they use the word around what they are for.
const ATOMICS: [&str; 2] = ["__atomic_", "__sync_"];

/// Whether a function does an atomic operation for others.
pub(crate) fn is_of_atomics(function: &str) -> bool {
    ATOMICS.iter().any(|prefix| function.starts_with(prefix))
}

/// How names of libgomp's functions begin that open a lock which the program has closed. What else libgomp stores is
/// its own affair: it would put regions in an order that nothing in the program gives them.
const OPENERS: [&str; 4] = ["GOMP_atomic_end", "GOMP_critical_end", "GOMP_critical_name_end", "omp_unset_"];

/// Whether a function opens a lock of libgomp's: for GPUs it does so by a plain store.
pub(crate) fn opens_lock(function: &str) -> bool {
    OPENERS.iter().any(|prefix| function.starts_with(prefix))
}

/// How names of kernels begin that clang and flang make of constructs, and what is in those of GCC's.
const REGIONS: &str = "__omp_offloading_";
const REGIONS_OF_GCC: &str = "_omp_fn$";

/// Whether a kernel is a construct of OpenMP or OpenACC.
pub(crate) fn is_offloaded(kernel: &str) -> bool {
    kernel.starts_with(REGIONS) || kernel.contains(REGIONS_OF_GCC)
}

/// Whether a function is a device runtime's.
pub(crate) fn is_runtimes(function: &str) -> bool {
    let begins = |prefix: &&str| function.starts_with(*prefix);
    LIBGOMPS.iter().chain(&LLVMS).any(begins) || function.contains(GANGWAYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_are_known_by_name() {
        assert!(is_offloaded("__omp_offloading_fe00_98c021_main_l7") && is_offloaded("main$_omp_fn$0"));
        assert!(!is_offloaded("saxpy"));
    }

    #[test]
    fn runtimes_are_known_by_name() {
        assert!(
            is_runtimes("GOMP_barrier") && is_runtimes("__kmpc_barrier") && is_runtimes("gomp_team_start")
        );
        assert!(is_runtimes("_RNvNtCs1_11gangway_gpu6worker3run") && !is_runtimes("main$_omp_fn$0"));
        assert!(is_libgomps("f", Some("/x/libgomp/team.c")) && is_libgomps("gomp_barrier_wait", None));
        assert!(!is_libgomps("gomp_mine", Some("mine.c")));
        assert!(is_of_atomics("__atomic_fetch_add_1") && !is_of_atomics("atomic"));
        assert!(["GOMP_atomic_end", "omp_unset_lock"].into_iter().all(opens_lock));
        assert!(!["main$_omp_fn$0", "GOMP_parallel", "gomp_team_start"].into_iter().any(opens_lock));
    }
}
