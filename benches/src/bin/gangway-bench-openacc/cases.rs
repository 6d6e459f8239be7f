//! The programs, and how much shared memory their kernels need.

/// A program of `benches/openacc`.
pub struct Case {
    pub name: &'static str,
    pub title: &'static str,
    /// Bytes of shared memory that the variables of its kernels need, by the function that the kernel is
    /// in: those that threads of a gang share. A function that is not named here needs none.
    pub shared: &'static [(&'static str, u64)],
}

impl Case {
    /// What a kernel needs.
    pub fn needs(&self, function: &str) -> u64 {
        self.shared.iter().find(|(name, _)| *name == function).map_or(0, |(_, bytes)| *bytes)
    }
}

/// A sum of gangs with 128 lanes: an `f64` for each of four warps.
const SUM: u64 = 4 * 8;

pub const CASES: &[Case] = &[
    Case { name: "stencil", title: "five-point stencil, f64", shared: &[] },
    Case {
        name: "cg",
        title: "conjugate gradients, f64",
        shared: &[("multiply", SUM), ("square_of_residual", SUM)],
    },
    Case { name: "nbody", title: "n-body, f32", shared: &[] },
    // Parts of 16 floats of 16 rows, which `cache` asks for.
    Case { name: "matmul", title: "matrix product, `tile` and `cache`, f32", shared: &[("run", 1024)] },
    // The bins.
    Case { name: "histogram", title: "histogram, bins of gangs, atomics", shared: &[("run", 1024)] },
    Case { name: "sparse", title: "sparse product, three levels, f64", shared: &[] },
];
