//! Teams and threads of regions whose clauses leave them open, where the environment says how many
//! a device has (`OMP_NUM_TEAMS_DEV`, `OMP_TEAMS_THREAD_LIMIT_ALL`), or a region before them has
//! (`omp_set_num_teams` in device code), as libgomp since GCC 13.

use gangway_backend::DeviceControls;
use gangway_frontend::environment::variable;
use gangway_frontend::state::routine;
use gangway_runtime::memory::{self, Place};
use gangway_runtime::{Device, EntryKind, HostEntry, Shape};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Devices whose variables are looked at.
const DEVICES: u32 = 16;

/// The control variables of each device; none if the environment has none.
fn controls() -> &'static [DeviceControls] {
    static CONTROLS: OnceLock<Vec<DeviceControls>> = OnceLock::new();
    CONTROLS.get_or_init(|| {
        let all: Vec<_> = (0..DEVICES).map(|number| DeviceControls::of(number, variable)).collect();
        if all.iter().all(|controls| *controls == DeviceControls::default()) { Vec::new() } else { all }
    })
}

/// What device code keeps its control variables in: the device's number, the default device, and how
/// many teams and threads of a team there are at most.
const VARIABLE: &CStr = c"__gomp_additional_icvs";
type Variable = [u32; 4];

/// How code that sets them does it.
const SETTERS: [&[u8]; 2] = [b"call omp_set_num_teams", b"call omp_set_teams_thread_limit"];

/// An image whose code sets its control variables.
struct Setter {
    image: usize,
    /// Stands for the variable on the host, which has none.
    counterpart: Box<Variable>,
    /// What the variable was on each device when it was last looked at.
    seen: BTreeMap<i32, [u32; 2]>,
}

/// Images that set control variables, and what each device's have been set to.
#[derive(Default)]
pub(crate) struct Set {
    setters: Vec<Setter>,
    devices: BTreeMap<i32, [u32; 2]>,
}

static SET: Mutex<Option<Set>> = Mutex::new(None);
/// Whether there is any such image: most programs have none.
static SETS: AtomicBool = AtomicBool::new(false);

/// Takes the lock of this module, for a fork.
pub(crate) fn hold() -> MutexGuard<'static, Option<Set>> {
    SET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The entry for the control variables of an image, if its code sets them.
pub(crate) fn watch(image: usize, texts: &[&[u8]]) -> Option<HostEntry> {
    let has = |text: &&[u8], call: &[u8]| text.windows(call.len()).any(|part| part == call);
    // GCC 12's code has the calls and no such variable: nothing comes of them.
    let keeps = texts.iter().any(|text| has(text, VARIABLE.to_bytes()));
    if !keeps || !texts.iter().any(|text| SETTERS.iter().any(|call| has(text, call))) {
        return None;
    }
    let counterpart = Box::<Variable>::default();
    let address = std::ptr::from_ref(&*counterpart).expose_provenance();
    let setter = Setter { image, counterpart, seen: BTreeMap::new() };
    hold().get_or_insert_default().setters.push(setter);
    SETS.store(true, Ordering::Release);
    Some(HostEntry { kind: EntryKind::Global, address, name: VARIABLE, size: size_of::<Variable>() })
}

/// Forgets an image. What its code has set stays set.
pub(crate) fn forget(image: usize) {
    if let Some(set) = &mut *hold() {
        set.setters.retain(|setter| setter.image != image);
    }
}

/// What device code has set last, beginning with what the environment says.
#[cold]
fn set_on(device: &'static Device, initial: [u32; 2]) -> [u32; 2] {
    let number = device.number();
    // A copy waits for the driver, which the lock must not.
    let images: Vec<(usize, usize)> = {
        let set = hold();
        let setters = set.iter().flat_map(|set| &set.setters);
        setters.map(|setter| (setter.image, setter.counterpart.as_ptr().addr())).collect()
    };
    let now: Vec<_> = images
        .into_iter()
        .filter_map(|(image, host)| {
            let from = memory::mapped_address(device, host)?;
            let mut value = Variable::default();
            let to = Place { device: None, address: value.as_mut_ptr().addr() };
            let from = Place { device: Some(device), address: from.0 };
            // SAFETY: the variable is the image's, of this size, and stays while a region is on its way.
            unsafe { memory::copy(to, from, size_of::<Variable>(), &routine()) }.ok()?;
            Some((image, [value[2], value[3]]))
        })
        .collect();
    hold().get_or_insert_default().note(number, initial, &now)
}

