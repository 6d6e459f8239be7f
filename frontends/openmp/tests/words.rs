//! What users of OpenMP are told of each kind of error: the runtime's text with OpenMP's words.

use gangway_backend::AllocationKind;
use gangway_frontend::words::{Told, Words};
use gangway_openmp::words::{OpenMp, refusal};
use gangway_runtime::present::Label;
use gangway_runtime::reverse::Refusal;
use gangway_runtime::{Error, ErrorKind, HostRange, MappedAction, Remedy};

const RANGE: HostRange = HostRange { begin: 0x100, size: 16, label: Label::of_symbol(c"a") };
const NEAR: HostRange = HostRange { begin: 0x200, size: 8, label: Label::NONE };

fn told(kind: ErrorKind) -> String {
    Told(&Error::new(kind, -1, None), &OpenMp).to_string()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn devices_and_images() {
    assert_eq!(
        told(ErrorKind::NoSuchDevice { number: 7, available: 2 }),
        "there is no device 7: this program has 2 device(s), numbered from 0\n  \
         help: check the device clause, OMP_DEFAULT_DEVICE and omp_get_num_devices()"
    );
    assert_eq!(
        told(ErrorKind::NoDevices { images: names(&["PTX"]), backends: names(&["cpu: 1 device"]) }),
        "no device can run this program's device code\n  images in the program:\n    PTX\n  \
         back ends:\n    cpu: 1 device\n  \
         help: compile for one of these with -fopenmp-targets= or --offload-arch= (GCC: -foffload=)"
    );
    // Nothing is to be compiled for devices that nobody wants.
    assert_eq!(
        told(ErrorKind::NoDevices { images: names(&["PTX"]), backends: names(&[]) }),
        "no back end is in use\n  images in the program:\n    PTX\n  back ends: none\n  \
         help: GANGWAY_DEVICE chooses back ends; without it all of them are used"
    );
    assert_eq!(
        told(ErrorKind::NoImage { backend: "cpu".to_owned(), images: names(&[]), devices: names(&["0"]) }),
        "the program has no image for this cpu device\n  images in the program: none\n  devices:\n    0\n  \
         help: add the device's type to -fopenmp-targets=, or choose another device"
    );
    assert_eq!(
        told(ErrorKind::Requires { clause: "reverse_offload" }),
        "'#pragma omp requires reverse_offload' is not used in every translation unit that has target regions"
    );
}

#[test]
fn mapped_data() {
    assert_eq!(
        told(ErrorKind::Scattered { items: [(RANGE, 0), (NEAR, 1)] }),
        "`a` [0x100, 0x110) of 16 bytes is present on device 0 and [0x200, 0x208) of 8 bytes on device 1\n  \
         note: with GANGWAY_BALANCE a construct runs where its data is, and this one needs both\n  \
         help: map them in one construct, or name the device of each construct (device clause)"
    );
    assert_eq!(
        told(ErrorKind::PartlyPresent { wanted: RANGE, mapped: NEAR }),
        "`a` [0x100, 0x110) of 16 bytes is only partly present on the device\n  \
         already mapped: [0x200, 0x208) of 8 bytes\n  \
         help: a list item must be wholly inside what is mapped or wholly outside it (OpenMP 6.0, map clause); \
         map the larger section first, or unmap the smaller one"
    );
    assert_eq!(
        told(ErrorKind::NotPresent { wanted: RANGE, near: vec![NEAR] }),
        "`a` [0x100, 0x110) of 16 bytes must be present on the device and is not\n  \
         mapped nearby:\n    [0x200, 0x208) of 8 bytes\n  \
         help: map it with target data or target enter data before, or drop `present`"
    );
    assert_eq!(
        told(ErrorKind::NeverMapped { wanted: RANGE, action: MappedAction::Update, near: vec![] }),
        "`a` [0x100, 0x110) of 16 bytes is not wholly mapped: nothing is updated\n  mapped nearby: none\n  \
         help: map all of it with target data or target enter data before"
    );
    assert_eq!(
        told(ErrorKind::NeverMapped { wanted: RANGE, action: MappedAction::Unmap, near: vec![] }),
        "`a` [0x100, 0x110) of 16 bytes is not mapped: there is nothing to unmap\n  mapped nearby: none\n  \
         help: an item is unmapped by the address it was mapped with"
    );
}

#[test]
fn pointers_and_structures() {
    assert_eq!(
        told(ErrorKind::HostPointer { pointer: RANGE, near: vec![] }),
        "pointer `a` keeps the host's address 0x100: what it points to is not mapped\n  mapped nearby: none\n  \
         help: map what the region uses of it, as in map(tofrom: p[0:n]); CPU devices reach the host's memory all \
         the same, GPUs do not"
    );
    assert_eq!(
        told(ErrorKind::PartlyMapped { wanted: RANGE, parts: vec![NEAR] }),
        "`a` [0x100, 0x110) of 16 bytes is only partly mapped, and the region may use all of it\n  \
         mapped:\n    [0x200, 0x208) of 8 bytes\n  \
         help: map all that the region uses of it, or all of it, before: map(tofrom: a)"
    );
    let inner = |label, member: Option<&str>| {
        let holder = HostRange { label, ..RANGE };
        told(ErrorKind::InnerPointer { holder, offset: 8, value: 0x70, member: member.map(str::to_owned) })
    };
    assert_eq!(
        inner(Label::of_symbol(c"a"), Some("a.p")),
        "`a.p`, the pointer at byte 8 of `a` [0x100, 0x110) of 16 bytes keeps the host's address 0x70: what it points \
         to is not mapped\n  \
         help: if the region uses it, map what it points to as well, as in map(tofrom: a.p[0:n]), which attaches the \
         pointer, too; CPU devices reach the host's memory all the same, GPUs do not"
    );
    for (label, expected) in [
        (Label::of_symbol(c"a"), "map(tofrom: a.member[0:n])"),
        (Label::of_symbol(c"a[0:9]"), "map(tofrom: a[i].member[0:n])"),
        (Label::of_symbol(c"this[:1]"), "map(tofrom: this->member[0:n])"),
        (Label::NONE, "map(tofrom: s.member[0:n])"),
    ] {
        let said = inner(label, None);
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(
        OpenMp.remedy(&Remedy::Pointee).unwrap(),
        "map what the region uses of it, as in map(tofrom: p[0:n])"
    );
    assert_eq!(
        OpenMp.remedy(&Remedy::Whole(Label::NONE)).unwrap(),
        "map all that the region uses of it, or all of it, before: map(tofrom: s)"
    );
}

#[test]
fn memory() {
    let out_of = |memory| told(ErrorKind::OutOfMemory { memory, wanted: RANGE, requested: 16, mapped: 5 });
    assert_eq!(
        out_of(AllocationKind::Device),
        "out of device memory: 16 bytes wanted for `a` [0x100, 0x110) of 16 bytes, 5 bytes mapped already\n  \
         help: unmap what is not needed (target exit data), or work in smaller pieces"
    );
    assert!(
        out_of(AllocationKind::Shared)
            .ends_with("\n  help: free what is not needed, or work in smaller pieces")
    );
    let source = gangway_backend::Error::Device { code: 1, message: "invalid".to_owned() };
    assert_eq!(
        told(ErrorKind::NotFreed { address: 0x10, kind: AllocationKind::Device, source }),
        "cannot free 0x10 as device memory: invalid (error 1)\n  \
         note: it may have been freed already, or no routine has returned it\n  \
         help: OFFLOAD_TRACK_ALLOCATION_TRACES=1 shows where memory was allocated and freed"
    );
    let source = gangway_backend::Error::Device { code: 0, message: "0x10 is nothing".to_owned() };
    assert_eq!(
        told(ErrorKind::NotFreed { address: 0x10, kind: AllocationKind::Device, source }),
        "0x10 is nothing\n  help: OFFLOAD_TRACK_ALLOCATION_TRACES=1 shows where memory was allocated and freed"
    );
    let group = |most, fixed| told(ErrorKind::GroupMemory { kernel: "k".to_owned(), wanted: 9, most, fixed });
    assert_eq!(
        group(0, 0),
        "kernel k cannot have 9 bytes of dynamic group memory per team: the device has none\n  \
         help: say what it is to do without, dyn_groupprivate(fallback(null): ...), or run it on a GPU"
    );
    assert_eq!(
        group(8, 4),
        "kernel k cannot have 9 bytes of dynamic group memory per team: the device has 8 for it, besides 4 of its \
         own\n  help: ask for less in the ompx_dyn_cgroup_mem or dyn_groupprivate clause"
    );
}

#[test]
fn reverse_offload() {
    let refused = |why: &Refusal| refusal(why, &OpenMp);
    assert_eq!(
        refused(&Refusal::Partly { begin: 0x100, size: 8 }),
        "a region of device(ancestor: 1) maps 8 bytes at 0x100, of which only a part is mapped on the device; map \
         all of them, or none"
    );
    assert_eq!(
        refused(&Refusal::Absent { begin: 0x100, size: 8 }),
        "a region of device(ancestor: 1) maps 8 bytes at 0x100 as `present`, and they are not mapped on the device"
    );
    assert_eq!(
        refused(&Refusal::TooLarge { size: 8 }),
        "a region of device(ancestor: 1) maps 8 bytes, for which there is no room"
    );
    let failed = gangway_backend::Error::Device { code: 3, message: "no bus".to_owned() };
    assert_eq!(
        refused(&Refusal::Copy(Error::new(ErrorKind::Transfer(failed), 2, None))),
        "data of a region of device(ancestor: 1): device 2: copying failed: no bus (error 3)"
    );
}

/// Everything else is the runtime's own.
#[test]
fn the_rest_is_told_as_it_is() {
    for kind in [
        ErrorKind::Forked,
        ErrorKind::LacksUnifiedMemory,
        ErrorKind::UnknownRegion { address: 1 },
        ErrorKind::NoMemory { wanted: RANGE },
        ErrorKind::AlreadyMapped { wanted: RANGE, mapped: NEAR },
        ErrorKind::AlreadyPresent { wanted: RANGE, mapped: NEAR },
        ErrorKind::NotAttached { pointer: 1, within: None },
        ErrorKind::TooManyReferences { wanted: RANGE },
    ] {
        assert_eq!(told(kind.clone()), kind.to_string());
    }
}
