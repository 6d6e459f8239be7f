//! The items of translated constructs, as the runtime has them.

use super::abi::{AccItem, Construct, flag, kind};
use super::supposed;
use crate::section::{self, Dimension};
use gangway_openacc::present::{self, Parts};
use gangway_runtime::{Damage, Device, Item, Items, Label, MapKind, Section, memory};
use std::collections::HashSet;
use std::ops::Range;

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

    fn section<'i>(&'i self, item: &'i Item) -> Result<Box<dyn Section + 'i>, Damage> {
        // SAFETY: `pieces` has found so many dimensions there, which stay until the construct has been performed.
        unsafe { section::of(item) }
    }
}

impl Listed {
    /// Reads the items of a construct.
    pub fn of(construct: Construct, device: Option<&'static Device>, items: &[AccItem]) -> Self {
        let mut listed = Self::default();
        let items = &super::rows::apart(construct, items)[..];
        for item in device.map(|device| supposed::copied(device, items)).unwrap_or_default() {
            listed.add(construct, &item);
        }
        let is_there = |object: &Range<usize>| {
            device.is_some_and(|device| !matches!(present::parts_of(device, object), Parts::Nothing))
        };
        // What a construct uses and no clause names is kept if it is there; of what is there in part it gets a copy.
        let is_whole = |range: Range<usize>| {
            let first = device.and_then(|device| present::entries_in(device, &range).next());
            first.is_some_and(|(part, _)| part == range)
        };
        let is_apart = |item: &AccItem| item.kind == kind::USED && !is_whole(item.range());
        for item in items.iter().filter(|item| item.object() == 0 && !is_apart(item)) {
            if !item.is_object() || !is_there(&item.range()) {
                // A structure of which all members are there is there.
                let members = device.and_then(|device| present::members_of(device, &item.range()));
                if let Some(members) = members.filter(|_| item.pointer.is_null()) {
                    for member in members {
                        let begin = std::ptr::with_exposed_provenance_mut(member.start);
                        listed.add(construct, &AccItem { begin, bytes: member.len(), ..*item });
                    }
                    continue;
                }
                match device {
                    Some(device) if construct == Construct::Exit && item.flags & flag::POINTER != 0 => {
                        listed.add_pointee(device, item);
                    }
                    _ => listed.add(construct, item),
                }
            }
        }
        let last = items.iter().map(AccItem::object).max().unwrap_or(0);
        for number in 1..=last {
            let members = || items.iter().filter(|item| item.object() == number && !item.is_object());
            let object = items.iter().find(|item| item.object() == number && item.is_object());
            let is_made = |item: &AccItem| {
                matches!(item.kind, kind::COPY | kind::COPYIN | kind::COPYOUT | kind::CREATE)
            };
            let object = object.filter(|object| !object.is_named() && members().any(is_made));
            let rest = object.map(|object| (object, whole_object(object, items)));
            listed.add_object(construct, members(), rest.filter(|(_, whole)| !is_there(whole)));
        }
        listed
    }

