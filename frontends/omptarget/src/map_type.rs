//! LLVM's map types: how its compilers say what is to be done with a list item.

use gangway_runtime::MapKind;

/// Every bit with a meaning.
const KNOWN: u64 = MapKind::TO
    .with(MapKind::FROM)
    .with(MapKind::ALWAYS)
    .with(MapKind::DELETE)
    .with(MapKind::POINTER_AND_POINTEE)
    .with(MapKind::PARAMETER)
    .with(MapKind::RETURN_ADDRESS)
    .with(MapKind::PRIVATE)
    .with(MapKind::LITERAL)
    .with(MapKind::IMPLICIT)
    .with(MapKind::CLOSE)
    .with(MapKind::PRESENT)
    .with(MapKind::HOLD)
    .with(MapKind::ATTACH)
    .with(MapKind::NULL_IF_ABSENT)
    .with(MapKind::IN_PIECES)
    .bits()
    | MEMBER_OF
    // `error`/reserved in older compilers; it carries no meaning.
    | 0x800;

/// One-based index of the structure that an item is a member of.
const MEMBER_OF: u64 = 0xffff << 48;

/// The runtime's meanings have the numbers of LLVM's bits, so this is no work. What LLVM
/// has no meaning for is found by [`is_known`], whatever the runtime's is.
#[inline]
pub(crate) const fn kind(map_type: u64) -> MapKind {
    MapKind::from_bits(map_type)
}

/// Whether a kind was made from a map type all of whose bits have a meaning.
#[inline]
pub(crate) const fn is_known(kind: MapKind) -> bool {
    kind.bits() & !KNOWN == 0
}

/// The bits without a meaning of the map type that a kind was made from, in words.
#[cold]
pub(crate) fn explain_unknown(kind: MapKind) -> String {
    let map_type = kind.bits();
    format!("map type {map_type:#x} has bits {:#x}", map_type & !KNOWN)
}

// The numbers of `OMP_TGT_MAPTYPE_*` in LLVM's `OMPConstants.h`, which makes `kind` right.
const _: () = {
    const fn is(kind: MapKind, map_type: u64) {
        assert!(kind.bits() == map_type);
    }
    is(MapKind::TO, 0x1);
    is(MapKind::FROM, 0x2);
    is(MapKind::ALWAYS, 0x4);
    is(MapKind::DELETE, 0x8);
    is(MapKind::POINTER_AND_POINTEE, 0x10);
    is(MapKind::PARAMETER, 0x20);
    is(MapKind::RETURN_ADDRESS, 0x40);
    is(MapKind::PRIVATE, 0x80);
    is(MapKind::LITERAL, 0x100);
    is(MapKind::IMPLICIT, 0x200);
    is(MapKind::CLOSE, 0x400);
    is(MapKind::PRESENT, 0x1000);
    is(MapKind::HOLD, 0x2000);
    is(MapKind::ATTACH, 0x4000);
    is(MapKind::NULL_IF_ABSENT, 0x8000);
    is(MapKind::IN_PIECES, 0x1000_0000_0000);
    is(MapKind::ALLOC.member_of(0), 1 << MEMBER_OF.trailing_zeros());
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_from_the_future() {
        assert!(is_known(kind(0x1000_0000_0023)) && is_known(kind(0x800 | 5 << 48)));
        let future = kind(0x10_0001);
        assert!(!is_known(future));
        assert_eq!(explain_unknown(future), "map type 0x100001 has bits 0x100000");
    }
}
