//! Constructs as a front end passes them.

use super::device::{INCREMENT, Mock, MockBackend, Options};
use gangway_backend::Backend;
use gangway_runtime::MapKind;
use gangway_runtime::events::Site;
use gangway_runtime::{
    Components, Damage, DataOperation, Device, EntryKind, HostEntry, Item, Items, Job, Label, Registration,
    Result, Runtime, Section, Shape,
};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Host address of the one target region: adds one to each byte of its arguments,
/// or checks them.
pub const REGION: usize = 0x4000;

/// What a section is checked for.
pub const EXPECTED: u8 = 0x5a;

/// Names the components of an item.
pub type Expand = fn(&Item, &mut Components);

/// A meaning that the runtime does not have, of the tests' own.
pub const FROM_THE_FUTURE: MapKind = MapKind::from_bits(1 << 20);

/// One list item.
#[derive(Debug, Clone, Copy)]
pub struct ListItem {
    pub base: usize,
    pub begin: usize,
    pub size: usize,
    pub kind: MapKind,
    /// What the kernel does with it, if it is a parameter.
    pub access: Access,
    pub mapper: Option<Expand>,
}

/// What a kernel does with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    None,
    Increment,
    Check,
}

impl ListItem {
    pub fn section(begin: usize, size: usize, kind: MapKind) -> Self {
        Self { base: begin, begin, size, kind, access: Access::None, mapper: None }
    }

    /// A parameter of the kernel.
    pub fn parameter(self, access: Access) -> Self {
        Self { kind: self.kind | MapKind::PARAMETER, access, ..self }
    }

    /// What a construct makes of it: what its mapper says, or itself.
    pub fn components(&self) -> Vec<Self> {
        let Some(mapper) = self.mapper else { return vec![*self] };
        let mut components = Components::default();
        mapper(&self.item(), &mut components);
        let component =
            |item: &Item| Self { base: item.base, ..Self::section(item.begin, item.size, item.kind) };
        components.items().iter().map(component).collect()
    }

    fn item(&self) -> Item {
        let Self { base, begin, size, kind, .. } = *self;
        Item { base, begin, size, kind, label: Label::NONE }
    }

    /// The same item, to be given up altogether.
    pub fn deleted(self) -> Self {
        Self { kind: MapKind::DELETE, ..self }
    }

    /// How the kernel gets its extent: size, distance from the base, whether to check.
    fn extent(&self) -> usize {
        let base = if self.kind.has(MapKind::POINTER_AND_POINTEE) {
            // SAFETY: tests give the address of a pointer.
            unsafe { *(self.base as *const usize) }
        } else {
            self.base
        };
        let distance = self.begin.wrapping_sub(base) as u32 as usize;
        match self.access {
            _ if self.size == 0 => 0,
            Access::None => 0,
            Access::Increment => self.size | distance << 24,
            Access::Check => self.size | distance << 24 | 1 << 63,
        }
    }
}

/// A runtime of its own with one device.
pub struct World {
    pub runtime: &'static Runtime,
    pub device: &'static Device,
}

impl World {
    pub fn with(backend: Box<dyn Backend>) -> Self {
        Self::of(
            backend,
            Registration {
                key: 1,
                images: vec![b"MOCK"],
                entries: vec![HostEntry {
                    kind: EntryKind::Kernel,
                    address: REGION,
                    name: INCREMENT,
                    size: 0,
                }],
                ..Registration::default()
            },
        )
    }

    /// The same for a program with this library.
    pub fn of(backend: Box<dyn Backend>, library: Registration) -> Self {
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
        runtime.add_backend(backend);
        runtime.register(library);
        Self { runtime, device: runtime.device(0, &Site::NONE).unwrap() }
    }

    pub fn mock(options: Options) -> (Self, Arc<Mock>) {
        let mock = Mock::new(options);
        let world = Self::with(Box::new(MockBackend(mock.clone())));
        assert!(mock.device.set(world.device).is_ok(), "one world for each device");
        (world, mock)
    }

    /// A data construct, waited for.
    pub fn data(&self, operation: DataOperation, items: &[ListItem]) -> Result<()> {
        self.runtime.data_and_wait(self.device, Site::NONE, operation, &List::of(items, false))
    }

    /// A data construct that has a job: not all of it is present, or stays.
    pub fn issue_data(&self, operation: DataOperation, items: &[ListItem]) -> Result<Box<Job>> {
        let job = self.runtime.data(self.device, Site::NONE, operation, &List::of(items, false))?;
        Ok(job.expect("more than counts change"))
    }

    /// A target region, waited for.
    pub fn launch(&self, items: &[ListItem]) -> Result<()> {
        self.issue(items)?.complete()
    }

    pub fn issue(&self, items: &[ListItem]) -> Result<Box<Job>> {
        let shape = Shape::default();
        self.runtime.run(self.device, Site::NONE, REGION, &List::of(items, true), &shape)
    }

