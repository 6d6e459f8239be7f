//! Regions and iterations that have to wait for each other.

use super::{Array, Place};
use crate::random::Mistake;
use crate::random::loops;

/// A region that goes on beside the host, with another beside it that it has nothing to do with.
fn first_region(place: &mut Place<'_>, from: &Array, to: &Array) {
    let depend = format!("nowait depend(in: {}[0]) depend(out: {}[0])", from.name, to.name);
    place.region(from, to, &depend);
}

/// Two regions beside the host, of which one needs what the other has computed.
pub fn depend(place: &mut Place<'_>) {
    let (from, between) = place.two();
    first_region(place, &from, &between);
    let clauses = format!("nowait depend(inout: {}[0])", between.name);
    let mut other = place.chance.clone();
    let with = loops::pragmas(place.chance, &clauses, "");
    let without = loops::pragmas(&mut other, "nowait", "");
    place.text.either(place.planted(Mistake::Race), without.join("\n"), with.join("\n"));
    let text = place.onward_loop(&between);
    place.text.line(text);
    place.text.line("#pragma omp taskwait");
}

/// A region beside the host, and one that the host waits for.
pub fn taskwait(place: &mut Place<'_>) {
    let (from, between) = place.two();
    first_region(place, &from, &between);
    place.text.either(place.planted(Mistake::Race), "", "#pragma omp taskwait");
    place.onward(&between, "");
    place.text.line("#pragma omp taskwait");
}

/// A region beside the host, and a copy of what it computes.
pub fn update_beside(place: &mut Place<'_>) {
    let (from, to) = place.two();
    first_region(place, &from, &to);
    place.text.either(place.planted(Mistake::Race), "", "#pragma omp taskwait");
    place.text.line(format!("#pragma omp target update from({})", to.section()));
    place.text.line("#pragma omp taskwait");
    for array in place.arrays.iter_mut().filter(|array| array.name == to.name) {
        array.host_is_new = true;
    }
}

/// Each element from its neighbour, in another array or in place.
pub fn in_place(place: &mut Place<'_>) {
    let (from, to) = place.two();
    let pragmas = loops::pragmas(place.chance, "", "");
    place.text.lines(pragmas);
    let read = |array: &Array| array.of.read(&array.at("i + 1"));
    let write = to.of.write(&format!("{}[i]", to.name), "v");
    let right = place.a_loop(to.length, &read(&from), &write);
    let wrong = right.replacen(&read(&from), &read(&to), 1);
    place.text.either(place.planted(Mistake::Race), wrong, right);
}

/// Few counters that many iterations count up.
pub fn counters(place: &mut Place<'_>) {
    let source = place.one();
    let source = place.arrays[source].clone();
    let (number, of) = (place.number, *place.chance.one_of(&["unsigned", "unsigned long", "int"]));
    place.text.line(format!("{{ {of} h{number}[7] = {{ 0 }};"));
    let pragmas = loops::pragmas(place.chance, &format!("map(tofrom: h{number})"), "");
    place.text.lines(pragmas);
    let body = loops::body(place.chance);
    let read = source.of.read(&source.at("i"));
    place.text.line(format!("for (int i = 0; i < {}; ++i) {{ unsigned v = {read}; {body}", source.length));
    place.text.either(place.planted(Mistake::Race), "", "#pragma omp atomic update");
    place.text.line(format!("h{number}[v % 7] += 1; }}"));
    place.text.line(format!("for (int k = 0; k < 7; ++k) look(h{number}[k]); }}"));
}

/// A sum of all iterations.
pub fn reduction(place: &mut Place<'_>) {
    reduce(place, "+", "r += v;");
}

/// The largest of all iterations.
pub fn maximum(place: &mut Place<'_>) {
    reduce(place, "max", "if (v > r) r = v;");
}

fn reduce(place: &mut Place<'_>, operator: &str, statement: &str) {
    let source = place.one();
    let source = place.arrays[source].clone();
    let name = format!("r{}", place.number);
    let of = *place.chance.one_of(&["unsigned", "unsigned long", "double"]);
    place.text.line(format!("{{ {of} {name} = 0;"));
    let (race, map) = (place.planted(Mistake::Race), place.planted(Mistake::Map));
    let mut other = place.chance.clone();
    let reduction = format!("reduction({operator}: {name})");
    let with = loops::pragmas(place.chance, &format!("map(tofrom: {name})"), &reduction);
    let without = match map {
        Some(_) => loops::pragmas(&mut other, &format!("map(to: {name})"), &reduction),
        None => loops::pragmas(&mut other, &format!("map(tofrom: {name})"), ""),
    };
    place.text.either(race.or(map), without.join("\n"), with.join("\n"));
    let (read, statement) = (source.of.read(&source.at("i")), statement.replace('r', &name));
    // One more than 0, which is where it begins.
    let text = place.a_loop(source.length, &read, &format!("v += 1; {statement}"));
    place.text.line(text);
    place.text.line(format!("look((unsigned){name}); }}"));
}
