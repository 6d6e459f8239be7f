//! The arrays of a construct, as GCC's code passes them, as list items.
//!
//! What a kind means depends on what the arrays are for. The meanings of all 256 kinds stand
//! in a table for each type of construct, so that reading an item is loads.

use crate::abi::kind::*;
use crate::libgomp::libgomp;
use crate::links;
use gangway_runtime::{Item, Items, Label, MapKind};
use std::cell::Cell;

/// What arrays are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Construct {
    /// A target region.
    Region,
    /// The beginning of structured or unstructured data.
    Begin,
    /// The end of structured data: the arrays of its beginning.
    EndOfStructured,
    /// The end of unstructured data.
    End,
    /// `target update`.
    Update,
}

/// What the kinds of a construct mean.
#[derive(Debug, Clone, Copy)]
pub struct Meanings {
    kinds: &'static [MapKind; 256],
    /// Pointers of `declare target link` variables are attached.
    links: bool,
}

impl Meanings {
    /// The meanings of all kinds; `begins` says that data may become present.
    #[must_use]
    pub const fn new(kinds: &'static [MapKind; 256], begins: bool) -> Self {
        Self { kinds, links: begins }
    }
}

impl From<Construct> for Meanings {
    #[inline]
    fn from(construct: Construct) -> Self {
        match construct {
            Construct::Region if libgomp().keeps_pointers => Self::new(&REGION_THAT_KEEPS, true),
            Construct::Region => Self::new(&REGION, true),
            Construct::Begin if libgomp().keeps_pointers => Self::new(&BEGIN_THAT_KEEPS, true),
            Construct::Begin => Self::new(&BEGIN, true),
            Construct::EndOfStructured => Self::new(&END_OF_STRUCTURED, false),
            Construct::End => Self::new(&END, false),
            Construct::Update => Self::new(&UPDATE, false),
        }
    }
}

/// The arrays of one construct.
pub struct Table<'a> {
    meanings: &'static [MapKind; 256],
    hosts: &'a [Cell<usize>],
    sizes: &'a [usize],
    kinds: &'a [u16],
    /// Pointers that are to be attached, besides: of `declare target link` variables.
    links: Vec<Item>,
}

impl<'a> Table<'a> {
    /// The arrays as list items; nothing is copied.
    ///
    /// # Safety
    /// They are the compiler's, of `count` elements, and last as long as the result.
    #[inline]
    #[must_use]
    pub unsafe fn new(
        construct: impl Into<Meanings>,
        count: usize,
        hosts: *mut usize,
        sizes: *const usize,
        kinds: *const u16,
    ) -> Self {
        if count == 0 {
            return Self::of(construct, &[], &[], &[]);
        }
        // SAFETY: the caller's promise.
        unsafe {
            Self::of(
                construct,
                std::slice::from_raw_parts(hosts.cast::<Cell<usize>>(), count),
                std::slice::from_raw_parts(sizes, count),
                std::slice::from_raw_parts(kinds, count),
            )
        }
    }

    /// Arrays of the same length as list items.
    #[inline]
    #[must_use]
    pub fn of(
        construct: impl Into<Meanings>,
        hosts: &'a [Cell<usize>],
        sizes: &'a [usize],
        kinds: &'a [u16],
    ) -> Self {
        let Meanings { kinds: meanings, links } = construct.into();
        let links = if links {
            links::items(hosts.iter().map(Cell::get).zip(sizes.iter().copied()))
        } else {
            Vec::new()
        };
        Self { meanings, hosts, sizes, kinds, links }
    }

    /// The host addresses.
    #[must_use]
    pub const fn hosts(&self) -> &'a [Cell<usize>] {
        self.hosts
    }

    /// The sizes.
    #[must_use]
    pub const fn sizes(&self) -> &'a [usize] {
        self.sizes
    }

    /// The kinds.
    #[must_use]
    pub const fn kinds(&self) -> &'a [u16] {
        self.kinds
    }

    /// What the pointer at an item's address points to: its size is the distance from there
    /// to the section.
    fn target(&self, index: usize) -> usize {
        // SAFETY: the compiler says that a pointer is there.
        let pointer = unsafe { *(self.hosts[index].get() as *const usize) };
        if pointer == 0 { 0 } else { pointer.wrapping_add(self.sizes[index]) }
    }
}

