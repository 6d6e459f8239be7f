//! What compilers say of kernels: the note `NT_AMDGPU_METADATA`, in MessagePack (AMDGPU guide, "Code
//! Object V3 to V5 Metadata").

use rmpv::ValueRef;
use rmpv::decode::read_value_ref_with_max_depth;

use crate::error::{Error, Result};

/// How deep maps and lists may be nested; rmpv counts each value twice or more.
const DEPTH: usize = 32;
/// An image has fewer kernels and arguments than this.
const COUNT: usize = 1 << 16;

/// The note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `amdhsa.version`: 1 and a number for the version of the code object.
    pub version: (u32, u32),
    /// `amdhsa.target`, since version 4: `amdgcn-amd-amdhsa--gfx90a:xnack-`.
    pub target: Option<String>,
    /// The formats of `printf`.
    pub printf: Vec<String>,
    pub kernels: Vec<KernelMetadata>,
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelMetadata {
    pub name: String,
    /// The symbol of its descriptor.
    pub symbol: String,
    pub language: Option<String>,
    pub arguments: Vec<Argument>,
    pub kernarg_segment_size: u32,
    pub kernarg_segment_align: u32,
    pub group_segment_fixed_size: u32,
    pub private_segment_fixed_size: u32,
    pub wavefront_size: u32,
    pub sgpr_count: u32,
    pub vgpr_count: u32,
    pub agpr_count: Option<u32>,
    pub sgpr_spill_count: Option<u32>,
    pub vgpr_spill_count: Option<u32>,
    pub max_flat_workgroup_size: u32,
    pub required_workgroup_size: Option<[u32; 3]>,
    pub uses_dynamic_stack: bool,
    pub uniform_work_group_size: bool,
    /// `normal`, `init` or `fini`.
    pub kind: KernelKind,
}

/// When a kernel is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KernelKind {
    #[default]
    Normal,
    /// When the image is loaded, and when it is unloaded.
    Init,
    Fini,
}

/// An argument, in the block of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    pub name: Option<String>,
    pub type_name: Option<String>,
    pub offset: u32,
    pub size: u32,
    pub kind: ValueKind,
    /// Of a pointer to LDS, how what it points to is aligned.
    pub pointee_align: Option<u32>,
    pub address_space: Option<String>,
    pub access: Option<String>,
}

