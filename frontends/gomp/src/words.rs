//! Errors in the words of GCC's users.

use gangway_frontend::words::Words;
use gangway_openacc::words::attachment;
use gangway_openmp::words::OpenMp;
use gangway_runtime::{ErrorKind, Remedy};

/// This front end's words.
pub(crate) const WORDS: &dyn Words = &Gcc;

/// OpenMP's words, and libgomp's for attachments.
struct Gcc;

impl Words for Gcc {
    fn instead(&self, kind: &ErrorKind) -> Option<String> {
        attachment(kind).or_else(|| OpenMp.instead(kind))
    }

    fn help(&self, kind: &ErrorKind) -> Vec<String> {
        OpenMp.help(kind)
    }

    fn remedy(&self, remedy: &Remedy) -> Option<String> {
        OpenMp.remedy(remedy)
    }
}