impl Table<'_> {
    /// Bytes of the pointer at an item's address: of the whole descriptor where Fortran has
    /// one, so that its bounds are on the device when the pointer is.
    fn pointer_size(&self, index: usize) -> usize {
        let descriptor = index.checked_sub(1).filter(|&before| {
            self.kinds[before] as u8 == TO_PSET && self.hosts[before].get() == self.hosts[index].get()
        });
        descriptor.map_or(size_of::<usize>(), |before| self.sizes[before].max(size_of::<usize>()))
    }

    /// Whether what a pointer is to be attached to, or has been, has no bytes, as an allocatable
    /// component without elements, so that it is on no device. It stands before the pointer, and Fortran's
    /// descriptor between them.
    #[cold]
    fn is_target_empty(&self, index: usize) -> bool {
        let is_descriptor = |&at: &usize| self.kinds[at] as u8 == TO_PSET;
        let before = index.checked_sub(1);
        let data = before.filter(is_descriptor).map_or(before, |descriptor| descriptor.checked_sub(1));
        data.is_some_and(|data| self.sizes[data] == 0 && self.hosts[data].get() == self.target(index))
    }
}

impl Items for Table<'_> {
    #[inline]
    fn len(&self) -> usize {
        self.kinds.len() + self.links.len()
    }

    #[inline]
    fn kind(&self, index: usize) -> MapKind {
        let Some(&kind) = self.kinds.get(index) else {
            return self.links[index - self.kinds.len()].kind;
        };
        let has_slot = kind & NO_SLOT == 0;
        let kind = self.meanings[usize::from(kind as u8)];
        let kind = if has_slot { kind } else { kind.without(MapKind::PARAMETER) };
        // What is not there is passed as it is.
        if self.hosts[index].get() == 0 { kind.only(MapKind::PARAMETER).with(MapKind::LITERAL) } else { kind }
    }

    #[inline]
    fn item(&self, index: usize) -> Item {
        if index >= self.kinds.len() {
            return self.links[index - self.kinds.len()];
        }
        let (address, size) = (self.hosts[index].get(), self.sizes[index]);
        let mut kind = self.kind(index);
        // What has to be there of an attachment: its target, or at its end the attachment.
        let needs = match self.kinds[index] as u8 {
            ATTACH => kind.only(MapKind::PRESENT),
            DETACH | FORCE_DETACH => kind.only(MapKind::COUNTED),
            _ => MapKind::ALLOC,
        };
        if needs != MapKind::ALLOC && self.is_target_empty(index) {
            kind = kind.without(needs);
        }
        // OpenMP's null pointers are attached, too: the member may have storage that has not been written.
        let is_attached = self.kinds[index] as u8 == ATTACH && kind.has(MapKind::ATTACH);
        if is_attached && needs == MapKind::ALLOC && self.target(index) == 0 {
            kind = kind.with(MapKind::NULL_IF_ABSENT);
        }
        let (begin, size) = match self.kinds[index] as u8 {
            _ if kind.has(MapKind::LITERAL) => (address, 0),
            ATTACH | ATTACH_ZERO_LENGTH_ARRAY_SECTION | DETACH | FORCE_DETACH => {
                (self.target(index), size_of::<usize>())
            }
            ALWAYS_POINTER => (self.target(index), self.pointer_size(index)),
            POINTER | POINTER_TO_ZERO_LENGTH_ARRAY_SECTION => (address, self.pointer_size(index)),
            ZERO_LEN_ARRAY_SECTION
            | DELETE_ZERO_LEN_ARRAY_SECTION
            | USE_DEVICE_PTR
            | USE_DEVICE_PTR_IF_PRESENT => (address, 0),
            _ => (address, size),
        };
        Item { base: address, begin, size, kind, label: Label::NONE }
    }

    #[inline]
    fn knows(&self, kind: MapKind) -> bool {
        kind.unknown_encoding().is_none()
    }

    #[cold]
    fn explain_unknown(&self, kind: MapKind) -> String {
        let encoding = kind.unknown_encoding().unwrap_or_default();
        format!("kind {encoding:#04x} of libgomp's interface")
    }

    fn pointee(&self, index: usize) -> usize {
        self.target(index)
    }

    #[inline]
    fn return_address(&self, index: usize, address: usize) {
        self.hosts[index].set(address);
    }
}

