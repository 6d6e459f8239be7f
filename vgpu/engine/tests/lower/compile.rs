//! Functions of one instruction each: they load its operands, run its fast path and store its
//! results.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, Function, InstBuilder, MemFlagsData, Signature, UserFuncName, Value};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{Context, control::ControlPlane};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use gangway_engine::cranelift::processor::{features, suffices};
use gangway_engine::cranelift::sequence::{Input, Output, pure, sink_tests};
use gangway_engine::cranelift::value::{Lanes, Predicate};
use gangway_engine::lower::{self, Features};
use gangway_ptx::forms::Opcode;
use gangway_ptx::{Meaning, Type};

/// In what form operands come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All in vectors.
    Vector,
    /// All uniform.
    Scalar,
    /// The first in vectors, the others uniform.
    FirstVector,
    /// All in vectors of 64 bits, whatever their types.
    WideVector,
}

/// Which processor to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Sse42,
    /// What this one has.
    Native,
}

pub struct Host {
    isa: OwnedTargetIsa,
    pub features: Features,
}

impl Host {
    pub fn new(level: Level) -> Host {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").expect("a setting");
        flags.set("enable_verifier", "true").expect("a setting");
        let mut isa = cranelift_codegen::isa::lookup_by_name("x86_64-unknown-linux-gnu").expect("x86-64");
        let mut enable = |name: &str, has: bool| {
            if has {
                isa.enable(name).expect("a feature");
            }
        };
        for name in ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"] {
            enable(name, true);
        }
        if level == Level::Native {
            enable("has_avx", std::is_x86_feature_detected!("avx"));
            enable("has_avx2", std::is_x86_feature_detected!("avx2"));
            enable("has_fma", std::is_x86_feature_detected!("fma"));
            enable("has_bmi1", std::is_x86_feature_detected!("bmi1"));
            enable("has_bmi2", std::is_x86_feature_detected!("bmi2"));
            enable("has_lzcnt", std::is_x86_feature_detected!("lzcnt"));
            enable("has_avx512f", std::is_x86_feature_detected!("avx512f"));
            enable("has_avx512vl", std::is_x86_feature_detected!("avx512vl"));
            enable("has_avx512dq", std::is_x86_feature_detected!("avx512dq"));
            enable("has_avx512vbmi", std::is_x86_feature_detected!("avx512vbmi"));
        }
        let isa = isa.finish(settings::Flags::new(flags)).expect("x86-64");
        assert!(suffices(&*isa));
        let features = features(&*isa);
        Host { isa, features }
    }

    /// The function, or `None` if the instruction has no fast path. Some operands may be constants.
    pub fn compile(
        &self,
        opcode: &Opcode,
        types: &[Type],
        shape: Shape,
        constants: &[(usize, u64)],
    ) -> Option<Compiled> {
        let mut fast = true;
        let code = self.function(&opcode.to_string(), |builder, inputs, outputs| {
            let operands: Vec<Input> = types
                .iter()
                .enumerate()
                .map(|(index, &ty)| {
                    let constant = constants.iter().find(|(operand, _)| *operand == index);
                    operand(builder, ty, inputs, index, shape, constant.map(|(_, value)| *value))
                })
                .collect();
            let Meaning::Compute(compute) = opcode.meaning else { panic!("{opcode} computes nothing") };
            let sequence = |known: &[_]| lower::pure(compute, &opcode.expected, known, self.features);
            let Some(results) = pure(builder, &operands, sequence) else {
                fast = false;
                return;
            };
            if shape == Shape::Scalar {
                assert!(is_uniform(&results.first), "{opcode}: not uniform though its operands are");
            }
            for (number, output) in [Some(results.first), results.second].into_iter().flatten().enumerate() {
                let offset = SLOT * number as i32;
                match output {
                    Output::Lanes(lanes) => lanes.store(builder, outputs, offset),
                    Output::Predicate(predicate) => {
                        let bits = predicate.bits(builder);
                        builder.ins().store(MemFlagsData::trusted(), bits, outputs, offset);
                    }
                }
            }
        });
        fast.then_some(Compiled { code, shape })
    }

    /// A function of the slots of its inputs and of its outputs.
    pub fn function(&self, name: &str, emit: impl FnOnce(&mut FunctionBuilder, Value, Value)) -> Executable {
        let context = self.build(name, emit, false);
        let compiled = context.compiled_code().expect("compiled code");
        assert!(compiled.buffer.relocs().is_empty(), "{name} needs relocations");
        Executable::new(compiled.code_buffer())
    }

    /// Such a function's machine instructions.
    pub fn text(&self, emit: impl FnOnce(&mut FunctionBuilder, Value, Value)) -> String {
        let context = self.build("a function", emit, true);
        let compiled = context.compiled_code().expect("compiled code");
        compiled.vcode.clone().expect("as text")
    }

    fn build(
        &self,
        name: &str,
        emit: impl FnOnce(&mut FunctionBuilder, Value, Value),
        as_text: bool,
    ) -> Context {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([AbiParam::new(I64), AbiParam::new(I64)]);
        let mut context =
            Context::for_function(Function::with_name_signature(UserFuncName::default(), signature));
        let mut scratch = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut scratch);
        let block = builder.create_block();
        builder.append_block_params_for_function_params(block);
        builder.switch_to_block(block);
        builder.seal_block(block);
        let (inputs, outputs) = (builder.block_params(block)[0], builder.block_params(block)[1]);
        emit(&mut builder, inputs, outputs);
        builder.ins().return_(&[]);
        builder.finalize(self.isa.frontend_config());
        sink_tests(&mut context.func);
        context.set_disasm(as_text);
        let refused = context.compile(&*self.isa, &mut ControlPlane::default()).err();
        if let Some(error) = refused {
            panic!("{name}: {:?}\n{}", error.inner, error.func.display());
        }
        context
    }
}

