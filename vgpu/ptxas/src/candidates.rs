//! The instructions to compare, made from the form table.

use std::collections::BTreeSet;

use gangway_ptx::forms::{Expected, Form, Opcode, Role, table};
use gangway_ptx::{Modifier, Op, Type};

/// The types of registers that the frame declares, eight of each.
pub const REGISTERS: &[&str] =
    &["b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f16", "f16x2", "f32", "f64", "pred"];

/// What may be written where a value is expected, besides registers.
const VALUES: &[&str] = &[
    "1",
    "-1",
    "99999999999",
    "1.5",
    "-1.5",
    "0f3f800000",
    "0d3ff0000000000000",
    "WARP_SZ",
    "%tid.x",
    "%clock64",
    "words",
    "words+4",
    "words[1]",
    "_",
    "!%pred_7",
    "%b32_7+1",
    "%b64_7+1",
    "{%b32_7}",
    "{%b32_7, %b32_6}",
    "[%u64_7+4]",
    "[words+4]",
    "1+2*3",
];

/// More than this many spellings of one form are thinned out evenly.
const MOST_SPELLINGS: usize = 120;

/// Every form with its modifiers in the form's order.
pub fn spellings() -> Vec<String> {
    let mut all = BTreeSet::new();
    for form in table().forms() {
        let spellings = form.spellings();
        for modifiers in spellings.iter().step_by(spellings.len().div_ceil(MOST_SPELLINGS)) {
            all.extend(instruction(form, modifiers, &[]));
        }
    }
    all.into_iter().collect()
}

/// One spelling for every choice of every form.
pub fn samples() -> Vec<String> {
    let all: BTreeSet<_> = table()
        .forms()
        .iter()
        .flat_map(|form| choices(form).into_iter().filter_map(|modifiers| instruction(form, &modifiers, &[])))
        .collect();
    all.into_iter().collect()
}

/// Modifiers in other orders: all of up to four, and of more each pair exchanged, all of them
/// turned, and backwards.
pub fn orders() -> Vec<String> {
    let mut all = BTreeSet::new();
    for form in table().forms() {
        for modifiers in choices(form) {
            let Some(text) = instruction(form, &modifiers, &[]) else { continue };
            let (_, operands) = text.split_once(' ').unwrap_or((&text, ";"));
            for order in permutations(&modifiers) {
                let words: String = order.iter().map(|modifier| format!(".{}", modifier.text())).collect();
                all.insert(format!("{}{words} {operands}", form.row.op));
            }
        }
    }
    all.into_iter().collect()
}

/// Every form with something else in each place of its operands.
pub fn operands() -> Vec<String> {
    let mut all = BTreeSet::new();
    let registers: Vec<String> = REGISTERS.iter().map(|ty| format!("%{ty}_7")).collect();
    for form in table().forms() {
        for modifiers in shapes(form) {
            let Some(opcode) = table().find(form.row.op.text(), &modifiers) else { continue };
            for position in 0..opcode.expected.len() {
                for other in registers.iter().map(String::as_str).chain(VALUES.iter().copied()) {
                    all.extend(instruction(form, &modifiers, &[(position, other)]));
                }
            }
        }
    }
    all.into_iter().collect()
}

/// Sequences in which every choice of every modifier occurs, alone and with all others.
fn choices(form: &Form) -> Vec<Vec<Modifier>> {
    let (mut seen, mut kept) = (BTreeSet::new(), Vec::new());
    let mut spellings = form.spellings();
    // The longest first: they say most.
    spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    let shortest = spellings.last().cloned();
    for spelling in spellings {
        let fresh = spelling.iter().filter(|modifier| seen.insert(modifier.text())).count();
        if fresh > 0 {
            kept.push(spelling);
        }
    }
    kept.extend(shortest);
    kept
}

