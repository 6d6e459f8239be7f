//! Operations of asynchronous devices, as those see them who time them.

mod support;

use gangway_runtime::MapKind;
use gangway_runtime::events::{self, Observer, Site, Step};
use std::sync::{Arc, Mutex};
use support::construct::{Access, EXPECTED, ListItem, World};
use support::device::{Call, Mock, Options};

static MOCK: Mutex<Option<Arc<Mock>>> = Mutex::new(None);
/// What had been left to do when launches and copies ended, in order.
static ENDED: Mutex<Vec<(&str, bool)>> = Mutex::new(Vec::new());

struct Timer;

impl Observer for Timer {
    fn end(&self, _device: i32, _site: &Site, step: &Step<'_>) {
        let name = match step {
            Step::Launch { .. } => "launch",
            Step::ToDevice { .. } => "to device",
            Step::FromDevice { .. } => "from device",
            _ => return,
        };
        let idle = MOCK.lock().unwrap().as_ref().unwrap().is_all_done();
        ENDED.lock().unwrap().push((name, idle));
    }
}

fn ended() -> Vec<(&'static str, bool)> {
    std::mem::take(&mut *ENDED.lock().unwrap())
}

fn ended_of(world: &World, items: &[ListItem]) -> Vec<(&'static str, bool)> {
    world.launch(items).unwrap();
    ended()
}

/// One test, since what is asked for holds for the process.
#[test]
fn launches_and_copies_end_when_they_are_done() {
    static TIMER: Timer = Timer;
    events::observe(&TIMER);
    let (world, mock) = World::mock(Options::LAZY);
    *MOCK.lock().unwrap() = Some(mock.clone());
    let array = [EXPECTED; 64];
    let both = MapKind::TO | MapKind::FROM;
    let item = || ListItem::section(array.as_ptr().addr(), 64, both).parameter(Access::Check);
    world.launch(&[item()]).unwrap();
    assert_eq!(ended(), [("to device", false), ("launch", false), ("from device", false)]);
    events::wait_for_operations();
    let before = mock.made(Call::Synchronize);
    world.launch(&[item()]).unwrap();
    assert_eq!(ended(), [("to device", true), ("launch", true), ("from device", true)]);
    // And the wait at the end, as ever.
    assert_eq!(mock.made(Call::Synchronize) - before, 4);
    // A thread that does not wait for a construct goes on, and others wait again after it.
    let issued = || events::without_waiting(|| ended_of(&world, &[item()]));
    assert_eq!(issued(), [("to device", false), ("launch", false), ("from device", false)]);
    assert_eq!(ended_of(&world, &[item()])[1], ("launch", true));
    // A failure that shows is that of the construct.
    mock.fail(Call::Synchronize, 1);
    let error = world.launch(&[item()]).unwrap_err().to_string();
    assert!(error.contains("Synchronize was made to fail"), "{error}");
    assert_eq!(world.mapped(), []);
    mock.assert_all_freed();
}
