//! Loads, stores and atomic operations of lanes.

use gangway_gcn::instruction::{Base, Buffer, Flat, Form, Local};
use gangway_gcn::table::row::CACHE_ONLY;
use gangway_gcn::table::{Constant, Slot};
use gangway_gcn::{Encoding, Instruction, Operand};

use crate::exchange;
use crate::node::{Access, Op, Space, Type, Update, Value};
use crate::start::PRIVATE;
use crate::state::{Result, State, Variable, unknown};

/// What is done to memory.
#[derive(Clone, Copy)]
struct Transfer {
    kind: Kind,
    bits: u32,
    signed: bool,
    /// The half of a register that is loaded or stored.
    half: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Load,
    Store,
    /// The name of the atomic operation.
    Update(&'static str),
}

/// Where it is done.
#[derive(Clone, Copy)]
struct Place {
    space: Space,
    address: Value,
    offset: i32,
    strong: bool,
}

/// By the names of flat and buffer instructions.
fn named(name: &'static str) -> Option<Transfer> {
    let plain = |kind, bits| Transfer { kind, bits, signed: false, half: None };
    if let Some(name) = name.strip_prefix("atomic_") {
        return Some(plain(
            Kind::Update(global(name)?),
            if name.ends_with("_x2") || name.ends_with("_f64") { 64 } else { 32 },
        ));
    }
    let (kind, rest) = match (name.strip_prefix("load_"), name.strip_prefix("store_")) {
        (Some(rest), _) => (Kind::Load, rest),
        (_, Some(rest)) => (Kind::Store, rest),
        _ => return None,
    };
    let (rest, half) = halves(rest);
    let bits = match rest {
        "byte" | "ubyte" | "sbyte" => 8,
        "short" | "ushort" | "sshort" => 16,
        "dword" => 32,
        "dwordx2" => 64,
        "dwordx3" => 96,
        "dwordx4" => 128,
        _ => return None,
    };
    Some(Transfer { kind, bits, signed: rest.starts_with('s') && !rest.ends_with("dword"), half })
}

fn halves(name: &str) -> (&str, Option<bool>) {
    match (name.strip_suffix("_d16"), name.strip_suffix("_d16_hi")) {
        (Some(name), _) => (name, Some(false)),
        (_, Some(name)) => (name, Some(true)),
        _ => (name, None),
    }
}

fn global(name: &str) -> Option<&'static str> {
    Some(match name {
        "swap" => "exch.b32",
        "swap_x2" => "exch.b64",
        "cmpswap" => "cas.b32",
        "cmpswap_x2" => "cas.b64",
        "add" => "add.u32",
        "add_x2" => "add.u64",
        "sub" => "sub.u32",
        "sub_x2" => "sub.u64",
        "smin" => "min.s32",
        "smin_x2" => "min.s64",
        "smax" => "max.s32",
        "smax_x2" => "max.s64",
        "umin" => "min.u32",
        "umin_x2" => "min.u64",
        "umax" => "max.u32",
        "umax_x2" => "max.u64",
        "and" => "and.b32",
        "and_x2" => "and.b64",
        "or" => "or.b32",
        "or_x2" => "or.b64",
        "xor" => "xor.b32",
        "xor_x2" => "xor.b64",
        "inc" => "inc.u32",
        "dec" => "dec.u32",
        "add_f32" => "add.f32",
        "add_f64" => "add.f64",
        "min_f64" => "min.f64",
        "max_f64" => "max.f64",
        _ => return None,
    })
}

