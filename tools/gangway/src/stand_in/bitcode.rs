//! Names in LLVM bitcode that flang-22 chooses wrongly for GPUs.
//!
//! Bitcode keeps the names of functions and variables in one table of bytes, and says of each name
//! where it starts and how long it is. So a name is changed in its place, to one of the same length.

/// The lock of a `critical` has dots in its name, which PTX does not allow. Clang has other letters
/// there for all GPUs, so regions of one name in C and Fortran share a lock.
const LOCK: (&[u8], &[u8]) = (b".gomp_critical_user_", b".var");

/// The function of an `ordered` region.
const ORDERED: &[u8] = b"__kmpc_ordered";

/// flang-22 forgets for GPUs that a loop has `ordered` regions. The device runtime has functions of its
/// own for loops that may have some.
const LOOPS: [(&[u8], &[u8]); 2] = [
    (b"__kmpc_for_static_loop_4u", b"__gangway_ordered_loop_4u"),
    (b"__kmpc_for_static_loop_8u", b"__gangway_ordered_loop_8u"),
];

/// What makes a task: flang's functions of tasks return nothing, and clang's a number.
const TASK: (&[u8], &[u8]) = (b"__kmpc_omp_task_alloc", b"__gangway_flang_task_");

/// Intrinsics that flang-22 makes of `nint`, and that LLVM cannot compile for GPUs. The device runtime
/// has functions for them, under names without dots.
const ROUNDING: [&[u8]; 4] =
    [b"llvm.lround.i32.f32", b"llvm.lround.i32.f64", b"llvm.lround.i64.f32", b"llvm.lround.i64.f64"];
const OWN_PREFIX: &[u8] = b"__gw_";
const TRIPLES: [&[u8]; 2] = [b"nvptx64-nvidia-cuda", b"amdgcn-amd-amdhsa"];

/// Mends the names of one module. The answer is whether there was something to mend.
pub fn mend_names(module: &mut [u8]) -> bool {
    let locks = mend_locks(module);
    let loops = find(module, ORDERED).is_some() && replace(module, &LOOPS);
    let tasks = replace(module, &[TASK]);
    let rounding = mend_rounding(module);
    locks || loops || tasks || rounding
}

/// A module has a list of its symbols, which leaves out intrinsics and so lacks what is none any more.
/// LLVM makes it anew where another version has made it.
fn mend_rounding(module: &mut [u8]) -> bool {
    if ROUNDING.iter().all(|name| find(module, name).is_none()) || !outdate_symbols(module) {
        return false;
    }
    for name in ROUNDING {
        while let Some(at) = find(module, name) {
            let own = &mut module[at..at + name.len()];
            own[..OWN_PREFIX.len()].copy_from_slice(OWN_PREFIX);
            own.iter_mut().filter(|letter| **letter == b'.').for_each(|letter| *letter = b'_');
        }
    }
    true
}

/// Changes the version of LLVM that made the list of symbols. Among the names it stands before the triple.
/// False: there is none.
fn outdate_symbols(module: &mut [u8]) -> bool {
    let last_of = |triple: &[u8]| module.windows(triple.len()).rposition(|window| window == triple);
    let last = TRIPLES.into_iter().filter_map(last_of).max();
    let version = last.and_then(|at| module[..at].last_mut());
    let Some(digit) = version.filter(|letter| letter.is_ascii_digit()) else { return false };
    *digit = b'?';
    true
}

fn mend_locks(module: &mut [u8]) -> bool {
    let (prefix, suffix) = LOCK;
    let mut done = 0;
    let mut changed = false;
    while let Some(at) = find(&module[done..], prefix).map(|at| at + done) {
        let name = at + prefix.len();
        let letters =
            module[name..].iter().take_while(|letter| letter.is_ascii_alphanumeric() || **letter == b'_');
        let end = name + letters.count();
        if module[end..].starts_with(suffix) {
            module[at] = b'_';
            module[end] = b'$';
            changed = true;
        }
        done = end;
    }
    changed
}

/// Puts names in the places of others, of the same length.
fn replace(module: &mut [u8], names: &[(&[u8], &[u8])]) -> bool {
    let mut changed = false;
    for (from, to) in names {
        while let Some(at) = find(module, from) {
            module[at..at + to.len()].copy_from_slice(to);
            changed = true;
        }
    }
    changed
}

pub fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(names: &str) -> String {
        let mut bytes = names.as_bytes().to_vec();
        assert_eq!(mend_names(&mut bytes), bytes != names.as_bytes());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn locks_get_the_names_that_clang_gives_them() {
        assert_eq!(
            mended("x.gomp_critical_user_name_one.var.gomp_critical_user_.vary"),
            "x_gomp_critical_user_name_one$var_gomp_critical_user_$vary"
        );
        assert_eq!(mended(".gomp_critical_user_name"), ".gomp_critical_user_name");
    }

    #[test]
    fn tasks_are_made_as_flangs() {
        assert_eq!(
            mended("main__kmpc_omp_task_alloc__kmpc_omp_task"),
            "main__gangway_flang_task___kmpc_omp_task"
        );
        let other = "__kmpc_omp_target_task_alloc";
        assert_eq!(mended(other), other);
    }

    #[test]
    fn rounding_is_a_call_of_the_device_runtime() {
        assert_eq!(
            mended("llvm.round.f64llvm.lround.i32.f64main22.1.8nvptx64-nvidia-cudaa.f90"),
            "llvm.round.f64__gw_lround_i32_f64main22.1.?nvptx64-nvidia-cudaa.f90"
        );
        let without_list = "llvm.lround.i64.f32main";
        assert_eq!(mended(without_list), without_list);
    }

    #[test]
    fn loops_of_files_with_ordered_regions_allow_for_them() {
        let without = "__kmpc_for_static_loop_4u__kmpc_barrier";
        assert_eq!(mended(without), without);
        assert_eq!(
            mended("__kmpc_for_static_loop_4u__kmpc_ordered__kmpc_for_static_loop_8u"),
            "__gangway_ordered_loop_4u__kmpc_ordered__gangway_ordered_loop_8u"
        );
    }
}
