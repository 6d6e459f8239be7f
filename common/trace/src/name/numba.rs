//! Names of Python's functions. numba mangles them as if they were functions of C++, with a tag for
//! the version of its ABI and one for the compilation, by some versions in a namespace `cudapy`.

use super::itanium::Name;

/// Whether a name is numba's: its tags say so.
pub(super) fn is_its(Name { tags, .. }: &Name) -> bool {
    let is_version = |tag: &str| tag.strip_prefix('v').is_some_and(|number| number.parse::<u8>().is_ok());
    matches!(&**tags, [version, _, ..] if is_version(version))
}

/// The qualified name as Python has it: without the module that is the program, and with what cannot
/// be in a symbol.
pub(super) fn function(Name { parts, .. }: &Name) -> Option<String> {
    let parts = match &**parts {
        [space, rest @ ..] if space == "cudapy" => rest,
        all => all,
    };
    let parts = match parts {
        [module, rest @ ..] if module == "__main__" && !rest.is_empty() => rest,
        all => all,
    };
    (!parts.is_empty()).then(|| parts.join(".").replace("_3clocals_3e", "<locals>"))
}
