//! What a generator of machine code is to the compiler.
//!
//! [`Unit`] has everything that is known of a function; `lower` says what its instructions compute.
//! A generator decides nothing about either.

use std::str::FromStr;

use crate::abi::Flavour;
use crate::analysis::passes::Passes;
use crate::analysis::unit::{Refused, Unit};
use crate::code::Compiled;
use crate::lower::Features;

/// Which generators make code, `GANGWAY_VGPU_TIER`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Cranelift makes all.
    #[default]
    Cranelift,
    /// LLVM makes code of regions that lanes run by themselves, where it is there: before the function first runs.
    Llvm,
    /// The same, but LLVM's code comes while Cranelift's runs.
    Auto,
}

impl FromStr for Tier {
    type Err = ();

    /// `cranelift`, `llvm` or `auto`.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "cranelift" => Ok(Tier::Cranelift),
            "llvm" => Ok(Tier::Llvm),
            "auto" => Ok(Tier::Auto),
            _ => Err(()),
        }
    }
}

/// What is shown to who works on the engine: the ending of a file's name, and its text.
pub(crate) type Texts = Vec<(&'static str, String)>;

/// Makes machine code of functions. Any number of threads may use it at once.
pub(crate) trait Generator: Sync {
    /// What of the processor its code depends on, for the key of a cache; or why it cannot make
    /// code here.
    fn processor(&self) -> Result<String, Refused>;

    /// What the processor can do that sequences are made for.
    fn features(&self) -> Result<Features, Refused>;

    /// Code of a flavour, which has the signature that `abi` tells; its passes, and texts of its
    /// steps if those are asked for.
    fn generate(
        &self,
        unit: &Unit<'_>,
        flavour: Flavour,
        passes: &mut Passes,
        texts: Option<&mut Texts>,
    ) -> Result<Compiled, Refused>;
}
