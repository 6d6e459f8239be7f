//! What can be wrong with an image or between modules, and the driver's error for it.

use std::fmt;

use gangway_ptx::Errors;

/// The driver's error codes that loading and linking end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Code {
    /// `CUDA_ERROR_INVALID_IMAGE`: not an image, a damaged one, or modules that do not
    /// fit together.
    InvalidImage = 200,
    /// `CUDA_ERROR_NO_BINARY_FOR_GPU`: machine code, or PTX for newer processors only.
    NoBinaryForGpu = 209,
    InvalidPtx = 218,
    UnsupportedPtxVersion = 222,
    NotSupported = 801,
}

impl Code {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidImage => "CUDA_ERROR_INVALID_IMAGE",
            Self::NoBinaryForGpu => "CUDA_ERROR_NO_BINARY_FOR_GPU",
            Self::InvalidPtx => "CUDA_ERROR_INVALID_PTX",
            Self::UnsupportedPtxVersion => "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            Self::NotSupported => "CUDA_ERROR_NOT_SUPPORTED",
        }
    }
}

impl From<gangway_ptx::Code> for Code {
    fn from(code: gangway_ptx::Code) -> Self {
        match code {
            gangway_ptx::Code::InvalidPtx => Self::InvalidPtx,
            gangway_ptx::Code::UnsupportedVersion => Self::UnsupportedPtxVersion,
            gangway_ptx::Code::NotSupported => Self::NotSupported,
        }
    }
}

/// Why bytes are no image that can be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageError {
    pub code: Code,
    pub message: String,
}

impl ImageError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Code::InvalidImage, message)
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for ImageError {}

impl From<gangway_image::Error> for ImageError {
    fn from(error: gangway_image::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

/// Faults of a text as its author wants to read them. Each feature that is not supported is shown
/// where it comes first, and counted elsewhere. Compilers repeat an instruction by the dozen.
struct Condensed<'a>(&'a Errors);

impl fmt::Display for Condensed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        let mut shown = Vec::new();
        for error in &self.0.0 {
            let feature = feature(error);
            match feature.and_then(|feature| counts.iter_mut().find(|(known, _)| *known == feature)) {
                Some((_, count)) => *count += 1,
                None => {
                    counts.extend(feature.map(|feature| (feature, 0)));
                    shown.push(error);
                }
            }
        }
        for (index, error) in shown.into_iter().enumerate() {
            write!(f, "{}{error}", if index > 0 { "\n" } else { "" })?;
        }
        for (feature, more) in counts.into_iter().filter(|&(_, more)| more > 0) {
            let times = if more == 1 { "once more".to_owned() } else { format!("{more} times more") };
            write!(f, "\n{feature}: {times} in this module")?;
        }
        Ok(())
    }
}

/// What is not supported, without the spelling of the instruction that wants it.
fn feature(error: &gangway_ptx::Error) -> Option<&str> {
    if error.code != gangway_ptx::Code::NotSupported {
        return None;
    }
    Some(error.message.rsplit_once("': ").map_or(&*error.message, |(_, feature)| feature))
}

/// One thing that does not fit between modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing defines a name that is used.
    Undefined { name: Box<str>, used_in: Box<str> },
    /// Two definitions, neither of them weak.
    Duplicate { name: Box<str>, first: Box<str>, second: Box<str> },
    /// The modules disagree on what a name is. `first` is the definition, if there is one.
    Mismatch { name: Box<str>, what: String, first: Box<str>, second: Box<str> },
    /// Faults in functions that the kernels reach.
    Ptx { module: Box<str>, faults: Errors },
    /// Modules with 32-bit and 64-bit addresses.
    AddressSize { first: Box<str>, second: Box<str> },
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined { name, used_in } => {
                write!(f, "undefined reference to '{name}' in '{used_in}'")
            }
            Self::Duplicate { name, first, second } => {
                write!(f, "multiple definition of '{name}' in '{second}', first defined in '{first}'")
            }
            Self::Mismatch { name, what, first, second } => {
                write!(f, "{what} of '{name}' in '{second}' does not match that in '{first}'")
            }
            Self::Ptx { module, faults } => write!(f, "{module}: {}", Condensed(faults)),
            Self::AddressSize { first, second } => {
                write!(f, "the size of addresses in '{second}' does not match that in '{first}'")
            }
        }
    }
}

impl std::error::Error for LinkError {}

/// Everything that does not fit; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkErrors(pub Vec<LinkError>);

impl LinkErrors {
    /// The error that a driver call answers.
    #[must_use]
    pub fn code(&self) -> Code {
        let faults = self.0.iter().find_map(|error| match error {
            LinkError::Ptx { faults, .. } => Some(faults.code().into()),
            _ => None,
        });
        faults.unwrap_or(Code::InvalidImage)
    }
}

impl fmt::Display for LinkErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            write!(f, "{}{error}", if index > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for LinkErrors {}

/// Why an image cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    Image(ImageError),
    /// The text, with the name of its image or archive member.
    Ptx(Box<str>, Errors),
    Link(LinkErrors),
}

impl LoadError {
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Image(error) => error.code,
            Self::Ptx(_, errors) => errors.code().into(),
            Self::Link(errors) => errors.code(),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(error) => error.fmt(f),
            Self::Ptx(name, errors) => write!(f, "{name}: {}", Condensed(errors)),
            Self::Link(errors) => errors.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ImageError> for LoadError {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}

impl From<LinkErrors> for LoadError {
    fn from(errors: LinkErrors) -> Self {
        Self::Link(errors)
    }
}