/// By the names of LDS instructions without `ds_`.
fn local(name: &str) -> Option<Transfer> {
    let plain = |kind, bits| Transfer { kind, bits, signed: false, half: None };
    let (kind, rest) = match (name.strip_prefix("read_"), name.strip_prefix("write_")) {
        (Some(rest), _) => (Kind::Load, rest),
        (_, Some(rest)) => (Kind::Store, rest),
        _ => {
            let found = match name.replacen("rtn_", "", 1).as_str() {
                "wrxchg_b32" => "exch.b32",
                "wrxchg_b64" => "exch.b64",
                "cmpst_b32" => "cas.b32",
                "cmpst_b64" => "cas.b64",
                "add_u32" => "add.u32",
                "add_u64" => "add.u64",
                "sub_u32" => "sub.u32",
                "sub_u64" => "sub.u64",
                "min_i32" => "min.s32",
                "max_i32" => "max.s32",
                "min_u32" => "min.u32",
                "max_u32" => "max.u32",
                "min_i64" => "min.s64",
                "max_i64" => "max.s64",
                "min_u64" => "min.u64",
                "max_u64" => "max.u64",
                "and_b32" => "and.b32",
                "or_b32" => "or.b32",
                "xor_b32" => "xor.b32",
                "and_b64" => "and.b64",
                "or_b64" => "or.b64",
                "xor_b64" => "xor.b64",
                "inc_u32" => "inc.u32",
                "dec_u32" => "dec.u32",
                "add_f32" => "add.f32",
                "add_f64" => "add.f64",
                "min_f32" => "min.f32",
                "max_f32" => "max.f32",
                "min_f64" => "min.f64",
                "max_f64" => "max.f64",
                _ => return None,
            };
            return Some(plain(Kind::Update(found), if found.ends_with("64") { 64 } else { 32 }));
        }
    };
    let (rest, half) = halves(rest);
    let bits = match rest {
        "b8" | "u8" | "i8" => 8,
        "b16" | "u16" | "i16" => 16,
        "b32" => 32,
        "b64" => 64,
        "b96" => 96,
        "b128" => 128,
        _ => return None,
    };
    Some(Transfer { kind, bits, signed: rest.starts_with('i'), half })
}

/// Flat, global and scratch instructions.
pub fn flat(s: &mut State, instruction: &Instruction) -> Result {
    let Form::Flat(form) = &instruction.form else { return unknown("a form") };
    let name = instruction.row.name;
    let transfer = name.split_once('_').and_then(|(_, name)| named(name));
    let Some(transfer) = transfer.filter(|_| !form.lds && !name.contains("_lds_")) else {
        return unknown(name);
    };
    let place = flat_place(s, instruction, form)?;
    access(s, transfer, place, form.data, form.to.first().copied(), form.cache.glc)
}

fn flat_place(s: &mut State, instruction: &Instruction, form: &Flat) -> Result<Place> {
    let given = match form.address {
        Some(operand) => {
            let words = match operand {
                Operand::Vector { words, .. } | Operand::Accumulator { words, .. } => words,
                _ => return unknown("an address in no vector register"),
            };
            let first = State::vector_of(Some(&operand))?;
            Some(if words > 1 { s.pair_on(first) } else { s.get_on(first) })
        }
        None => None,
    };
    let offset = i32::from(form.offset);
    let strong = form.cache.glc;
    if instruction.row.encoding == Encoding::Scratch {
        let zero = s.f.word(0);
        let mut address = given.unwrap_or(zero);
        if let Base::Register(Operand::Scalar { first, .. }) = form.base {
            let base = s.get(Variable::from(first));
            address = s.f.plain("add.u32", &[address, base]);
        }
        return Ok(Place { space: Space::Private, address, offset, strong });
    }
    let zero = s.f.wide(0);
    let mut address = match given {
        Some(value) if s.f.ty(value) == Type::Word => s.f.plain_wide("cvt.u64.u32", &[value]),
        Some(value) => value,
        None => zero,
    };
    if let Base::Register(operand) = form.base {
        let Operand::Scalar { first, words: 2 } = operand else { return unknown("such an address") };
        let base = s.pair(first);
        address = s.f.plain_wide("add.s64", &[base, address]);
    }
    let space = if instruction.row.encoding == Encoding::Flat { Space::Flat } else { Space::Global };
    Ok(Place { space, address, offset, strong })
}

/// LDS instructions.
pub fn lds(s: &mut State, instruction: &Instruction) -> Result {
    if exchange::local(s, instruction)? {
        return Ok(());
    }
    let Form::Local(form) = &instruction.form else { return unknown("a form") };
    let name = instruction.row.name;
    let Some(rest) = name.strip_prefix("ds_").filter(|_| !form.global) else { return unknown(name) };
    if rest == "nop" {
        return Ok(());
    }
    let address = s.get_on(State::vector_of(form.from.first())?);
    if let Some((base, ty)) = rest.rsplit_once('_')
        && let Some(kind) = match base {
            "read2" | "read2st64" => Some(Kind::Load),
            "write2" | "write2st64" => Some(Kind::Store),
            _ => None,
        }
    {
        let bits = if ty == "b64" { 64 } else { 32 };
        return two(s, form, kind, bits, if base.ends_with("st64") { 64 } else { 1 }, address);
    }
    let Some(mut transfer) = local(rest) else { return unknown(name) };
    // Nothing is said here of whether the old value is wanted but by the register.
    let returns = !form.to.is_empty();
    let place = Place { space: Space::Group, address, offset: form.offset.into(), strong: false };
    if let Kind::Update("cas.b32" | "cas.b64") = transfer.kind {
        // What is compared stands first, in a register of its own.
        let wide = transfer.bits == 64;
        let mut values = Vec::new();
        for index in [1, 2] {
            let first = State::vector_of(form.from.get(index))?;
            values.push(if wide { s.pair_on(first) } else { s.get_on(first) });
        }
        let Kind::Update(name) = transfer.kind else { return unknown(name) };
        return update(s, name, place, &values, wide, form.to.first().copied());
    }
    transfer.half = transfer.half.filter(|_| transfer.bits <= 16);
    access(s, transfer, place, form.from.get(1).copied(), form.to.first().copied(), returns)
}

