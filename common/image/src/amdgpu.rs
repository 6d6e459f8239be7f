//! AMD GPU architecture names, from the machine number in an ELF header's flags.
//!
//! The table is LLVM's numbering; a test compares a name of every generation with what
//! the installed clang writes.

/// `EF_AMDGPU_MACH` and the processor's name, sorted by number.
#[rustfmt::skip]
const PROCESSORS: &[(u8, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5f, "gfx9-4-generic"),
];

/// The processor of an image, as LLVM's `-mcpu` spells it.
#[must_use]
pub fn processor(flags: u32) -> Option<&'static str> {
    let number = (flags & 0xff) as u8;
    let at = PROCESSORS.binary_search_by_key(&number, |(known, _)| *known).ok()?;
    Some(PROCESSORS[at].1)
}

/// `:sramecc` and `:xnack` as the flags demand them; "any" and "unsupported" say nothing.
pub fn features(flags: u32) -> impl Iterator<Item = &'static str> {
    let sramecc = match flags >> 10 & 3 {
        2 => Some(":sramecc-"),
        3 => Some(":sramecc+"),
        _ => None,
    };
    let xnack = match flags >> 8 & 3 {
        2 => Some(":xnack-"),
        3 => Some(":xnack+"),
        _ => None,
    };
    sramecc.into_iter().chain(xnack)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_without_duplicates() {
        assert!(PROCESSORS.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn names() {
        assert_eq!(processor(0x53f), Some("gfx90a"));
        assert_eq!(processor(0xff), None);
        assert_eq!(features(0x53f).collect::<String>(), "");
        assert_eq!(features(0xe3f).collect::<String>(), ":sramecc+:xnack-");
    }
}