    /// Adds members of one object, and the pointers among them. Those that begin to be present together stand on the
    /// device as in the object. Of an object that is not there the rest comes as well: the construct uses more of it
    /// than clauses name.
    fn add_object<'i>(
        &mut self,
        construct: Construct,
        members: impl Iterator<Item = &'i AccItem>,
        rest_of: Option<(&AccItem, Range<usize>)>,
    ) {
        let first = self.data.len();
        let mut pointees = Self::default();
        for item in members {
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
        if let Some((object, whole)) = rest_of {
            let named = self.data[first..].iter().map(|item| item.begin..item.begin + item.size).collect();
            for range in between(whole, named) {
                let begin = std::ptr::with_exposed_provenance_mut(range.start);
                self.add(construct, &AccItem { begin, bytes: range.len(), ..*object });
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
            (kind::NO_CREATE | kind::USED, _) => MapKind::IF_PRESENT | hold,
            (kind::PRESENT, _) => MapKind::PRESENT | hold,
            // A variable that devices have for good.
            (kind::UPDATE_DEVICE, Construct::Structured) => MapKind::TO | MapKind::ALWAYS | hold,
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
            let whole = Item { base: begin, begin, size: item.bytes, kind, label };
            self.data.push(pieces(item, &whole).unwrap_or(whole));
        }
        if !item.pointer.is_null() && construct != Construct::Update && item.kind != kind::USED {
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

    /// Makes of all what the end of structured data does with it. What was updated where it began has no end.
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

/// An item that is updated in pieces: what is between them stays as it is (OpenACC 3.3 section 2.14.4). `None`: it is
/// one range, or its dimensions overlap.
fn pieces(item: &AccItem, whole: &Item) -> Option<Item> {
    if item.flags & flag::PIECES == 0 {
        return None;
    }
    let dimensions = item.device.cast_const().cast::<Dimension>();
    let is_one = |at: &usize| {
        // SAFETY: translated code ends the dimensions with one that has no stride.
        unsafe { (*dimensions.add(*at)).stride != 0 }
    };
    let size = (0..).take_while(is_one).count();
    let pieces = Item { begin: dimensions.addr(), size, kind: whole.kind | MapKind::IN_PIECES, ..*whole };
    // SAFETY: so many have been found.
    unsafe { section::of(&pieces) }.is_ok().then_some(pieces)
}

/// Where an object is on the device of which clauses may have named members.
pub(super) fn find_object(device: &'static Device, object: &AccItem, items: &[AccItem]) -> Parts {
    let at = |range: &Range<usize>| match present::parts_of(device, range) {
        Parts::Of(address) => Parts::Of(address.wrapping_sub(range.start).wrapping_add(object.begin.addr())),
        others => others,
    };
    if !object.is_named() {
        return at(&whole_object(object, items));
    }
    // They stand beside each other, as the construct has found when it made them present.
    let members = items.iter().filter(|item| item.object() == object.object() && !item.is_object());
    let mut found = members.map(|member| at(&member.range_in_object()));
    found.find(|parts| !matches!(parts, Parts::Nothing)).unwrap_or(Parts::Nothing)
}

/// All of an object that is known: itself, and the members of it that clauses name, which may be of later elements
/// than the one that a pointer leads to. Of these all is meant as well.
fn whole_object(object: &AccItem, items: &[AccItem]) -> Range<usize> {
    let number = object.object();
    let members = items.iter().filter(|item| number != 0 && item.object() == number && !item.is_object());
    let all = members
        .map(AccItem::range_in_object)
        .fold(object.range(), |all, member| all.start.min(member.start)..all.end.max(member.end));
    if object.flags & flag::OPEN_END != 0 { all } else { whole_elements(&object.range(), &all) }
}

/// A range around the first of equal elements, with all of those of which it has a part.
fn whole_elements(first: &Range<usize>, part: &Range<usize>) -> Range<usize> {
    let whole = |bytes: usize| bytes.checked_next_multiple_of(first.len()).unwrap_or(bytes);
    first.start.saturating_sub(whole(first.start - part.start))
        ..first.start.saturating_add(whole(part.end - first.start))
}

/// What of a range is in none of others.
pub(super) fn between(range: Range<usize>, mut others: Vec<Range<usize>>) -> Vec<Range<usize>> {
    others.sort_by_key(|other| other.start);
    let mut next = range.start;
    let mut rest = Vec::new();
    for other in others {
        if next < other.start {
            rest.push(next..other.start.min(range.end));
        }
        next = next.max(other.end);
    }
    if next < range.end {
        rest.push(next..range.end);
    }
    rest
}

impl AccItem {
    /// The number of the object that it is a member of, or that it is; 0: of none.
    fn object(&self) -> u32 {
        self.flags >> flag::OBJECT_SHIFT & flag::OBJECT_BITS
    }

    /// Whether it is an object of which clauses may have named members.
    pub fn is_object(&self) -> bool {
        self.flags & flag::OBJECT != 0
    }

    /// Whether clauses have named all of the object that the construct uses.
    fn is_named(&self) -> bool {
        self.flags & flag::NAMED != 0
    }

    pub fn range(&self) -> Range<usize> {
        let begin = self.begin.addr();
        begin..begin.saturating_add(self.bytes)
    }

    /// What of the object it is: itself, or the pointer that leads to it.
    fn range_in_object(&self) -> Range<usize> {
        if self.pointer.is_null() {
            return self.range();
        }
        let begin = self.pointer.addr();
        begin..begin + size_of::<usize>()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_an_object_is_what_no_clause_names() {
        let rest = |named: &[(usize, usize)]| {
            let named = named.iter().map(|&(start, end)| start..end).collect();
            between(8..40, named).into_iter().map(|range| (range.start, range.end)).collect::<Vec<_>>()
        };
        assert_eq!(rest(&[]), [(8, 40)]);
        assert_eq!(rest(&[(24, 32), (8, 12), (10, 16)]), [(16, 24), (32, 40)]);
        assert_eq!(rest(&[(0, 9), (30, 50)]), [(9, 30)]);
        assert_eq!(rest(&[(8, 40)]), []);
    }

    #[test]
    fn elements_of_which_a_clause_names_a_member_are_meant_as_a_whole() {
        assert_eq!(whole_elements(&(100..116), &(100..116)), 100..116);
        assert_eq!(whole_elements(&(100..116), &(100..136)), 100..148);
        assert_eq!(whole_elements(&(100..116), &(80..116)), 68..116);
        assert_eq!(whole_elements(&(100..100), &(80..104)), 80..104);
    }
}
