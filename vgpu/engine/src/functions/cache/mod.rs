//! Compiled code that is kept: in memory ([`kept`]) for other devices and later loads of the same
//! module, and on disk so that the next process need not compile it.
//!
//! A file holds one flavour of one function. Its name is a hash of all that the code depends on:
//! the module, the function, the processor, the sources of the engine. Files appear by renaming, so
//! that any number of processes can use a folder at once. A file is checked when it is read, and a
//! damaged one counts as missing. Code that cannot be written is silently not kept.
//!
//! The hash finds damage, and does not stop planted code: what is read runs. So the folder, all
//! above it ([`trust`]) and each file ([`folder`]) must belong to the user. Others must not be able
//! to write there.

mod folder;
mod kept;
mod key;
mod trust;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use gangway_interpreter::FaultKind;
use sha2::{Digest, Sha256};

use self::folder::Folder;
use self::kept::Kept;
pub(crate) use self::key::{Key, digest};
use self::trust::Distrust;
use super::object::CodeObject;
use super::perf_map;
use crate::analysis::unit::{Refused, Request};
use crate::code::Compiled;
use crate::compile;

const MAGIC: [u8; 8] = *b"gangvgpu";
/// Magic, checksum, lengths of the code and of the positions.
const HEADER: usize = 8 + 32 + 4 + 4;
/// To look whether a folder has become too large takes up to a millisecond. It is done for each large file, and for one of
/// so many others.
const LARGE: usize = 1 << 20;
const LOOKS: u8 = 8;

/// Where compiled code is kept. The engines of a process share one.
#[derive(Debug, Default)]
pub struct CodeCache {
    kept: Kept,
    files: Option<Result<Files, Distrust>>,
}

/// A folder of compiled code.
#[derive(Debug)]
struct Files {
    folder: Folder,
    /// Writing has failed: it is not tried again.
    readonly: AtomicBool,
}

impl CodeCache {
    /// A cache in memory only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A cache that is also in a folder, which is made if need be.
    #[must_use]
    pub fn open(folder: &Path) -> Self {
        CodeCache { kept: Kept::default(), files: Some(Files::open(folder)) }
    }

    /// Why nothing is kept in the folder although one is named, for the trace.
    #[must_use]
    pub fn refusal(&self) -> Option<String> {
        self.files.as_ref()?.as_ref().err().map(ToString::to_string)
    }

    fn files(&self) -> Option<&Files> {
        self.files.as_ref()?.as_ref().ok()
    }
}

impl Files {
    /// None when others could have us run what they like.
    fn open(folder: &Path) -> Result<Self, Distrust> {
        Ok(Files { folder: Folder::open(folder)?, readonly: AtomicBool::new(false) })
    }

    /// The code that was kept under a key.
    fn read(&self, key: &Key) -> Option<Compiled> {
        let (part, name) = file(key);
        decode(key, &self.folder.read(&part, &name)?)
    }

    fn write(&self, key: &Key, compiled: &Compiled) {
        if self.readonly.load(Ordering::Relaxed) {
            return;
        }
        let (part, name) = file(key);
        let bytes = encode(key, compiled);
        let looks = bytes.len() >= LARGE || key[31].is_multiple_of(LOOKS);
        let written = match looks {
            true => self.folder.write(&part, &name, &bytes),
            false => self.folder.put(&part, &name, &bytes).map(drop),
        };
        if written.is_err() {
            self.readonly.store(true, Ordering::Relaxed);
        }
    }
}

