//! What the table says beside the text, and what refusals say.

use gangway_gcn::table::row::*;
use gangway_gcn::{Decoder, Gpu, Instruction, Operand, table};
use proptest::prelude::*;

fn decode(gpu: Gpu, words: &[u32]) -> Instruction {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Decoder::of(gpu).decode(&bytes).expect("an instruction")
}

fn refusal(gpu: Gpu, words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    Decoder::of(gpu).decode(&bytes).expect_err("no instruction").to_string()
}

#[test]
fn effects() {
    let has = |name: &str, effects: u32| {
        let mut rows = table::rows().filter(|row| row.name == name).peekable();
        assert!(rows.peek().is_some(), "{name}");
        rows.all(|row| row.effects.0 & effects == effects)
    };
    for (name, effects) in [
        ("s_add_u32", WRITES_SCC),
        ("s_addc_u32", READS_SCC | WRITES_SCC),
        ("s_cselect_b64", READS_SCC),
        ("s_and_saveexec_b64", READS_EXEC | WRITES_EXEC | WRITES_SCC),
        ("s_cbranch_execz", READS_EXEC | BRANCHES | CONDITIONAL),
        ("s_swappc_b64", BRANCHES | READS_PC),
        ("s_endpgm", ENDS),
        ("s_barrier", BARRIER),
        ("v_cmpx_lt_f32", WRITES_EXEC | READS_MODE),
        ("v_mac_f32", READS_DESTINATION | READS_EXEC | READS_MODE),
        ("v_div_fmas_f32", READS_VCC),
        ("v_swap_b32", WRITES_SOURCE),
        ("ds_add_rtn_u32", ATOMIC | READS_MEMORY | WRITES_MEMORY | IN_LOCAL),
        ("global_load_dword", READS_MEMORY | IN_GLOBAL),
        ("buffer_load_short_d16_hi", READS_DESTINATION | IN_BUFFER),
        ("s_load_dwordx4", READS_MEMORY | SCALAR_MEMORY),
    ] {
        assert!(has(name, effects), "{name}");
    }
    // Lanes that are off change nothing here.
    assert!(!has("v_readlane_b32", READS_EXEC) && !has("v_writelane_b32", READS_EXEC));
    assert!(!has("s_mul_i32", WRITES_SCC) && !has("s_mov_b32", WRITES_SCC));
}

#[test]
fn branches_count_words_from_the_next_instruction() {
    assert_eq!(decode(Gpu::Gfx900, &[0xbf82_0004]).branch_target(0x100), Some(0x114));
    assert_eq!(decode(Gpu::Gfx900, &[0xbf88_ffff]).branch_target(0x100), Some(0x100));
    assert_eq!(decode(Gpu::Gfx900, &[0xbf8c_0000]).branch_target(0x100), None);
}

#[test]
fn atomic_operations_give_back_the_old_value_if_asked() {
    let compare = |glc: u32| decode(Gpu::Gfx90a, &[0xdd04_8000 | glc << 16, 0x147f_0c08]);
    assert_eq!(compare(0).to_string(), "global_atomic_cmpswap v[8:9], v[12:13], off");
    assert!(!compare(0).returns() && compare(0).to().is_empty());
    assert_eq!(*compare(1).to(), [Operand::Vector { first: 20, words: 1 }]);
    let buffer = decode(Gpu::Gfx90a, &[0xe104_5000, 0x1e03_1408]);
    assert_eq!(buffer.to_string(), "buffer_atomic_cmpswap v[20:21], v8, s[12:15], s30 offen glc");
    assert_eq!(*buffer.to(), [Operand::Vector { first: 20, words: 1 }]);
}

#[test]
fn refusals_say_why() {
    assert_eq!(refusal(Gpu::Gfx900, &[0xdc50_0000]), "the code ends within an instruction");
    assert_eq!(refusal(Gpu::Gfx900, &[0xc800_0000]), "the word 0xc8000000 begins no instruction");
    assert_eq!(refusal(Gpu::Gfx900, &[0xbf9f_0000]), "Sopp has no instruction 0x1f on this processor");
    assert_eq!(
        refusal(Gpu::Gfx900, &[0xf080_0f00, 0]),
        "images are for graphics, which Gangway does not run"
    );
    assert_eq!(refusal(Gpu::Gfx900, &[0x8687_0201]), "no group of 2 registers begins at 7");
    assert_eq!(
        refusal(Gpu::Gfx900, &[0x7e02_02d1]),
        "the operand 209 is nothing that this instruction reads"
    );
    assert_eq!(refusal(Gpu::Gfx90a, &[0xd81a_0000, 0x0100_0001]), "the field vdst cannot be 0x1 here");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn any_bytes_are_an_instruction_or_a_refusal(bytes in prop::collection::vec(any::<u8>(), 0..16)) {
        for gpu in Gpu::ALL {
            if let Ok(instruction) = Decoder::of(gpu).decode(&bytes) {
                let size = usize::from(instruction.size);
                prop_assert!(matches!(size, 4 | 8) && size <= bytes.len());
                prop_assert!(instruction.to_string().starts_with(instruction.row.name));
                prop_assert_eq!(Decoder::of(gpu).decode(&bytes[..size]), Ok(instruction));
            }
        }
    }
}
