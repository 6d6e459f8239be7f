//! Locks that several lanes of a wave of AMD's take.
//!
//! Lanes of a wave go on together: one that has a lock waits at the end of the loop in which the others still try
//! to take it, for ever. So what runs between the call that takes a lock and the one that gives it back is put into a
//! loop over the lanes that are there, one lane each turn: a lane that waits for a lock waits for lanes of other waves alone, and
//! these go on by themselves. clang does the same for `critical`, flang does not; neither does for
//! `omp_set_lock` and its kin.
//!
//! It is done in LLVM's text before its passes, where each statement still stands where the program has it. What
//! cannot be done so stays as it is: a lock taken on some ways only (`if (shared) omp_set_lock(&lock);`), or by a
//! function of another file. There the device runtime ends the kernel rather than let lanes wait for each other.
//!
//! | Module | What it has |
//! |---|---|
//! | `code` | functions as blocks |
//! | `cleanups` | ways out of a scope, each with blocks of its own |
//! | `held` | where locks are held, and what one lane has to run alone |
//! | `write` | the loop |

mod cleanups;
mod code;
mod held;
mod write;

use std::collections::{HashMap, HashSet};

use code::Function;
use held::Net;

/// A module of code for AMD's GPUs has this.
const TRIPLE: &str = "target triple = \"amdgcn-";

/// What takes a lock, what gives one back, and what may take one. C's and C++'s `critical` is a loop over
/// lanes already, in which one more goes around once.
const TAKING: [&str; 4] =
    ["@omp_set_lock", "@omp_set_nest_lock", "@__kmpc_critical", "@__kmpc_critical_with_hint"];
const GIVING: [&str; 3] = ["@omp_unset_lock", "@omp_unset_nest_lock", "@__kmpc_end_critical"];
const TRYING: [&str; 2] = ["@omp_test_lock", "@omp_test_nest_lock"];

/// Without one of these names there is nothing to mend.
pub const WORDS: [&str; 4] = ["omp_set_lock", "omp_set_nest_lock", "omp_test_", "__kmpc_critical"];

/// What a function does with the locks of its caller: of all that do something, by name.
type Nets<'a> = HashMap<&'a str, Net>;

/// The text with such loops; `None` if there is nothing to mend.
pub fn mended(text: &str) -> Option<String> {
    if !text.contains(TRIPLE) || !WORDS.iter().any(|word| text.contains(word)) {
        return None;
    }
    let functions: Vec<Function<'_>> = code::functions(text).collect();
    let nets = nets(&functions);
    let mut result = String::new();
    let mut done = 0;
    for function in functions {
        let place = function.place.clone();
        if let Some(written) = with_turns(function, &nets) {
            result.push_str(&text[done..place.start]);
            result.push_str(&written);
            done = place.end;
        }
    }
    if done == 0 {
        return None;
    }
    result.push_str(&text[done..]);
    write::declare(&mut result);
    Some(result)
}

/// A function that calls another one that takes a lock, such as the constructor of a guard, takes it itself.
fn nets<'a>(functions: &[Function<'a>]) -> Nets<'a> {
    let mut nets = Nets::new();
    nets.extend(TAKING.map(|name| (name, Net::Takes)));
    nets.extend(GIVING.map(|name| (name, Net::Gives)));
    nets.extend(TRYING.map(|name| (name, Net::Tries)));
    let mut waiting: Vec<&Function<'a>> = functions.iter().collect();
    loop {
        let known = nets.len();
        waiting.retain(|function| match held::net(function, &nets) {
            Some(net) => nets.insert(function.name, net).is_some(),
            None => true,
        });
        if nets.len() == known {
            return nets;
        }
    }
}

/// The function's text with loops; `None` if it takes no locks that it gives back.
fn with_turns(mut function: Function<'_>, nets: &Nets<'_>) -> Option<String> {
    if !held::matters(&function, nets) {
        return None;
    }
    held::split(&mut function, nets);
    let (mut regions, mut seen) = (0, HashSet::new());
    // What is written for one region moves the blocks of others.
    while let Some(region) = held::region(&mut function, nets, &mut seen) {
        write::turns(&mut function, &region, regions);
        regions += 1;
    }
    (regions > 0).then(|| function.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
target triple = \"amdgcn-amd-amdhsa\"

define void @add(ptr %lock, ptr %sum) {
entry:
  call void @take(ptr %lock), !dbg !7
  %0 = load i32, ptr %sum, align 4
  %1 = add i32 %0, 1
  store i32 %1, ptr %sum, align 4
  call void @omp_unset_lock(ptr %lock)
  ret void
}

define void @take(ptr %lock) {
entry:
  call void @omp_set_lock(ptr %lock)
  ret void
}

declare void @omp_set_lock(ptr)
";

    #[test]
    fn what_holds_a_lock_is_in_turns() {
        let mended = mended(TEXT).expect("it takes a lock");
        let expected = include_str!("turns.ll");
        assert_eq!(mended, expected);
    }

    #[test]
    fn other_texts_stay() {
        let nvidia = TEXT.replace("amdgcn-amd-amdhsa", "nvptx64-nvidia-cuda");
        let without = TEXT.replace("omp_set_lock", "something");
        let never_given = TEXT.replace("omp_unset_lock", "something");
        for text in [nvidia, without, never_given] {
            assert_eq!(mended(&text), None, "{text}");
        }
    }
}
