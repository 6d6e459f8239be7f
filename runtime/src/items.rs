//! The list items of a construct, as the runtime reads them.
//!
//! A front end's tables of items stay where its compiler put them: the runtime walks
//! them through [`Items`], of which every front end has its own form. All code on the
//! launch path is compiled for each form, so that reading an item is loads and no call.

use crate::error::{Damage, Result};
use crate::map_kind::MapKind;
use gangway_present::Label;
use std::ops::Range;

/// One list item.
#[derive(Debug, Clone, Copy)]
pub struct Item {
    /// Address of the variable (or of the pointer, for pointer maps).
    pub base: usize,
    /// First byte of the section.
    pub begin: usize,
    /// Bytes; of a [`STRUCTURE`](MapKind::STRUCTURE) its members; of
    /// [`IN_PIECES`](MapKind::IN_PIECES) items what their front end makes of it.
    pub size: usize,
    /// What to do with it.
    pub kind: MapKind,
    /// Its name.
    pub label: Label,
}

/// The list items of one construct, in a front end's form.
///
/// Reading has no side effect, may happen more than once, and happens on the thread that
/// called the runtime. An index is always less than [`len`](Self::len), except where a
/// compiler's own numbers are wrong; then a panic is better than a read of other memory.
pub trait Items {
    /// How many there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of an item alone.
    fn kind(&self, index: usize) -> MapKind;

    /// One item.
    fn item(&self, index: usize) -> Item;

    /// Whether the front end knows all of the encoding that a kind was made from. Asked
    /// before anything is done about an item (or a component of one).
    fn knows(&self, kind: MapKind) -> bool;

    /// What of a kind's encoding is not known, in words that go on from "is mapped in a
    /// way that is not known: ".
    fn explain_unknown(&self, kind: MapKind) -> String;

    /// Whether an item has a user-defined mapper.
    #[inline]
    fn has_mapper(&self, _index: usize) -> bool {
        false
    }

    /// Runs an item's mapper: names the components that stand for it.
    fn expand(&self, _index: usize, _components: &mut Components) {}

    /// The section of an [`IN_PIECES`](MapKind::IN_PIECES) item or component.
    ///
    /// # Errors
    /// What the compiler says about it makes no sense.
    fn section<'i>(&'i self, _item: &'i Item) -> std::result::Result<Box<dyn Section + 'i>, Damage> {
        Err(Damage("a form that this front end does not have".to_owned()))
    }

    /// First byte of what the pointer that is a [`POINTER`](MapKind::POINTER) item points to.
    fn pointee(&self, index: usize) -> usize {
        // SAFETY: the front end says that a pointer is there.
        unsafe { *(self.item(index).begin as *const usize) }
    }

    /// Gives the caller a device address in place of an item's base
    /// ([`RETURN_ADDRESS`](MapKind::RETURN_ADDRESS)).
    fn return_address(&self, _index: usize, _address: usize) {}

    /// All items in order.
    fn iter(&self) -> impl DoubleEndedIterator<Item = Item>
    where
        Self: Sized,
    {
        (0..self.len()).map(|index| self.item(index))
    }
}

/// A section that is no one range of addresses: contiguous runs at some distance.
pub trait Section {
    /// Addresses of the first and behind the last byte; nothing if it is empty.
    fn hull(&self) -> Range<usize>;

    /// Upper bound of the runs.
    fn runs(&self) -> u64;

    /// Calls `visit` with address and size of each run, in address order.
    ///
    /// # Errors
    /// The first of `visit`.
    fn each_run(&self, visit: &mut dyn FnMut(usize, usize) -> Result<()>) -> Result<()>;
}

/// No items.
#[derive(Debug, Clone, Copy)]
pub struct NoItems;

impl Items for NoItems {
    fn len(&self) -> usize {
        0
    }

    fn kind(&self, index: usize) -> MapKind {
        self.item(index).kind
    }

    fn item(&self, index: usize) -> Item {
        unreachable!("there is no item {index}")
    }

    fn knows(&self, _kind: MapKind) -> bool {
        true
    }

    fn explain_unknown(&self, _kind: MapKind) -> String {
        String::new()
    }
}

/// The components a mapper produced. They may have any form that items have, except that
/// there are no mappers among them and nobody gets a device address back.
#[derive(Debug, Default)]
pub struct Components {
    items: Vec<Item>,
    /// By component: where pointers point to, if not where they say.
    pointees: Vec<(usize, usize)>,
}

impl Components {
    /// Adds a component; called from inside a mapper.
    pub fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Adds a component that is a [`POINTER`](MapKind::POINTER) to what begins at `pointee`.
    /// One that is simply [pushed](Self::push) points to where the host's pointer says.
    pub fn push_pointer(&mut self, item: Item, pointee: usize) {
        self.pointees.push((self.items.len(), pointee));
        self.items.push(item);
    }

    /// How many there are so far; mappers number the members of structures by it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Those there are so far.
    #[must_use]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Runs an item's mapper.
    pub(crate) fn of<I: Items>(items: &I, index: usize) -> Named<'_, I> {
        let mut components = Self::default();
        items.expand(index, &mut components);
        Named { items, components }
    }
}

/// The components of an item, as items.
pub(crate) struct Named<'i, I> {
    items: &'i I,
    components: Components,
}

impl<I: Items> Items for Named<'_, I> {
    fn len(&self) -> usize {
        self.components.len()
    }

    fn kind(&self, index: usize) -> MapKind {
        self.components.items[index].kind
    }

    fn item(&self, index: usize) -> Item {
        self.components.items[index]
    }

    fn knows(&self, kind: MapKind) -> bool {
        self.items.knows(kind)
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        self.items.explain_unknown(kind)
    }

    fn section<'i>(&'i self, item: &'i Item) -> std::result::Result<Box<dyn Section + 'i>, Damage> {
        self.items.section(item)
    }

    fn pointee(&self, index: usize) -> usize {
        let said = self.components.pointees.iter().find(|(component, _)| *component == index);
        // SAFETY: the front end says that a pointer is there.
        said.map_or_else(|| unsafe { *(self.item(index).begin as *const usize) }, |(_, pointee)| *pointee)
    }
}
