//! Teams and threads of regions whose clauses leave them open, where the environment says how many
//! a device has (`OMP_NUM_TEAMS_DEV`, `OMP_TEAMS_THREAD_LIMIT_ALL`), as libgomp since GCC 13.

use gangway_backend::DeviceControls;
use gangway_openmp::environment::variable;
use gangway_runtime::{Device, Shape};
use std::sync::OnceLock;

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
    pub(crate) fn on(&self, device: &Device) -> Shape {
        let controls = controls();
        if controls.is_empty() { self.shape } else { self.limited(device, controls) }
    }

    #[cold]
    fn limited(&self, device: &Device, controls: &[DeviceControls]) -> Shape {
        let number = usize::try_from(device.number()).ok();
        match number.and_then(|number| controls.get(number)) {
            Some(controls) => self.with(controls),
            None => self.shape,
        }
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
