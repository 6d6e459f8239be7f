//! What code is found by: a hash of all that it depends on.

use std::hash::{Hash, Hasher};

use gangway_ptx::Module;
use sha2::{Digest, Sha256};

use crate::analysis::unit::{Refused, Request};
use crate::compile;

/// The hash, which a file's name is made of.
pub(crate) type Key = [u8; 32];

/// A hash of all of a module.
pub(crate) fn digest(module: &Module) -> Key {
    let mut hasher = Sha(Sha256::new());
    module.hash(&mut hasher);
    hasher.0.finalize().into()
}

/// The key of what is made for a request; `module` is [`digest`]'s.
pub(super) fn of(module: &Key, request: &Request<'_>) -> Result<Key, Refused> {
    let mut hasher = Sha(Sha256::new());
    hasher.write(env!("GANGWAY_ENGINE_SOURCES").as_bytes());
    hasher.write(compile::processor(request.flavour)?.as_bytes());
    hasher.write(module);
    // What follows from the module alone is not asked for.
    let Request { module: _, function, symbols, flavour, shape, check, watch, abreast, waits: _, lanewise } =
        request;
    (function, symbols, flavour, shape, check, watch, abreast, lanewise).hash(&mut hasher);
    Ok(hasher.0.finalize().into())
}

/// SHA-256 of what is hashed.
struct Sha(Sha256);

impl Hasher for Sha {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        // The caller takes the whole digest.
        0
    }
}
