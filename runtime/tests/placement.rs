//! Where constructs go that name no device: by what is queued, and by what is present.

mod support;

use gangway_backend::{Backend, Device as BackendDevice, Error, Result};
use gangway_runtime::events::Site;
use gangway_runtime::placement::{self, Place, Purpose};
use gangway_runtime::{DataOperation, Device, EntryKind, ErrorKind, HostEntry, Job, MapKind, Registration};
use gangway_runtime::{NoItems, Runtime, Shape};
use std::sync::Barrier;
use std::thread;
use support::construct::{Access, List, ListItem, REGION};
use support::device::INCREMENT;
use support::null::{Counts, NullStreams};

const DEVICES: usize = 3;
const BOTH: MapKind = MapKind::TO.with(MapKind::FROM);

static COUNTS: Counts = Counts::new();

/// Several devices, of which some cannot be opened.
struct Several {
    broken: Option<usize>,
}

impl Backend for Several {
    fn name(&self) -> &str {
        "several"
    }

    fn recognises(&self, image: &[u8]) -> bool {
        image.starts_with(b"MOCK")
    }

    fn device_count(&self) -> usize {
        DEVICES
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn BackendDevice>> {
        if self.broken == Some(ordinal) {
            return Err(Error::Device { code: 1, message: "broken".into() });
        }
        NullStreams(&COUNTS).open(ordinal)
    }
}

struct World(&'static Runtime);

impl World {
    fn new(broken: Option<usize>) -> Self {
        placement::balance();
        let runtime: &'static Runtime = Box::leak(Box::new(Runtime::new()));
        runtime.add_backend(Box::new(Several { broken }));
        runtime.register(Registration {
            key: 1,
            images: vec![b"MOCK"],
            entries: vec![HostEntry { kind: EntryKind::Kernel, address: REGION, name: INCREMENT, size: 0 }],
            ..Registration::default()
        });
        Self(runtime)
    }

    fn device(&self, number: i64) -> &'static Device {
        self.0.device(number, &Site::NONE).unwrap()
    }

    fn choose(&self, purpose: Purpose, items: &[ListItem]) -> gangway_runtime::Result<Place> {
        let is_region = matches!(purpose, Purpose::Region(_));
        self.0.choose(self.device(0), purpose, &Site::NONE, &List::of(items, is_region))
    }

    fn number(&self, purpose: Purpose, items: &[ListItem]) -> i32 {
        self.choose(purpose, items).unwrap().device().number()
    }

    /// A region that has been issued and is not done.
    fn region(&self, items: &[ListItem]) -> Box<Job> {
        let place = self.choose(Purpose::Region(REGION), items).unwrap();
        self.0.run(place, Site::NONE, REGION, &List::of(items, true), &Shape::default()).unwrap()
    }

    fn data(&self, place: impl Into<Place>, operation: DataOperation, items: &[ListItem]) {
        self.0.data_and_wait(place, Site::NONE, operation, &List::of(items, false)).unwrap();
    }

    fn queued(&self) -> Vec<usize> {
        self.0.devices().map(Device::queued).collect()
    }
}

fn section(memory: &[u8], kind: MapKind) -> ListItem {
    ListItem::section(memory.as_ptr().addr(), memory.len(), kind)
}

fn parameter(memory: &[u8]) -> ListItem {
    section(memory, BOTH).parameter(Access::Increment)
}

#[test]
fn what_is_present_nowhere_goes_where_the_least_is_queued() {
    let world = World::new(None);
    let data = [[1u8; 64]; 7];
    let mut jobs: Vec<_> = data[..6].iter().map(|own| world.region(&[parameter(own)])).collect();
    assert_eq!(world.queued(), [2, 2, 2]);
    // Number 1 has two of them less.
    jobs.remove(4).complete().unwrap();
    jobs.remove(1).complete().unwrap();
    assert_eq!(world.queued(), [2, 0, 2]);
    jobs.push(world.region(&[parameter(&data[6])]));
    assert_eq!(world.queued(), [2, 1, 2]);
    for job in jobs {
        job.complete().unwrap();
    }
    assert_eq!(world.queued(), [0, 0, 0]);
    assert_eq!(world.number(Purpose::Region(REGION), &[]), 0);
}

/// Constructs with a device clause are work, too, and a place that is not used is free again.
#[test]
fn all_constructs_are_counted() {
    let world = World::new(None);
    let job = world.0.run(world.device(0), Site::NONE, REGION, &NoItems, &Shape::default()).unwrap();
    assert_eq!(world.queued(), [1, 0, 0]);
    let place = world.choose(Purpose::Region(REGION), &[]).unwrap();
    assert_eq!((place.device().number(), world.queued()), (1, vec![1, 1, 0]));
    drop(place);
    job.complete().unwrap();
    assert_eq!(world.queued(), [0, 0, 0]);
}

#[test]
fn present_data_ties_a_construct_to_its_device() {
    let world = World::new(None);
    let (one, other, fresh) = ([0u8; 64], [0u8; 64], [0u8; 64]);
    world.data(world.device(2), DataOperation::Begin, &[section(&one, BOTH)]);
    let busy = world.0.run(world.device(2), Site::NONE, REGION, &NoItems, &Shape::default()).unwrap();
    let region = Purpose::Region(REGION);
    assert_eq!(world.number(region, &[parameter(&fresh), parameter(&one)]), 2);
    assert_eq!(world.number(region, &[parameter(&one[8..16])]), 2);
    assert_eq!(world.number(Purpose::Present, &[section(&one, MapKind::FROM)]), 2);
    assert_eq!(world.number(Purpose::Enter, &[section(&one, BOTH)]), 2);
    assert_eq!(world.number(Purpose::Present, &[section(&fresh, MapKind::FROM)]), 0);
    // A private copy is the host's value.
    let private = ListItem { kind: MapKind::PRIVATE | MapKind::TO, ..section(&one, BOTH) };
    assert_eq!(world.number(region, &[private]), 0);
    // On several: the default device, or the one with less to do.
    world.data(world.device(1), DataOperation::Begin, &[section(&one, BOTH)]);
    assert_eq!(world.number(region, &[parameter(&one)]), 1);
    world.data(world.device(1), DataOperation::Begin, &[section(&other, BOTH)]);
    assert_eq!(world.number(region, &[parameter(&one), parameter(&other)]), 1);
    world.data(world.device(0), DataOperation::Begin, &[section(&one, BOTH)]);
    assert_eq!(world.number(region, &[parameter(&one)]), 0);
    busy.complete().unwrap();
}

#[test]
fn data_on_different_devices_is_an_error_with_both_names() {
    let world = World::new(None);
    let (one, other) = ([0u8; 64], [0u8; 64]);
    world.data(world.device(0), DataOperation::Begin, &[section(&one, BOTH)]);
    world.data(world.device(2), DataOperation::Begin, &[section(&other, BOTH)]);
    let items = [parameter(&one), parameter(&other)];
    let Err(error) = world.choose(Purpose::Region(REGION), &items) else { panic!("no device has both") };
    assert!(matches!(error.kind, ErrorKind::Scattered { items: [(_, 0), (_, 2)] }), "{error}");
    let said = error.to_string();
    assert!(said.contains("is present on device 0 and") && said.contains("on device 2\n"), "{said}");
    assert_eq!(world.queued(), [0, 0, 0]);
}

#[test]
fn a_thread_keeps_its_data_together() {
    let world = World::new(None);
    let data = [[0u8; 64]; 4];
    let begin = |own: &[u8]| {
        let items = [section(own, BOTH)];
        let place = world.choose(Purpose::Enter, &items).unwrap();
        let number = place.device().number();
        world.data(place, DataOperation::Begin, &items);
        number
    };
    let home = begin(&data[0]);
    assert_eq!(home, 0);
    let busy = world.0.run(world.device(0), Site::NONE, REGION, &NoItems, &Shape::default()).unwrap();
    assert_eq!(begin(&data[1]), home);
    busy.complete().unwrap();
    // Another thread has another home, although nothing is queued.
    let elsewhere = thread::scope(|scope| scope.spawn(|| [begin(&data[2]), begin(&data[3])]).join().unwrap());
    assert_eq!(elsewhere, [1, 1]);
    // In a task it is whichever thread.
    assert_eq!(world.number(Purpose::EnterInTask, &[]), 0);
}

#[test]
fn devices_that_cannot_be_used_are_left_out() {
    let world = World::new(Some(1));
    let jobs: Vec<_> = (0..4).map(|_| world.region(&[])).collect();
    assert_eq!(world.queued(), [2, 0, 2]);
    for job in jobs {
        job.complete().unwrap();
    }
}

/// Threads that decide at the same moment see each other's work.
#[test]
fn threads_spread_evenly() {
    let world = World::new(None);
    let region = Purpose::Region(REGION);
    for _ in 0..200 {
        let (begin, end) = (Barrier::new(DEVICES), Barrier::new(DEVICES));
        let mut numbers = thread::scope(|scope| {
            let decide = || {
                begin.wait();
                let place = world.choose(region, &[]).unwrap();
                end.wait();
                place.device().number()
            };
            let threads: Vec<_> = (0..DEVICES).map(|_| scope.spawn(decide)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }
    assert_eq!(world.queued(), [0, 0, 0]);
}
