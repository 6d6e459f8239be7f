//! Where Gangway's own libraries are.

use std::env;
use std::path::{Path, PathBuf};

use crate::exit::{Failure, NOT_STARTED};
use gangway_settings::Maker;

/// The library that takes the stock one's place; clang-22's programs ask for this name, those of other releases
/// for names that lead to it.
pub const LIBOMPTARGET: &str = "libomptarget.so.22.1";

/// The release of LLVM whose programs ask for a libomptarget of this name.
pub fn release(library: &str) -> Option<u32> {
    let (release, minor) = library.strip_prefix("libomptarget.so.")?.split_once('.')?;
    release.parse().ok().filter(|_| minor == "1")
}

/// The releases of LLVM whose programs find a library of ours in a folder.
pub fn releases(folder: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let found = entries.filter(|entry| entry.path().exists());
    let mut releases: Vec<u32> = found.filter_map(|entry| release(entry.file_name().to_str()?)).collect();
    releases.sort_unstable();
    releases
}

/// `19, 20 and 22`
pub fn listed(releases: &[u32]) -> String {
    let text: Vec<String> = releases.iter().map(u32::to_string).collect();
    match &text[..] {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The library that stands before libgomp in programs of GCC's.
pub const LIBGOMP_FRONT: &str = "libgangway-gomp.so";

/// The library that hears of ends of a program that no exit handler sees.
pub const ENDING: &str = "libgangway-ending.so";

/// The library that hears of what the C library does with a program's memory.
pub const HOST_ACCESS: &str = "libgangway-host-access.so";

/// What programs that use a CUDA device load.
pub const LIBCUDA: &str = "libcuda.so.1";

/// What programs that use a device of AMD's load.
pub const LIBHSA: &str = "libhsa-runtime64.so.1";

/// The name of the virtual GPU among devices.
pub const VGPU: &str = "vgpu";

/// The folders with what takes the place of others' libraries in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Libraries {
    /// Where [`LIBOMPTARGET`] is.
    pub runtime: PathBuf,
    /// Where the virtual GPU's [`LIBCUDA`] is, for a program that is to find it. The folder is one
    /// of its own: only who asks for it gets another libcuda.
    pub driver: Option<PathBuf>,
}

impl Libraries {
    /// In the order in which the loader should look into them.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.driver.iter().chain([&self.runtime]).map(PathBuf::as_path)
    }

    /// Adds the virtual GPU.
    pub fn with_virtual_gpu(self) -> Result<Self, Failure> {
        Ok(Self { driver: Some(virtual_gpu()?), ..self })
    }
}

/// Where the library is that stands before libgomp.
pub fn libgomp_front() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    Ok(checked(directory, LIBGOMP_FRONT, hint)?.join(LIBGOMP_FRONT))
}

/// Where the library is that hears of a program's end.
pub fn ending() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    Ok(checked(directory, ENDING, hint)?.join(ENDING))
}

/// Where the library is that hears of what the C library does with a program's memory.
pub fn host_access() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    Ok(checked(directory, HOST_ACCESS, hint)?.join(HOST_ACCESS))
}

/// The libraries that a program for `device` gets.
pub fn for_device(device: Option<&str>) -> Result<Libraries, Failure> {
    let libraries = Libraries { runtime: directory()?, driver: None };
    if device.is_some_and(wants_virtual_gpu) { libraries.with_virtual_gpu() } else { Ok(libraries) }
}

/// Whether the virtual GPU is among the names of devices.
fn wants_virtual_gpu(names: &str) -> bool {
    names.split(',').any(|name| name == VGPU)
}

/// The folder with the virtual GPU's driver.
pub fn virtual_gpu() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    checked(directory.join(VGPU), LIBCUDA, hint)
}

/// Whether programs can find a maker's GPU: its driver has made a device file (under WSL, that of DirectX), or a driver
/// of the user's choice comes first in the search path.
pub fn has_gpu(maker: Maker) -> bool {
    let (files, library): (&[&str], _) = match maker {
        Maker::Nvidia => (&["/dev/nvidiactl", "/dev/dxg"], LIBCUDA),
        Maker::Amd => (&["/dev/kfd"], LIBHSA),
    };
    let chosen = env::var_os("LD_LIBRARY_PATH");
    let mut chosen = chosen.iter().flat_map(env::split_paths);
    files.iter().any(|file| Path::new(file).exists()) || chosen.any(|folder| folder.join(library).exists())
}

/// A library's name without version, `libcuda`.
pub fn stem(library: &Path) -> &str {
    let name = library.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('.').next().unwrap_or(name)
}

/// The directory with our libraries: `GANGWAY_LIBDIR`, or `../lib/gangway` beside the
/// directory of this program.
pub fn directory() -> Result<PathBuf, Failure> {
    let (directory, hint) = located()?;
    checked(directory, LIBOMPTARGET, hint)
}

fn located() -> Result<(PathBuf, &'static str), Failure> {
    if let Some(named) = env::var_os("GANGWAY_LIBDIR").filter(|named| !named.is_empty()) {
        let directory = std::path::absolute(PathBuf::from(named))?;
        return Ok((directory, "GANGWAY_LIBDIR names it"));
    }
    // The link in a bin directory may point to where the package really is.
    let program = env::current_exe().and_then(|program| program.canonicalize())?;
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    Ok((prefix.join("lib/gangway"), "install Gangway, or set GANGWAY_LIBDIR"))
}

fn checked(directory: PathBuf, library: &str, hint: &str) -> Result<PathBuf, Failure> {
    if directory.join(library).is_file() {
        return Ok(directory);
    }
    let directory = directory.display();
    Err(Failure::new(NOT_STARTED, format!("there is no {library} in {directory} ({hint})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_virtual_gpu_has_a_name_of_its_own() {
        assert!(wants_virtual_gpu("cpu,vgpu") && !wants_virtual_gpu("cpu,cuda"));
    }
}
