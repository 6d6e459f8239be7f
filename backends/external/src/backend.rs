//! An external library as a [`Backend`].

use crate::abi::Functions;
use crate::device::ExternalDevice;
use crate::library;
use crate::status::{Doing, check};
use gangway_backend::{Backend, Device, Error, Result};
use once_cell::race::{OnceBox, OnceNonZeroUsize};
use std::ffi::CStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

/// A type of device that a library outside Gangway provides. The library is
/// opened at the first question that only it can answer; by two threads, if both ask
/// at that moment, since neither may wait for the other here: one may hold the loader's
/// lock that the other one needs.
pub struct ExternalBackend {
    name: String,
    path: PathBuf,
    opened: OnceBox<std::result::Result<Opened, String>>,
}

struct Opened {
    functions: Arc<Functions>,
    /// How many there are, plus one.
    devices: OnceNonZeroUsize,
}

impl ExternalBackend {
    pub(crate) fn new(name: String, path: PathBuf) -> Self {
        Self { name, path, opened: OnceBox::new() }
    }

    /// The library's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why the library is not used, if it is not: it cannot be loaded, has another
    /// version, or lacks something mandatory. Opens the library.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        self.opened().err()
    }

    fn opened(&self) -> std::result::Result<&Opened, &str> {
        let open =
            || {
                Box::new(library::open(&self.path).map(|functions| Opened {
                    functions: Arc::new(functions),
                    devices: OnceNonZeroUsize::new(),
                }))
            };
        self.opened.get_or_init(open).as_ref().map_err(String::as_str)
    }
}

impl Backend for ExternalBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn recognises(&self, image: &[u8]) -> bool {
        // SAFETY: the library was checked; the image has that many bytes.
        self.opened()
            .is_ok_and(|o| unsafe { (o.functions.recognises)(image.as_ptr().cast(), image.len()) } != 0)
    }

    fn device_count(&self) -> usize {
        let Ok(opened) = self.opened() else { return 0 };
        // SAFETY: the library was checked.
        let count = || unsafe { (opened.functions.device_count)() } as usize;
        opened.devices.get_or_init(|| NonZeroUsize::MIN.saturating_add(count())).get() - 1
    }

    fn why_absent(&self) -> Option<String> {
        if self.device_count() > 0 {
            return None;
        }
        let functions = match self.opened() {
            Ok(opened) => &opened.functions,
            Err(refusal) => return Some(refusal.to_owned()),
        };
        // SAFETY: the text is null, or ends in a zero byte and stays valid.
        let said = functions.why_absent.and_then(|why| unsafe {
            let text = why();
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        });
        Some(said.unwrap_or_else(|| format!("{} finds no devices", self.path.display())))
    }

    fn open(&self, ordinal: usize) -> Result<Box<dyn Device>> {
        let opened =
            self.opened().map_err(|refusal| Error::Device { code: 0, message: refusal.to_owned() })?;
        let number = u32::try_from(ordinal).ok().filter(|_| ordinal < self.device_count());
        let Some(number) = number else {
            let (name, count) = (&self.name, self.device_count());
            let message = format!("there is no {name} device {ordinal}: {count} exist");
            return Err(Error::Device { code: 0, message });
        };
        let mut handle = ptr::null_mut();
        check(Doing::Operation("this device"), |error| {
            // SAFETY: the ordinal is one of the library's.
            unsafe { (opened.functions.open)(number, &mut handle, error) }
        })?;
        Ok(Box::new(ExternalDevice::new(Arc::clone(&opened.functions), handle, &self.path)?))
    }

    fn unique_id(&self, ordinal: usize) -> String {
        let given = || {
            let function = self.opened().ok()?.functions.unique_id?;
            let mut name = [0_u8; 256];
            // One byte less than there is, so that the name ends whatever was written.
            let size = name.len() - 1;
            check(Doing::Operation("unique names"), |error| {
                // SAFETY: the name has room for that many bytes.
                unsafe { function(ordinal as u32, name.as_mut_ptr().cast(), size, error) }
            })
            .ok()?;
            CStr::from_bytes_until_nul(&name).ok()?.to_str().ok().filter(|n| !n.is_empty()).map(str::to_owned)
        };
        given().unwrap_or_else(|| format!("gangway-{}-{ordinal}", self.name))
    }
}