    /// Begin, end, dynamic count (`u32::MAX` without end) and hold count of what is mapped.
    pub fn mapped(&self) -> Vec<(usize, usize, u32, u32)> {
        let entries = self.device.table.entries();
        let counts = entries.iter().filter_map(|entry| {
            let counts = entry.snapshot()?;
            assert_eq!(counts.unmapping, 0, "nobody is unmapping");
            let dynamic = if counts.is_infinite() { u32::MAX } else { counts.dynamic };
            Some((entry.host_begin(), entry.host_end(), dynamic, counts.hold))
        });
        counts.collect()
    }
}

/// The items of a construct.
pub struct List {
    items: Vec<ListItem>,
    returned: Vec<Cell<usize>>,
}

impl List {
    /// The items; for a kernel, followed by the extents of its parameters.
    pub fn of(items: &[ListItem], kernel: bool) -> Self {
        let mut all = items.to_vec();
        let parameters = items.iter().filter(|item| kernel && item.kind.has(MapKind::PARAMETER));
        let form = MapKind::LITERAL | MapKind::PARAMETER;
        all.extend(parameters.map(|item| ListItem { base: item.extent(), ..ListItem::section(0, 8, form) }));
        let returned = all.iter().map(|item| Cell::new(item.base)).collect();
        Self { items: all, returned }
    }

    /// The bases, as the construct left them.
    pub fn bases(&self) -> Vec<usize> {
        self.returned.iter().map(Cell::get).collect()
    }
}

impl Items for List {
    #[inline]
    fn len(&self) -> usize {
        self.items.len()
    }

    #[inline]
    fn kind(&self, index: usize) -> MapKind {
        self.items[index].kind
    }

    #[inline]
    fn item(&self, index: usize) -> Item {
        self.items[index].item()
    }

    #[inline]
    fn knows(&self, kind: MapKind) -> bool {
        !kind.has(FROM_THE_FUTURE)
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        format!("{kind:?}")
    }

    #[inline]
    fn has_mapper(&self, index: usize) -> bool {
        self.items[index].mapper.is_some()
    }

    fn expand(&self, index: usize, components: &mut Components) {
        if let Some(mapper) = self.items[index].mapper {
            mapper(&self.item(index), components);
        }
    }

    fn section<'i>(&'i self, item: &'i Item) -> std::result::Result<Box<dyn Section + 'i>, Damage> {
        // SAFETY: tests give the address of a description.
        let rows = unsafe { *(item.begin as *const Rows) };
        if rows.size > rows.distance {
            return Err(Damage("rows that overlap\n  help: put them apart".to_owned()));
        }
        Ok(Box::new(rows))
    }

    fn return_address(&self, index: usize, address: usize) {
        self.returned[index].set(address);
    }
}

/// What is done, and when.
type Act<'a> = (usize, Box<dyn FnOnce() + 'a>);

/// Items of a construct, and what another thread does when the runtime asks for one of them a given time.
pub struct Interrupted<'a> {
    list: List,
    asked: Cell<usize>,
    act: RefCell<Option<Act<'a>>>,
}

impl<'a> Interrupted<'a> {
    /// Items, and what happens when the runtime asks for one for the `when`th time, from 1.
    pub fn new(list: List, when: usize, act: impl FnOnce() + 'a) -> Self {
        Self { list, asked: Cell::new(0), act: RefCell::new(Some((when, Box::new(act)))) }
    }

    /// Whether it has happened.
    pub fn has_happened(&self) -> bool {
        self.act.borrow().is_none()
    }
}

impl Items for Interrupted<'_> {
    fn len(&self) -> usize {
        self.list.len()
    }

    fn kind(&self, index: usize) -> MapKind {
        self.list.kind(index)
    }

    fn item(&self, index: usize) -> Item {
        self.asked.set(self.asked.get() + 1);
        let act = self.act.borrow_mut().take_if(|(when, _)| *when == self.asked.get());
        if let Some((_, act)) = act {
            act();
        }
        self.list.item(index)
    }

    fn knows(&self, kind: MapKind) -> bool {
        self.list.knows(kind)
    }

    fn explain_unknown(&self, kind: MapKind) -> String {
        self.list.explain_unknown(kind)
    }
}

/// A section in pieces: rows at some distance.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    pub first: usize,
    pub count: usize,
    pub distance: usize,
    pub size: usize,
}

impl Section for Rows {
    fn hull(&self) -> std::ops::Range<usize> {
        self.first..self.first + (self.count - 1) * self.distance + self.size
    }

    fn runs(&self) -> u64 {
        self.count as u64
    }

    fn each_run(&self, visit: &mut dyn FnMut(usize, usize) -> Result<()>) -> Result<()> {
        (0..self.count).try_for_each(|row| visit(self.first + row * self.distance, self.size))
    }
}
