//! Calls, and what they pass.

use super::{Writer, passed};
use crate::node::{Type, Value};

impl Writer<'_> {
    /// Takes what is passed under a name; bits are words then. That all lanes have the same the engine does not know.
    pub(super) fn passed(&mut self, to: &str, ty: Type, differs: bool, name: &str) {
        let is_bit = ty == Type::Bit;
        if differs && !is_bit {
            return self.line(&format!("ld.param.b32 {to}, [{name}];"));
        }
        let mut word = self.temporary(Type::Word);
        self.line(&format!("ld.param.b32 {word}, [{name}];"));
        if !differs {
            let first = if is_bit { self.temporary(Type::Word) } else { to.to_owned() };
            self.first_lanes(&first, &word, Type::Word);
            word = first;
        }
        if is_bit {
            self.line(&format!("setp.ne.u32 {to}, {word}, 0;"));
        }
    }

    /// A word that is passed; bits are words then.
    pub(super) fn word(&mut self, value: Value, half: u32) -> String {
        let from = self.operand(value, half, "");
        if self.f.ty(value) != Type::Bit {
            return from;
        }
        if let Some(bit) = self.f.as_constant(value) {
            return format!("{bit}");
        }
        let temporary = self.temporary(Type::Word);
        self.line(&format!("selp.b32 {temporary}, 1, 0, {from};"));
        temporary
    }

    /// A call of a function with a number, or of one by its address.
    pub(super) fn call(&mut self, value: Value, called: Option<u32>) -> std::result::Result<(), String> {
        let shared = self.shared;
        let number = called.map(|number| number as usize).or_else(|| shared.functions.called(None));
        let Some(unit) = number.map(|number| &shared.functions.units[number]) else {
            return Err("a call where there are no functions".to_owned());
        };
        let node = self.f.node(value);
        let (address, args) =
            if called.is_some() { (None, &node.args[..]) } else { (Some(node.args[0]), &node.args[1..]) };
        let target = match address {
            Some(address) => {
                self.by_address = true;
                let (from, found, none) =
                    (self.in_register(address, 0), self.temporary(Type::Wide), self.temporary(Type::Bit));
                self.line("{\n.param .b64 found;\n.param .b64 to;");
                self.line(&format!("st.param.b64 [to], {from};\ncall (found), find, (to);"));
                self.line(&format!("ld.param.b64 {found}, [found];\n}}"));
                self.line(&format!("setp.eq.u64 {none}, {found}, 0;"));
                self.line(&format!("@{none} trap;"));
                found
            }
            None => format!("f_{:x}", unit.entry),
        };
        self.line("{");
        let mut taken = Vec::new();
        if self.shared.own > 0 {
            taken.push("in_own".to_owned());
            self.line(".param .b64 in_own;\nst.param.b64 [in_own], %own;");
        }
        for (index, half) in passed(&unit.takes) {
            let word = self.word(args[index], half);
            let name = format!("a{index}_{half}");
            self.line(&format!(".param .b32 {name};\nst.param.b32 [{name}], {word};"));
            taken.push(name);
        }
        let value = self.f.find(value);
        let given: Vec<String> =
            passed(&unit.gives).map(|(index, half)| format!("r{index}_{half}")).collect();
        for name in &given {
            self.line(&format!(".param .b32 {name};"));
        }
        let prototype = if address.is_some() { ", shape" } else { "" };
        self.line(&format!("call ({}), {target}, ({}){prototype};", given.join(", "), taken.join(", ")));
        for ((index, half), name) in passed(&unit.gives).zip(&given) {
            let Some(result) = self.results.get(&(value, unit.gives[index])).copied() else { continue };
            let (to, ty, differs) = (self.register(result, half), self.f.ty(result), self.differs(result));
            self.passed(&to, ty, differs, name);
        }
        self.line("}");
        Ok(())
    }
}
