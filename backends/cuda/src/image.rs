//! Which images are for NVIDIA's GPUs, and which of them a device can run.
//!
//! Asked when a program starts ([`recognises`], which looks at headers only) and when it
//! first uses a device ([`fitness`]).

use gangway_backend::{Error, Rank, Result};
use gangway_image::fatbin::{self, RecordKind};
use gangway_image::{ImageKind, Machine, ptx_objects, recognise};
use std::fmt;

/// Machine code is loaded as it is; PTX has to be compiled first.
const MACHINE_CODE: u32 = 1 << 16;

/// Whether an image is for a GPU of NVIDIA's.
pub(crate) fn recognises(image: &[u8]) -> bool {
    match recognise(image) {
        Ok(ImageKind::Elf(elf)) => elf.machine == Machine::Nvptx,
        Ok(ImageKind::Ptx(_) | ImageKind::PtxObjects { .. } | ImageKind::CudaFatBinary) => true,
        Ok(ImageKind::Bitcode) => is_bitcode(image),
        _ => false,
    }
}

/// Whether an image is LLVM bitcode, which is compiled for the device when it is loaded.
pub(crate) fn is_bitcode(image: &[u8]) -> bool {
    gangway_bitcode::is_for(image, "nvptx64")
}

/// A compute capability, as `sm_90` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Capability {
    pub major: u32,
    pub minor: u32,
}

impl Capability {
    /// Two digits: 90 is 9.0, and 121 is 12.1.
    const fn from_number(number: u32) -> Self {
        Self { major: number / 10, minor: number % 10 }
    }

    pub const fn number(self) -> u32 {
        self.major * 10 + self.minor
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.number())
    }
}

/// What a processor's name says about other processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// `sm_90`: later ones, too.
    Later,
    /// `sm_100f`: later ones of the same family.
    Family,
    /// `sm_90a`: that very one.
    Exact,
}

/// What an image, or a part of a fat binary, was compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Target {
    capability: Capability,
    reach: Reach,
    machine_code: bool,
}

impl Target {
    /// Reads `sm_90a`.
    fn parse(processor: &str, machine_code: bool) -> Option<Self> {
        let name = processor.strip_prefix("sm_").or_else(|| processor.strip_prefix("compute_"))?;
        let (number, reach) = match name.as_bytes().last()? {
            b'a' => (&name[..name.len() - 1], Reach::Exact),
            b'f' => (&name[..name.len() - 1], Reach::Family),
            _ => (name, Reach::Later),
        };
        let capability = Capability::from_number(number.parse().ok()?);
        Some(Self { capability, reach, machine_code })
    }

    /// How well it suits a device; `None` if it cannot run there.
    fn rank(self, device: Capability) -> Option<Rank> {
        let same_family = self.capability.major == device.major && self.capability.minor <= device.minor;
        let runs = match (self.reach, self.machine_code) {
            (Reach::Exact, _) => self.capability == device,
            (Reach::Family, _) | (Reach::Later, true) => same_family,
            (Reach::Later, false) => self.capability.number() <= device.number(),
        };
        let kind = if self.machine_code { MACHINE_CODE } else { 0 };
        // What is made for fewer processors uses more of them.
        let special = u32::from(self.reach != Reach::Later);
        runs.then(|| Rank(kind | self.capability.number() << 1 | special))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.reach {
            Reach::Later => "",
            Reach::Family => "f",
            Reach::Exact => "a",
        };
        if self.machine_code {
            write!(f, "an {}{suffix} cubin", self.capability)
        } else {
            write!(f, "PTX for {}{suffix}", self.capability)
        }
    }
}

/// How well an image suits a device.
///
/// # Errors
/// It cannot run there, or says nothing about where it can.
pub(crate) fn fitness(image: &[u8], device: Capability) -> Result<Rank> {
    let refused = |reason: String| Error::InvalidImage { reason };
    let kind = recognise(image).map_err(|error| refused(error.to_string()))?;
    let targets = match kind {
        ImageKind::Elf(elf) => single(elf.processor().as_deref().unwrap_or_default(), true),
        ImageKind::Ptx(header) => single(header.target, false),
        ImageKind::PtxObjects { .. } => {
            let headers = ptx_objects::headers(image).map_err(|error| refused(error.to_string()))?;
            newest(headers.iter().map(|header| header.target))
        }
        ImageKind::CudaFatBinary => {
            let records = fatbin::records(image).map_err(|error| refused(error.to_string()))?;
            let target = |record: fatbin::Record<'_>| {
                let machine_code = match record.kind {
                    RecordKind::Ptx => false,
                    RecordKind::Cubin => true,
                    RecordKind::Other(_) => return None,
                };
                let capability = Capability::from_number(record.processor);
                Some(Target { capability, reach: Reach::Later, machine_code })
            };
            Ok(records.into_iter().filter_map(target).collect())
        }
        // All others come first: they cost no compiler.
        ImageKind::Bitcode if is_bitcode(image) => return Ok(Rank::default()),
        other => Err(format!("it is {other}, which is no code for NVIDIA's GPUs")),
    };
    let targets = targets.map_err(refused)?;
    let best = targets.iter().filter_map(|target| target.rank(device)).max();
    best.ok_or_else(|| {
        let list: Vec<String> = targets.iter().map(Target::to_string).collect();
        let what = match &*list {
            [] => "an empty fat binary".to_owned(),
            list => list.join(" and "),
        };
        refused(format!("the image is {what}, the device is {device}"))
    })
}