/// The folder and the name of a key's file.
fn file(key: &Key) -> (String, String) {
    let part = u64::from(key[0]) * folder::FOLDERS / 256;
    (format!("{part:02x}"), key.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The code of a function, from the cache if there is one and it has it. `module` is [`digest`]'s.
pub(crate) fn compile(
    cache: Option<(&CodeCache, &Key)>,
    request: &Request<'_>,
) -> Result<Arc<CodeObject>, FaultKind> {
    let refused = |Refused(what)| FaultKind::Unsupported(what);
    let ready = |compiled| {
        let object = CodeObject::new(request.function, compiled).map_err(FaultKind::Launch)?;
        perf_map::add(&object, &request.module.functions[request.function as usize].name);
        Ok(Arc::new(object))
    };
    let Some((cache, module)) = cache else {
        return compile::compile(request).map_err(refused).and_then(ready);
    };
    let key = key::of(module, request).map_err(refused)?;
    let place = cache.kept.place(&key);
    // Another device that wants the same waits until it is there.
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = &*place {
        return Ok(known.clone());
    }
    let files = cache.files();
    let compiled = match files.and_then(|files| files.read(&key)) {
        Some(known) => known,
        None => {
            let compiled = compile::compile(request).map_err(refused)?;
            if let Some(files) = files {
                files.write(&key, &compiled);
            }
            compiled
        }
    };
    let object = ready(compiled)?;
    *place = Some(object.clone());
    drop(place);
    cache.kept.count(&key, object.size());
    Ok(object)
}

/// The key is part of the checksum, so that a file under a wrong name is not taken.
fn checksum(key: &Key, payload: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(key);
    hasher.update(payload);
    hasher.finalize().into()
}

fn encode(key: &Key, compiled: &Compiled) -> Vec<u8> {
    let mut payload = vec![u8::from(compiled.regions)];
    payload.extend_from_slice(&compiled.code);
    for (offset, instruction) in &compiled.positions {
        payload.extend_from_slice(&offset.to_le_bytes());
        payload.extend_from_slice(&instruction.to_le_bytes());
    }
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&checksum(key, &payload));
    bytes.extend_from_slice(&(compiled.code.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&(compiled.positions.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

fn decode(key: &Key, bytes: &[u8]) -> Option<Compiled> {
    let number = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?));
    let (header, payload) = bytes.split_at_checked(HEADER)?;
    let (code, positions) = (number(&header[40..44])? as usize, number(&header[44..48])? as usize);
    let (&regions, rest) = payload.split_first()?;
    let fits = code.checked_add(positions.checked_mul(8)?)? == rest.len();
    if header[..8] != MAGIC || !fits || header[8..40] != checksum(key, payload) {
        return None;
    }
    let (code, positions) = rest.split_at(code);
    let pairs = positions.chunks_exact(8).map(|pair| Some((number(&pair[..4])?, number(&pair[4..])?)));
    Some(Compiled { code: code.to_vec(), positions: pairs.collect::<Option<_>>()?, regions: regions != 0 })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn path(top: &tempfile::TempDir, key: &Key) -> PathBuf {
        let (part, name) = file(key);
        top.path().join(part).join(name)
    }

    fn compiled() -> Compiled {
        Compiled { code: (0..200).collect(), positions: vec![(0, 3), (17, 4), (90, 5)], regions: true }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Files::open(folder.path()).expect("a cache");
        let (key, other) = ([7; 32], [8; 32]);
        assert_eq!(cache.read(&key), None);
        cache.write(&key, &compiled());
        assert_eq!(cache.read(&key), Some(compiled()));
        assert_eq!(cache.read(&other), None);
        // Under another name it is not taken.
        fs::create_dir_all(path(&folder, &other).parent().expect("a folder")).expect("made");
        fs::copy(path(&folder, &key), path(&folder, &other)).expect("copied");
        assert_eq!(cache.read(&other), None);
    }

    #[test]
    fn damaged_files_count_as_missing() {
        let (key, bytes) = ([7; 32], encode(&[7; 32], &compiled()));
        assert_eq!(decode(&key, &bytes), Some(compiled()));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert_eq!(decode(&key, &damaged), None, "byte {at}");
            assert_eq!(decode(&key, &bytes[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn threads_that_write_the_same_file_do_not_disturb_readers() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Files::open(folder.path()).expect("a cache");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        cache.write(&[1; 32], &compiled());
                        assert_eq!(cache.read(&[1; 32]), Some(compiled()));
                    }
                });
            }
        });
        let files = fs::read_dir(path(&folder, &[1; 32]).parent().expect("a folder")).expect("there").count();
        assert_eq!(files, 1, "temporary files are gone");
    }
}
