//! Whose virtual GPUs there are, as `GANGWAY_VGPU_MAKERS` says.

/// The makers of virtual GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maker {
    Nvidia,
    Amd,
}

impl Maker {
    /// What the variable calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nvidia => "nvidia",
            Self::Amd => "amd",
        }
    }

    /// What messages call it, before its GPUs.
    #[must_use]
    pub const fn whose(self) -> &'static str {
        match self {
            Self::Nvidia => "NVIDIA's",
            Self::Amd => "AMD's",
        }
    }

    /// Whether a list of makers has it; `None` if the list has what is none.
    #[must_use]
    pub fn is_in(self, list: &str) -> Option<bool> {
        let names = || list.split(',').map(str::trim);
        let known = |name| [Self::Nvidia, Self::Amd].iter().any(|maker| maker.name() == name);
        names().all(known).then(|| names().any(|name| name == self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::Maker::{Amd, Nvidia};

    #[test]
    fn lists() {
        assert_eq!([Nvidia, Amd].map(|maker| maker.is_in("amd")), [Some(false), Some(true)]);
        assert_eq!([Nvidia, Amd].map(|maker| maker.is_in("nvidia, amd")), [Some(true); 2]);
        assert_eq!([Nvidia, Amd].map(|maker| maker.is_in("intel,amd")), [None; 2]);
    }
}
