//! Which memory an instruction is about to read and to write.

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, InstructionInfoOptions, Mnemonic, OpAccess,
    Register,
};

/// An access of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operand {
    pub address: usize,
    pub size: usize,
    pub reads: bool,
    pub writes: bool,
    /// All that the instruction repeats, from where it is now.
    pub repeats: bool,
}

/// Accesses of an instruction at most: two operands, and what goes onto the stack.
pub const OPERANDS: usize = 4;

/// Decodes without allocating, once it is made.
pub struct Instructions(InstructionInfoFactory);

impl Instructions {
    pub fn new() -> Self {
        let mut instructions = Self(InstructionInfoFactory::new());
        // The decoder's tables are made when the first instruction is decoded: here, and not in a signal handler.
        let copy = [0xA4];
        let _ = instructions.operands(&copy, 0, |_| 0, 0, false);
        instructions
    }

    /// The accesses of the instruction whose bytes these are; `register` gives the values of general registers, by
    /// their numbers in machine code, and `down` the way that string instructions go. `None`: not all of them are known.
    pub fn operands(
        &mut self,
        code: &[u8],
        pc: usize,
        register: impl Fn(usize) -> u64,
        thread_pointer: u64,
        down: bool,
    ) -> Option<([Operand; OPERANDS], usize)> {
        let instruction = Decoder::with_ip(64, code, pc as u64, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return None;
        }
        let repeats = repeats(&instruction);
        let times = if repeats { register(1) as usize } else { 1 };
        let info = self.0.info_options(&instruction, InstructionInfoOptions::NO_REGISTER_USAGE);
        let (mut operands, mut count) = ([Operand::default(); OPERANDS], 0);
        for used in info.used_memory() {
            let (reads, writes) = match used.access() {
                OpAccess::Read | OpAccess::CondRead => (true, false),
                OpAccess::Write | OpAccess::CondWrite => (false, true),
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
                OpAccess::None | OpAccess::NoMemAccess => continue,
            };
            let address = used.virtual_address(0, |of, _, _| {
                Some(match of {
                    Register::FS => thread_pointer,
                    Register::ES | Register::CS | Register::SS | Register::DS => 0,
                    of if of.is_gpr64() => register(of.number()),
                    of if of.is_gpr32() => register(of.number()) & 0xFFFF_FFFF,
                    _ => return None,
                })
            })?;
            // Of what is repeated, the decoder does not tell the size.
            let size = used.memory_size().size().max(instruction.memory_size().size());
            if size == 0 || count == OPERANDS {
                return None;
            }
            let (mut address, whole) = (address as usize, size.saturating_mul(times.max(1)));
            if down {
                address = address.saturating_sub(whole - size);
            }
            let size = whole.min(usize::MAX - address);
            operands[count] = Operand { address, size, reads, writes, repeats };
            count += 1;
        }
        Some((operands, count))
    }
}

/// Whether an instruction does the same to one element after another. Those that compare may end before the last.
fn repeats(instruction: &Instruction) -> bool {
    use Mnemonic::{Lodsb, Lodsd, Lodsq, Lodsw, Movsb, Movsd, Movsq, Movsw, Stosb, Stosd, Stosq, Stosw};
    let all = [Movsb, Movsw, Movsd, Movsq, Stosb, Stosw, Stosd, Stosq, Lodsb, Lodsw, Lodsd, Lodsq];
    instruction.has_rep_prefix()
        && instruction.is_string_instruction()
        && all.contains(&instruction.mnemonic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operands(code: &[u8]) -> Option<Vec<Operand>> {
        operands_to(code, false)
    }

    fn operands_to(code: &[u8], down: bool) -> Option<Vec<Operand>> {
        let register = |number: usize| 0x1000 * (number as u64 + 1);
        let (operands, count) = Instructions::new().operands(code, 0x400, register, 0x7000, down)?;
        Some(operands[..count].to_vec())
    }

    #[test]
    fn instructions_say_what_they_access() {
        let read = |address, size| Operand { address, size, reads: true, writes: false, repeats: false };
        let write = |address, size| Operand { reads: false, writes: true, ..read(address, size) };
        // mov eax, [rdi+8]; mov [rsi], rax; add dword [rdi], 1
        assert_eq!(operands(&[0x8B, 0x47, 0x08]).unwrap(), [read(0x8008, 4)]);
        assert_eq!(operands(&[0x48, 0x89, 0x06]).unwrap(), [write(0x7000, 8)]);
        assert_eq!(operands(&[0x83, 0x07, 0x01]).unwrap(), [Operand { writes: true, ..read(0x8000, 4) }]);
        // vmovups ymm0, [rdi]; movsb
        assert_eq!(operands(&[0xC5, 0xFC, 0x10, 0x07]).unwrap(), [read(0x8000, 32)]);
        let both = operands(&[0xA4]).unwrap();
        assert!(both.contains(&read(0x7000, 1)) && both.contains(&write(0x8000, 1)), "{both:?}");
        // rep stosd up and down: all that is left of it; repe cmpsb, which may end before: one at a time
        let all = |address| Operand { repeats: true, ..write(address, 4 * 0x2000) };
        assert_eq!(operands(&[0xF3, 0xAB]).unwrap(), [all(0x8000)]);
        assert_eq!(operands_to(&[0xF3, 0xAB], true).unwrap(), [all(0x8000 + 4 - 4 * 0x2000)]);
        assert!(operands(&[0xF3, 0xA6]).unwrap().iter().all(|operand| operand.size == 1 && !operand.repeats));
        // nop; lea
        assert_eq!(operands(&[0x90]).unwrap(), []);
        assert_eq!(operands(&[0x48, 0x8D, 0x07]).unwrap(), []);
        // vgatherdps: which elements depends on vectors.
        assert_eq!(operands(&[0xC4, 0xE2, 0x6D, 0x92, 0x04, 0x8F]), None);
    }
}
