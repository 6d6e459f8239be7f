//! Loading a device image with the system's own loader, from memory.
//!
//! The loader wants a file: it gets one that exists in memory only, so nothing
//! is left behind however the process ends (unless `GANGWAY_PERF_MAP` asks for files). Each load makes its own, as the
//! loader would otherwise recognise the file and give every device the same
//! globals. Called by `CpuDevice::load`.

use crate::activity::ActivityKind;
use crate::launch::{Place, during};
use crate::registry::Node;
use crate::{elf, host_call, images, launch, number};
use gangway_backend::{DevicePtr, Error, HostCallLink, Kernel, KernelHandle, Module, Result};
use std::ffi::{CStr, CString};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

/// A device image in this process's address space.
pub(crate) struct CpuModule {
    place: Place,
    handle: *mut libc::c_void,
    addresses: Range<usize>,
    calls_host: bool,
    /// The image as the crash report finds it.
    record: &'static Node<images::Image>,
    /// Kept open for debuggers only.
    _file: Option<File>,
}

// SAFETY: the handle may be used from any thread.
unsafe impl Send for CpuModule {}
// SAFETY: as above.
unsafe impl Sync for CpuModule {}

impl CpuModule {
    /// Loads `image`, compiled first if it is bitcode. Whoever switches crash reports off does so for a debugger:
    /// then the file stays open, so that a debugger can read the image's symbols,
    /// at the cost of a file descriptor.
    pub fn load(place: Place, image: &[u8]) -> Result<Self> {
        let is_bitcode = gangway_bitcode::is_for(image, "x86_64");
        let compiled = is_bitcode.then(|| gangway_bitcode::library(image)).transpose();
        let compiled = compiled.map_err(|message| Error::Device { code: 0, message })?;
        let image = compiled.as_deref().unwrap_or(image);
        let device = place.device;
        let extent = elf::check(image).map_err(|reason| Error::InvalidImage { reason })?;
        let mut file = image_file(place).map_err(|e| system("no memory file for the device image", &e))?;
        let mut image = image.to_owned();
        number::tie_in(&mut image, device);
        launch::tie_in(&mut image);
        let calls_host = host_call::tie_in(&mut image, device);
        file.write_all(&image).map_err(|e| system("device image not written to its memory file", &e))?;
        let path = unique_path(&file);
        let open = || {
            // All symbols now: a missing one is an error here, not a crash in a
            // kernel. Local, as the devices' globals must not meet each other.
            // SAFETY: the image has been checked; its initialisers are the user's code.
            let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            // The message belongs to this thread until the next call.
            if handle.is_null() { Err(loader_error(&path)) } else { Ok(handle) }
        };
        let handle =
            during(place, ActivityKind::Loading, open).map_err(|reason| Error::InvalidImage { reason })?;
        // SAFETY: on Linux the handle is the loaded object's link map, whose first word is its load address.
        let base = unsafe { *handle.cast::<usize>() };
        let addresses = base + extent.start as usize..base + extent.end as usize;
        let record = images::enter(device, base, addresses.clone(), &file, image.len());
        Ok(Self {
            place,
            handle,
            addresses,
            calls_host,
            record,
            _file: (!place.catch_signals).then_some(file),
        })
    }

    /// The address of `name`, if this image (not a library it uses) has it.
    fn symbol(&self, name: &str) -> Result<usize> {
        let missing = || Error::NoSuchSymbol { name: name.to_owned() };
        let spelled = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the handle is open and the name ends in a zero byte.
        let address = unsafe { libc::dlsym(self.handle, spelled.as_ptr()) }.addr();
        if self.addresses.contains(&address) { Ok(address) } else { Err(missing()) }
    }
}

impl Module for CpuModule {
    fn kernel(&self, name: &str) -> Result<Kernel> {
        let kernel = Kernel::new(KernelHandle(self.symbol(name)?));
        // Flang's kernels have one for every device, clang's for GPUs only.
        let environment = self.symbol(&format!("{name}_kernel_environment")).ok().map(DevicePtr);
        Ok(Kernel { environment, ..kernel })
    }

