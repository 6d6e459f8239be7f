//! Data that a step maps, allocates or has for itself.

use super::{Array, Place};
use crate::random::Mistake;
use crate::random::arrays::TYPES;
use crate::random::loops;

/// An array of the step's own, which is declared and filled in a block that the caller ends.
fn own_array(place: &mut Place<'_>, on_heap: bool) -> Array {
    let of = *place.chance.one_of(&TYPES);
    let (name, length) = (format!("z{}", place.number), place.chance.between(40, 400));
    let array = Array::named(name, of, length);
    let (of, name) = (of.name(), &array.name);
    place.text.line("{");
    place.text.line(match on_heap {
        true => format!("{of} *{name} = malloc({length} * sizeof *{name});"),
        false => format!("{of} {name}[{length}];"),
    });
    let write = array.host_writes(0, length, place.chance);
    place.text.line(write);
    array
}

/// The host reads the array, and the block ends.
fn read_and_end(place: &mut Place<'_>, array: &Array, on_heap: bool) {
    place.text.line(array.host_reads(0, array.length));
    if on_heap {
        place.text.line(format!("free({});", array.name));
    }
    place.text.line("}");
}

/// A loop that gives each element a value that depends on what it had.
fn onward(place: &mut Place<'_>, array: &Array, element: &str) -> String {
    let (read, write) = (array.of.read(element), array.of.write(element, "v"));
    place.deciding_loop(array.length, &read, &write)
}

/// A region that has the whole array in its clause. Without `to` it reads what is not there; without `from` nothing
/// comes back.
pub fn map_clause(place: &mut Place<'_>) {
    let array = own_array(place, false);
    let clause = |kind: &str| format!("map({kind}: {})", array.name);
    let (init, map) = (place.planted(Mistake::Init), place.planted(Mistake::Map));
    let wrong = if init.is_some() { "from" } else { "to" };
    // The region is an ordinary one, whose construct is the same in both forms.
    let mut other = place.chance.clone();
    let with = loops::pragmas(place.chance, &clause("tofrom"), "");
    let without = loops::pragmas(&mut other, &clause(wrong), "");
    place.text.either(init.or(map), without.join("\n"), with.join("\n"));
    let text = onward(place, &array, &format!("{}[i]", array.name));
    place.text.line(text);
    read_and_end(place, &array, false);
}

/// A region that writes all or half of what comes back.
pub fn part(place: &mut Place<'_>) {
    let array = own_array(place, false);
    let clause = format!("map(from: {})", array.name);
    let pragmas = loops::pragmas(place.chance, &clause, "");
    place.text.lines(pragmas);
    let source = place.one();
    let source = place.arrays[source].clone();
    let (read, write) = (source.of.read(&source.at("i")), array.of.write(&array.at("i"), "v"));
    let right = place.a_loop(array.length, &read, &write);
    let head = format!("i < {};", array.length);
    let wrong = right.replacen(&head, &format!("i < {};", array.length / 2), 1);
    place.text.either(place.planted(Mistake::Init), wrong, right);
    read_and_end(place, &array, false);
}

/// The same by directives of their own.
pub fn enter_and_exit(place: &mut Place<'_>) {
    let array = own_array(place, true);
    let enter = |kind: &str| format!("#pragma omp target enter data map({kind}: {})", array.section());
    let exit = |kind: &str| format!("#pragma omp target exit data map({kind}: {})", array.section());
    place.text.either(place.planted(Mistake::Init), enter("alloc"), enter("to"));
    let pragmas = loops::pragmas(place.chance, "", "");
    place.text.lines(pragmas);
    let text = onward(place, &array, &format!("{}[i]", array.name));
    place.text.line(text);
    place.text.either(place.planted(Mistake::Map), exit("release"), exit("from"));
    read_and_end(place, &array, true);
}

