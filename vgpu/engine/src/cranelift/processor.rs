//! What Cranelift makes code for: the processor that this process runs on.

use std::sync::{Arc, OnceLock};

use cranelift_codegen::isa::{self, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};

use super::tier::Tier;
use crate::analysis::unit::Refused;
use crate::frame::PROBE_LOG2;
use crate::lower::Features;

/// The processor that this process runs on, as code may use it; or why it cannot be used at all.
pub(super) fn target(tier: Tier) -> Result<&'static OwnedTargetIsa, Refused> {
    static TARGETS: [OnceLock<Result<OwnedTargetIsa, String>>; 3] = [const { OnceLock::new() }; 3];
    let target = TARGETS[tier as usize].get_or_init(|| {
        let target = build_target(tier).map_err(|error| error.to_string())?;
        match suffices(&*target) {
            true => Ok(target),
            false => Err("this processor has no SSE4.2".to_owned()),
        }
    });
    target.as_ref().map_err(|what| Refused(what.clone()))
}

fn build_target(tier: Tier) -> Result<Arc<dyn TargetIsa>, Box<dyn std::error::Error>> {
    let mut flags = settings::builder();
    for (name, value) in [
        ("opt_level", if tier == Tier::Memory { "none" } else { "speed" }),
        ("regalloc_algorithm", if tier == Tier::Full { "backtracking" } else { "single_pass" }),
        ("is_pic", "true"),
        ("unwind_info", "false"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        // A frame may be larger than the page behind the stack.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("probestack_size_log2", &PROBE_LOG2.to_string()),
    ] {
        flags.set(name, value)?;
    }
    let mut builder = isa::lookup_by_name("x86_64-unknown-linux-gnu")?;
    for (name, there) in [
        ("has_sse3", is_x86_feature_detected!("sse3")),
        ("has_ssse3", is_x86_feature_detected!("ssse3")),
        ("has_sse41", is_x86_feature_detected!("sse4.1")),
        ("has_sse42", is_x86_feature_detected!("sse4.2")),
        ("has_popcnt", is_x86_feature_detected!("popcnt")),
        ("has_bmi1", is_x86_feature_detected!("bmi1")),
        ("has_bmi2", is_x86_feature_detected!("bmi2")),
        ("has_lzcnt", is_x86_feature_detected!("lzcnt")),
        ("has_avx", is_x86_feature_detected!("avx")),
        ("has_avx2", is_x86_feature_detected!("avx2")),
        ("has_fma", is_x86_feature_detected!("fma")),
        ("has_avx512dq", is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512f")),
        ("has_avx512vl", is_x86_feature_detected!("avx512vl") && is_x86_feature_detected!("avx512f")),
    ] {
        if there {
            builder.enable(name)?;
        }
    }
    Ok(builder.finish(settings::Flags::new(flags))?)
}

/// Whether it has what code of sequences takes for granted: SSE4.2.
#[must_use]
pub fn suffices(isa: &dyn TargetIsa) -> bool {
    ["has_sse3", "has_ssse3", "has_sse41", "has_sse42"].iter().all(|name| enabled(isa, name))
}

/// What it can do besides.
#[must_use]
pub fn features(isa: &dyn TargetIsa) -> Features {
    // The instructions of FMA are encoded as AVX's.
    Features { fma: enabled(isa, "has_fma") && enabled(isa, "has_avx") }
}

fn enabled(isa: &dyn TargetIsa, name: &str) -> bool {
    isa.isa_flags().iter().any(|flag| flag.name == name && flag.as_bool() == Some(true))
}
