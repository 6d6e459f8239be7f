//! The list of back ends: which there are, in which order devices are numbered.
//!
//! Front ends and the `gangway` command take their back ends from here and know none by its
//! crate. Nothing here opens a driver.

use gangway_backend::{AccessPlace, Backend, Described};

pub use gangway_external::{ExternalBackend, discover, discover_in};

type Maker = fn() -> Box<dyn Backend>;

/// The list, in the order in which the stock library numbers devices.
const MAKERS: [(&str, Maker); 3] = [
    ("cuda", || Box::new(gangway_cuda::CudaBackend::new())),
    ("hsa", || Box::new(gangway_hsa::HsaBackend::new())),
    ("cpu", || Box::new(gangway_cpu::CpuBackend::new())),
];

/// The names of the back ends that every installation has, in the order of [`built_in`].
pub fn names() -> impl Iterator<Item = &'static str> {
    MAKERS.iter().map(|&(name, _)| name)
}

/// Makes those of the back ends that every installation has whose names are wanted.
pub fn built_in(is_wanted: impl Fn(&str) -> bool) -> Vec<Box<dyn Backend>> {
    gangway_cuda::find_code_with(|address| code_place(address).unwrap_or_default());
    MAKERS.iter().filter(|(name, _)| is_wanted(name)).map(|(_, make)| make()).collect()
}

/// What the user calls the pointer at a byte of a variable, from the debug information of the program
/// that the variable's name stands in.
#[must_use]
pub fn pointer_name(variable: Described, offset: isize) -> Option<String> {
    let name = gangway_cpu::name_of(gangway_cpu::Part::Pointer, variable, offset)?;
    Some(name.as_str().to_owned())
}

/// What the user calls the element that a byte of a variable belongs to.
#[must_use]
pub fn element_name(variable: Described, offset: isize) -> Option<String> {
    let name = gangway_cpu::name_of(gangway_cpu::Part::Element, variable, offset)?;
    Some(name.as_str().to_owned())
}

/// The place of an instruction of the host's code, from debug information.
#[must_use]
pub fn code_place(address: usize) -> Option<AccessPlace> {
    let name = gangway_cpu::place_of(address)?;
    let (place, function) = name.as_str().split_once('\n')?;
    // `file:line:column`, or without the column.
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, file) = (parts.next()?, parts.next()?, parts.next());
    let source = match (file, middle.parse(), last.parse()) {
        (Some(file), Ok(line), Ok(column)) => (file.to_owned(), line, column),
        (file, _, Ok(line)) => {
            let file = file.map_or_else(|| middle.to_owned(), |file| format!("{file}:{middle}"));
            (file, line, 0)
        }
        _ => return None,
    };
    Some(AccessPlace { function: function.to_owned(), instruction: String::new(), source: Some(source) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_ends_have_the_names_of_the_list() {
        let made = |is_wanted: fn(&str) -> bool| {
            built_in(is_wanted).iter().map(|made| made.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(made(|_| true), names().collect::<Vec<_>>());
        assert_eq!(made(|name| name == "cpu"), ["cpu"]);
        assert!(made(|_| false).is_empty());
    }
}
