//! Attached pointers where the map effects of several constructs meet: one construct finds a
//! structure, others end and begin, and then it finds what the structure's pointer points to.
//!
//! A mapper is called between two items of a construct, so what other threads could do at
//! that moment happens there.

mod support;

use gangway_runtime::{Components, DataOperation, Item, MapKind, memory};
use std::cell::RefCell;
use std::sync::Arc;
use support::construct::{ListItem, World};
use support::device::{Mock, Options};

thread_local! {
    static MEANWHILE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// A mapper without components.
fn happen(_: &Item, _: &mut Components) {
    let meanwhile = MEANWHILE.take();
    meanwhile.expect("asked once")();
}

/// A device, a structure that is a pointer, and the list that it points to.
struct Scene {
    world: World,
    mock: Arc<Mock>,
    pointer: [usize; 1],
    list: [u8; 64],
}

impl Scene {
    fn new(options: Options) -> &'static Self {
        let (world, mock) = World::mock(options);
        let scene = Box::leak(Box::new(Self { world, mock, pointer: [0], list: [7; 64] }));
        scene.pointer = [scene.list.as_ptr().addr()];
        scene
    }

    fn structure(&self) -> ListItem {
        ListItem::section(self.pointer.as_ptr().addr(), size_of::<usize>(), MapKind::TO)
    }

    fn list(&self) -> ListItem {
        ListItem::section(self.list.as_ptr().addr(), self.list.len(), MapKind::TO)
    }

    fn attach(&self) -> ListItem {
        let base = self.structure().begin;
        ListItem { base, ..ListItem::section(self.list().begin, size_of::<usize>(), MapKind::ATTACH) }
    }

    fn begin(&self, items: &[ListItem]) {
        self.world.data(DataOperation::Begin, items).unwrap();
    }

    fn end(&self, items: &[ListItem]) {
        self.world.data(DataOperation::End, items).unwrap();
    }

    /// Begins data with something that happens between two items.
    fn begin_around(&self, first: ListItem, meanwhile: impl FnOnce() + 'static, then: &[ListItem]) {
        MEANWHILE.set(Some(Box::new(meanwhile)));
        let between = ListItem { mapper: Some(happen), ..self.list() };
        self.begin(&[&[first, between][..], then].concat());
    }

    /// Where the pointer on the device leads, and where it should lead.
    fn leads(&self) -> (usize, usize) {
        let address = |item: ListItem| memory::mapped_address(self.world.device, item.begin).unwrap();
        let content = self.mock.read(address(self.structure()), size_of::<usize>());
        (usize::from_ne_bytes(content.try_into().unwrap()), address(self.list()).0)
    }

    #[track_caller]
    fn assert_attached(&self) {
        let (leads, expected) = self.leads();
        assert_eq!(leads, expected, "{:#x} instead of {expected:#x}", leads);
    }

    /// Nothing is left over.
    fn finish(&self) {
        self.end(&[self.list().deleted(), self.structure().deleted()]);
        assert!(!self.world.device.table.has_dangling());
        self.mock.assert_all_freed();
    }
}

#[test]
fn what_a_pointer_points_to_comes_anew() {
    for options in Options::ALL {
        let scene = Scene::new(options);
        scene.begin(&[scene.structure(), scene.list(), scene.attach()]);
        let meanwhile = || {
            scene.end(&[scene.list(), scene.structure()]);
            scene.begin(&[scene.list()]);
        };
        scene.begin_around(scene.structure(), meanwhile, &[scene.list(), scene.attach()]);
        scene.assert_attached();
        scene.finish();
    }
}

/// A construct that begins when others have not attached the pointer yet does it itself.
#[test]
fn who_comes_before_the_pointer_is_attached_anew() {
    for options in Options::ALL {
        let scene = Scene::new(options);
        scene.begin(&[scene.structure(), scene.list(), scene.attach()]);
        let meanwhile = || {
            scene.end(&[scene.list(), scene.structure()]);
            scene.begin(&[scene.list()]);
            scene.begin(&[scene.structure(), scene.list(), scene.attach()]);
            scene.assert_attached();
        };
        scene.begin_around(scene.structure(), meanwhile, &[scene.list(), scene.attach()]);
        scene.assert_attached();
        scene.finish();
    }
}

#[test]
fn a_structure_comes_anew() {
    for options in Options::ALL {
        let scene = Scene::new(options);
        scene.begin(&[scene.structure(), scene.list(), scene.attach()]);
        let meanwhile = || {
            scene.end(&[scene.list(), scene.structure()]);
            scene.begin(&[scene.structure()]);
            assert_eq!(scene.leads().0, scene.list().begin, "not attached yet");
        };
        scene.begin_around(scene.list(), meanwhile, &[scene.structure(), scene.attach()]);
        scene.assert_attached();
        scene.finish();
    }
}

/// Other data may come and go: a pointer is not attached if neither it nor what it points to
/// is new (OpenMP 6.0 section 7.9.6).
#[test]
fn other_data_changes_nothing() {
    for options in Options::ALL {
        let scene = Scene::new(options);
        let other: &[u8] = Box::leak(Box::new([1; 16]));
        let other = ListItem::section(other.as_ptr().addr(), 16, MapKind::TO);
        scene.begin(&[scene.structure()]);
        scene.begin(&[scene.list()]);
        let meanwhile = move || scene.begin(&[other]);
        scene.begin_around(scene.structure(), meanwhile, &[scene.list(), scene.attach()]);
        assert_eq!(scene.leads().0, scene.list().begin, "it has been attached");
        scene.end(&[other]);
        scene.finish();
    }
}