/// Room for an operand in memory.
pub const SLOT: i32 = 256;

fn is_uniform(output: &Output) -> bool {
    matches!(output, Output::Lanes(Lanes::Uniform(_)) | Output::Predicate(Predicate::Uniform(_)))
}

fn operand(
    builder: &mut FunctionBuilder,
    ty: Type,
    inputs: Value,
    index: usize,
    shape: Shape,
    constant: Option<u64>,
) -> Input {
    let offset = SLOT * index as i32;
    let flags = MemFlagsData::trusted();
    let uniform = shape == Shape::Scalar || shape == Shape::FirstVector && index > 0;
    if ty == Type::Pred {
        let bits = builder.ins().load(I32, flags, inputs, offset);
        let one = builder.ins().iconst(I32, 1);
        return Input::Predicate(match uniform {
            true => Predicate::Uniform(builder.ins().band(bits, one)),
            false => Predicate::Bits(bits),
        });
    }
    if let Some(value) = constant {
        return Input::Lanes(Lanes::constant(builder, ty.bits() > 32, value));
    }
    Input::Lanes(if uniform {
        Lanes::Uniform(builder.ins().load(if ty.bits() > 32 { I64 } else { I32 }, flags, inputs, offset))
    } else {
        Lanes::load(builder, ty.bits() > 32 || shape == Shape::WideVector, inputs, offset)
    })
}

pub struct Compiled {
    code: Executable,
    shape: Shape,
}

/// Memory for the operands or the results of a function.
#[repr(C, align(64))]
pub struct Slots(pub [[u8; SLOT as usize]; 6]);

impl Slots {
    pub fn new() -> Slots {
        Slots([[0; SLOT as usize]; 6])
    }
}

impl Compiled {
    /// Runs it on 32 lanes of each operand; the lanes of each result.
    pub fn run(&self, types: &[Type], inputs: &[Vec<u64>], outputs: &[Type]) -> Vec<Vec<u64>> {
        let mut slots = Slots::new();
        for ((slot, &ty), values) in slots.0.iter_mut().zip(types).zip(inputs) {
            let wide = ty.bits() > 32 || self.shape == Shape::WideVector;
            if ty == Type::Pred {
                let bits = values
                    .iter()
                    .enumerate()
                    .fold(0u32, |bits, (lane, value)| bits | (*value as u32 & 1) << lane);
                slot[..4].copy_from_slice(&bits.to_le_bytes());
                continue;
            }
            for (lane, value) in values.iter().enumerate() {
                if wide {
                    // What lies above the type must not matter.
                    let above = if ty.bits() > 32 { 0 } else { 0xdead_beef << 32 };
                    slot[8 * lane..][..8].copy_from_slice(&(value | above).to_le_bytes());
                } else {
                    slot[4 * lane..][..4].copy_from_slice(&(*value as u32).to_le_bytes());
                }
            }
        }
        let mut results = Slots::new();
        self.code.call(&slots, &mut results);
        let read = |(slot, ty): (&[u8; SLOT as usize], &Type)| -> Vec<u64> {
            let word = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
            let lane = |lane: usize| match ty {
                Type::Pred => u64::from(word(0) >> lane & 1),
                ty if ty.bits() > 32 => u64::from(word(8 * lane)) | u64::from(word(8 * lane + 4)) << 32,
                _ => u64::from(word(4 * lane)),
            };
            (0..32).map(lane).collect()
        };
        results.0.iter().zip(outputs).map(read).collect()
    }
}

/// Machine code in memory of its own.
pub struct Executable {
    address: *mut libc::c_void,
    length: usize,
}

impl Executable {
    fn new(code: &[u8]) -> Executable {
        let length = code.len().next_multiple_of(4096);
        // SAFETY: an anonymous mapping of our own.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert_ne!(address, libc::MAP_FAILED);
        // SAFETY: the mapping is long enough for the code, and made executable only then.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), address.cast(), code.len());
            assert_eq!(libc::mprotect(address, length, libc::PROT_READ | libc::PROT_EXEC), 0);
        }
        Executable { address, length }
    }

    pub fn call(&self, inputs: &Slots, outputs: &mut Slots) {
        // SAFETY: the code is that of a function with this signature, which reads and writes
        // nothing but the slots.
        unsafe {
            let function: extern "C" fn(*const Slots, *mut Slots) = std::mem::transmute(self.address);
            function(inputs, outputs);
        }
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nobody runs it any more.
        unsafe { libc::munmap(self.address, self.length) };
    }
}
