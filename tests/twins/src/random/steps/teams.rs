//! What threads of a team do together.

use super::{Array, Place};
use crate::random::Mistake;
use crate::random::arrays::TYPES;
use crate::random::loops;

/// An array that each team has.
pub fn array(place: &mut Place<'_>) {
    let source = place.one();
    let source = place.arrays[source].clone();
    let (of, number) = (*place.chance.one_of(&TYPES), place.number);
    let teams = place.chance.between(1, 4);
    let length = *place.chance.one_of(&[32, 48, 64, 100]);
    place.text.line(format!("{{ unsigned z{number}[{teams} * {length}];"));
    place.text.line(format!("#pragma omp target teams distribute num_teams({teams}) map(from: z{number})"));
    place.text.line(format!("for (int b = 0; b < {teams}; ++b) {{ {} s[{length}];", of.name()));
    place.text.lines(["#pragma omp parallel", "{"]);
    place.text.either(place.planted(Mistake::Race), "#pragma omp for nowait", "#pragma omp for");
    let read = source.of.read(&source.at(&format!("i + b * {length}")));
    let right = place.a_loop(length, &read, &of.write("s[i]", "v"));
    let wrong = right.replacen(&format!("i < {length};"), &format!("i < {};", length - 2), 1);
    place.text.either(place.planted(Mistake::Init), wrong, right);
    place.text.line("#pragma omp for");
    let read = of.read(&format!("s[{} - i]", length - 1));
    let write = format!("z{number}[b * {length} + i] = v;");
    let text = place.deciding_loop(length, &read, &write);
    place.text.line(text);
    place.text.lines(["}", "}"]);
    place.text.line(format!("for (int k = 0; k < {teams} * {length}; ++k) look(z{number}[k]); }}"));
}

/// A variable that one thread sets for all.
pub fn single(place: &mut Place<'_>) {
    let (from, to) = place.two();
    let constant = place.chance.constant();
    place.text.lines(["#pragma omp target", "{ unsigned w = 1;", "#pragma omp parallel", "{"]);
    place.text.either(place.planted(Mistake::Race), "#pragma omp single nowait", "#pragma omp single");
    place.text.line(format!("w = MIX({}, {constant}u);", from.of.read(&from.at("5"))));
    place.text.line("#pragma omp for");
    let (read, write) = (from.of.read(&from.at("i")), to.of.write(&to.at("i"), "v"));
    let text = place.a_loop(to.length, &format!("w + {read}"), &write);
    place.text.line(text);
    place.text.lines(["}", "}"]);
}

/// Two loops of a team, the second of which reads what other threads have written in the first.
pub fn two_loops(place: &mut Place<'_>) {
    let (from, to) = place.two();
    let number = place.number;
    let array = Array::named(format!("z{number}"), *place.chance.one_of(&TYPES), to.length);
    place.text.line(format!("{{ {} {}[{}];", array.of.name(), array.name, array.length));
    place.text.line(format!("#pragma omp target parallel map(alloc: {})", array.name));
    place.text.line("{");
    place.text.either(place.planted(Mistake::Race), "#pragma omp for nowait", "#pragma omp for");
    let (read, write) = (from.of.read(&from.at("i")), array.of.write(&array.at("i"), "v"));
    let text = place.a_loop(array.length, &read, &write);
    place.text.line(text);
    place.text.line("#pragma omp for");
    let read = array.of.read(&format!("{}[{} - i]", array.name, array.length - 1));
    let body = loops::body(place.chance);
    let write = to.of.write(&format!("{}[i]", to.name), "v");
    place
        .text
        .line(format!("for (int i = 0; i < {}; ++i) {{ unsigned v = {read}; {body} {write} }}", to.length));
    place.text.lines(["}", "}"]);
}
