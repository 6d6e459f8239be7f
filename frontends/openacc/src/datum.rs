//! One list item, as a construct of the runtime has it: what a routine works on.

use gangway_runtime::{Item, Items, Label, MapKind};

/// An item.
pub(crate) struct Datum(Item);

impl Datum {
    /// A range of host memory.
    pub(crate) const fn new(host: usize, size: usize, kind: MapKind) -> Self {
        Self(Item { base: host, begin: host, size, kind, label: Label::NONE })
    }

    /// The pointer at an address, and what it points to.
    pub(crate) const fn pointer(address: usize, pointee: usize, kind: MapKind) -> Self {
        let size = size_of::<usize>();
        Self(Item { base: address, begin: pointee, size, kind, label: Label::NONE })
    }
}

impl Items for Datum {
    fn len(&self) -> usize {
        1
    }

    fn kind(&self, _index: usize) -> MapKind {
        self.0.kind
    }

    fn item(&self, _index: usize) -> Item {
        self.0
    }

    fn knows(&self, _kind: MapKind) -> bool {
        true
    }

    fn explain_unknown(&self, _kind: MapKind) -> String {
        String::new()
    }
}
