//! The virtual GPUs as `gangway info` shows them.
//!
//! Asks the libraries that programs get, through the same calls, in the same environment:
//! what is shown is what they see.
#![allow(unsafe_code)]

mod amd;
mod nvidia;

type Result<T> = std::result::Result<T, String>;

/// A device and what there is to say of it, or why it cannot be used.
pub type Device = Result<Vec<(String, String)>>;

/// The devices of the virtual GPU, NVIDIA's and then AMD's, or why there are none. What one library lacks is said in the
/// place of its devices.
pub fn devices() -> Result<Vec<Device>> {
    match (nvidia::devices(), amd::devices()) {
        (Ok(mut nvidias), Ok(amds)) => {
            nvidias.extend(amds);
            Ok(nvidias)
        }
        (Ok(mut some), Err(why)) | (Err(why), Ok(mut some)) => {
            some.push(Err(why));
            Ok(some)
        }
        (Err(nvidias), Err(amds)) => Err(format!("{nvidias}; {amds}")),
    }
}
