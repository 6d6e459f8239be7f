//! Places where data was written or read, each with a number.
//!
//! Addresses of the host's code get theirs in a table that never grows, so signal handlers may ask for one.

use gangway_findings::Source;
use gangway_runtime::events::Site;

/// In the number of an address of the host's code.
const HOST: u32 = 1 << 31;

/// Addresses of the host's code that are told apart.
const CODES: usize = 1 << 12;

/// Where something was done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A kernel, and where it was launched or what of it did it.
    Kernel {
        kernel: String,
        source: Option<Source>,
        code: usize,
        instruction: String,
    },
    /// Another construct. Not every compiler says where it is: then there is the address of the call, or 0.
    Construct {
        source: Option<Source>,
        code: usize,
    },
    /// An instruction of the host's.
    Code(usize),
    Unknown,
}

impl Place {
    pub fn construct(site: &Site) -> Self {
        Self::Construct { source: source(site), code: code(site) }
    }

    pub fn kernel(kernel: &str, site: &Site) -> Self {
        let (kernel, instruction) = (kernel.to_owned(), String::new());
        Self::Kernel { kernel, source: source(site), code: code(site), instruction }
    }
}

/// The instruction that has called the runtime.
fn code(site: &Site) -> usize {
    site.return_address.addr().saturating_sub(1)
}

pub struct Places {
    known: Vec<Place>,
    codes: [usize; CODES],
}

/// The file, line and column of a construct.
pub fn source(site: &Site) -> Option<Source> {
    let at = site.location()?;
    Some(Source { file: at.file.to_owned(), line: at.line, column: at.column })
}

impl Places {
    pub const fn new() -> Self {
        Self { known: Vec::new(), codes: [0; CODES] }
    }

    /// The number of a place; 0 stands for none.
    pub fn add(&mut self, place: Place) -> u32 {
        // The last ones are asked for again most often.
        if let Some(at) = self.known.iter().rposition(|known| *known == place) {
            return at as u32 + 1;
        }
        self.known.push(place);
        self.known.len() as u32
    }

    /// The number of an instruction, at its address.
    pub fn code(&mut self, address: usize) -> u32 {
        let begin = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % CODES;
        for step in 0..16 {
            let at = (begin + step) % CODES;
            if self.codes[at] == 0 {
                self.codes[at] = address;
            }
            if self.codes[at] == address {
                return HOST | at as u32;
            }
        }
        0
    }

    pub fn get(&self, number: u32) -> Place {
        if number & HOST != 0 {
            return Place::Code(self.codes[(number & !HOST) as usize % CODES]);
        }
        let known = (number as usize).checked_sub(1).and_then(|at| self.known.get(at));
        known.cloned().unwrap_or(Place::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_numbers() {
        let mut places = Places::new();
        let construct = || Place::Construct { source: None, code: 0 };
        let one = places.add(construct());
        let code = places.code(0x1234);
        assert_eq!((places.add(construct()), places.code(0x1234)), (one, code));
        assert_eq!(places.get(code), Place::Code(0x1234));
        assert_eq!(places.get(0), Place::Unknown);
    }
}
