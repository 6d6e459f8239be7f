//! A program for the vendor's cards: its image, its regions, and constructs of it.

use crate::card::Card;
use crate::device::Vendor;
use crate::support::comparison::Inspected;
use crate::support::construct::{List, ListItem, REGION, World};
use gangway_backend::DevicePtr;
use gangway_runtime::events::Site;
use gangway_runtime::{EntryKind, HostEntry, Job, MapKind, Registration, Result, Shape};
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// The host's variable of the global `factor`.
pub static FACTOR: AtomicU32 = AtomicU32::new(2);

/// What the constructor makes of the card's variable.
pub const FACTOR_ON_CARD: u32 = 103;

/// The program's image.
pub const IMAGE: &[u8] = b"NULL VENDOR'S CODE
version 2
kernel increment slots
kernel scale 8 4 4 hidden
kernel shape 8
kernel begin
kernel ask 8 8
kernel trap 8
kernel stray 8 8
kernel linger
global factor 3
constructor begin
calls-host
";

/// Kernels of the image.
pub const KERNELS: usize = 8;

/// The kernels that are regions. The harness launches the first one.
const REGIONS: [&CStr; 7] = [c"increment", c"scale", c"shape", c"ask", c"trap", c"stray", c"linger"];

/// Both ways.
pub const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

/// Memory of a card.
const MEMORY: usize = 1 << 20;

/// The host address of a region.
pub fn region(kernel: &CStr) -> usize {
    REGION + 16 * REGIONS.iter().position(|name| *name == kernel).expect("a region")
}

/// The library of the program, with these images.
pub fn library(images: &[&'static [u8]]) -> Registration {
    let kernel =
        |name: &&'static CStr| HostEntry { kind: EntryKind::Kernel, address: region(name), name, size: 0 };
    let mut entries: Vec<HostEntry> = REGIONS.iter().map(kernel).collect();
    let address = (&raw const FACTOR).addr();
    entries.push(HostEntry { kind: EntryKind::Global, address, name: c"factor", size: 4 });
    Registration { key: 1, images: images.to_vec(), entries, ..Registration::default() }
}

/// A program under way, on the first of its cards.
pub struct Program {
    pub world: World,
    pub cards: Vec<Arc<Card>>,
}

impl Program {
    pub fn new() -> Self {
        Self::with_cards(1)
    }

    pub fn with_cards(count: usize) -> Self {
        Self::of(count, library(&[IMAGE]))
    }

    /// A program that maps nothing by itself.
    pub fn without_globals() -> Self {
        let mut library = library(&[IMAGE]);
        library.entries.retain(|entry| entry.kind == EntryKind::Kernel);
        Self::of(1, library)
    }

    fn of(cards: usize, library: Registration) -> Self {
        let cards: Vec<_> = (0..cards).map(|_| Card::new(MEMORY)).collect();
        let vendor = Vendor(cards.iter().cloned().map(Some).collect());
        Self { world: World::of(Box::new(vendor), library), cards }
    }

    pub fn card(&self) -> &Card {
        &self.cards[0]
    }

    pub fn issue(&self, site: Site, kernel: &CStr, items: &[ListItem], shape: &Shape) -> Result<Box<Job>> {
        let World { runtime, device } = self.world;
        runtime.run(device, site, region(kernel), &List::of(items, false), shape)
    }

    /// A construct that is waited for. What fails may be told when it is issued or when it is waited for.
    pub fn run_at(&self, site: Site, kernel: &CStr, items: &[ListItem]) -> Result<()> {
        self.issue(site, kernel, items, &Shape::default())?.complete()
    }

    pub fn run(&self, kernel: &CStr, items: &[ListItem]) -> Result<()> {
        self.run_at(Site::NONE, kernel, items)
    }
}

impl Inspected for Program {
    fn read(&self, pointer: DevicePtr, size: usize) -> Vec<u8> {
        self.card().memory().bytes(pointer, size).expect("memory of the card").to_vec()
    }

    fn violations(&self) -> Vec<String> {
        self.card().violations()
    }

    #[track_caller]
    fn assert_all_freed(&self) {
        self.world.device.release_idle();
        for card in &self.cards {
            assert_eq!(card.violations(), [""; 0]);
            // The image, and the driver's own queue.
            assert_eq!(card.memory().buffers(), 1, "memory that was not freed");
            assert_eq!(card.handles(), [1, 0, KERNELS], "queues, signals, kernel objects");
            assert_eq!(card.kernargs.lock().unwrap().counts().0, 0, "sessions that have not ended");
        }
    }
}

/// A parameter that is a section.
pub fn parameter<T>(data: &[T], kind: MapKind) -> ListItem {
    ListItem::section(data.as_ptr().addr(), size_of_val(data), kind | MapKind::PARAMETER)
}

/// A parameter that is a value.
pub fn value(value: usize) -> ListItem {
    ListItem { base: value, ..ListItem::section(0, 8, MapKind::LITERAL | MapKind::PARAMETER) }
}