    fn global(&self, name: &str, size: usize) -> Result<DevicePtr> {
        let address = self.symbol(name)?;
        if address.checked_add(size).is_none_or(|end| end > self.addresses.end) {
            return Err(Error::InvalidImage {
                reason: format!("`{name}` is to have {size} bytes, but the image ends before"),
            });
        }
        Ok(DevicePtr(address))
    }

    fn host_calls(&self) -> Result<HostCallLink> {
        Ok(if self.calls_host { HostCallLink::Linked } else { HostCallLink::Unused })
    }

    fn is_writable(&self, global: DevicePtr, size: usize) -> bool {
        self.record.value().is_writable(global.0, size)
    }
}

impl Drop for CpuModule {
    fn drop(&mut self) {
        // SAFETY: the handle is open; nobody uses the image any more. Runs the image's finalisers.
        during(self.place, ActivityKind::Unloading, || unsafe { libc::dlclose(self.handle) });
        images::leave(self.record);
    }
}

/// An empty file for an image: a name in `/tmp` that outlives the process, or else memory.
fn image_file(place: Place) -> std::io::Result<File> {
    if place.keep_images {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // Not `/tmp/perf-...`: `perf` takes files of such names for code that has no file.
        let name = format!("/tmp/gangway-{}-device{}-image{number}.so", std::process::id(), place.device);
        // An older process of this number may have left one; that of another user stays, and is not used.
        let _ = std::fs::remove_file(&name);
        if let Ok(file) = OpenOptions::new().read(true).write(true).create_new(true).mode(0o700).open(&name) {
            return Ok(file);
        }
    }
    memory_file(place.device)
}

/// An empty file in memory, named so that it can be told in `/proc/self/maps`.
fn memory_file(device: usize) -> std::io::Result<File> {
    let name = CString::new(format!("gangway-device{device}-image")).unwrap_or_default();
    // SAFETY: the name ends in a zero byte.
    let mut descriptor = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if descriptor < 0 {
        // A sandbox may refuse it; a nameless file on disk is as good.
        let flags = libc::O_TMPFILE | libc::O_RDWR | libc::O_CLOEXEC;
        // SAFETY: the path ends in a zero byte.
        descriptor = unsafe { libc::open(c"/tmp".as_ptr(), flags, 0o700) };
    }
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and ours.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// A path to `file` that no other load has used: the loader remembers images by
/// path, and a descriptor's number comes back once it is closed. `/./` leads
/// nowhere, so the count can be written with it, a digit per place.
fn unique_path(file: &File) -> CString {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let mut count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The process's number, not "self", so that debuggers find it too.
    let mut path = format!("/proc/{}/fd", std::process::id());
    while count > 0 {
        path.push_str(if count & 1 == 1 { "/." } else { "/" });
        count >>= 1;
    }
    let _ = write!(path, "/{}", file.as_raw_fd());
    CString::new(path).unwrap_or_default()
}

/// The loader's words about the image at `path`.
fn loader_error(path: &CStr) -> String {
    // SAFETY: the message is valid until this thread's next call of the loader.
    let message = unsafe {
        let message = libc::dlerror();
        if message.is_null() { c"no reason given" } else { CStr::from_ptr(message) }
    };
    let message = message.to_string_lossy();
    let path = path.to_string_lossy();
    // The path means nothing to the user.
    let message = message.strip_prefix(&*path).map_or(&*message, |rest| rest.trim_start_matches([':', ' ']));
    if !std::path::Path::new("/proc/self/fd").exists() {
        return format!("the loader says: {message} (/proc is not mounted, which loading from memory needs)");
    }
    format!("the loader says: {message}")
}

fn system(what: &str, error: &std::io::Error) -> Error {
    Error::Device { code: error.raw_os_error().unwrap_or(0).into(), message: format!("{what}: {error}") }
}
