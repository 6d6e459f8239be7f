//! The items of translated constructs, as the runtime has them.

use super::abi::{AccItem, flag, kind};
use gangway_openacc::present;
use gangway_runtime::{Device, Item, Items, Label, MapKind, memory};

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
        let object = |item: &AccItem| item.flags >> flag::OBJECT_SHIFT;
        let is_part = |item: &AccItem| {
            let part = |device| present::begin_of_part(device, item.begin.addr(), item.bytes);
            item.flags & flag::OBJECT != 0 && device.and_then(part).is_some()
        };
        for item in items.iter().filter(|item| object(item) == 0 && !is_part(item)) {
            listed.add(construct, item);
        }
        let last = items.iter().map(object).max().unwrap_or(0);
        for number in 1..=last {
            listed.add_object(construct, items.iter().filter(|item| object(item) == number));
        }
        listed
    }

    /// Adds members of one object. Where they begin to be present, one allocation covers them, and the pointers
    /// among them.
    fn add_object<'i>(&mut self, construct: Construct, members: impl Iterator<Item = &'i AccItem> + Clone) {
        let first = self.data.len();
        let mut pointees = Self::default();
        for item in members.clone() {
            if item.pointer.is_null() {
                self.add(construct, item);
            } else {
                pointees.add(construct, item);
                if construct != Construct::Update && !matches!(item.kind, kind::ATTACH | kind::DETACH) {
                    let kind = pointees.data.last().map_or(MapKind::ALLOC, |data| {
                        data.kind
                            .only(MapKind::HOLD | MapKind::DELETE | MapKind::PRESENT | MapKind::IF_PRESENT)
                    });
                    let begin = item.pointer.addr();
                    let label = Label::from_ptr(item.label);
                    self.data.push(Item { base: begin, begin, size: size_of::<usize>(), kind, label });
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
        self.pointers.extend(pointees.pointers);
    }

    fn add(&mut self, construct: Construct, item: &AccItem) {
        let label = Label::from_ptr(item.label);
        let hold = if construct == Construct::Structured { MapKind::HOLD } else { MapKind::ALLOC };
        let finalize = if item.flags & flag::FINALIZE != 0 { MapKind::DELETE } else { MapKind::ALLOC };
        let present = if item.flags & flag::IF_PRESENT != 0 { MapKind::ALLOC } else { MapKind::PRESENT };
        let both = MapKind::TO | MapKind::FROM;
        let kind = match (item.kind, construct) {
            (kind::COPY, _) => both | hold,
            (kind::COPYIN, _) => MapKind::TO | hold,
            (kind::COPYOUT, _) => MapKind::FROM | hold | finalize,
            (kind::CREATE, _) => hold,
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
        if item.bytes > 0 {
            let begin = item.begin.addr();
            self.data.push(Item { base: begin, begin, size: item.bytes, kind, label });
        }
        if !item.pointer.is_null() && construct != Construct::Update {
            self.attach(construct, item, label);
        }
    }

    fn attach(&mut self, construct: Construct, item: &AccItem, label: Label) {
        let kind = match construct {
            Construct::Exit => {
                let finalize =
                    if item.flags & flag::FINALIZE != 0 { MapKind::DELETE } else { MapKind::ALLOC };
                MapKind::DETACH | finalize
            }
            _ => MapKind::ATTACH | MapKind::COUNTED,
        };
        self.pointers.push(pointer(item, kind, label));
    }

    /// The data.
    pub fn data(&self) -> List<'_> {
        List(&self.data)
    }

    /// Leaves the pointers that are on a device themselves, and point to something.
    pub fn keep_present(&mut self, device: &'static Device) {
        self.pointers.retain(|item| item.begin != 0 && memory::mapped_address(device, item.base).is_some());
    }

    /// The pointers that are attached, or detached.
    pub fn pointers(&self) -> List<'_> {
        List(&self.pointers)
    }

    /// They as the end of structured data undoes them.
    pub fn end(&mut self) {
        for item in &mut self.pointers {
            item.kind = MapKind::DETACH | MapKind::COUNTED;
        }
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