static REGION: [MapKind; 256] = meanings(Construct::Region);
/// With pointers that keep their value if what they point to is not mapped.
static REGION_THAT_KEEPS: [MapKind; 256] = {
    let mut all = with_pointers_that_keep(REGION);
    let section = &mut all[ZERO_LEN_ARRAY_SECTION as usize];
    *section = section.without(MapKind::NULL_IF_ABSENT).with(MapKind::IF_PRESENT);
    all
};
static BEGIN_THAT_KEEPS: [MapKind; 256] = {
    let mut all = with_pointers_that_keep(BEGIN);
    // Since GCC 15 `enter data` attaches to what is not mapped.
    let attached = &mut all[ATTACH as usize];
    *attached = attached.with(MapKind::NULL_IF_ABSENT).with(MapKind::KEEP_IF_ABSENT);
    all
};
static BEGIN: [MapKind; 256] = meanings(Construct::Begin);
static END_OF_STRUCTURED: [MapKind; 256] = meanings(Construct::EndOfStructured);
static END: [MapKind; 256] = meanings(Construct::End);
static UPDATE: [MapKind; 256] = meanings(Construct::Update);

/// The meanings with pointers in mapped data that keep their value, too.
const fn with_pointers_that_keep(mut all: [MapKind; 256]) -> [MapKind; 256] {
    let kinds = [POINTER_TO_ZERO_LENGTH_ARRAY_SECTION, ATTACH_ZERO_LENGTH_ARRAY_SECTION];
    let mut at = 0;
    while at < kinds.len() {
        let pointer = &mut all[kinds[at] as usize];
        *pointer = pointer.with(MapKind::KEEP_IF_ABSENT);
        at += 1;
    }
    all
}

const fn meanings(construct: Construct) -> [MapKind; 256] {
    let mut all = [MapKind::ALLOC; 256];
    let mut encoding = 0;
    while encoding < all.len() {
        all[encoding] = meaning(construct, encoding as u8);
        encoding += 1;
    }
    all
}

/// What a kind means in a construct of OpenMP.
const fn meaning(construct: Construct, encoding: u8) -> MapKind {
    let implicit = encoding & IMPLICIT_MASK == IMPLICIT;
    let plain = if implicit { encoding & !IMPLICIT } else { encoding };
    let Some(kind) = plain_meaning(construct, plain) else { return MapKind::unknown(encoding as u32) };
    let mut kind = kind.with(MapKind::ONCE);
    // Where data ends, an item may extend beyond what is present: a structure of which members
    // have been mapped.
    if implicit || matches!(construct, Construct::End) {
        kind = kind.with(MapKind::IMPLICIT);
    }
    // As libgomp: a part that is not mapped would keep its old values without a word.
    if matches!(construct, Construct::Update) {
        kind = kind.with(MapKind::WHOLE);
    }
    // GCC's kernels have a slot for every item.
    if matches!(construct, Construct::Region) { kind.with(MapKind::PARAMETER) } else { kind }
}

const fn plain_meaning(construct: Construct, encoding: u8) -> Option<MapKind> {
    let ends = matches!(construct, Construct::EndOfStructured | Construct::End);
    Some(match encoding {
        POINTER_TO_ZERO_LENGTH_ARRAY_SECTION => {
            MapKind::POINTER.with(MapKind::TO).with(MapKind::NULL_IF_ABSENT)
        }
        DELETE_ZERO_LEN_ARRAY_SECTION => MapKind::DELETE,
        // OpenMP 5.2 section 5.4.8: what is not mapped keeps the host's address, and so does what
        // has no bytes.
        USE_DEVICE_PTR if !ends => ADDRESS.with(MapKind::IF_PRESENT),
        // OpenMP 5.2 section 5.8.3: where a construct begins, or `exit data` or `target update` is met.
        FORCE_PRESENT if matches!(construct, Construct::EndOfStructured) => MapKind::ALLOC,
        ALWAYS_PRESENT_TO | ALWAYS_PRESENT_FROM | ALWAYS_PRESENT_TOFROM
            if !matches!(construct, Construct::EndOfStructured) =>
        {
            always(encoding).with(MapKind::PRESENT)
        }
        ALWAYS_TO | ALWAYS_FROM | ALWAYS_TOFROM => always(encoding),
        ALWAYS_PRESENT_TO | ALWAYS_PRESENT_FROM | ALWAYS_PRESENT_TOFROM => always(encoding),
        ATTACH_ZERO_LENGTH_ARRAY_SECTION if ends => MapKind::DETACH,
        ATTACH if !ends => MapKind::ATTACH.with(MapKind::COUNTED),
        ATTACH_ZERO_LENGTH_ARRAY_SECTION => {
            MapKind::ATTACH.with(MapKind::COUNTED).with(MapKind::NULL_IF_ABSENT)
        }
        _ => return common_meaning(ends, encoding),
    })
}

