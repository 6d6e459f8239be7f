//! Initial values of the control variables that a device has of its own (OpenMP 5.2 chapter 21:
//! `OMP_NUM_TEAMS_DEV_0`, `OMP_NUM_TEAMS_DEV`, `OMP_NUM_TEAMS_ALL` and kin).

/// The control variables of a device; 0 is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceControls {
    /// `default-device-var` of the device's code.
    pub default_device: u32,
    /// `nteams-var`.
    pub teams: u32,
    /// `teams-thread-limit-var`.
    pub thread_limit: u32,
}

impl DeviceControls {
    /// Those of device `number`, as the environment has them: the variable of the device comes
    /// before that of all devices, and this before that of the host and all devices.
    #[must_use]
    pub fn of(number: u32, variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| {
            let names = [format!("{name}_DEV_{number}"), format!("{name}_DEV"), format!("{name}_ALL")];
            names.iter().find_map(|name| variable(name)?.trim().parse().ok()).unwrap_or(0)
        };
        Self {
            default_device: value("OMP_DEFAULT_DEVICE"),
            teams: value("OMP_NUM_TEAMS"),
            thread_limit: value("OMP_TEAMS_THREAD_LIMIT"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_special_variable_counts() {
        let variable = |name: &str| {
            let value = match name {
                "OMP_NUM_TEAMS_ALL" | "OMP_TEAMS_THREAD_LIMIT_ALL" => "3",
                "OMP_NUM_TEAMS_DEV" => " 4 ",
                "OMP_NUM_TEAMS_DEV_1" => "5",
                "OMP_TEAMS_THREAD_LIMIT_DEV" => "many",
                // The host's.
                "OMP_NUM_TEAMS" | "OMP_DEFAULT_DEVICE" => "7",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let of = |number| DeviceControls::of(number, variable);
        assert_eq!(of(0), DeviceControls { default_device: 0, teams: 4, thread_limit: 3 });
        assert_eq!(of(1), DeviceControls { teams: 5, ..of(0) });
        assert_eq!(DeviceControls::of(0, |_| None), DeviceControls::default());
    }
}
