//! Copies between host and device of arrays that stay mapped.

use super::Place;
use crate::random::Mistake;
use crate::random::arrays::TYPES;

/// The host writes a part, which a region reads.
pub fn update_to(place: &mut Place<'_>) {
    let number = place.one();
    let array = place.arrays[number].clone();
    let (first, count) = part(place, array.length);
    let write = array.host_writes(first, count, place.chance);
    place.text.line(write);
    let copy = format!("#pragma omp target update to({}[{first}:{count}])", array.name);
    place.text.either(place.planted(Mistake::Map), "", copy);
    place.onward(&array, "");
    place.arrays[number].host_is_new = false;
}

/// The host reads a part that a region has written.
pub fn update_from(place: &mut Place<'_>) {
    let (from, to) = place.two();
    place.region(&from, &to, "");
    let (first, count) = part(place, to.length);
    let copy = format!("#pragma omp target update from({}[{first}:{count}])", to.name);
    place.text.either(place.planted(Mistake::Map), "", copy);
    place.text.line(to.host_reads(first, count));
}

/// A variable that the device has from the beginning.
pub fn declared(place: &mut Place<'_>) {
    let of = *place.chance.one_of(&TYPES);
    let (name, length) = (format!("g{}", place.number), place.chance.between(30, 200));
    place.text.global("#pragma omp declare target");
    place.text.global(format!("{} {name}[{length}];", of.name()));
    place.text.global("#pragma omp end declare target");
    let array = super::Array::named(name.clone(), of, length);
    let write = array.host_writes(0, length, place.chance);
    place.text.line(write);
    place.text.line(format!("#pragma omp target update to({name})"));
    let source = place.one();
    let source = place.arrays[source].clone();
    place.region(&source, &array, "");
    place.text.either(place.planted(Mistake::Map), "", format!("#pragma omp target update from({name})"));
    place.text.line(array.host_reads(0, length));
}

/// The host writes elements while they are mapped, and they are copied back.
pub fn written_beside(place: &mut Place<'_>) {
    let (of, number) = (*place.chance.one_of(&TYPES), place.number);
    let (name, length) = (format!("z{number}"), place.chance.between(30, 300));
    let array = super::Array::named(name.clone(), of, length);
    place.text.lines(["{".to_owned(), format!("{} {name}[{length}];", of.name())]);
    let write = array.host_writes(0, length, place.chance);
    place.text.line(write);
    place.text.lines([format!("#pragma omp target data map(tofrom: {name})"), "{".to_owned()]);
    let source = place.one();
    let source = place.arrays[source].clone();
    place.region(&source, &array, "");
    let (first, count) = part(place, length);
    let write = array.host_writes(first, count, place.chance);
    place.text.line(write);
    let copy = format!("#pragma omp target update to({name}[{first}:{count}])");
    place.text.either(place.planted(Mistake::Map), "", copy);
    place.text.line("}");
    place.text.line(array.host_reads(0, length));
    place.text.line("}");
}

/// A part of an array that has some elements.
fn part(place: &mut Place<'_>, length: usize) -> (usize, usize) {
    let first = place.chance.below(length / 2);
    (first, place.chance.between(5, length - first))
}
