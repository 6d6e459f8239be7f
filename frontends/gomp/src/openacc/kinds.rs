//! What the kinds of list items mean in constructs of OpenACC.
//!
//! Each item counts. Structured data counts on the counter of its own
//! ([`HOLD`](MapKind::HOLD)).

use crate::abi::kind::*;
use crate::table::{ADDRESS, Meanings, common_meaning};
use gangway_runtime::MapKind;

/// What arrays are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Construct {
    /// A compute construct.
    Region,
    /// The beginning of a `data` construct, and `host_data`.
    Data,
    /// Its end, with the arrays of its beginning.
    EndOfData,
    /// `enter data`.
    Enter,
    /// `exit data`.
    Exit,
    /// `update`.
    Update,
}

impl From<Construct> for Meanings {
    #[inline]
    fn from(construct: Construct) -> Self {
        match construct {
            Construct::Region => Self::new(&REGION, true),
            Construct::Data => Self::new(&DATA, true),
            Construct::EndOfData => Self::new(&END_OF_DATA, false),
            Construct::Enter => Self::new(&ENTER, true),
            Construct::Exit => Self::new(&EXIT, false),
            Construct::Update => Self::new(&UPDATE, false),
        }
    }
}

static REGION: [MapKind; 256] = meanings(Construct::Region);
static DATA: [MapKind; 256] = meanings(Construct::Data);
static END_OF_DATA: [MapKind; 256] = meanings(Construct::EndOfData);
static ENTER: [MapKind; 256] = meanings(Construct::Enter);
static EXIT: [MapKind; 256] = meanings(Construct::Exit);
static UPDATE: [MapKind; 256] = meanings(Construct::Update);

const fn meanings(construct: Construct) -> [MapKind; 256] {
    let mut all = [MapKind::ALLOC; 256];
    let mut encoding = 0;
    while encoding < all.len() {
        all[encoding] = meaning(construct, encoding as u8);
        encoding += 1;
    }
    all
}

const fn meaning(construct: Construct, encoding: u8) -> MapKind {
    let Some(kind) = plain_meaning(construct, encoding) else { return MapKind::unknown(encoding as u32) };
    match construct {
        // GCC's kernels have a slot for every item.
        Construct::Region => kind.with(MapKind::HOLD).with(MapKind::PARAMETER),
        Construct::Data | Construct::EndOfData => kind.with(MapKind::HOLD),
        Construct::Enter | Construct::Exit | Construct::Update => kind,
    }
}

/// The kinds with [`FORCE_ALLOC`]'s bit: new data, data given up whoever else has it, or data that
/// has to be there.
const fn forced(construct: Construct, copies: MapKind) -> MapKind {
    match construct {
        Construct::Region | Construct::Data | Construct::Enter => copies.with(MapKind::NEW),
        Construct::EndOfData => copies,
        Construct::Exit => copies.with(MapKind::DELETE),
        Construct::Update => copies.with(MapKind::PRESENT),
    }
}

const fn plain_meaning(construct: Construct, encoding: u8) -> Option<MapKind> {
    let ends = matches!(construct, Construct::EndOfData | Construct::Exit);
    if matches!(construct, Construct::Update) {
        return update_meaning(encoding);
    }
    Some(match encoding {
        // The pointer itself, which has a device address already.
        FORCE_DEVICEPTR => MapKind::TO,
        USE_DEVICE_PTR if !ends => ADDRESS.with(MapKind::PRESENT),
        ATTACH if !ends => MapKind::ATTACH.with(MapKind::COUNTED).with(MapKind::PRESENT),
        // Where OpenMP's `exit data` has no action.
        DETACH => MapKind::DETACH.with(MapKind::COUNTED).with(MapKind::PRESENT),
        FORCE_DETACH => MapKind::DETACH.with(MapKind::COUNTED).with(MapKind::PRESENT).with(MapKind::DELETE),
        FORCE_ALLOC => forced(construct, MapKind::ALLOC),
        FORCE_TO => forced(construct, MapKind::TO),
        FORCE_FROM => forced(construct, MapKind::FROM),
        FORCE_TOFROM => forced(construct, MapKind::TO.with(MapKind::FROM)),
        _ => return common_meaning(ends, encoding),
    })
}

