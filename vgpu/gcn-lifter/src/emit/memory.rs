//! Loads, stores and atomic operations.

use gangway_gcn_interpreter::{GROUP_APERTURE, PRIVATE_APERTURE};

use super::{HALVES, Writer};
use crate::node::{Access, Space, Type, Update, Value};

/// Upper halves of addresses in LDS and in private memory.
const GROUP: u32 = (GROUP_APERTURE >> 32) as u32;
const PRIVATE: u32 = (PRIVATE_APERTURE >> 32) as u32;

impl Writer<'_> {
    /// The condition of an access, for the front of an instruction; nothing if it is never done.
    fn guard(&self, bit: Option<&Value>, half: u32) -> Option<String> {
        let Some(bit) = bit else { return Some(String::new()) };
        match self.f.as_constant(*bit) {
            Some(0) => None,
            Some(_) => Some(String::new()),
            None => Some(format!("@{} ", self.register(*bit, half))),
        }
    }

    /// The address of a lane's own memory.
    fn own(&mut self, word: &str, half: u32) -> String {
        let (wide, at) = (self.temporary(Type::Wide), self.temporary(Type::Wide));
        self.line(&format!("cvt.u64.u32 {wide}, {word};"));
        self.line(&format!("add.s64 {at}, {wide}, %own;"));
        if half == 0 || self.shared.own == 0 {
            return at;
        }
        let other = self.temporary(Type::Wide);
        self.line(&format!("add.s64 {other}, {at}, {};", self.shared.own));
        other
    }

    /// Does something to memory: `with` writes it for a space, an address and a guard.
    fn place(
        &mut self,
        space: Space,
        address: Value,
        half: u32,
        guard: &str,
        with: &mut dyn FnMut(&mut Self, &str, &str, &str),
    ) {
        let at = self.in_register(address, half);
        match space {
            Space::Global => with(self, "global", &at, guard),
            Space::Group => with(self, "shared", &at, guard),
            Space::Private => {
                let at = self.own(&at, half);
                with(self, "local", &at, guard);
            }
            Space::Flat => self.flat(address, &at, half, guard, with),
            Space::FlatOfFirst => self.flat_of_first(&at, with),
        }
    }

    /// An address in a register.
    pub(super) fn in_register(&mut self, address: Value, half: u32) -> String {
        let at = self.operand(address, half, "u64");
        if self.f.as_constant(address).is_none() {
            return at;
        }
        let ty = self.f.ty(address);
        let temporary = self.temporary(ty);
        let name = if ty == Type::Wide { "mov.b64" } else { "mov.b32" };
        self.line(&format!("{name} {temporary}, {at};"));
        temporary
    }

    /// Whether an address of any lane, of both halves, is in LDS or private memory.
    fn elsewhere(&mut self, address: Value) -> String {
        let windows = HALVES.map(|half| {
            let at = self.in_register(address, half);
            let [low, high, from_first] = [(); 3].map(|()| self.temporary(Type::Word));
            let window = self.temporary(Type::Bit);
            self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
            self.line(&format!("sub.u32 {from_first}, {high}, {GROUP};"));
            self.line(&format!("setp.le.u32 {window}, {from_first}, {};", PRIVATE - GROUP));
            window
        });
        let [either, any] = [(); 2].map(|()| self.temporary(Type::Bit));
        self.line(&format!("or.pred {either}, {}, {};", windows[0], windows[1]));
        self.line(&format!("vote.sync.any.pred {any}, {either}, -1;"));
        any
    }

    /// An address that says where it is: as a rule in global memory in all lanes.
    fn flat(
        &mut self,
        address: Value,
        at: &str,
        half: u32,
        guard: &str,
        with: &mut dyn FnMut(&mut Self, &str, &str, &str),
    ) {
        let any = match self.elsewhere.take() {
            Some((known, any)) if known == address && half == 1 => any,
            _ => self.elsewhere(address),
        };
        self.elsewhere = Some((address, any.clone()));
        let [low, high] = [(); 2].map(|()| self.temporary(Type::Word));
        let [group, own, global] = [(); 3].map(|()| self.temporary(Type::Bit));
        let (slow, done) = (self.label(), self.label());
        self.line(&format!("@{any} bra {slow};"));
        with(self, "global", at, guard);
        self.line(&format!("bra {done};"));
        self.line(&format!("{slow}:"));
        self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
        self.line(&format!("setp.eq.u32 {group}, {high}, {GROUP};"));
        self.line(&format!("setp.eq.u32 {own}, {high}, {PRIVATE};"));
        self.line(&format!("or.pred {global}, {group}, {own};"));
        self.line(&format!("not.pred {global}, {global};"));
        if let Some(bit) = guard.trim().strip_prefix('@') {
            for part in [&group, &own, &global] {
                self.line(&format!("and.pred {part}, {part}, {bit};"));
            }
        }
        with(self, "global", at, &format!("@{global} "));
        with(self, "shared", &low, &format!("@{group} "));
        if self.shared.own > 0 {
            let own_at = self.own(&low, half);
            with(self, "local", &own_at, &format!("@{own} "));
        } else {
            self.line(&format!("@{own} trap;"));
        }
        self.line(&format!("{done}:"));
    }

    /// An address of the first lane's, which all have. Its own memory the others do not share.
    fn flat_of_first(&mut self, at: &str, with: &mut dyn FnMut(&mut Self, &str, &str, &str)) {
        let [low, high, from_first] = [(); 3].map(|()| self.temporary(Type::Word));
        let [elsewhere, group, own] = [(); 3].map(|()| self.temporary(Type::Bit));
        let (slow, of_group, done) = (self.label(), self.label(), self.label());
        self.line(&format!("mov.b64 {{{low}, {high}}}, {at};"));
        self.line(&format!("sub.u32 {from_first}, {high}, {GROUP};"));
        self.line(&format!("setp.le.u32 {elsewhere}, {from_first}, {};", PRIVATE - GROUP));
        self.line(&format!("@{elsewhere} bra {slow};"));
        with(self, "global", at, "");
        self.line(&format!("bra {done};"));
        self.line(&format!("{slow}:"));
        self.line(&format!("setp.eq.u32 {group}, {high}, {GROUP};"));
        self.line(&format!("@{group} bra {of_group};"));
        self.line(&format!("setp.eq.u32 {own}, {high}, {PRIVATE};"));
        if self.shared.own > 0 {
            let (global, own_at) = (self.label(), self.own(&low, 0));
            self.line(&format!("@!{own} bra {global};"));
            with(self, "local", &own_at, "");
            self.line(&format!("bra {done};"));
            self.line(&format!("{global}:"));
        } else {
            self.line(&format!("@{own} trap;"));
        }
        with(self, "global", at, "");
        self.line(&format!("bra {done};"));
        self.line(&format!("{of_group}:"));
        with(self, "shared", &low, "");
        self.line(&format!("{done}:"));
    }

    /// Writes what the first lane has in a register into another one, of all lanes.
    pub(super) fn first_lanes(&mut self, to: &str, from: &str, ty: Type) {
        let of_word = |to: &str, from: &str| format!("shfl.sync.idx.b32 {to}, {from}, 0, 31, -1;");
        if ty != Type::Wide {
            return self.line(&of_word(to, from));
        }
        let [low, high, first_low, first_high] = [(); 4].map(|()| self.temporary(Type::Word));
        self.line(&format!("mov.b64 {{{low}, {high}}}, {from};"));
        self.line(&of_word(&first_low, &low));
        self.line(&of_word(&first_high, &high));
        self.line(&format!("mov.b64 {to}, {{{first_low}, {first_high}}};"));
    }

    pub(super) fn load(&mut self, value: Value, half: u32, access: Access) {
        let node = self.f.node(value);
        let to = self.register(value, half);
        let zero = format!("mov.b{} {to}, 0;", if node.ty == Type::Wide { 64 } else { 32 });
        let Some(guard) = self.guard(node.args.get(1), half) else { return self.line(&zero) };
        if !guard.is_empty() || access.space == Space::Flat {
            self.line(&zero);
        }
        let kind = match (access.bits, access.signed) {
            (bits, true) => format!("s{bits}"),
            (bits @ (8 | 16), false) => format!("u{bits}"),
            (bits, false) => format!("b{bits}"),
        };
        let strong = if access.strong { ".volatile" } else { "" };
        self.place(access.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            let strong = if space == "global" { strong } else { "" };
            let is_firsts = access.space == Space::FlatOfFirst && space == "local";
            let loaded = if is_firsts { writer.temporary(node.ty) } else { to.clone() };
            writer.line(&format!("{guard}ld{strong}.{space}.{kind} {loaded}, [{at}+{}];", access.offset));
            if is_firsts {
                writer.first_lanes(&to, &loaded, node.ty);
            }
        });
    }

    pub(super) fn store(&mut self, value: Value, half: u32, access: Access) {
        let node = self.f.node(value);
        let Some(guard) = self.guard(node.args.get(2), half) else { return };
        let mut from = self.operand(node.args[1], half, "");
        if self.f.as_constant(node.args[1]).is_some() {
            let ty = self.f.ty(node.args[1]);
            let temporary = self.temporary(ty);
            let name = if ty == Type::Wide { "mov.b64" } else { "mov.b32" };
            self.line(&format!("{name} {temporary}, {from};"));
            from = temporary;
        }
        let kind = if access.bits < 32 { format!("u{}", access.bits) } else { format!("b{}", access.bits) };
        let strong = if access.strong { ".volatile" } else { "" };
        self.place(access.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            let strong = if space == "global" { strong } else { "" };
            let mut guard = guard.to_owned();
            if access.space == Space::FlatOfFirst && space == "local" {
                let is_first = writer.temporary(Type::Bit);
                writer.line(&format!("setp.eq.u32 {is_first}, %number, 0;"));
                guard = format!("@{is_first} ");
            }
            writer.line(&format!("{guard}st{strong}.{space}.{kind} [{at}+{}], {from};", access.offset));
        });
    }

    pub(super) fn update(&mut self, value: Value, half: u32, update: Update, returns: bool) {
        let node = self.f.node(value);
        let count = if update.name.starts_with("cas") { 2 } else { 1 };
        let Some(guard) = self.guard(node.args.get(1 + count), half) else { return };
        let to = self.register(value, half);
        let ty = update.name.rsplit('.').next().unwrap_or_default();
        let data: Vec<String> = (1..=count).map(|index| self.operand(node.args[index], half, ty)).collect();
        let wide = node.ty == Type::Wide;
        if returns && (!guard.is_empty() || update.space == Space::Flat) {
            self.line(&format!("mov.b{} {to}, 0;", if wide { 64 } else { 32 }));
        }
        let name = update.name;
        let reduces = !returns && !name.starts_with("cas") && !name.starts_with("exch");
        self.place(update.space, node.args[0], half, &guard, &mut |writer, space, at, guard| {
            let at = format!("[{at}+{}]", update.offset);
            if space == "local" {
                writer.update_own(name, &to, &at, &data, guard, wide);
            } else if let Some(chosen) = extreme(name) {
                writer.update_by_comparison(chosen, (space, &at), &to, &data[0], guard, wide);
            } else if reduces {
                writer.line(&format!("{guard}red.{space}.{name} {at}, {};", data.join(", ")));
            } else {
                writer.line(&format!("{guard}atom.{space}.{name} {to}, {at}, {};", data.join(", ")));
            }
        });
    }

    /// What an atomic operation makes of the lane's own memory, which PTX has none for, nor has anybody else.
    fn update_own(&mut self, name: &str, to: &str, at: &str, data: &[String], guard: &str, wide: bool) {
        let (ty, kind) = if wide { (Type::Wide, "b64") } else { (Type::Word, "b32") };
        let old = self.temporary(ty);
        let (operation, of) = name.rsplit_once('.').unwrap_or((name, kind));
        self.line(&format!("mov.{kind} {old}, 0;"));
        self.line(&format!("{guard}ld.local.{kind} {old}, {at};"));
        let new = match operation {
            "exch" => data[0].clone(),
            "cas" => {
                let (new, is) = (self.temporary(ty), self.temporary(Type::Bit));
                self.line(&format!("setp.eq.{kind} {is}, {old}, {};", data[0]));
                self.line(&format!("selp.{kind} {new}, {}, {old}, {is};", data[1]));
                new
            }
            "inc" | "dec" => self.counted(operation == "inc", &old, &data[0]),
            _ => self.combined(operation, of, &old, &data[0], ty),
        };
        self.line(&format!("{guard}st.local.{kind} {at}, {new};"));
        self.line(&format!("{guard}mov.{kind} {to}, {old};"));
    }

    /// An operation of two numbers, by the name that its atomic form has.
    fn combined(&mut self, operation: &str, of: &str, old: &str, data: &str, ty: Type) -> String {
        let new = self.temporary(ty);
        let operation = if operation == "add" && of.starts_with('f') { "add.rn" } else { operation };
        self.line(&format!("{operation}.{of} {new}, {old}, {data};"));
        new
    }

    /// A word that counts up to a limit, or down from it.
    fn counted(&mut self, up: bool, old: &str, limit: &str) -> String {
        let [next, new] = [(); 2].map(|()| self.temporary(Type::Word));
        let [ends, beyond] = [(); 2].map(|()| self.temporary(Type::Bit));
        self.line(&format!("add.u32 {next}, {old}, {};", if up { "1" } else { "-1" }));
        if up {
            self.line(&format!("setp.ge.u32 {ends}, {old}, {limit};"));
            self.line(&format!("selp.b32 {new}, 0, {next}, {ends};"));
        } else {
            self.line(&format!("setp.eq.u32 {ends}, {old}, 0;"));
            self.line(&format!("setp.gt.u32 {beyond}, {old}, {limit};"));
            self.line(&format!("or.pred {ends}, {ends}, {beyond};"));
            self.line(&format!("selp.b32 {new}, {limit}, {next}, {ends};"));
        }
        new
    }

    /// The minimum or maximum of floating-point numbers, which PTX has no atomic operation for. Lanes go round until
    /// each has exchanged what it has computed for what that was computed from.
    fn update_by_comparison(
        &mut self,
        (operation, of): (&str, &str),
        (space, at): (&str, &str),
        to: &str,
        data: &str,
        guard: &str,
        wide: bool,
    ) {
        let (ty, kind) = if wide { (Type::Wide, "b64") } else { (Type::Word, "b32") };
        let [old, found] = [(); 2].map(|()| self.temporary(ty));
        let [waits, differs, any] = [(); 3].map(|()| self.temporary(Type::Bit));
        let again = self.label();
        match guard.trim().strip_prefix('@') {
            Some(bit) => self.line(&format!("or.pred {waits}, {bit}, {bit};")),
            None => self.line(&format!("setp.eq.u32 {waits}, 0, 0;")),
        }
        self.line(&format!("mov.{kind} {old}, 0;"));
        self.line(&format!("mov.{kind} {found}, 0;"));
        self.line(&format!("{again}:"));
        self.line(&format!("@{waits} ld.volatile.{space}.{kind} {old}, {at};"));
        let new = self.combined(operation, of, &old, data, ty);
        // Of two NaN it is the data.
        self.line(&format!("setp.nan.{of} {differs}, {new}, {new};"));
        self.line(&format!("selp.{kind} {new}, {data}, {new}, {differs};"));
        self.line(&format!("@{waits} atom.{space}.cas.{kind} {found}, {at}, {old}, {new};"));
        self.line(&format!("setp.ne.{kind} {differs}, {found}, {old};"));
        self.line(&format!("and.pred {waits}, {waits}, {differs};"));
        self.line(&format!("vote.sync.any.pred {any}, {waits}, -1;"));
        self.line(&format!("@{any} bra {again};"));
        self.line(&format!("{guard}mov.{kind} {to}, {found};"));
    }
}

/// The operation and the type of an atomic minimum or maximum of floating-point numbers.
fn extreme(name: &str) -> Option<(&str, &str)> {
    let (operation, of) = name.rsplit_once('.')?;
    (matches!(operation, "min" | "max") && of.starts_with('f')).then_some((operation, of))
}