/// A structure with a pointer to what is mapped.
pub fn structure(place: &mut Place<'_>) {
    let array = own_array(place, true);
    let (number, of) = (place.number, array.of.name());
    place.text.line(format!(
        "struct {{ int n; {of} *p; long m; }} s{number} = {{ {}, {}, 7 }};",
        array.length, array.name
    ));
    let clause = |kind: &str| format!("map(to: s{number}) map({kind}: s{number}.p[0:{}])", array.length);
    let (init, map) = (place.planted(Mistake::Init), place.planted(Mistake::Map));
    let wrong = if init.is_some() { "from" } else { "to" };
    let mut other = place.chance.clone();
    let with = loops::pragmas(place.chance, &clause("tofrom"), "");
    let without = loops::pragmas(&mut other, &clause(wrong), "");
    place.text.either(init.or(map), without.join("\n"), with.join("\n"));
    let element = format!("s{number}.p[i]");
    let text = onward(place, &array, &element);
    place.text.line(text);
    read_and_end(place, &array, true);
}

/// Memory of the device alone, which one region writes and another reads.
pub fn device_memory(place: &mut Place<'_>) {
    let (source, to) = place.two();
    let of = *place.chance.one_of(&TYPES);
    let length = place.chance.between(20, to.length);
    let array = Array::named(format!("d{}", place.number), of, length);
    let name = &array.name;
    place.text.line("{");
    place.text.line(format!(
        "{} *{name} = omp_target_alloc({length} * sizeof *{name}, omp_get_default_device());",
        of.name()
    ));
    let clause = format!("is_device_ptr({name})");
    let mut other = place.chance.clone();
    let with = loops::pragmas(place.chance, &clause, "");
    let without = loops::pragmas(&mut other, &format!("nowait {clause}"), "");
    place.text.either(place.planted(Mistake::Race), without.join("\n"), with.join("\n"));
    let element = format!("{name}[i]");
    let right = place.a_loop(length, &source.of.read(&source.at("i")), &of.write(&element, "v"));
    let wrong = right.replacen(&format!("i < {length};"), &format!("i < {};", length - 3), 1);
    place.text.either(place.planted(Mistake::Init), wrong, right);
    let pragmas = loops::pragmas(place.chance, &clause, "");
    place.text.lines(pragmas);
    let write = to.of.write(&format!("{}[i]", to.name), "v");
    let text = place.deciding_loop(length, &of.read(&element), &write);
    place.text.lines([text, "#pragma omp taskwait".to_owned()]);
    place.text.line(format!("omp_target_free({name}, omp_get_default_device());"));
    place.text.line("}");
}

/// An array of each iteration.
pub fn local_array(place: &mut Place<'_>) {
    let (from, to) = place.two();
    let pragmas = loops::pragmas(place.chance, "", "");
    place.text.lines(pragmas);
    let (constant, of) =
        (place.chance.constant(), *place.chance.one_of(&["unsigned", "unsigned short", "long"]));
    place.text.line(format!("for (int i = 0; i < {}; ++i) {{ {of} t[8];", to.length));
    let fill = |count: u32| format!("for (int k = 0; k < {count}; ++k) t[k] = MIX(k + i, {constant}u);");
    place.text.either(place.planted(Mistake::Init), fill(7), fill(8));
    let body = loops::deciding_body(place.chance);
    place.text.line(format!(
        "unsigned v = (unsigned)t[i % 8] + {}; {body} {} }}",
        from.of.read(&from.at("i")),
        to.of.write(&to.at("i"), "v")
    ));
}

/// A variable that one of two ways sets.
pub fn local_variable(place: &mut Place<'_>) {
    let (from, to) = place.two();
    let pragmas = loops::pragmas(place.chance, "", "");
    place.text.lines(pragmas);
    let constant = place.chance.constant();
    let read = from.of.read(&from.at("i"));
    place.text.line(format!("for (int i = 0; i < {}; ++i) {{ unsigned v, w = {read};", to.length));
    place.text.line(format!("if (i % 3) v = MIX(w, {constant}u);"));
    place.text.either(place.planted(Mistake::Init), "", "else v = w;");
    let body = loops::deciding_body(place.chance);
    place.text.line(format!("{body} {} }}", to.of.write(&to.at("i"), "v")));
}