impl Set {
    /// The control variables of a device, whose images have these now.
    fn note(&mut self, device: i32, initial: [u32; 2], now: &[(usize, [u32; 2])]) -> [u32; 2] {
        for &(image, value) in now {
            let Some(setter) = self.setters.iter_mut().find(|setter| setter.image == image) else { continue };
            if setter.seen.insert(device, value).unwrap_or(initial) != value {
                self.devices.insert(device, value);
            }
        }
        self.devices.get(&device).copied().unwrap_or(initial)
    }
}

/// What the clauses of a region ask for.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub shape: Shape,
    /// There is a `teams` construct.
    pub has_teams: bool,
}

impl Asked {
    /// The shape for a device.
    #[inline]
    pub(crate) fn on(&self, device: &'static Device) -> Shape {
        let controls = controls();
        let is_plain = controls.is_empty() && !SETS.load(Ordering::Acquire);
        if is_plain { self.shape } else { self.limited(device, controls) }
    }

    #[cold]
    fn limited(&self, device: &'static Device, controls: &[DeviceControls]) -> Shape {
        if !self.is_open() {
            return self.shape;
        }
        let number = usize::try_from(device.number()).ok();
        let mut controls = number.and_then(|number| controls.get(number)).copied().unwrap_or_default();
        if SETS.load(Ordering::Acquire) {
            [controls.teams, controls.thread_limit] = set_on(device, [controls.teams, controls.thread_limit]);
        }
        self.with(&controls)
    }

    /// Whether control variables count.
    fn is_open(&self) -> bool {
        self.has_teams && (self.shape.teams[0] == 0 || self.shape.thread_limit[0] == 0)
    }

    /// The shape under control variables: a clause comes before them.
    fn with(&self, controls: &DeviceControls) -> Shape {
        let mut shape = self.shape;
        if self.has_teams && shape.teams[0] == 0 {
            shape.teams[0] = controls.teams;
        }
        if self.has_teams && shape.thread_limit[0] == 0 {
            shape.thread_limit[0] = controls.thread_limit;
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_that_set_are_known_by_their_calls() {
        let sets = b"call omp_set_num_teams_,(%out_arg1);\n";
        let library = b".visible .func omp_set_num_teams (.param .u32 %in_ar0);\n";
        let keeps = b".visible .global .align 4 .b8 __gomp_additional_icvs[16];\n";
        assert!(watch(0x10, &[library, keeps]).is_none());
        // GCC 12's code.
        assert!(watch(0x10, &[library, sets]).is_none());
        let entry = watch(0x10, &[library, keeps, sets]).unwrap();
        assert_eq!((entry.name, entry.size), (VARIABLE, 16));
        forget(0x10);
        assert!(hold().as_ref().unwrap().setters.is_empty());
    }

    #[test]
    fn what_was_set_last_counts() {
        let setter = |image| Setter { image, counterpart: Box::default(), seen: BTreeMap::new() };
        let mut set = Set { setters: vec![setter(1), setter(2)], devices: BTreeMap::new() };
        assert_eq!(set.note(0, [4, 3], &[(1, [4, 3]), (2, [4, 3])]), [4, 3]);
        assert_eq!(set.note(0, [4, 3], &[(1, [4, 3]), (2, [9, 3])]), [9, 3]);
        // The other image's code says something else later.
        assert_eq!(set.note(0, [4, 3], &[(1, [5, 3]), (2, [9, 3])]), [5, 3]);
        assert_eq!(set.note(0, [4, 3], &[(1, [5, 3]), (2, [9, 3])]), [5, 3]);
        assert_eq!(set.note(1, [4, 3], &[]), [4, 3]);
    }

    #[test]
    fn clauses_come_before_variables() {
        let controls = DeviceControls { teams: 4, thread_limit: 3, ..DeviceControls::default() };
        let of = |teams, threads, has_teams| {
            let shape = Shape { teams: [teams, 1, 1], thread_limit: [threads, 1, 1], ..Shape::default() };
            let shape = Asked { shape, has_teams }.with(&controls);
            (shape.teams[0], shape.thread_limit[0])
        };
        assert_eq!(of(0, 0, true), (4, 3));
        assert_eq!(of(9, 0, true), (9, 3));
        assert_eq!(of(0, 8, true), (4, 8));
        assert_eq!(of(1, 0, false), (1, 0));
    }
}
