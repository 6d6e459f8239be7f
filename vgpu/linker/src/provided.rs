//! The functions that a program may call and that no input defines. These are the device's system
//! calls, and the part of the device runtime library behind cooperative groups.
//!
//! This is the one list of them. The linker leaves them undefined and checks how they
//! are declared; the engines bring their code.

use gangway_ptx::{Function, Variable};

/// A function of the device: its name, and the sizes of its results and parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provided {
    pub name: &'static str,
    pub returns: &'static [u64],
    pub parameters: &'static [u64],
}

const fn provided_function(
    name: &'static str,
    returns: &'static [u64],
    parameters: &'static [u64],
) -> Provided {
    Provided { name, returns, parameters }
}

/// Sorted by nothing in particular; there are few.
pub const PROVIDED: &[Provided] = &[
    provided_function("vprintf", &[4], &[8, 8]),
    provided_function("malloc", &[8], &[8]),
    provided_function("free", &[], &[8]),
    provided_function("__assertfail", &[], &[8, 8, 4, 8, 8]),
    provided_function("cudaCGGetIntrinsicHandle", &[8], &[4]),
    provided_function("cudaCGSynchronize", &[4], &[8, 4]),
    provided_function("cudaCGSynchronizeGrid", &[4], &[8, 4]),
    provided_function("cudaCGGetSize", &[4], &[8, 8, 8]),
    provided_function("cudaCGGetRank", &[4], &[8, 8, 8]),
];

/// The device's function of this name.
#[must_use]
pub fn provided(name: &str) -> Option<&'static Provided> {
    PROVIDED.iter().find(|provided| provided.name == name)
}

impl Provided {
    /// Whether a declaration has these results and parameters.
    #[must_use]
    pub fn fits(&self, function: &Function) -> bool {
        let same = |list: &[Variable], sizes: &[u64]| {
            list.len() == sizes.len()
                && list.iter().zip(sizes).all(|(variable, &size)| variable.size() == Some(size))
        };
        !function.entry
            && same(&function.returns, self.returns)
            && same(&function.parameters, self.parameters)
    }
}