/// Two values at two offsets.
fn two(s: &mut State, form: &Local, kind: Kind, bits: u32, times: i32, address: Value) -> Result {
    let unit = bits as i32 / 8 * times;
    let mut loaded = Vec::new();
    for (number, offset) in form.offset.to_le_bytes().into_iter().enumerate() {
        let place = Place { space: Space::Group, address, offset: i32::from(offset) * unit, strong: false };
        if kind == Kind::Load {
            loaded.extend(load_words(s, bits, place));
        } else {
            let first = State::vector_of(form.from.get(1 + number))?;
            store_words(s, bits, place, first);
        }
    }
    if kind == Kind::Load {
        let to = State::vector_of(form.to.first())?;
        put_words(s, to, &loaded);
    }
    Ok(())
}

/// Buffers: private memory alone, through the descriptor that the kernel begins with.
pub fn buffer(s: &mut State, instruction: &Instruction) -> Result {
    let Form::Buffer(form) = &instruction.form else { return unknown("a form") };
    let name = instruction.row.name;
    if instruction.row.allows.any(CACHE_ONLY) {
        s.f.make(Op::Fence, &[], Type::Nothing);
        return Ok(());
    }
    let Some(transfer) = name.strip_prefix("buffer_").and_then(named) else { return unknown(name) };
    if form.lds || form.tfe || form.indexed || matches!(transfer.kind, Kind::Update(_)) {
        return unknown(name);
    }
    let Operand::Scalar { first, .. } = form.descriptor else { return unknown(name) };
    for (number, word) in PRIVATE.into_iter().enumerate() {
        let (found, word) = (s.get(Variable::from(first) + 2 + number as Variable), s.f.word(word));
        let is = s.f.test("setp.eq.b32", &[found, word]);
        s.f.make(Op::Require("a buffer"), &[is], Type::Nothing);
    }
    let place = buffer_place(s, instruction, form)?;
    access(s, transfer, place, form.data, instruction.to().first().copied(), false)
}

fn buffer_place(s: &mut State, instruction: &Instruction, form: &Buffer) -> Result<Place> {
    let word = Slot::ScalarSource(1, Constant::Word);
    let base = s.source(instruction.row, &word, &form.base)?;
    // It counts bytes of the wave.
    let six = s.f.word(6);
    let mut address = s.f.plain("shr.u32", &[base, six]);
    if form.offset_enabled {
        let given = s.get_on(State::vector_of(form.address.as_ref())?);
        address = s.f.plain("add.u32", &[address, given]);
    }
    Ok(Place { space: Space::Private, address, offset: form.offset.into(), strong: false })
}

fn access(
    s: &mut State,
    transfer: Transfer,
    place: Place,
    data: Option<Operand>,
    to: Option<Operand>,
    returns: bool,
) -> Result {
    match transfer.kind {
        Kind::Load => {
            let to = State::vector_of(to.as_ref())?;
            if transfer.bits >= 32 {
                let words = load_words(s, transfer.bits, place);
                put_words(s, to, &words);
                return Ok(());
            }
            let mut value = load(s, transfer.bits as u8, transfer.signed, place);
            if let Some(high) = transfer.half {
                let (old, from, count) = (s.get_on(to), s.f.word(if high { 16 } else { 0 }), s.f.word(16));
                value = s.f.plain("bfi.b32", &[value, old, from, count]);
            }
            s.set_lanes(to, value);
        }
        Kind::Store => {
            let first = State::vector_of(data.as_ref())?;
            if transfer.bits >= 32 {
                store_words(s, transfer.bits, place, first);
                return Ok(());
            }
            let mut value = s.get_on(first);
            if transfer.half == Some(true) {
                let sixteen = s.f.word(16);
                value = s.f.plain("shr.u32", &[value, sixteen]);
            }
            store(s, transfer.bits as u8, place, value);
        }
        Kind::Update(name) => {
            let first = State::vector_of(data.as_ref())?;
            let wide = transfer.bits == 64;
            let mut values = vec![if wide { s.pair_on(first) } else { s.get_on(first) }];
            if name.starts_with("cas") {
                // What is compared stands second.
                let words = if wide { 2 } else { 1 };
                values.insert(0, if wide { s.pair_on(first + words) } else { s.get_on(first + words) });
            }
            update(s, name, place, &values, wide, to.filter(|_| returns))?;
        }
    }
    Ok(())
}

