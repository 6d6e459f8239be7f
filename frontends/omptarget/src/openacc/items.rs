//! The items of translated constructs, as the runtime has them.

use super::abi::{AccItem, AccPieces, AccRows, flag, kind};
use gangway_openacc::present;
use gangway_runtime::{Device, Item, Items, Label, MapKind, memory};
use std::collections::HashSet;

/// What items are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Construct {
    /// A compute construct or `data`: structured references.
    Structured,
    Enter,
    Exit,
    Update,
}

/// Items of one construct: data first, and pointers that are attached to it behind.
#[derive(Debug, Default)]
pub(super) struct Listed {
    data: Vec<Item>,
    pointers: Vec<Item>,
    /// Where the data begins that the end of the construct copies even if it stays present.
    always_out: HashSet<usize>,
}

/// Items as they are.
pub(super) struct List<'l>(pub &'l [Item]);

impl Items for List<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn kind(&self, index: usize) -> MapKind {
        self.0[index].kind
    }

    fn item(&self, index: usize) -> Item {
        self.0[index]
    }

    fn knows(&self, _kind: MapKind) -> bool {
        true
    }

    fn explain_unknown(&self, _kind: MapKind) -> String {
        String::new()
    }
}

impl Listed {
    /// Reads the items of a construct.
    pub fn of(construct: Construct, device: Option<&'static Device>, items: &[AccItem]) -> Self {
        let mut listed = Self::default();
        let object = |item: &AccItem| item.flags >> flag::OBJECT_SHIFT & flag::OBJECT_BITS;
        let is_part = |item: &AccItem| {
            let part = |device| present::begin_of_part(device, item.begin.addr(), item.bytes);
            item.flags & flag::OBJECT != 0 && device.and_then(part).is_some()
        };
        for item in items.iter().filter(|item| object(item) == 0 && !is_part(item)) {
            match device {
                Some(device) if construct == Construct::Exit && item.flags & flag::POINTER != 0 => {
                    listed.add_pointee(device, item);
                }
                _ => listed.add(construct, item),
            }
        }
        let last = items.iter().map(object).max().unwrap_or(0);
        for number in 1..=last {
            listed.add_object(construct, device, items.iter().filter(|item| object(item) == number));
        }
        listed
    }

