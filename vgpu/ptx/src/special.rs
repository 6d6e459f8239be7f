//! The special registers that a program may read, with their types and the version
//! and processor that brought them.

use crate::types::{Type, Version, spelled};

spelled! {
    SpecialRegister {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid",
        Smid = "%smid", Nsmid = "%nsmid", Gridid = "%gridid",
        LanemaskEq = "%lanemask_eq", LanemaskLe = "%lanemask_le", LanemaskLt = "%lanemask_lt",
        LanemaskGe = "%lanemask_ge", LanemaskGt = "%lanemask_gt",
        Clock = "%clock", ClockHi = "%clock_hi", Clock64 = "%clock64",
        Globaltimer = "%globaltimer", GlobaltimerLo = "%globaltimer_lo", GlobaltimerHi = "%globaltimer_hi",
        TotalSmemSize = "%total_smem_size", DynamicSmemSize = "%dynamic_smem_size",
        // Of the 32 registers that a driver may use as it likes, those that cooperative
        // groups read: the upper and lower half of the address of the grid's workspace.
        Envreg1 = "%envreg1", Envreg2 = "%envreg2",
    }
}

impl SpecialRegister {
    #[must_use]
    pub const fn ty(self) -> Type {
        use SpecialRegister::*;
        match self {
            Gridid | Clock64 | Globaltimer => Type::U64,
            _ => Type::U32,
        }
    }

    /// Whether it may be read as `ty` although it is declared with another size: the
    /// thread and grid registers were 16 bits wide before PTX 2.0, `%gridid` 32.
    #[must_use]
    pub const fn reads_as(self, ty: Type) -> bool {
        use SpecialRegister::*;
        match self {
            Gridid => ty.size() == 8 || ty.size() == 4,
            TidX | TidY | TidZ | NtidX | NtidY | NtidZ | CtaidX | CtaidY | CtaidZ | NctaidX | NctaidY
            | NctaidZ => ty.size() == 4 || ty.size() == 2,
            _ => ty.size() == self.ty().size(),
        }
    }

    #[must_use]
    pub const fn since(self) -> Version {
        use SpecialRegister::*;
        match self {
            Clock64 | LanemaskEq | LanemaskLe | LanemaskLt | LanemaskGe | LanemaskGt | Nsmid | Nwarpid => {
                Version::new(2, 0)
            }
            Globaltimer | GlobaltimerLo | GlobaltimerHi => Version::new(3, 1),
            TotalSmemSize | DynamicSmemSize => Version::new(4, 1),
            Envreg1 | Envreg2 => Version::new(2, 1),
            ClockHi => Version::new(5, 0),
            _ => Version::new(1, 0),
        }
    }

    /// Names of special registers that exist in PTX and are not provided here.
    #[must_use]
    pub fn is_known_elsewhere(name: &str) -> bool {
        const PREFIXES: &[&str] = &[
            "%cluster",
            "%ncluster",
            "%is_explicit_cluster",
            "%pm",
            "%envreg",
            "%reserved_smem",
            "%aggr_smem",
            "%current_graph",
        ];
        PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    }
}
