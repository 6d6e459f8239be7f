//! Instruction sets: a processor, and how two of its features are set.
//!
//! The number of a handle has all of it, so that a name is a handle of its own and no table is
//! needed.

use gangway_code_object::target::{Feature, Target};
use gangway_gcn::Gpu;

use super::Agent;
use crate::abi::handle::Kind;
use crate::abi::{Handle, Result, Status};
use crate::objects::process::config::Config;

/// How an instruction set has a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Not named: there is no such feature, or it does not matter.
    Any,
    Off,
    On,
}

impl Setting {
    const fn number(self) -> u64 {
        match self {
            Self::Any => 0,
            Self::Off => 1,
            Self::On => 2,
        }
    }

    const fn of(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Any),
            1 => Some(Self::Off),
            2 => Some(Self::On),
            _ => None,
        }
    }

    /// Whether code with this setting runs where the feature is as given.
    fn runs_on(self, there: Self) -> bool {
        self == Self::Any || self == there
    }
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    pub gpu: Gpu,
    pub sramecc: Setting,
    pub xnack: Setting,
}

const PREFIX: &str = "amdgcn-amd-amdhsa--";

impl Isa {
    /// The instruction set of the virtual GPUs.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let sramecc = if has_sramecc(config.processor) { Setting::On } else { Setting::Any };
        let xnack = if super::shares_host() { Setting::On } else { Setting::Off };
        Self { gpu: config.processor, sramecc, xnack }
    }

    #[must_use]
    pub fn handle(self) -> Handle {
        let gpu = self.gpu as u64;
        Handle::new(Kind::Isa, gpu << 8 | self.sramecc.number() << 4 | self.xnack.number())
    }

    pub fn get(handle: Handle) -> Result<Self> {
        let number = handle.number(Kind::Isa).ok_or(Status::ERROR_INVALID_ISA)?;
        let gpu = usize::try_from(number >> 8).ok().and_then(|at| Gpu::ALL.get(at).copied());
        match (gpu, Setting::of(number >> 4 & 15), Setting::of(number & 15)) {
            (Some(gpu), Some(sramecc), Some(xnack)) => Ok(Self { gpu, sramecc, xnack }),
            _ => Err(Status::ERROR_INVALID_ISA),
        }
    }

    /// `amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-` (AMDGPU guide, "Target ID").
    #[must_use]
    pub fn name(self) -> String {
        let mut name = format!("{PREFIX}{}", self.gpu);
        for (feature, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                Setting::Any => {}
                Setting::Off => name += &format!(":{feature}-"),
                Setting::On => name += &format!(":{feature}+"),
            }
        }
        name
    }

    /// The instruction set of a name; `None` for one that there is not.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(PREFIX)?.split(':');
        let gpu = Gpu::named(parts.next()?)?;
        let mut isa = Self { gpu, sramecc: Setting::Any, xnack: Setting::Any };
        for part in parts {
            let (feature, sign) = part.split_at_checked(part.len().checked_sub(1)?)?;
            let setting = match sign {
                "-" => Setting::Off,
                "+" => Setting::On,
                _ => return None,
            };
            let place = match feature {
                "sramecc" if has_sramecc(gpu) => &mut isa.sramecc,
                "xnack" => &mut isa.xnack,
                _ => return None,
            };
            if std::mem::replace(place, setting) != Setting::Any {
                return None;
            }
        }
        Some(isa)
    }

    /// Whether code for this one runs on another.
    #[must_use]
    pub fn runs_on(self, there: Self) -> bool {
        self.gpu == there.gpu && self.sramecc.runs_on(there.sramecc) && self.xnack.runs_on(there.xnack)
    }
}

/// Whether a processor's memories can correct errors.
const fn has_sramecc(gpu: Gpu) -> bool {
    !matches!(gpu, Gpu::Gfx900)
}

/// The processors that code for a generic one runs on (AMDGPU guide, "Generic Processors").
fn generic(processor: &str) -> &'static [Gpu] {
    match processor {
        "gfx9-generic" => &[Gpu::Gfx900, Gpu::Gfx906],
        "gfx9-4-generic" => &[Gpu::Gfx942],
        _ => &[],
    }
}

/// Whether an image can be loaded onto an agent.
#[must_use]
pub fn accepts(agent: &Agent, target: &Target) -> bool {
    let isa = Isa::of(agent.config());
    let fits = |code: Feature, there: Setting| match there {
        Setting::Any => true,
        setting => code.runs_with(setting == Setting::On),
    };
    let same = target.processor == isa.gpu.name() || generic(target.processor).contains(&isa.gpu);
    same && fits(target.sramecc, isa.sramecc) && fits(target.xnack, isa.xnack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_handles_are_the_same_thing() {
        for gpu in Gpu::ALL {
            for xnack in [Setting::Any, Setting::Off, Setting::On] {
                let isa = Isa { gpu, sramecc: Setting::Any, xnack };
                assert_eq!(Isa::named(&isa.name()), Some(isa));
                assert_eq!(Isa::get(isa.handle()), Ok(isa));
            }
        }
        let isa = Isa::named("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-").unwrap();
        assert_eq!((isa.gpu, isa.sramecc, isa.xnack), (Gpu::Gfx90a, Setting::On, Setting::Off));
        for wrong in [
            "",
            "gfx90a",
            "amdgcn-amd-amdhsa--gfx1",
            "amdgcn-amd-amdhsa--gfx90a:",
            "amdgcn-amd-amdhsa--gfx90a:xnack",
            "amdgcn-amd-amdhsa--gfx90a:xnack+:xnack-",
            "amdgcn-amd-amdhsa--gfx900:sramecc+",
            "amdgcn-amd-amdhsa--gfx90a:é",
        ] {
            assert_eq!(Isa::named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn code_that_names_no_setting_runs_everywhere() {
        let named = |name: &str| Isa::named(&format!("{PREFIX}{name}")).unwrap();
        let there = named("gfx90a:sramecc+:xnack-");
        assert!(named("gfx90a").runs_on(there) && named("gfx90a:xnack-").runs_on(there));
        assert!(!named("gfx90a:xnack+").runs_on(there) && !named("gfx908").runs_on(there));
    }
}