/// An atomic operation; subtractions are additions.
fn update(
    s: &mut State,
    name: &'static str,
    place: Place,
    values: &[Value],
    wide: bool,
    to: Option<Operand>,
) -> Result {
    let mut args = vec![place.address];
    let name = match name {
        "sub.u32" | "sub.u64" => {
            let (zero, wide_zero) = (s.f.word(0), s.f.wide(0));
            args.push(if wide {
                s.f.plain_wide("sub.s64", &[wide_zero, values[0]])
            } else {
                s.f.plain("sub.u32", &[zero, values[0]])
            });
            if wide { "add.u64" } else { "add.u32" }
        }
        _ => {
            args.extend(values);
            name
        }
    };
    if !s.full {
        args.push(s.on());
    }
    let ty = if wide { Type::Wide } else { Type::Word };
    let update = Update { space: place.space, name, offset: place.offset };
    let old = s.f.make(Op::Update(update, to.is_some()), &args, ty);
    if let Some(to) = to {
        let to = State::vector_of(Some(&to))?;
        let old = if s.first { s.first_of(old) } else { old };
        s.set_vector(to, old);
    }
    Ok(())
}

/// Where memory is for those who access it, and these lanes, if not all do. What the first one does alone all may do where
/// they share the memory, and where it is known later whether they do.
fn whose(s: &mut State, space: Space) -> (Space, Option<Value>) {
    let space = if s.first && space == Space::Flat { Space::FlatOfFirst } else { space };
    let shared = s.first && is_shared(space);
    (space, (!s.full && !shared).then(|| s.on()))
}

const fn is_shared(space: Space) -> bool {
    matches!(space, Space::Global | Space::Group | Space::FlatOfFirst)
}

fn load(s: &mut State, bits: u8, signed: bool, place: Place) -> Value {
    let Place { space, address, offset, strong } = place;
    let (space, guard) = whose(s, space);
    let args: Vec<Value> = [address].into_iter().chain(guard).collect();
    let access = Access { space, bits, signed, strong, offset };
    let value = s.f.make(Op::Load(access), &args, if bits == 64 { Type::Wide } else { Type::Word });
    if s.first && !is_shared(space) { s.first_of(value) } else { value }
}

fn store(s: &mut State, bits: u8, place: Place, value: Value) {
    let Place { space, address, offset, strong } = place;
    let (space, guard) = whose(s, space);
    let args: Vec<Value> = [address, value].into_iter().chain(guard).collect();
    let access = Access { space, bits, signed: false, strong, offset };
    s.f.make(Op::Store(access), &args, Type::Nothing);
}

/// Words, two at once where there are.
fn load_words(s: &mut State, bits: u32, place: Place) -> Vec<Value> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < bits {
        let wide = bits - at >= 64;
        let place = Place { offset: place.offset + (at / 8) as i32, ..place };
        let value = load(s, if wide { 64 } else { 32 }, false, place);
        if wide {
            let (low, high) = (s.f.low(value), s.f.high(value));
            found.extend([low, high]);
        } else {
            found.push(value);
        }
        at += if wide { 64 } else { 32 };
    }
    found
}

fn put_words(s: &mut State, to: Variable, words: &[Value]) {
    for (number, word) in words.iter().enumerate() {
        s.set_lanes(to + number as Variable, *word);
    }
}

fn store_words(s: &mut State, bits: u32, place: Place, first: Variable) {
    let mut at = 0;
    while at < bits {
        let wide = bits - at >= 64;
        let register = first + (at / 32) as Variable;
        let value = if wide { s.pair_on(register) } else { s.get_on(register) };
        store(
            s,
            if wide { 64 } else { 32 },
            Place { offset: place.offset + (at / 8) as i32, ..place },
            value,
        );
        at += if wide { 64 } else { 32 };
    }
}
