//! Regions that run a loop: which construct, and what its body does with a value before it is stored.

use super::chance::Chance;

/// The pragmas before a loop over `i`, whose iterations may be anywhere at the same time. `clauses` are of the `target`
/// construct, `inner` of the loop's.
pub fn pragmas(chance: &mut Chance, clauses: &str, inner: &str) -> Vec<String> {
    let teams = chance.one_of(&["", " num_teams(3)", " num_teams(2) thread_limit(64)"]);
    let schedule = chance.one_of(&["", " schedule(static, 1)", " schedule(dynamic, 4)", " schedule(guided)"]);
    match chance.below(4) {
        0 | 1 => vec![format!("#pragma omp target teams distribute parallel for{teams} {clauses} {inner}")],
        2 => vec![format!("#pragma omp target parallel for{schedule} {clauses} {inner}")],
        _ => vec![
            format!("#pragma omp target {clauses}"),
            format!("#pragma omp parallel for{schedule} {inner}"),
        ],
    }
}

/// The statements of a body that take `v`, which is known, to a value of `MIX` in the same variable. Its bits decide
/// which way they go.
pub fn body(chance: &mut Chance) -> String {
    let (one, other) = (chance.constant(), chance.constant());
    match chance.below(5) {
        0 => format!("v = MIX(v, {one}u);"),
        1 => format!("if (v & 1) v = MIX(v, {one}u); else v = MIX(v + 3, {other}u);"),
        2 => format!(
            "unsigned t[5]; for (int k = 0; k < 5; ++k) t[k] = MIX(v + k, {one}u); v = t[(v ^ {other}u) % 5];"
        ),
        3 => format!("for (unsigned k = 0, n = v % 6; k < n; ++k) v = MIX(v, {one}u + k);"),
        _ => format!(
            "switch (v % 4) {{ case 0: v = MIX(v, {one}u); break; case 1: v = MIX(v, {other}u); break; \
             default: v = MIX(~v, {one}u); }}"
        ),
    }
}

/// As [`body`], and which way it goes depends on `v` in any case.
pub fn deciding_body(chance: &mut Chance) -> String {
    let (one, other) = (chance.constant(), chance.constant());
    // Calls of a loop of an unknown number of turns, which no compiler turns into a selection.
    format!("for (unsigned k = 0, n = v % 7; k < n; ++k) v = MIX(v, {one}u + k); v = MIX(v, {other}u);")
}
