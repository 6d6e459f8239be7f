//! Ways out of a scope, apart from each other.
//!
//! Where a scope with variables is left early, clang notes in a variable where to, ends the variables' lives
//! in a block that all ways share, and branches there by what it has noted. A lock may be held on one of these ways
//! and not on another one. So each way gets a copy of the shared block, which leads to where that way goes.

use std::collections::HashMap;

use super::code::{Block, Function, instruction, name_at};

/// How the variable is called, and its address.
const NOTE: &str = "%cleanup.dest.slot";

/// More copies than that are for no program that there is.
const MOST: usize = 200;

/// Gives each way its own blocks.
pub fn apart(function: &mut Function<'_>) {
    // What is noted at the end of copies.
    let mut noted: HashMap<String, String> = HashMap::new();
    for number in 0..MOST {
        let Some((from, shared, value)) = way(function, &noted) else { return };
        let label = format!("%gangway.cleanup.{number}");
        let Some(copy) = copy(&function.blocks[shared], &label, &value, number) else { return };
        let old = function.blocks[shared].label.clone();
        function.blocks[from].redirect(&old, &label);
        noted.insert(label, value);
        function.blocks.push(copy);
    }
}

/// A way that leads through a shared block: where it comes from, that block, and what is noted.
fn way(function: &Function<'_>, noted: &HashMap<String, String>) -> Option<(usize, usize, String)> {
    function.blocks.iter().enumerate().find_map(|(from, block)| {
        let to = block.end().trim_start().strip_prefix("br label ")?;
        let shared = function.find(name_at(to)?)?;
        if !is_shared(function, shared) {
            return None;
        }
        let value = block.code.iter().rev().find_map(|line| stored(line));
        let value = value.map(str::to_owned).or_else(|| noted.get(&block.label).cloned())?;
        Some((from, shared, value))
    })
}

/// The constant that a line notes.
fn stored(line: &str) -> Option<&str> {
    let (value, place) = line.trim_start().strip_prefix("store i32 ")?.split_once(", ptr ")?;
    let is_number = value.bytes().all(|digit| digit.is_ascii_digit());
    (is_number && place.contains(NOTE)).then_some(value)
}

/// Whether a block branches by what is noted, and is no more than that to others.
fn is_shared(function: &Function<'_>, at: usize) -> bool {
    let block = &function.blocks[at];
    let Some(value) = block.end().trim_start().strip_prefix("switch i32 ").and_then(name_at) else {
        return false;
    };
    let is_noted = |line: &String| {
        line.trim_start().starts_with(&format!("{value} = load i32, ptr ")) && line.contains(NOTE)
    };
    let is_plain =
        !block.code.iter().any(|line| instruction(line).starts_with("phi ") || stored(line).is_some());
    let leads_to_phi = block
        .successors()
        .any(|to| function.find(to).is_some_and(|to| function.blocks[to].ways_from(&block.label) > 0));
    let is_used = || {
        let mut others = function.blocks.iter().filter(|other| other.label != block.label);
        others.any(|other| other.named().any(|name| block.defined().any(|own| own == name)))
    };
    is_plain && block.code.iter().any(is_noted) && !leads_to_phi && !is_used()
}

/// A copy of a shared block that leads to where a value does.
fn copy(shared: &Block, label: &str, value: &str, number: usize) -> Option<Block> {
    let case = format!("i32 {value}, label ");
    let end = shared.end();
    let to = match end.find(&case) {
        Some(at) => name_at(&end[at + case.len()..])?,
        None => shared.successors().next()?,
    };
    let own: Vec<&str> = shared.defined().collect();
    let named = |line: &String| {
        own.iter().fold(line.clone(), |line, name| {
            let new = format!("%gangway.{number}.{}", name[1..].trim_matches('"'));
            super::code::with_name(&line, name, &new)
        })
    };
    let (_, others) = shared.code.split_last()?;
    let code = others.iter().map(named).chain([format!("  br label {to}")]).collect();
    Some(Block::new(label.into(), code))
}