/// The shortest spelling for every combination of types.
fn shapes(form: &Form) -> Vec<Vec<Modifier>> {
    let (mut seen, mut kept) = (BTreeSet::new(), Vec::new());
    let mut spellings = form.spellings();
    spellings.sort_by_key(Vec::len);
    for spelling in spellings {
        let types = spelling.iter().filter(|modifier| matches!(modifier, Modifier::Type(_)));
        let vector = spelling.iter().filter(|modifier| matches!(modifier.text(), "v2" | "v4" | "wide"));
        let shape: Vec<_> = types.chain(vector).map(|modifier| modifier.text()).collect();
        // Of conversions and video instructions the first types say it all.
        if kept.len() < 24 && seen.insert(shape) {
            kept.push(spelling);
        }
    }
    kept
}

fn permutations(modifiers: &[Modifier]) -> Vec<Vec<Modifier>> {
    let count = modifiers.len();
    if count <= 4 {
        let mut all = vec![Vec::new()];
        for &modifier in modifiers {
            let longer = all.iter().flat_map(|order: &Vec<Modifier>| {
                (0..=order.len()).map(|at| {
                    let mut order = order.clone();
                    order.insert(at, modifier);
                    order
                })
            });
            all = longer.collect();
        }
        return all;
    }
    let mut all = vec![modifiers.iter().rev().copied().collect()];
    for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
        let mut order = modifiers.to_vec();
        order.swap(a, b);
        all.push(order);
    }
    for by in 1..count {
        let mut order = modifiers.to_vec();
        order.rotate_left(by);
        all.push(order);
    }
    all
}

/// An instruction with operands that suit it, but for those that are `given`.
fn instruction(form: &Form, modifiers: &[Modifier], given: &[(usize, &str)]) -> Option<String> {
    let opcode = table().find(form.row.op.text(), modifiers)?;
    let mut text = format!("{opcode}");
    let mut written = 0;
    for (position, expected) in opcode.expected.iter().enumerate() {
        let other = given.iter().find(|(at, _)| *at == position).map(|(_, other)| (*other).to_owned());
        if expected.optional && other.is_none() {
            continue;
        }
        text += match (written, expected.role) {
            (0, _) => " ",
            (_, Role::SecondDestination) => "|",
            _ => ", ",
        };
        text += &other.unwrap_or_else(|| operand(&opcode, expected, position));
        written += 1;
    }
    Some(text + ";")
}

fn operand(opcode: &Opcode, expected: &Expected, position: usize) -> String {
    match expected.role {
        Role::Address => "[%u64_0]".into(),
        Role::Label => "label".into(),
        Role::Targets => "list".into(),
        Role::Call => "callee".into(),
        Role::Constant if opcode.op == Op::Cp => "16".into(),
        Role::Constant => "8".into(),
        // The number of a barrier, and of its threads.
        Role::Source if matches!(opcode.op, Op::Bar | Op::Barrier) && expected.ty == Some(Type::U32) => {
            if position > usize::from(opcode.expected[0].role == Role::Destination) { "64" } else { "1" }
                .into()
        }
        _ => {
            let register = register(expected.ty.unwrap_or(Type::U64));
            let each = |number: usize| format!("%{register}_{number}");
            let vector = |count: usize| {
                let parts: Vec<String> = (0..count).map(each).collect();
                format!("{{{}}}", parts.join(", "))
            };
            match (expected.role.fragment(), opcode.vector()) {
                (Some(registers), _) => vector(registers.into()),
                (None, count) if expected.role.takes_vectors() && count > 1 => vector(count),
                _ => each(position.min(5)),
            }
        }
    }
}

/// The type of the registers that hold values of a type.
fn register(ty: Type) -> &'static str {
    match ty {
        Type::B8 | Type::U8 | Type::S8 | Type::Bf16 | Type::E4m3 | Type::E5m2 => "b16",
        Type::Bf16x2 | Type::Tf32 | Type::U16x2 | Type::S16x2 => "b32",
        other => other.text(),
    }
}