macro_rules! value_kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal,)*) => {
        /// What an argument is. Those that begin with `Hidden` are the runtime's to fill in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ValueKind {
            $($(#[$doc])* $kind,)*
        }

        impl ValueKind {
            /// All of them, by name.
            pub const ALL: &[(&str, Self)] = &[$(($name, Self::$kind),)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Whether the runtime fills it in, and no program passes it.
            #[must_use]
            pub fn is_hidden(self) -> bool {
                self.name().starts_with("hidden_")
            }
        }
    };
}

value_kinds! {
    ByValue = "by_value",
    GlobalBuffer = "global_buffer",
    DynamicSharedPointer = "dynamic_shared_pointer",
    Sampler = "sampler",
    Image = "image",
    Pipe = "pipe",
    Queue = "queue",
    HiddenGlobalOffsetX = "hidden_global_offset_x",
    HiddenGlobalOffsetY = "hidden_global_offset_y",
    HiddenGlobalOffsetZ = "hidden_global_offset_z",
    HiddenNone = "hidden_none",
    HiddenPrintfBuffer = "hidden_printf_buffer",
    HiddenHostcallBuffer = "hidden_hostcall_buffer",
    HiddenDefaultQueue = "hidden_default_queue",
    HiddenCompletionAction = "hidden_completion_action",
    HiddenMultigridSyncArg = "hidden_multigrid_sync_arg",
    HiddenBlockCountX = "hidden_block_count_x",
    HiddenBlockCountY = "hidden_block_count_y",
    HiddenBlockCountZ = "hidden_block_count_z",
    HiddenGroupSizeX = "hidden_group_size_x",
    HiddenGroupSizeY = "hidden_group_size_y",
    HiddenGroupSizeZ = "hidden_group_size_z",
    HiddenRemainderX = "hidden_remainder_x",
    HiddenRemainderY = "hidden_remainder_y",
    HiddenRemainderZ = "hidden_remainder_z",
    HiddenGridDims = "hidden_grid_dims",
    HiddenHeapV1 = "hidden_heap_v1",
    HiddenDynamicLdsSize = "hidden_dynamic_lds_size",
    HiddenPrivateBase = "hidden_private_base",
    HiddenSharedBase = "hidden_shared_base",
    HiddenQueuePtr = "hidden_queue_ptr",
}

impl Metadata {
    /// Reads the note's contents.
    pub(crate) fn read(data: &[u8]) -> Result<Self> {
        let mut rest = data;
        let value = read_value_ref_with_max_depth(&mut rest, DEPTH)
            .map_err(|error| Error::malformed("the metadata", error.to_string(), "MessagePack"))?;
        let root = Map::of(&value, "the metadata")?;
        let version = root.list("amdhsa.version")?.unwrap_or_default();
        let [major, minor] = version else {
            return Err(Error::malformed(
                "amdhsa.version",
                format!("a list of {}", version.len()),
                "two numbers",
            ));
        };
        let version = (number(major, "amdhsa.version")?, number(minor, "amdhsa.version")?);
        if version.0 != 1 {
            return Err(Error::unsupported("amdhsa.version", format!("{}", version.0), "1"));
        }
        let kernels = root.list("amdhsa.kernels")?.unwrap_or_default();
        check_count("amdhsa.kernels", kernels)?;
        let printf = root.list("amdhsa.printf")?.unwrap_or_default();
        Ok(Self {
            version,
            target: root.text("amdhsa.target")?,
            printf: printf.iter().map(|value| text(value, "amdhsa.printf")).collect::<Result<_>>()?,
            kernels: kernels.iter().map(KernelMetadata::read).collect::<Result<_>>()?,
        })
    }
}

impl KernelMetadata {
    fn read(value: &ValueRef<'_>) -> Result<Self> {
        let map = Map::of(value, "a kernel in amdhsa.kernels")?;
        let required = |key: &'static str| map.text(key)?.ok_or_else(|| Error::missing("kernel's", key));
        let count = |key: &'static str| map.number(key).map(Option::unwrap_or_default);
        let arguments = map.list(".args")?.unwrap_or_default();
        check_count(".args", arguments)?;
        let workgroup = map.list(".reqd_workgroup_size")?;
        let workgroup = workgroup.map(|sizes| match sizes {
            [x, y, z] => {
                let number = |value| number(value, ".reqd_workgroup_size");
                Ok([number(x)?, number(y)?, number(z)?])
            }
            _ => Err(Error::malformed(".reqd_workgroup_size", format!("a list of {}", sizes.len()), "three")),
        });
        let kernel = Self {
            name: required(".name")?,
            symbol: required(".symbol")?,
            language: map.text(".language")?,
            arguments: arguments.iter().map(Argument::read).collect::<Result<_>>()?,
            kernarg_segment_size: count(".kernarg_segment_size")?,
            kernarg_segment_align: count(".kernarg_segment_align")?,
            group_segment_fixed_size: count(".group_segment_fixed_size")?,
            private_segment_fixed_size: count(".private_segment_fixed_size")?,
            wavefront_size: count(".wavefront_size")?,
            sgpr_count: count(".sgpr_count")?,
            vgpr_count: count(".vgpr_count")?,
            agpr_count: map.number(".agpr_count")?,
            sgpr_spill_count: map.number(".sgpr_spill_count")?,
            vgpr_spill_count: map.number(".vgpr_spill_count")?,
            max_flat_workgroup_size: count(".max_flat_workgroup_size")?,
            required_workgroup_size: workgroup.transpose()?,
            uses_dynamic_stack: map.flag(".uses_dynamic_stack")?,
            uniform_work_group_size: map.flag(".uniform_work_group_size")?,
            kind: match map.text(".kind")?.as_deref() {
                None | Some("normal") => KernelKind::Normal,
                Some("init") => KernelKind::Init,
                Some("fini") => KernelKind::Fini,
                Some(other) => {
                    return Err(Error::unsupported(".kind", other.to_owned(), "normal, init, fini"));
                }
            },
        };
        kernel.check()?;
        Ok(kernel)
    }

    /// Arguments lie within their block, and the sizes are such as there are.
    fn check(&self) -> Result<()> {
        let fault = |what: String| Err(Error::Kernel { kernel: self.name.clone(), what: what.into() });
        for (number, argument) in self.arguments.iter().enumerate() {
            let end = u64::from(argument.offset) + u64::from(argument.size);
            if end > u64::from(self.kernarg_segment_size) {
                let size = self.kernarg_segment_size;
                return fault(format!(
                    "argument {number} ends at {end}, behind the {size} bytes of arguments"
                ));
            }
        }
        let align = self.kernarg_segment_align;
        if align != 0 && (!align.is_power_of_two() || align > 4096) {
            return fault(format!("its arguments' alignment is {align}"));
        }
        if !matches!(self.wavefront_size, 32 | 64) {
            return fault(format!("its waves have {} work-items", self.wavefront_size));
        }
        Ok(())
    }
}

impl Argument {
    fn read(value: &ValueRef<'_>) -> Result<Self> {
        let map = Map::of(value, "an argument in .args")?;
        let needed = |key: &'static str| map.number(key)?.ok_or_else(|| Error::missing("argument's", key));
        let kind = map.text(".value_kind")?.ok_or_else(|| Error::missing("argument's", ".value_kind"))?;
        let known = ValueKind::ALL.iter().find(|(name, _)| *name == kind);
        let (_, kind) =
            known.ok_or_else(|| Error::unsupported("an argument's .value_kind", kind, "LLVM 22's"))?;
        Ok(Self {
            name: map.text(".name")?,
            type_name: map.text(".type_name")?,
            offset: needed(".offset")?,
            size: needed(".size")?,
            kind: *kind,
            pointee_align: map.number(".pointee_align")?,
            address_space: map.text(".address_space")?,
            access: map.text(".access")?,
        })
    }
}

fn check_count(what: &'static str, list: &[ValueRef<'_>]) -> Result<()> {
    if list.len() > COUNT {
        return Err(Error::unsupported(what, format!("a list of {}", list.len()), "at most 65536"));
    }
    Ok(())
}

