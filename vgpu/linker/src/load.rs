//! From an image to modules: recognise, unpack, parse, link.

use gangway_ptx::{Module, Outline};

use crate::container;
use crate::error::LoadError;
use crate::image::{Image, recognise};
use crate::input::Input;
use crate::link::link;

/// The modules in an image, for [`link`]. `name` stands in messages; `capability` is
/// the device's, 90 for 9.0. What is wrong inside functions shows when they are linked.
pub fn read(name: &str, bytes: &[u8], capability: u16) -> Result<Vec<Input>, LoadError> {
    match recognise(bytes, capability)? {
        Image::Ptx(text) => Ok(vec![Input::outline(name, outline(name, &text)?)]),
        Image::Linked(text) => Ok(vec![Input::new(name, parse_linked(name, text)?)]),
        Image::Archive(members) => {
            let mut inputs = Vec::new();
            for member in members {
                let name = format!("{name}({})", member.name);
                let outline = outline(&name, &member.text)?;
                inputs.push(Input::outline(name, outline).on_demand());
            }
            Ok(inputs)
        }
    }
}

/// The one module of an image, ready to run. Nothing in it is undefined. Of a text every function
/// has been read, whether or not anything calls it.
pub fn load(name: &str, bytes: &[u8], capability: u16) -> Result<Module, LoadError> {
    match recognise(bytes, capability)? {
        Image::Linked(text) => container::take_latest(bytes).map_or_else(|| parse_linked(name, text), Ok),
        Image::Ptx(text) => {
            let module =
                gangway_ptx::parse_bytes(&text).map_err(|errors| LoadError::Ptx(name.into(), errors))?;
            Ok(link(vec![Input::new(name, module)])?)
        }
        Image::Archive(_) => Ok(link(read(name, bytes, capability)?)?),
    }
}

fn outline(name: &str, text: &[u8]) -> Result<Outline, LoadError> {
    Outline::new(String::from_utf8_lossy(text)).map_err(|errors| LoadError::Ptx(name.into(), errors))
}

fn parse_linked(name: &str, text: &str) -> Result<Module, LoadError> {
    gangway_ptx::parse_linked(text).map_err(|errors| LoadError::Ptx(name.into(), errors))
}
