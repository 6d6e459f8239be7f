//! What has been compiled: each device asks for its images, and most processes have several devices.

use crate::step::Folder;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

struct Compiled {
    image: Vec<u8>,
    processor: String,
    code: Arc<[u8]>,
}

static COMPILED: Mutex<Vec<Compiled>> = Mutex::new(Vec::new());

/// Nobody waits for the list: in the child of a fork a thread may have it that is not there. Without it an image is
/// compiled again.
fn free() -> Option<MutexGuard<'static, Vec<Compiled>>> {
    match COMPILED.try_lock() {
        Ok(compiled) => Some(compiled),
        Err(TryLockError::Poisoned(compiled)) => Some(compiled.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

fn known(image: &[u8], processor: &str) -> Option<Arc<[u8]>> {
    let compiled = free()?;
    let same = |known: &&Compiled| known.processor == processor && known.image == image;
    compiled.iter().find(same).map(|known| Arc::clone(&known.code))
}

/// The code for an image and a processor; `compile` makes it in a folder that is gone afterwards. Without a
/// lock: two threads may both compile then.
pub fn once(
    image: &[u8],
    processor: &str,
    compile: impl FnOnce(&Path) -> Result<Vec<u8>, String>,
) -> Result<Arc<[u8]>, String> {
    if let Some(code) = known(image, processor) {
        return Ok(code);
    }
    let folder = Folder::new()?;
    let code: Arc<[u8]> = compile(folder.path())?.into();
    if let Some(mut compiled) = free() {
        let (image, processor) = (image.to_owned(), processor.to_owned());
        compiled.push(Compiled { image, processor, code: Arc::clone(&code) });
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_image_is_compiled_once_for_a_processor() {
        let mut calls = 0;
        let mut code = |image: &[u8], processor: &str, compiled: Result<&[u8], &str>| {
            once(image, processor, |folder| {
                assert!(folder.is_dir());
                calls += 1;
                compiled.map(<[u8]>::to_owned).map_err(str::to_owned)
            })
            .map(|code| code.to_vec())
        };
        assert_eq!(code(b"once", "a", Err("no")), Err("no".to_owned()));
        assert_eq!(code(b"once", "a", Ok(b"1")), Ok(b"1".to_vec()));
        assert_eq!(code(b"once", "a", Ok(b"2")), Ok(b"1".to_vec()));
        assert_eq!(code(b"once", "b", Ok(b"3")), Ok(b"3".to_vec()));
        assert_eq!(code(b"twice", "a", Ok(b"4")), Ok(b"4".to_vec()));
        assert_eq!(calls, 4);
    }
}