/// A map, whose keys are texts.
struct Map<'v, 'a>(&'v [(ValueRef<'a>, ValueRef<'a>)]);

impl<'v, 'a> Map<'v, 'a> {
    fn of(value: &'v ValueRef<'a>, what: &'static str) -> Result<Self> {
        match value {
            ValueRef::Map(entries) => Ok(Self(entries)),
            _ => Err(Error::malformed(what, "no map", "a map")),
        }
    }

    fn get(&self, key: &str) -> Option<&'v ValueRef<'a>> {
        let is_key =
            |value: &ValueRef<'_>| matches!(value, ValueRef::String(text) if text.as_str() == Some(key));
        self.0.iter().find(|(found, _)| is_key(found)).map(|(_, value)| value)
    }

    fn text(&self, key: &'static str) -> Result<Option<String>> {
        self.get(key).map(|value| text(value, key)).transpose()
    }

    fn number(&self, key: &'static str) -> Result<Option<u32>> {
        self.get(key).map(|value| number(value, key)).transpose()
    }

    /// A truth, or a number that is 1 (LLVM writes both).
    fn flag(&self, key: &'static str) -> Result<bool> {
        match self.get(key) {
            None => Ok(false),
            Some(ValueRef::Boolean(value)) => Ok(*value),
            Some(value) => Ok(number(value, key)? != 0),
        }
    }

    fn list(&self, key: &'static str) -> Result<Option<&'v [ValueRef<'a>]>> {
        match self.get(key) {
            None => Ok(None),
            Some(ValueRef::Array(list)) => Ok(Some(list)),
            Some(_) => Err(Error::malformed(key, "no list", "a list")),
        }
    }
}

fn text(value: &ValueRef<'_>, what: &'static str) -> Result<String> {
    match value {
        ValueRef::String(text) => text.as_str().map(str::to_owned),
        _ => None,
    }
    .ok_or_else(|| Error::malformed(what, "no text", "a text"))
}

fn number(value: &ValueRef<'_>, what: &'static str) -> Result<u32> {
    match value {
        ValueRef::Integer(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
        _ => None,
    }
    .ok_or_else(|| Error::malformed(what, "something else", "a number of 32 bits"))
}
