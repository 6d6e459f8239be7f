//! Names that compilers give to functions of device code, as users are told them.

/// What a user is told of the function that a kernel has failed in: nothing where it is what the compiler has made
/// of the region, whose names say no more.
#[must_use]
pub fn told_function(kernel: &str, function: &str) -> String {
    let is_region =
        function == kernel || function.starts_with("__omp_offloading_") || function.contains("omp_outlined");
    // LLVM copies functions for itself.
    let named = function.strip_suffix("_$_internalized").unwrap_or(function);
    if is_region { String::new() } else { named.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::told_function;

    #[test]
    fn regions_have_no_name_of_their_own() {
        for region in ["main._omp_fn.0", "__omp_offloading_1_2_main_l9_debug__", "f_omp_outlined.3"] {
            assert_eq!(told_function("main._omp_fn.0", region), "");
        }
        assert_eq!(told_function("kernel", "norm_$_internalized"), "norm");
        assert_eq!(told_function("kernel", "norm"), "norm");
    }
}
