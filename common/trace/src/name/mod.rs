//! Kernel symbols as a person would write them.
//!
//! The function of a target region, or a kernel of C++, is shown by its qualified name without
//! parameters or template arguments, which is what tells the kernels of a program apart. A name in
//! any form that is not known is shown as it is; nothing is ever guessed.
//!
//! | module | what it reads |
//! |---|---|
//! | [`region`] | what clang and flang call target regions |
//! | [`flang`] | flang's names of procedures |
//! | [`itanium`] | names of C++, as compilers mangle them by Itanium's ABI |
//! | [`numba`] | those of Python's functions, which numba mangles in this way |

mod flang;
mod itanium;
mod numba;
mod region;

use std::borrow::Cow;

/// `__omp_offloading_fe00_98c021_main_l7` as `main:7`, a mangled name as the function's; anything
/// else unchanged.
pub fn pretty(symbol: &str) -> Cow<'_, str> {
    match region::split(symbol) {
        Some((function, line)) => Cow::Owned(format!("{}:{line}", function_name(function))),
        None if symbol.starts_with(itanium::MARK) => function_name(symbol),
        None => Cow::Borrowed(symbol),
    }
}

fn function_name(mangled: &str) -> Cow<'_, str> {
    let readable = if let Some(rest) = mangled.strip_prefix(itanium::MARK) {
        itanium::read(rest).and_then(|name| match numba::is_its(&name) {
            true => numba::function(&name),
            false => Some(name.parts.join("::")),
        })
    } else {
        mangled.strip_prefix(flang::MARK).and_then(flang::read)
    };
    readable.map_or(Cow::Borrowed(mangled), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::pretty;

    #[test]
    fn regions() {
        for (symbol, shown) in [
            ("__omp_offloading_fe00_98c021_main_l7", "main:7"),
            ("__omp_offloading_fe00_98c021_main_l7_1", "main:7_1"),
            ("__omp_offloading_10_2a_a_l3_b_l12", "a_l3_b:12"),
            ("__omp_offloading_10_2a__Z4axpyidPdS__l9", "axpy:9"),
            ("__omp_offloading_10_2a__ZN4heat4stepEPdi_l9", "heat::step:9"),
            ("__omp_offloading_10_2a__ZN4heat4GridIdLi3EE4stepEv_l9", "heat::Grid::step:9"),
            ("__omp_offloading_10_2a__ZNK3BoxISt6vectorIdSaIdEEE3sumEv_l9", "Box::sum:9"),
            ("__omp_offloading_10_2a__ZN12_GLOBAL__N_14stepEv_l9", "(anonymous)::step:9"),
            ("__omp_offloading_10_2a__ZN3BoxC2Ev_l9", "Box::Box:9"),
            ("__omp_offloading_10_2a__ZL4axpyv_l2", "axpy:2"),
            ("__omp_offloading_10_2a__QQmain_l5", "main:5"),
            ("__omp_offloading_10_2a__QPsolve_l5", "solve:5"),
            ("__omp_offloading_10_2a__QMgrid_dataPstep_l5", "grid_data::step:5"),
        ] {
            assert_eq!(pretty(symbol), shown, "{symbol}");
        }
    }

    #[test]
    fn kernels_of_cuda_programs() {
        let numba = "B2v1B38c8tJTIcFKzyF2ILShI4CrgQElQb6HczSBAA_3dEf5ArrayIfLi1E1C7mutable7alignedE";
        for (symbol, shown) in [
            ("_Z4axpyifPfS_", "axpy"),
            ("_Z6reduceIfLi256EEvPKT_PS0_i", "reduce"),
            ("_ZN3cub6KernelIfEEvPT_", "cub::Kernel"),
            (&*format!("_ZN6cudapy8__main__5saxpy{numba}"), "saxpy"),
            (&*format!("_ZN6cudapy5tools5saxpy{numba}"), "tools.saxpy"),
            (&*format!("_ZN8__main__5saxpy{numba}"), "saxpy"),
            (&*format!("_ZN6cudapy8__main__4test12_3clocals_3e6kernel{numba}"), "test.<locals>.kernel"),
            // Triton's and tinygrad's are as the program has them.
            ("add_kernel", "add_kernel"),
            ("main$_omp_fn$0", "main$_omp_fn$0"),
        ] {
            assert_eq!(pretty(symbol), shown, "{symbol}");
        }
    }

    #[test]
    fn others_stay_as_they_are() {
        for symbol in
            ["", "triad", "__omp_offloading_", "__omp_offloading_x_1_main_l7", "__omp_offloading_1_1_main_lx"]
        {
            assert_eq!(pretty(symbol), symbol);
        }
        // A mangled name beyond what is understood keeps its spelling.
        assert_eq!(pretty("__omp_offloading_1_1__ZNSt_l7"), "_ZNSt:7");
        assert_eq!(pretty("__omp_offloading_1_1__Zé9_l7"), "_Zé9:7");
        assert_eq!(pretty("__omp_offloading_1_1__ZN1aI1éE_l7"), "_ZN1aI1éE:7");
    }
}
