//! What the kernels of PTX declare: registers, and shared memory.
//!
//! A kernel has the shared variables of all that it calls, too. Calls are not read as such: a
//! function or variable that a body names is taken for used, which an address alone makes it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Words, element_size, identifier, skip_parentheses, variable};

/// What a kernel of PTX declares: itself, or through what it calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers of its own body. A compiler uses them again, so a thread has fewer.
    pub registers: u64,
    /// Bytes of shared memory; `None` where a size is not in the texts.
    pub shared: Option<u64>,
}

/// A function, as far as resources go.
#[derive(Default)]
struct Body<'a> {
    registers: u64,
    /// Of its own shared variables; `None`: some have no size.
    shared: Option<u64>,
    /// The identifiers in it, in which those of functions and shared variables are looked for.
    words: Vec<&'a str>,
}

/// What the kernels of texts that belong together declare, by kernel.
pub fn resources<'a>(texts: &[&'a [u8]]) -> BTreeMap<&'a str, Resources> {
    let (mut bodies, mut shared, mut kernels) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for text in texts {
        read_bodies(text, &mut bodies, &mut shared, &mut kernels);
    }
    let of_kernel = |kernel: &'a str| {
        let mut used = BTreeSet::from([kernel]);
        let mut open = vec![kernel];
        let mut all = Some(0_u64);
        while let Some(name) = open.pop() {
            if let Some(size) = shared.get(name) {
                all = add(all, *size);
            }
            let Some(body) = bodies.get(name) else { continue };
            let Body { words, .. } = body;
            all = add(all, body.shared);
            let known = |word: &&&str| bodies.contains_key(**word) || shared.contains_key(**word);
            open.extend(words.iter().filter(known).filter(|word| used.insert(word)));
        }
        let registers = bodies.get(kernel).map_or(0, |body| body.registers);
        (kernel, Resources { registers, shared: all })
    };
    kernels.into_iter().map(of_kernel).collect()
}

fn add(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one?.checked_add(other?)
}

fn read_bodies<'a>(
    text: &'a [u8],
    bodies: &mut BTreeMap<&'a str, Body<'a>>,
    shared: &mut BTreeMap<&'a str, Option<u64>>,
    kernels: &mut Vec<&'a str>,
) {
    let mut words = Words { text, at: 0 };
    let mut external = false;
    while let Some(word) = words.next() {
        match word {
            b";" => external = false,
            b".extern" => external = true,
            b".shared" => {
                // Another text may have it; a dynamic array is the launch's.
                if let Some((name, size)) = variable(&mut words)
                    && !external
                {
                    shared.insert(name, size);
                }
            }
            b".entry" | b".func" => {
                let name = function_name(&mut words);
                let Some(name) = name.filter(|_| skip_to_body(&mut words)) else { continue };
                bodies.insert(name, body(&mut words));
                if word == b".entry" {
                    kernels.push(name);
                }
            }
            _ => {}
        }
    }
}

/// The name behind `.func`, before which what it returns may stand in parentheses.
fn function_name<'a>(words: &mut Words<'a>) -> Option<&'a str> {
    let mut word = words.next()?;
    if word == b"(" {
        skip_parentheses(words);
        word = words.next()?;
    }
    identifier(word)
}

/// Goes behind the `{` of a definition. False: it is a declaration.
fn skip_to_body(words: &mut Words<'_>) -> bool {
    words.find(|word| matches!(*word, b"{" | b";")) == Some(b"{")
}

/// Reads up to the end of a body that has begun.
fn body<'a>(words: &mut Words<'a>) -> Body<'a> {
    let mut body = Body { shared: Some(0), ..Body::default() };
    let mut depth = 1;
    // Whether a statement begins: `ld.shared` has the word of a declaration in it.
    let mut begins = true;
    while depth > 0 {
        let Some(word) = words.next() else { break };
        match word {
            b"{" => depth += 1,
            b"}" => depth -= 1,
            b".reg" => body.registers = body.registers.saturating_add(registers(words)),
            b".shared" if begins => {
                body.shared = add(body.shared, variable(words).and_then(|(_, size)| size));
            }
            word => body.words.extend(identifier(word).filter(|name| !name.starts_with('%'))),
        }
        // What a declaration is made of has been read up to its end.
        begins = matches!(word, b"{" | b"}" | b";" | b".reg") || word == b".shared" && begins;
    }
    body
}

/// The 32-bit registers of a declaration: `.reg .b64 %rd<7>;` has 14, for numbers from 0.
fn registers(words: &mut Words<'_>) -> u64 {
    let number = |word: Option<&[u8]>| std::str::from_utf8(word?).ok()?.parse::<u64>().ok();
    let (mut width, mut lanes, mut all) = (4, 1, 0_u64);
    loop {
        match words.next() {
            None | Some(b";") => return all,
            // Predicates have registers of their own.
            Some(b".pred") => width = 0,
            Some(b".v2") => lanes = 2,
            Some(b".v4") => lanes = 4,
            Some([b'.', kind @ ..]) => width = element_size(kind).unwrap_or(width).max(4),
            Some(b"<") => {
                // The name before it has been counted as one.
                let more = number(words.next()).unwrap_or(1).saturating_sub(1);
                all = all.saturating_add(more.saturating_mul(lanes * width) / 4);
            }
            Some(word) => all = all.saturating_add(identifier(word).map_or(0, |_| lanes * width / 4)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_declare() {
        let text = b".version 7.0\n.target sm_80\n.shared .align 8 .b8 team[1024];\n.shared .b8 unused[4096];\n\
            .extern .shared .align 16 .b8 dynamic[];\n.func (.param .b32 r) helper (.param .b32 a) ;\n\
            .visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %rd<7>, %x;\n\
            .reg .v4 .f32 %v;\n.shared .f64 own[2];\n{ call (r), helper, (a); }\nmov.u64 %rd1, dynamic;\n\
            st.shared.b64 [%rd1], %rd2;\n@%p1 ld.shared.b64 %rd2, [own];\n.shared .b8 more[8];\n}\n\
            .func (.param .b32 r) helper (.param .b32 a)\n{\n.reg .b32 %r<90>;\nmov.u64 %rd1, team;\ncall helper;\n}\n\
            .entry small()\n{\nret;\n}\n";
        let found = resources(&[text]);
        assert_eq!(found["k"], Resources { registers: 5 + 14 + 2 + 4, shared: Some(16 + 8 + 1024) });
        assert_eq!(found["small"], Resources { registers: 0, shared: Some(0) });
        assert_eq!(found.len(), 2);
        // A function of another text, with what that uses.
        let other = b".entry far()\n{\ncall helper;\n}\n";
        assert_eq!(resources(&[text, other])["far"].shared, Some(1024));
        // No number is too large.
        let huge = b".entry many()\n{ .reg .v4 .b64 %r<18446744073709551615>, %s<8888888888888888888>; }\n";
        assert!(resources(&[huge])["many"].registers > u64::MAX / 4);
        // What is cut is taken as far as it goes.
        assert_eq!(resources(&[b".entry broken(\n{ .reg .b32 %r<4", b".shared"])["broken"].registers, 4);
    }
}
