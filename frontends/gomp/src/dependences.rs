//! What the `depend` clauses of a construct name, in GCC's layout.

use gangway_frontend::host::Dependences;
use std::ffi::c_void;

/// A dependence: an address, and whether what has it may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dependence {
    /// The address that tasks have in common.
    pub address: usize,
    /// Anything but `in`.
    pub writes: bool,
}

/// `GOMP_DEPEND_IN`, in a depend object.
const IN: usize = 1;

/// The dependences of a list; none if it is null.
///
/// # Safety
/// The list is null or the compiler's.
pub(crate) unsafe fn read(list: *mut *mut c_void) -> Vec<Dependence> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller's promise, and the callers below stay inside of the list.
    let word = |index: usize| unsafe { (*list.add(index)).addr() };
    let plain = |first: usize, count: usize, writing: usize| {
        (0..count).map(move |index| Dependence { address: word(first + index), writes: index < writing })
    };
    // The older form has addresses only: how many, how many of them are written, and they.
    if word(0) != 0 {
        return plain(2, word(0), word(1)).collect();
    }
    // How many, those of `out` and `inout`, of `mutexinoutset`, of `in`; depend objects last.
    let (all, written, exclusive, read) = (word(1), word(2), word(3), word(4));
    let direct = written + exclusive + read;
    let objects = (direct..all).map(|index| {
        // SAFETY: a depend object has an address and a kind.
        let [address, kind] = unsafe { *(*list.add(5 + index)).cast::<[usize; 2]>() };
        Dependence { address, writes: kind != IN }
    });
    plain(5, direct, written + exclusive).chain(objects).collect()
}

/// The list that compilers would make of depend objects; empty if there are none.
///
/// # Safety
/// There are as many as said, each of an address and a kind, one behind the other.
pub(crate) unsafe fn of_objects(dependences: Dependences) -> Vec<*mut c_void> {
    let Dependences { count, objects } = dependences;
    let count = usize::try_from(count).unwrap_or(0);
    if count == 0 || objects.is_null() {
        return Vec::new();
    }
    let number = std::ptr::without_provenance_mut;
    // SAFETY: the caller's promise.
    let objects = (0..count).map(|at| unsafe { objects.cast::<[usize; 2]>().add(at) }.cast_mut().cast());
    [0, count, 0, 0, 0].map(number).into_iter().chain(objects).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &mut [usize]) -> Vec<(usize, bool)> {
        // SAFETY: the lists of the tests are complete.
        let list = unsafe { read(list.as_mut_ptr().cast()) };
        list.into_iter().map(|dependence| (dependence.address, dependence.writes)).collect()
    }

    #[test]
    fn both_forms_of_a_list() {
        // SAFETY: null is a list without dependences.
        assert_eq!(unsafe { read(std::ptr::null_mut()) }, []);
        assert_eq!(of(&mut [3, 1, 16, 32, 48]), [(16, true), (32, false), (48, false)]);
        let object = [64, IN];
        let written = [80_usize, 3];
        let mut list = [
            0,
            5,
            1,
            1,
            1,
            16,
            32,
            48,
            (&raw const object).expose_provenance(),
            (&raw const written).expose_provenance(),
        ];
        assert_eq!(of(&mut list), [(16, true), (32, true), (48, false), (64, false), (80, true)]);
    }

    #[test]
    fn depend_objects_make_a_list() {
        let objects = [[64, IN], [80, 3_usize]];
        let dependences = Dependences { count: 2, objects: objects.as_ptr().cast() };
        // SAFETY: there are two objects.
        let mut list = unsafe { of_objects(dependences) };
        // SAFETY: the list is complete.
        let found = unsafe { read(list.as_mut_ptr()) };
        let expected = [(64, false), (80, true)].map(|(address, writes)| Dependence { address, writes });
        assert_eq!(found, expected);
        for none in [Dependences { count: 0, ..dependences }, Dependences { count: -1, ..dependences }] {
            // SAFETY: there are none.
            assert_eq!(unsafe { of_objects(none) }, Vec::<*mut c_void>::new());
        }
    }
}
