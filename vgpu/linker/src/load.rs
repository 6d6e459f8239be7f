//! From an image to modules: recognise, unpack, parse, link.

use gangway_ptx::Module;

use crate::container;
use crate::error::LoadError;
use crate::image::{Image, recognise};
use crate::link::{Input, link};

/// The modules in an image, for [`link`]. `name` stands in messages; `capability` is
/// the device's, 90 for 9.0.
pub fn read(name: &str, bytes: &[u8], capability: u16) -> Result<Vec<Input>, LoadError> {
    match recognise(bytes, capability)? {
        Image::Ptx(text) => {
            let module =
                gangway_ptx::parse_bytes(&text).map_err(|errors| LoadError::Ptx(name.into(), errors))?;
            Ok(vec![Input::new(name, module)])
        }
        Image::Linked(text) => Ok(vec![Input::new(name, parse_linked(name, text)?)]),
        Image::Archive(members) => {
            let mut inputs = Vec::new();
            for member in members {
                let name = format!("{name}({})", member.name);
                let module = gangway_ptx::parse_bytes(&member.text)
                    .map_err(|errors| LoadError::Ptx(name.as_str().into(), errors))?;
                inputs.push(Input { on_demand: true, ..Input::new(name, module) });
            }
            Ok(inputs)
        }
    }
}

/// The one module of an image, ready to run: nothing in it is undefined.
pub fn load(name: &str, bytes: &[u8], capability: u16) -> Result<Module, LoadError> {
    if let Image::Linked(text) = recognise(bytes, capability)? {
        return container::take_latest(bytes).map_or_else(|| parse_linked(name, text), Ok);
    }
    Ok(link(read(name, bytes, capability)?)?)
}

fn parse_linked(name: &str, text: &str) -> Result<Module, LoadError> {
    gangway_ptx::parse_linked(text).map_err(|errors| LoadError::Ptx(name.into(), errors))
}
