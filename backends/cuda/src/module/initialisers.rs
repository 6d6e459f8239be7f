//! Initialisers and finalisers of device code: C++ constructors of variables on the device.
//!
//! NVIDIA's linker has no sections for them. clang makes a variable for each that holds the
//! function's address, and one kernel that calls the functions between two addresses, which
//! whoever loads the image has to set up.

use crate::context::Context;
use crate::driver::types::{Address, Handle};
use crate::symbol::{allocate_now, free_now, function, global, read_now, write_now};
use gangway_backend::{Error, Result};
use gangway_image::Details;
use std::sync::{Mutex, PoisonError};

/// When functions are to be called.
#[derive(Debug, Clone, Copy)]
pub(super) enum When {
    Load,
    Unload,
}

/// The names that clang gives to what belongs to one [`When`].
struct Names {
    kernel: &'static str,
    function: &'static str,
    begin: &'static str,
    end: &'static str,
}

impl When {
    const fn names(self) -> Names {
        match self {
            Self::Load => Names {
                kernel: "nvptx$device$init",
                function: "__init_array_object_",
                begin: "__init_array_start",
                end: "__init_array_end",
            },
            Self::Unload => Names {
                kernel: "nvptx$device$fini",
                function: "__fini_array_object_",
                begin: "__fini_array_start",
                end: "__fini_array_end",
            },
        }
    }
}

/// What an image has of them.
#[derive(Debug, Default)]
pub(super) struct Initialisers {
    /// Names of the variables that hold functions, in the order of the calls.
    load: Vec<String>,
    unload: Vec<String>,
    /// Arrays of functions on the device.
    arrays: Mutex<Vec<Address>>,
}

impl Initialisers {
    /// Takes the variables' names out of what is known of an image. What cannot be read has no
    /// such variables that anybody could find.
    pub fn of(details: Option<&Details<'_>>) -> Self {
        let names = |when: When| {
            let prefix = when.names().function;
            let names = details.iter().flat_map(|details| &details.globals).map(|global| global.name);
            sorted(names.filter(|name| name.starts_with(prefix)))
        };
        Self { load: names(When::Load), unload: names(When::Unload), arrays: Mutex::default() }
    }

    /// Sets up what is to be called; answers the kernel that does it, if there is one.
    pub fn prepare(&self, context: &Context, module: Handle, when: When) -> Result<Option<&'static str>> {
        let names = when.names();
        match function(context, module, names.kernel) {
            Ok(_) => {}
            Err(Error::NoSuchSymbol { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        let list = match when {
            When::Load => &self.load,
            When::Unload => &self.unload,
        };
        let mut functions = Vec::with_capacity(list.len() * size_of::<Address>());
        for name in list {
            let mut function = [0; size_of::<Address>()];
            read_now(context, &mut function, find(context, module, name)?)?;
            functions.extend(function);
        }
        if functions.is_empty() {
            let reason = format!(
                "it has the kernel `{}`, but the variables `{}*` that say what it calls cannot be read",
                names.kernel, names.function
            );
            return Err(Error::InvalidImage { reason });
        }
        let array = allocate_now(context, functions.len())?;
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner).push(array);
        write_now(context, array, &functions)?;
        let end = array + functions.len() as Address;
        for (name, address) in [(names.begin, array), (names.end, end)] {
            write_now(context, find(context, module, name)?, &address.to_le_bytes())?;
        }
        Ok(Some(names.kernel))
    }

    /// Frees what is on the device.
    pub fn free(&mut self, context: &Context) {
        for array in self.arrays.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            free_now(context, array);
        }
    }
}

/// Names in the order of the priorities that they end in; equal ones in the image's order.
fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let priority = |name: &str| name.rsplit('_').next().and_then(|digits| digits.parse::<u32>().ok());
    let mut names: Vec<&str> = names.collect();
    names.sort_by_key(|name| priority(name).unwrap_or(u32::MAX));
    names.into_iter().map(str::to_owned).collect()
}

fn find(context: &Context, module: Handle, name: &str) -> Result<Address> {
    match global(context, module, name)? {
        Some((address, size)) if size >= size_of::<Address>() => Ok(address),
        _ => Err(Error::NoSuchSymbol { name: name.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_in_the_order_of_their_priorities() {
        let image = ".version 7.0\n.target sm_80\n.address_size 64\n\
            .visible .global .align 8 .u64 __init_array_object_b_9f_65535 = f;\n\
            .visible .global .align 8 .u64 __init_array_object_a_9f_101 = g;\n\
            .visible .global .align 8 .u64 __fini_array_object_c_9f_7 = h;\n\
            .visible .global .align 4 .u32 other;\n";
        let of = |image| Initialisers::of(gangway_image::details(image).ok().as_ref());
        let found = of(image.as_bytes());
        assert_eq!(found.load, ["__init_array_object_a_9f_101", "__init_array_object_b_9f_65535"]);
        assert_eq!(found.unload, ["__fini_array_object_c_9f_7"]);
        assert_eq!(of(b"no image").load, [""; 0]);
    }
}