/// Pointers and descriptors are not updated: those on the device have been attached.
const fn update_meaning(encoding: u8) -> Option<MapKind> {
    Some(match encoding {
        TO => MapKind::TO,
        FROM => MapKind::FROM,
        FORCE_TO => forced(Construct::Update, MapKind::TO),
        FORCE_FROM => forced(Construct::Update, MapKind::FROM),
        POINTER | TO_PSET | ALWAYS_POINTER => MapKind::LITERAL,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use gangway_runtime::{Item, Items};
    use std::cell::Cell;

    #[test]
    fn structured_and_dynamic_data_count_apart() {
        for construct in [Construct::Region, Construct::Data, Construct::EndOfData] {
            assert!(meaning(construct, TOFROM).has(MapKind::HOLD), "{construct:?}");
        }
        for construct in [Construct::Enter, Construct::Exit, Construct::Update] {
            assert!(!meaning(construct, TO).has(MapKind::HOLD), "{construct:?}");
        }
        assert!(!meaning(Construct::Region, TO).has(MapKind::ONCE));
    }

    #[test]
    fn the_end_undoes_what_the_beginning_did() {
        assert!(meaning(Construct::EndOfData, USE_DEVICE_PTR).has(MapKind::LITERAL));
        assert!(meaning(Construct::EndOfData, ATTACH).has(MapKind::DETACH));
        assert!(meaning(Construct::Data, ATTACH).has_all(MapKind::ATTACH | MapKind::COUNTED));
    }

    #[test]
    fn forced_kinds_depend_on_the_construct() {
        assert_eq!(meaning(Construct::Enter, FORCE_TO), MapKind::TO | MapKind::NEW);
        assert_eq!(meaning(Construct::Exit, FORCE_FROM), MapKind::FROM | MapKind::DELETE);
        assert_eq!(meaning(Construct::Update, FORCE_FROM), MapKind::FROM | MapKind::PRESENT);
        assert_eq!(meaning(Construct::Update, TO), MapKind::TO);
    }

    #[test]
    fn a_pointer_to_nothing_may_stay_unattached() {
        let pointer = 0x5000_usize;
        let address = (&raw const pointer).addr();
        let item = |hosts: &[usize], sizes: &[usize], kinds: &[u8]| {
            let hosts: Vec<_> = hosts.iter().map(|&host| Cell::new(host)).collect();
            let kinds: Vec<_> = kinds.iter().map(|&kind| u16::from(kind)).collect();
            Table::of(Construct::Enter, &hosts, sizes, &kinds).item(hosts.len() - 1)
        };
        let must_be_there = |item: Item| item.kind.has(MapKind::PRESENT);
        assert!(must_be_there(item(&[address], &[0], &[ATTACH])));
        assert!(must_be_there(item(&[0x5000, address], &[8, 0], &[TO, ATTACH])));
        assert!(must_be_there(item(&[0x6000, address], &[0, 0], &[TO, ATTACH])));
        assert!(!must_be_there(item(&[0x5000, address], &[0, 0], &[TO, ATTACH])));
        let fortran = item(&[0x5000, address, address], &[0, 64, 0], &[TO, TO_PSET, ATTACH]);
        assert!(!must_be_there(fortran) && fortran.kind.has(MapKind::ATTACH));
    }

    #[test]
    fn unknown_kinds_keep_their_number() {
        for encoding in [DEVICE_RESIDENT, LINK, ALWAYS_TO, 20, 255] {
            for construct in [Construct::Region, Construct::Exit, Construct::Update] {
                assert_eq!(meaning(construct, encoding).unknown_encoding(), Some(encoding.into()));
            }
        }
    }
}