    /// Adds members of one object. Where they begin to be present, one allocation covers them, and the pointers
    /// among them.
    fn add_object<'i>(
        &mut self,
        construct: Construct,
        device: Option<&'static Device>,
        members: impl Iterator<Item = &'i AccItem> + Clone,
    ) {
        let first = self.data.len();
        let mut pointees = Self::default();
        for item in members.clone() {
            if item.pointer.is_null() {
                self.add(construct, item);
            } else {
                pointees.add(construct, item);
                // Unstructured data ends apart from the object, whose own lifetime is not that of what it leads to.
                let place = item.pointer.addr();
                let is_made_present = match (construct, device) {
                    _ if matches!(item.kind, kind::ATTACH | kind::DETACH) => false,
                    (Construct::Enter, Some(device)) => present::begin_pointer(device, place),
                    (Construct::Exit, Some(device)) => {
                        present::end_pointer(device, place, item.flags & flag::FINALIZE != 0)
                    }
                    _ => construct != Construct::Update,
                };
                if is_made_present {
                    let kind = pointees.data.last().map_or(MapKind::ALLOC, |data| {
                        data.kind
                            .only(MapKind::HOLD | MapKind::DELETE | MapKind::PRESENT | MapKind::IF_PRESENT)
                    });
                    let label = Label::from_ptr(item.label);
                    self.data.push(Item { base: place, begin: place, size: size_of::<usize>(), kind, label });
                }
            }
        }
        let count = self.data.len() - first;
        if count > 1 && matches!(construct, Construct::Structured | Construct::Enter) {
            let begin = self.data[first..].iter().map(|item| item.begin).min().unwrap_or(0);
            let label = self.data[first].label;
            let header = Item { base: begin, begin, size: count, kind: MapKind::STRUCTURE, label };
            self.data.insert(first, header);
        }
        self.data.extend(pointees.data);
        self.always_out.extend(pointees.always_out);
        self.pointers.extend(pointees.pointers);
    }

    /// Adds what a pointer leads to where data ends. OpenACC means the pointer; where that is not present itself, programs
    /// mean the data, of which they do not say again how much it is.
    fn add_pointee(&mut self, device: &'static Device, item: &AccItem) {
        // SAFETY: translated code gives the address of a pointer of the program's.
        let begin = unsafe { *item.begin.cast::<usize>() };
        let own = memory::mapped_address(device, item.begin.addr());
        let bytes = own.is_none().then(|| present::bytes_from(device, begin)).flatten();
        let item = AccItem {
            begin: bytes.map_or(item.begin, |_| std::ptr::with_exposed_provenance_mut(begin)),
            bytes: bytes.unwrap_or(item.bytes),
            ..*item
        };
        self.add(Construct::Exit, &item);
    }

    fn add(&mut self, construct: Construct, item: &AccItem) {
        let label = Label::from_ptr(item.label);
        let hold = if construct == Construct::Structured { MapKind::HOLD } else { MapKind::ALLOC };
        let finalize = if item.flags & flag::FINALIZE != 0 { MapKind::DELETE } else { MapKind::ALLOC };
        let present = if item.flags & flag::IF_PRESENT != 0 { MapKind::ALLOC } else { MapKind::PRESENT };
        let zero = if item.flags & flag::ZERO != 0 { MapKind::ZERO } else { MapKind::ALLOC };
        let always_out = item.flags & flag::ALWAYS_OUT != 0;
        let is_always = match construct {
            Construct::Exit => always_out,
            _ => item.flags & flag::ALWAYS_IN != 0,
        };
        let always = if is_always { MapKind::ALWAYS } else { MapKind::ALLOC };
        if always_out && construct == Construct::Structured {
            self.always_out.insert(item.begin.addr());
        }
        let both = MapKind::TO | MapKind::FROM;
        let kind = match (item.kind, construct) {
            (kind::COPY, _) => both | hold | always,
            (kind::COPYIN, _) => MapKind::TO | hold | always,
            (kind::COPYOUT, _) => MapKind::FROM | hold | finalize | zero | always,
            (kind::CREATE, _) => hold | zero,
            (kind::DELETE, _) => finalize,
            (kind::NO_CREATE, _) => MapKind::IF_PRESENT | hold,
            (kind::PRESENT, _) => MapKind::PRESENT | hold,
            (kind::UPDATE_SELF, Construct::Update) => MapKind::FROM | present,
            (kind::UPDATE_DEVICE, Construct::Update) => MapKind::TO | present,
            (kind::ATTACH, _) => return self.attach(construct, item, label),
            (kind::DETACH, _) => {
                let kind = MapKind::DETACH | MapKind::COUNTED | finalize;
                return self.pointers.push(pointer(item, kind, label));
            }
            // An address is asked for, or it is one already.
            _ => return,
        };
        // What has more bytes than memory can have is told as it is.
        let is_possible = item.bytes > 0 && isize::try_from(item.bytes).is_ok();
        if is_possible && item.flags & flag::ROWS != 0 {
            self.add_rows(construct, item, kind, label);
        } else if is_possible && item.flags & flag::PIECES != 0 {
            self.add_pieces(item, kind, label);
        } else if item.bytes > 0 {
            let begin = item.begin.addr();
            self.data.push(Item { base: begin, begin, size: item.bytes, kind, label });
        }
        if !item.pointer.is_null() && construct != Construct::Update {
            self.attach(construct, item, label);
        }
    }

    /// Adds rows, and the pointers that lead to them: devices have pointers of their own, which lead to the rows
    /// there (OpenACC 3.3 section 2.7.1).
    fn add_rows(&mut self, construct: Construct, item: &AccItem, kind: MapKind, label: Label) {
        let mut blocks = vec![(item.begin.addr(), item.bytes)];
        let mut described = item.device.cast_const().cast::<AccRows>();
        let of_pointers = kind
            .only(MapKind::HOLD | MapKind::DELETE | MapKind::PRESENT | MapKind::IF_PRESENT)
            // A pointer that leads nowhere is the host's.
            .with(if kind.has(MapKind::PRESENT | MapKind::IF_PRESENT) {
                MapKind::ALLOC
            } else {
                MapKind::TO
            });
        let attached = attachment(construct, item);
        while !blocks.is_empty() {
            // SAFETY: translated code gives a description for each block of pointers.
            let rows = unsafe { &*described };
            let mut inner = Vec::new();
            for (begin, bytes) in blocks {
                if construct != Construct::Update {
                    self.data.push(Item { base: begin, begin, size: bytes, kind: of_pointers, label });
                }
                for place in (begin..begin + bytes).step_by(size_of::<usize>()) {
                    // SAFETY: the program says that pointers stand there.
                    let to = unsafe { *std::ptr::with_exposed_provenance::<usize>(place) };
                    if to == 0 || rows.bytes == 0 {
                        continue;
                    }
                    let row = to + rows.before;
                    if construct != Construct::Update {
                        let size = size_of::<usize>();
                        self.pointers.push(Item { base: place, begin: row, size, kind: attached, label });
                    }
                    if self.always_out.contains(&item.begin.addr()) {
                        self.always_out.insert(row);
                    }
                    match rows.more {
                        0 => self.data.push(Item { base: row, begin: row, size: rows.bytes, kind, label }),
                        _ => inner.push((row, rows.bytes)),
                    }
                }
            }
            blocks = inner;
            described = described.wrapping_add(1);
        }
    }

    /// Adds the pieces of an item that is updated (OpenACC 3.3 section 2.14.4): what is between them stays as it is.
    fn add_pieces(&mut self, item: &AccItem, kind: MapKind, label: Label) {
        let mut dimensions = Vec::new();
        let mut described = item.device.cast_const().cast::<AccPieces>();
        let mut size = loop {
            // SAFETY: translated code ends the description with the size of the pieces.
            let AccPieces { count, step } = unsafe { *described };
            if step == 0 {
                break count;
            }
            dimensions.push((count, step));
            described = described.wrapping_add(1);
        };
        // Pieces without anything between them are one.
        while let Some((count, _)) = dimensions.pop_if(|(_, step)| *step == size) {
            size *= count;
        }
        let mut begins = vec![item.begin.addr()];
        for (count, step) in dimensions {
            begins = begins.iter().flat_map(|begin| (0..count).map(move |at| begin + at * step)).collect();
        }
        self.data.extend(begins.into_iter().map(|begin| Item { base: begin, begin, size, kind, label }));
    }

    fn attach(&mut self, construct: Construct, item: &AccItem, label: Label) {
        self.pointers.push(pointer(item, attachment(construct, item), label));
    }

    /// The data.
    pub fn data(&self) -> List<'_> {
        List(&self.data)
    }

    /// Leaves the pointers that are on a device themselves, and point to something; where they are to be attached, to
    /// what is there, too.
    pub fn keep_present(&mut self, device: &'static Device) {
        let is_present = |at| memory::mapped_address(device, at).is_some();
        self.pointers.retain(|item| {
            let leads_nowhere = item.begin == 0 || item.kind.has(MapKind::ATTACH) && !is_present(item.begin);
            !leads_nowhere && is_present(item.base)
        });
    }

    /// The pointers that are attached, or detached.
    pub fn pointers(&self) -> List<'_> {
        List(&self.pointers)
    }

    /// Makes of all what the end of structured data does with it.
    pub fn end(&mut self) {
        for item in &mut self.pointers {
            item.kind = MapKind::DETACH | MapKind::COUNTED;
        }
        for item in &mut self.data {
            item.kind = match self.always_out.contains(&item.begin) {
                true => item.kind | MapKind::ALWAYS,
                false => item.kind.without(MapKind::ALWAYS),
            };
        }
    }
}

/// What a construct does with pointers that lead to what an item's clause names.
const fn attachment(construct: Construct, item: &AccItem) -> MapKind {
    match construct {
        Construct::Exit if item.flags & flag::FINALIZE != 0 => MapKind::DETACH.with(MapKind::DELETE),
        Construct::Exit => MapKind::DETACH,
        _ => MapKind::ATTACH.with(MapKind::COUNTED),
    }
}

/// The pointer of an item, and what it points to.
fn pointer(item: &AccItem, kind: MapKind, label: Label) -> Item {
    let base = item.pointer.addr();
    // The section may begin behind what the pointer points to, which need not be on the device.
    let begin = if item.bytes > 0 {
        item.begin.addr()
    } else {
        // SAFETY: translated code gives the address of a pointer of the program's, or null.
        unsafe { item.pointer.as_ref() }.map_or(0, |pointer| pointer.addr())
    };
    Item { base, begin, size: size_of::<usize>(), kind, label }
}
