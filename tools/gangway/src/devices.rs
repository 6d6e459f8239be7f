//! The names that `--device` takes, and what they mean for a program.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use gangway_backend::Backend;
use gangway_backends::ExternalBackend;

use crate::library::{self, VGPU};

/// The back end of NVIDIA's GPUs.
pub const CUDA: &str = "cuda";

/// The back end of AMD's GPUs.
pub const HSA: &str = "hsa";

/// The names that every installation knows.
const NAMES: [&str; 5] = ["cpu", CUDA, HSA, VGPU, "none"];

/// Takes names, separated by commas, of back ends that are there.
#[derive(Clone, Copy, Debug)]
pub struct DeviceNames;

impl TypedValueParser for DeviceNames {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let names = StringValueParser::new().parse_ref(command, argument, value)?;
        // The folders are searched only for a name that is not one of ours.
        for name in names.split(',').filter(|name| !NAMES.contains(name)) {
            let others = external(library::directory().ok().as_deref());
            let others = others.iter().map(|backend| backend.name().to_owned());
            let known = NAMES.into_iter().map(str::to_owned).chain(others);
            PossibleValuesParser::new(known).parse_ref(command, argument, OsStr::new(name))?;
        }
        Ok(names)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(NAMES.into_iter().map(PossibleValue::new)))
    }
}

/// The names as the runtime knows them: virtual GPUs are devices of the CUDA and of the HSA back end, behind
/// the libraries that the program finds. Its images say which of them is opened.
pub fn for_runtime(names: &str) -> String {
    let mut all: Vec<&str> = Vec::new();
    for name in names.split(',').flat_map(|name| if name == VGPU { vec![CUDA, HSA] } else { vec![name] }) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all.join(",")
}

/// The back ends that programs ask about their images, in the order in which people are shown them,
/// and what is wrong with their settings.
pub fn backends(own: Option<&Path>) -> (Vec<Box<dyn Backend>>, Vec<String>) {
    let mut all = gangway_backends::built_in(|_| true);
    // People are shown the one first that every machine has.
    all.reverse();
    let warnings = all.iter().flat_map(|backend| backend.warnings()).cloned().collect();
    all.extend(external(own).into_iter().map(|backend| Box::new(backend) as Box<dyn Backend>));
    (all, warnings)
}

/// The external back ends that programs find, with the runtime's library in the folder `own`.
pub fn external(own: Option<&Path>) -> Vec<ExternalBackend> {
    let named = env::var_os("GANGWAY_RTL_PATH").unwrap_or_default();
    // An empty element would mean the current directory, which is never wanted.
    let mut directories: Vec<PathBuf> =
        env::split_paths(&named).filter(|directory| !directory.as_os_str().is_empty()).collect();
    directories.extend(own.map(Path::to_owned));
    gangway_backends::discover_in(&directories)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_gpus_are_devices_of_their_makers_back_ends() {
        assert_eq!(for_runtime("vgpu"), "cuda,hsa");
        assert_eq!(for_runtime("cpu,vgpu"), "cpu,cuda,hsa");
        assert_eq!(for_runtime("hsa,vgpu"), "hsa,cuda");
    }
}
