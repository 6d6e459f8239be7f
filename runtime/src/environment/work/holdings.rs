//! What a construct has found for its items.

use super::once::Once;
use crate::items::Item;
use crate::map_kind::MapKind;
use gangway_backend::DevicePtr;
use gangway_present::{Counter, EntryRef};

/// What a construct has found for its items, and the references that it has counted with that.
///
/// Every reference is in it once, until the construct's end gives it up or
/// [`pop`](Self::pop) hands it to a construct that is given up.
#[derive(Default)]
pub(in crate::environment) struct Holdings {
    /// The meanings of all items together.
    seen: MapKind,
    /// Per argument of the construct.
    arguments: Vec<Held>,
    /// What the mappers of arguments have named, in the order of the arguments.
    components: Vec<Component>,
    /// Entries of base pointers this construct has made present. They outlive it,
    /// unless it fails.
    pointers: Vec<Held>,
    /// References to structures that their members take over, see [`MapKind::STRUCTURE`].
    structures: Vec<Held>,
    /// Entries that items have counted which count once between them.
    once: Once,
}

/// What `enter` found for one argument.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    /// The entry, if the item is present.
    pub(crate) entry: Option<EntryRef<'static>>,
    /// Device address of the item's first byte; the host address where there is
    /// no device storage and the host's is to be used.
    pub(crate) device: DevicePtr,
    /// The count on which the entry has a reference of this construct.
    pub(crate) counted: Option<Counter>,
}

impl Held {
    /// Nothing present: literals, private items, attachments.
    pub(crate) const NOTHING: Self = Self { entry: None, device: DevicePtr::NULL, counted: None };

    /// Not present: OpenMP 5.2 section 5.8.6, a pointer without a matching item keeps its value.
    pub(crate) const fn host(address: usize) -> Self {
        Self { entry: None, device: DevicePtr(address), counted: None }
    }
}

// No holes, see `Phase`.
const _: () = assert!(size_of::<Held>() == 32 || size_of::<Held>() == 24);

/// A component of an argument that has a mapper.
#[derive(Clone, Copy)]
pub(in crate::environment) struct Component {
    pub(in crate::environment) argument: usize,
    pub(in crate::environment) item: Item,
    pub(in crate::environment) held: Held,
}

impl Holdings {
    /// Forgets a construct that is over, which has given its references up or left them behind.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.arguments.clear();
        self.components.clear();
        self.pointers.clear();
        self.once.clear();
    }

    /// The construct begins with its items: no meaning has been seen.
    #[inline]
    pub(in crate::environment) fn begin(&mut self) {
        self.seen = MapKind::ALLOC;
    }

    /// An item has these meanings.
    #[inline]
    pub(in crate::environment) fn see(&mut self, meanings: MapKind) {
        self.seen |= meanings;
    }

    /// Whether an item had all these meanings, or several items between them.
    #[inline]
    pub(in crate::environment) fn have_seen(&self, meanings: MapKind) -> bool {
        self.seen.has_all(meanings)
    }

    /// How many arguments there are so far: the number of the next one.
    #[inline]
    pub(in crate::environment) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// What has been found for an argument.
    #[inline]
    pub(in crate::environment) fn of(&self, argument: usize) -> Held {
        self.arguments[argument]
    }

    /// Where the entry of an argument would stand, if it is counted and has not been made.
    #[inline]
    pub(in crate::environment) fn deferred(&self, argument: usize) -> Option<DevicePtr> {
        let held = &self.arguments[argument];
        (held.entry.is_none() && held.counted.is_some()).then_some(held.device)
    }

    /// What has been found for the next argument.
    // Always: it is written where it stays, and not handed on through memory.
    #[inline(always)]
    pub(in crate::environment) fn push(&mut self, held: Held) {
        self.arguments.push(held);
    }

    /// Something else has been found for an argument that held nothing that counts.
    pub(in crate::environment) fn replace(&mut self, argument: usize, held: Held) {
        self.arguments[argument] = held;
    }

    /// The entry that was to be made for an argument is there, and counted.
    #[inline]
    pub(in crate::environment) fn set_entry(
        &mut self,
        argument: usize,
        entry: EntryRef<'static>,
        counter: Counter,
    ) {
        let held = &mut self.arguments[argument];
        (held.entry, held.counted) = (Some(entry), Some(counter));
    }

    /// A component of the next argument.
    pub(in crate::environment) fn push_component(&mut self, component: Component) {
        self.components.push(component);
    }

    /// The last component of an argument, of those that come later none is left.
    pub(in crate::environment) fn pop_component_of(&mut self, argument: usize) -> Option<Component> {
        self.components.pop_if(|component| component.argument == argument)
    }

    /// The construct has counted on the entry of a base pointer.
    pub(in crate::environment) fn push_pointer(&mut self, held: Held) {
        self.pointers.push(held);
    }

    /// The construct has counted on a structure for its members.
    pub(in crate::environment) fn push_structure(&mut self, held: Held) {
        self.structures.push(held);
    }

    /// A structure whose members have references of their own by now.
    #[inline]
    pub(in crate::environment) fn pop_structure(&mut self) -> Option<Held> {
        self.structures.pop()
    }

    /// Whether an item is the first to count on an entry, of those that count once between them.
    pub(in crate::environment) fn count_once(&mut self, entry: EntryRef<'static>) -> bool {
        self.once.insert(entry)
    }

    /// What is to be given up next by a construct that is given up.
    pub(super) fn pop(&mut self) -> Option<Held> {
        let component = |component: Component| component.held;
        self.structures
            .pop()
            .or_else(|| self.components.pop().map(component))
            .or_else(|| self.arguments.pop())
            .or_else(|| self.pointers.pop())
    }
}
