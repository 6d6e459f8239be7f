//! Errors in the words of clang's and flang's users.

use gangway_frontend::words::Words;
use gangway_openmp::words::OpenMp;
use gangway_runtime::{ErrorKind, Remedy};

/// This front end's words.
pub(crate) const WORDS: &dyn Words = &Clang;

/// OpenMP's words, and what clang does.
struct Clang;

/// What the name of a region's kernel begins with.
const REGION: &str = "__omp_offloading_";
/// clang's number of a lambda, which it counts otherwise for devices.
const LAMBDA: &str = "$_";

impl Words for Clang {
    fn instead(&self, kind: &ErrorKind) -> Option<String> {
        OpenMp.instead(kind)
    }

    fn help(&self, kind: &ErrorKind) -> Vec<String> {
        match kind {
            ErrorKind::NoKernel(gangway_backend::Error::NoSuchSymbol { name })
                if name.starts_with(REGION) && name.contains(LAMBDA) =>
            {
                vec![
                    "clang leaves out the kernel of a template that takes a lambda where other lambdas or tasks are \
                     in regions of the same function; make the lambda in a function of its own"
                        .to_owned(),
                ]
            }
            _ => OpenMp.help(kind),
        }
    }

    fn remedy(&self, remedy: &Remedy) -> Option<String> {
        OpenMp.remedy(remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lambdas_kernel_that_clang_leaves_out_is_told_from_others() {
        let help = |name: &str| {
            WORDS.help(&ErrorKind::NoKernel(gangway_backend::Error::NoSuchSymbol { name: name.to_owned() }))
        };
        let lambdas = help("__omp_offloading_1_2__Z4eachIZ4mainE3$_0ElT_i_l3");
        assert!(lambdas[0].starts_with("clang leaves out"), "{lambdas:?}");
        assert_eq!(help("__omp_offloading_1_2_main_l3"), [""; 0]);
        // One of GCC's.
        assert_eq!(help("main$_omp_fn$0"), [""; 0]);
    }
}
