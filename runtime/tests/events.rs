//! Events of asynchronous devices: one for all that a region makes present, none for
//! data constructs unless somebody has to wait for them, none for data that has been on
//! the device for long.

mod support;

use gangway_runtime::{DataOperation, Job, MapKind};
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Mock, Options};

const ASYNCHRONOUS: [Options; 2] = [Options::LAZY, Options::WORKER];

fn sections(arrays: &[[u8; 64]], kind: MapKind) -> Vec<ListItem> {
    let section = |array: &[u8; 64]| ListItem::section(array.as_ptr().addr(), 64, kind);
    arrays.iter().map(section).collect()
}

fn checked(arrays: &[[u8; 64]]) -> Vec<ListItem> {
    sections(arrays, MapKind::TO).into_iter().map(|item| item.parameter(Access::Check)).collect()
}

/// Events recorded, waited for and destroyed.
fn events(mock: &Mock) -> [usize; 3] {
    [Call::RecordEvent, Call::WaitEvent, Call::DestroyEvent].map(|call| mock.made(call))
}

/// How many of each `action` makes.
fn during<R>(mock: &Mock, action: impl FnOnce() -> R) -> ([usize; 3], R) {
    let before = events(mock);
    let result = action();
    let after = events(mock);
    (std::array::from_fn(|index| after[index] - before[index]), result)
}

fn complete(jobs: impl IntoIterator<Item = Box<Job>>) {
    jobs.into_iter().for_each(|job| job.complete().unwrap());
}

#[test]
fn data_that_has_been_on_the_device_for_long_has_no_events() {
    for options in ASYNCHRONOUS {
        let (world, mock) = World::mock(options);
        let arrays = [[EXPECTED; 64]; 5];
        let (made, ()) =
            during(&mock, || world.data(DataOperation::Begin, &sections(&arrays, MapKind::TO)).unwrap());
        assert_eq!(made, [0, 0, 0], "{options:?}: nobody has to wait");
        for _ in 0..3 {
            assert_eq!(during(&mock, || world.launch(&checked(&arrays)).unwrap()).0, [0, 0, 0]);
            let update = sections(&arrays, MapKind::TO);
            assert_eq!(during(&mock, || world.data(DataOperation::Update, &update).unwrap()).0, [0, 0, 0]);
        }
        let end = sections(&arrays, MapKind::FROM);
        assert_eq!(during(&mock, || world.data(DataOperation::End, &end).unwrap()).0, [0, 0, 0]);
        mock.assert_all_freed();
    }
}

#[test]
fn a_region_records_one_event_for_all_that_it_makes() {
    for options in ASYNCHRONOUS {
        let (world, mock) = World::mock(options);
        let arrays = [[EXPECTED; 64]; 5];
        let (made, job) = during(&mock, || world.issue(&checked(&arrays)).unwrap());
        assert_eq!(made, [1, 0, 0], "{options:?}: its own stream need not wait");
        // Others wait for it once, whatever they use of it and whenever they do.
        let (made, others) = during(&mock, || [0; 2].map(|_| world.issue(&checked(&arrays)).unwrap()));
        assert_eq!(made, [0, 2, 0], "{options:?}");
        // When it is known to be done it is no longer waited for.
        let (made, ()) = during(&mock, || complete([job]));
        assert_eq!(made, [0, 0, 0], "{options:?}: streams may wait for it");
        let (made, last) = during(&mock, || world.issue(&checked(&arrays)).unwrap());
        assert_eq!(made, [0, 0, 0], "{options:?}");
        let (made, ()) = during(&mock, || complete(others));
        assert_eq!(made, [0, 0, 1], "{options:?}");
        complete([last]);
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
}

/// Whoever uses what a data construct is still copying records the event itself.
#[test]
fn users_of_a_data_construct_in_flight_record_its_event() {
    for options in ASYNCHRONOUS {
        let (world, mock) = World::mock(options);
        let arrays = [[EXPECTED; 64]; 5];
        let begin = sections(&arrays, MapKind::TO);
        let (made, job) = during(&mock, || world.issue_data(DataOperation::Begin, &begin).unwrap());
        assert_eq!(made, [0, 0, 0], "{options:?}");
        let (made, region) = during(&mock, || world.issue(&checked(&arrays)).unwrap());
        assert_eq!(made, [1, 1, 0], "{options:?}");
        complete([job]);
        let (made, other) = during(&mock, || world.issue(&checked(&arrays)).unwrap());
        assert_eq!(made, [0, 0, 0], "{options:?}");
        let (made, ()) = during(&mock, || complete([region, other]));
        assert_eq!(made, [0, 0, 1], "{options:?}");
        world.data(DataOperation::End, &sections(&arrays, MapKind::ALLOC)).unwrap();
        mock.assert_all_freed();
    }
}

/// What is deleted while its copy is under way takes the event of others with it only
/// when nobody waits for that any more.
#[test]
fn events_of_what_is_deleted() {
    for options in ASYNCHRONOUS {
        let (world, mock) = World::mock(options);
        let arrays = [[EXPECTED; 64]; 3];
        let job = world.issue(&checked(&arrays)).unwrap();
        world.data(DataOperation::End, &sections(&arrays[..1], MapKind::DELETE)).unwrap();
        let (made, other) = during(&mock, || world.issue(&checked(&arrays[1..])).unwrap());
        assert_eq!(made, [0, 1, 0], "{options:?}");
        complete([other, job]);
        assert_eq!(world.mapped(), []);
        mock.assert_all_freed();
    }
}
