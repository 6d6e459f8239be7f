//! The programs.

/// Who compiles a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    Gangway,
    Gcc,
}

pub struct Case {
    pub name: &'static str,
    pub title: &'static str,
    pub source: &'static str,
    pub compiler: Compiler,
}

const fn case(name: &'static str, title: &'static str, source: &'static str) -> Case {
    Case { name, title, source, compiler: Compiler::Gangway }
}

pub const CASES: &[Case] = &[
    case("stencil", "five-point stencil, f64", "benches/openacc/stencil_omp.c"),
    case("dot", "dot product, f64", "benches/checks/dot_omp.c"),
    case("nbody", "n-body, f32", "benches/openacc/nbody_omp.c"),
    case("matmul", "matrix product, f32", "benches/openacc/matmul_omp.c"),
    case("histogram", "histogram, bins of teams, atomics", "benches/openacc/histogram_omp.c"),
    case("sort", "bitonic sort, u32", "benches/checks/sort_omp.c"),
    Case {
        name: "gcc-stencil",
        title: "the same stencil through GCC",
        source: "benches/openacc/stencil_omp.c",
        compiler: Compiler::Gcc,
    },
];