/// What is always copied: the two lowest bits of its encoding say in which directions.
const fn always(encoding: u8) -> MapKind {
    let copied = match encoding & 3 {
        TO => MapKind::TO,
        FROM => MapKind::FROM,
        _ => MapKind::TO.with(MapKind::FROM),
    };
    copied.with(MapKind::ALWAYS)
}

/// The construct gives the caller the device address.
pub(crate) const ADDRESS: MapKind = MapKind::RETURN_ADDRESS.with(MapKind::UNCOUNTED);

/// What a kind means where data begins, or ends, in OpenMP and in OpenACC.
pub(crate) const fn common_meaning(ends: bool, encoding: u8) -> Option<MapKind> {
    Some(match encoding {
        ALLOC | RELEASE => MapKind::ALLOC,
        TO | TO_PSET => MapKind::TO,
        FROM => MapKind::FROM,
        TOFROM => MapKind::TO.with(MapKind::FROM),
        // The value comes first, and then what it is attached to: a null pointer stays one.
        POINTER => MapKind::POINTER.with(MapKind::TO),
        FORCE_PRESENT => MapKind::PRESENT,
        DELETE => MapKind::DELETE,
        FIRSTPRIVATE_INT => MapKind::LITERAL,
        IF_PRESENT => MapKind::IF_PRESENT,
        FIRSTPRIVATE => MapKind::PRIVATE.with(MapKind::TO),
        // The address has been given back where the data began.
        USE_DEVICE_PTR | USE_DEVICE_PTR_IF_PRESENT if ends => MapKind::LITERAL,
        USE_DEVICE_PTR_IF_PRESENT => ADDRESS.with(MapKind::IF_PRESENT),
        ZERO_LEN_ARRAY_SECTION => MapKind::NULL_IF_ABSENT,
        STRUCT | STRUCT_UNORD => MapKind::STRUCTURE,
        ALWAYS_POINTER => {
            // The pointer has to be there; what it points to may be a section without elements.
            let always = MapKind::ALWAYS.with(MapKind::REWRITE);
            MapKind::ATTACH.with(always).with(MapKind::PRESENT).with(MapKind::NULL_IF_ABSENT)
        }
        // What was attached at the beginning is detached.
        ATTACH if ends => MapKind::DETACH,
        // As libgomp, where OpenACC 3.3 section 2.7.2 has no action: it has to have been attached.
        DETACH => MapKind::DETACH.with(MapKind::COUNTED),
        FORCE_DETACH => MapKind::DETACH.with(MapKind::COUNTED).with(MapKind::DELETE),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(construct: Construct, encoding: u8) -> MapKind {
        Table::of(construct, &[Cell::new(0x1000)], &[8], &[u16::from(encoding) | 3 << 8]).kind(0)
    }

    #[test]
    fn updates_are_of_whole_items() {
        assert_eq!(kind(Construct::Update, TO), MapKind::ONCE | MapKind::WHOLE | MapKind::TO);
        assert!(!kind(Construct::End, FROM).has(MapKind::WHOLE));
    }

    #[test]
    fn kinds_of_regions_are_parameters_and_count_once() {
        let region = MapKind::PARAMETER | MapKind::ONCE;
        assert_eq!(kind(Construct::Region, TOFROM), region | MapKind::TO | MapKind::FROM);
        assert_eq!(kind(Construct::Region, FIRSTPRIVATE_INT), region | MapKind::LITERAL);
        assert_eq!(kind(Construct::Region, FIRSTPRIVATE), region | MapKind::PRIVATE | MapKind::TO);
        assert_eq!(kind(Construct::Begin, TO), MapKind::ONCE | MapKind::TO);
    }

    #[test]
    fn implicit_kinds_are_those_without_the_flag() {
        for encoding in [ALLOC, TO, FROM, TOFROM] {
            let explicit = kind(Construct::Region, encoding);
            assert_eq!(kind(Construct::Region, encoding | IMPLICIT), explicit | MapKind::IMPLICIT);
        }
        // Other kinds have one bit of the flag.
        assert!(!kind(Construct::Region, ATTACH).has(MapKind::IMPLICIT));
        assert!(!kind(Construct::EndOfStructured, FORCE_DETACH).has(MapKind::IMPLICIT));
    }

    #[test]
    fn what_has_no_address_is_passed_as_it_is() {
        let (hosts, kinds) = ([Cell::new(0)], [u16::from(TOFROM)]);
        let table = Table::of(Construct::Region, &hosts, &[64], &kinds);
        assert_eq!(table.kind(0), MapKind::PARAMETER | MapKind::LITERAL);
        assert_eq!((table.item(0).base, table.item(0).size), (0, 0));
    }

    #[test]
    fn the_end_undoes_what_the_beginning_did() {
        let end = Construct::EndOfStructured;
        assert!(kind(end, USE_DEVICE_PTR).has(MapKind::LITERAL));
        let pointer = 0x5000_usize;
        let address = (&raw const pointer).addr();
        let (hosts, kinds) = ([Cell::new(address)], [u16::from(ATTACH)]);
        let table = Table::of(end, &hosts, &[16], &kinds);
        assert!(table.kind(0).has(MapKind::DETACH));
        assert_eq!((table.item(0).base, table.item(0).begin), (address, 0x5010));
    }

    #[test]
    fn what_is_detached_has_been_attached() {
        let pointer = 0x5000_usize;
        let address = (&raw const pointer).addr();
        let needed = |construct, size, encoding: u8| {
            let (hosts, kinds) = ([Cell::new(pointer), Cell::new(address)], [FROM, encoding].map(u16::from));
            Table::of(construct, &hosts, &[size, 0], &kinds).item(1).kind.has(MapKind::COUNTED)
        };
        for encoding in [DETACH, FORCE_DETACH] {
            assert!(needed(Construct::End, 8, encoding));
            // Nothing can be attached to what has no bytes.
            assert!(!needed(Construct::End, 0, encoding));
        }
        // OpenACC 3.3 section 2.7.2: the end of a construct finds what is left.
        assert!(!needed(Construct::EndOfStructured, 8, ATTACH));
    }

    #[test]
    fn what_has_to_be_present() {
        let (to, from) = (MapKind::TO | MapKind::ALWAYS, MapKind::FROM | MapKind::ALWAYS);
        let kinds = [
            (FORCE_PRESENT, MapKind::ALLOC),
            (ALWAYS_PRESENT_TO, to),
            (ALWAYS_PRESENT_FROM, from),
            (ALWAYS_PRESENT_TOFROM, to | from),
        ];
        for (encoding, copied) in kinds {
            let expected = MapKind::ONCE | copied;
            assert_eq!(kind(Construct::Begin, encoding), expected | MapKind::PRESENT);
            assert_eq!(kind(Construct::Region, encoding), expected | MapKind::PRESENT | MapKind::PARAMETER);
            assert_eq!(kind(Construct::Update, encoding), expected | MapKind::PRESENT | MapKind::WHOLE);
            // What has been there at the beginning may have been deleted.
            assert_eq!(kind(Construct::EndOfStructured, encoding), expected);
        }
        assert_eq!(kind(Construct::Region, STRUCT_UNORD), kind(Construct::Region, STRUCT));
    }

    #[test]
    fn unknown_kinds_keep_their_number() {
        for encoding in [DEVICE_RESIDENT, LINK, 20, 200, 255] {
            let kind = kind(Construct::Region, encoding);
            assert_eq!(kind.unknown_encoding(), Some(encoding.into()));
            let table = Table::of(Construct::Region, &[], &[], &[]);
            assert!(!table.knows(kind) && table.explain_unknown(kind).contains("libgomp"));
        }
    }
}