/// The target of an image of several texts, all of which have to run: the newest of theirs.
fn newest<'t>(processors: impl Iterator<Item = &'t str>) -> std::result::Result<Vec<Target>, String> {
    let targets: std::result::Result<Vec<_>, _> =
        processors.map(|processor| single(processor, false)).collect();
    let newest = targets?.into_iter().flatten().max_by_key(|target| target.capability.number());
    Ok(newest.into_iter().collect())
}

/// The only target of an image that names its processor itself.
fn single(processor: &str, machine_code: bool) -> std::result::Result<Vec<Target>, String> {
    match Target::parse(processor, machine_code) {
        Some(target) => Ok(vec![target]),
        None => Err(format!("it names `{processor}` as its processor, expected a name such as sm_80")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AMPERE: Capability = Capability { major: 8, minor: 0 };
    const ADA: Capability = Capability { major: 8, minor: 9 };
    const HOPPER: Capability = Capability { major: 9, minor: 0 };

    fn ptx(target: &str) -> Vec<u8> {
        format!(".version 7.0\n.target {target}\n.address_size 64\n").into_bytes()
    }

    fn cubin(flags: u32) -> Vec<u8> {
        let mut image = vec![0; 64];
        image[..9].copy_from_slice(b"\x7fELF\x02\x01\x01\x33\x07");
        image[16] = 2;
        image[18] = 190;
        image[48..52].copy_from_slice(&flags.to_le_bytes());
        image
    }

    fn fat(records: &[(u16, u32)]) -> Vec<u8> {
        let mut content = Vec::new();
        for (kind, processor) in records {
            let mut record = vec![0; 64];
            record[..2].copy_from_slice(&kind.to_le_bytes());
            record[4] = 64;
            record[28..32].copy_from_slice(&processor.to_le_bytes());
            content.extend(record);
        }
        let mut image = 0xba55_ed50_u32.to_le_bytes().to_vec();
        image.extend([1, 0, 16, 0]);
        image.extend((content.len() as u64).to_le_bytes());
        image.extend(content);
        image
    }

    fn refusal(image: &[u8], device: Capability) -> String {
        match fitness(image, device) {
            Err(Error::InvalidImage { reason }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn images_for_other_devices_are_not_ours() {
        for ours in [ptx("sm_80"), cubin(0x50), fat(&[(1, 80)])] {
            assert!(recognises(&ours));
        }
        let mut host = cubin(0);
        host[18] = 62;
        for other in [&host[..], b"BC\xc0\xde", b"", b"text"] {
            assert!(!recognises(other));
        }
    }

    #[test]
    fn ptx_runs_on_its_processor_and_later_ones() {
        assert!(fitness(&ptx("sm_80"), AMPERE).is_ok());
        assert!(fitness(&ptx("sm_80"), HOPPER).is_ok());
        assert_eq!(refusal(&ptx("sm_90"), AMPERE), "the image is PTX for sm_90, the device is sm_80");
        assert!(fitness(&ptx("sm_80a"), AMPERE).is_ok());
        assert_eq!(refusal(&ptx("sm_80a"), ADA), "the image is PTX for sm_80a, the device is sm_89");
        assert!(fitness(&ptx("sm_80f"), ADA).is_ok());
        assert!(fitness(&ptx("sm_80f"), HOPPER).is_err());
        assert!(refusal(&ptx("gfx90a"), ADA).contains("`gfx90a`"));
    }

    #[test]
    fn machine_code_runs_in_its_generation() {
        assert!(fitness(&cubin(80), AMPERE).is_ok());
        assert!(fitness(&cubin(80), ADA).is_ok());
        assert_eq!(refusal(&cubin(90), AMPERE), "the image is an sm_90 cubin, the device is sm_80");
        assert_eq!(refusal(&cubin(80), HOPPER), "the image is an sm_80 cubin, the device is sm_90");
        assert_eq!(refusal(&cubin(89), AMPERE), "the image is an sm_89 cubin, the device is sm_80");
    }

    #[test]
    fn objects_that_are_linked_need_what_the_newest_needs() {
        let (old, new) = (ptx("sm_30"), ptx("sm_89"));
        let image = ptx_objects::joined(&[&old, &new, &old]);
        assert!(recognises(&image));
        assert_eq!(fitness(&image, ADA), fitness(&new, ADA));
        assert_eq!(refusal(&image, AMPERE), "the image is PTX for sm_89, the device is sm_80");
    }

    #[test]
    fn a_fat_binary_is_as_good_as_its_best_part() {
        let image = fat(&[(2, 80), (1, 80), (2, 90)]);
        assert_eq!(fitness(&image, AMPERE), fitness(&cubin(80), AMPERE));
        assert_eq!(fitness(&image, HOPPER), fitness(&cubin(90), HOPPER));
        assert_eq!(fitness(&fat(&[(1, 80), (2, 90)]), ADA), fitness(&ptx("sm_80"), ADA));
        assert_eq!(
            refusal(&fat(&[(2, 90), (1, 100)]), AMPERE),
            "the image is an sm_90 cubin and PTX for sm_100, the device is sm_80"
        );
        assert_eq!(refusal(&fat(&[]), AMPERE), "the image is an empty fat binary, the device is sm_80");
    }

    #[test]
    fn machine_code_comes_before_ptx_and_the_nearest_before_others() {
        let rank = |image: &[u8]| fitness(image, ADA).unwrap();
        assert!(rank(&cubin(80)) > rank(&ptx("sm_89")));
        assert!(rank(&cubin(89)) > rank(&cubin(80)));
        assert!(rank(&ptx("sm_89")) > rank(&ptx("sm_80")));
        assert!(rank(&ptx("sm_89a")) > rank(&ptx("sm_89")));
    }
}
