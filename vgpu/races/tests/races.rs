//! What is a race and what is none: each case by hand.

use std::sync::Arc;

use gangway_races::{Access, Block, Device, Finding, Launch, Order, Place, Places, Row, Values};

const BASE: u64 = 1 << 45;
const ALL: u32 = u32::MAX;

/// A launch of blocks of two warps.
struct Machine {
    device: Arc<Device>,
    launch: Arc<Launch>,
    blocks: Vec<Block>,
}

fn machine(blocks: u64) -> Machine {
    let device = Device::new(BASE);
    of(&device, blocks)
}

fn of(device: &Arc<Device>, count: u64) -> Machine {
    let launch = device.launch(count, 2, false, None).expect("few threads");
    let blocks = (0..count).map(|number| {
        let mut block = Block::default();
        block.start(&launch, number, 2, 1024);
        block
    });
    Machine { device: device.clone(), blocks: blocks.collect(), launch }
}

fn access(warp: usize, lane: usize, address: u64, write: bool) -> Access<'static> {
    let site = u16::from(write);
    Access {
        warp,
        lane,
        address,
        size: 4,
        shared: false,
        write,
        strong: false,
        narrow: false,
        bytes: None,
        site,
    }
}

impl Machine {
    fn write(&mut self, block: usize, warp: usize, lane: usize, address: u64) {
        self.blocks[block].access(&access(warp, lane, BASE + address, true));
    }

    fn read(&mut self, block: usize, warp: usize, lane: usize, address: u64) {
        self.blocks[block].access(&access(warp, lane, BASE + address, false));
    }

    fn shared(&mut self, warp: usize, lane: usize, address: u64, write: bool) {
        self.blocks[0].access(&Access { shared: true, ..access(warp, lane, address, write) });
    }

    fn barrier(&mut self, block: usize, generation: u32) {
        (0..2).for_each(|warp| self.blocks[block].arrive(warp, 0, generation, ALL));
        (0..2).for_each(|warp| self.blocks[block].pass(warp, 0, generation, ALL));
    }

    /// An atomic operation without an order of its own.
    fn atomic(&mut self, block: usize, warp: usize, address: u64, order: Order) {
        let access = Access { strong: true, site: 2, ..access(warp, 0, BASE + address, true) };
        self.blocks[block].access(&access);
        self.blocks[block].hand_on(&access, order, true);
    }

    fn found(&self) -> Vec<Finding> {
        self.launch.end()
    }
}

#[test]
fn rows_of_bytes() {
    // Lanes read bytes beside each other; then a lane of the same warp, or of another one, writes one of them.
    let found = |waits: bool, (warp, lane): (usize, usize), byte: u64, size: u64| {
        let mut machine = machine(1);
        let places = Places::Steps { first: BASE + 100, step: size as i64 };
        let (shared, strong, narrow, values, site) = (false, false, false, None, 0);
        let row =
            Row { warp: 0, lanes: ALL, places, size, shared, write: false, strong, narrow, values, site };
        (0..2).for_each(|_| machine.blocks[0].row(&row));
        if waits {
            machine.barrier(0, 0);
        }
        let write = Access { size, ..access(warp, lane, BASE + 100 + byte * size, true) };
        machine.blocks[0].access(&write);
        machine.found().len()
    };
    for size in [1, 2] {
        // Each has read its own.
        assert_eq!([0, 3, 28, 31].map(|lane| found(false, (0, lane), lane as u64, size)), [0; 4]);
        // The first and the last lane of a word are remembered.
        let last = 4 / size - 1;
        assert_eq!([0, last].map(|byte| found(false, (0, 9), byte, size)), [1; 2]);
        assert_eq!([0, last].map(|byte| found(false, (1, byte as usize), byte, size)), [1; 2]);
        assert_eq!([0, last].map(|byte| found(true, (1, 5), byte, size)), [0; 2]);
        assert_eq!(found(false, (1, 0), 32, size), 0);
    }
}

const RELAXED: Order = Order { acquire: false, release: false };
const BOTH: Order = Order { acquire: true, release: true };

#[test]
fn a_thread_does_not_race_with_itself() {
    let mut machine = machine(1);
    machine.write(0, 0, 5, 64);
    machine.read(0, 0, 5, 64);
    machine.write(0, 0, 5, 64);
    assert_eq!(machine.found(), []);
}

#[test]
fn who_reads_does_not_race_with_readers() {
    let mut machine = machine(2);
    for block in 0..2 {
        for lane in 0..32 {
            machine.read(block, 0, lane, 64);
        }
    }
    assert_eq!(machine.found(), []);
}

#[test]
fn a_barrier_stands_between_warps() {
    let mut machine = machine(1);
    machine.shared(0, 3, 16, true);
    machine.barrier(0, 0);
    machine.shared(1, 9, 16, false);
    machine.shared(0, 7, 16, false);
    machine.barrier(0, 1);
    machine.shared(1, 1, 16, true);
    assert_eq!(machine.found(), []);
}

#[test]
fn without_one_it_is_a_race() {
    let mut machine = machine(1);
    machine.shared(0, 3, 16, true);
    machine.shared(1, 9, 16, false);
    let found = machine.found();
    assert_eq!(found.len(), 1);
    assert!(found[0].shared && found[0].address == 16 && found[0].count == 1);
    assert!(found[0].earlier.example.write && !found[0].later.example.write);
    assert_eq!(found[0].earlier.example.thread, Some((0, 3)));
    assert_eq!(found[0].later.example.thread, Some((0, 41)));
}

#[test]
fn a_read_before_the_barrier_is_past() {
    let mut machine = machine(1);
    machine.shared(0, 3, 16, false);
    machine.shared(1, 3, 16, true);
    machine.barrier(0, 0);
    machine.shared(0, 3, 16, false);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn blocks_are_not_ordered_by_their_own_barriers() {
    let mut machine = machine(2);
    machine.write(0, 0, 0, 0);
    machine.barrier(0, 0);
    machine.barrier(1, 0);
    machine.read(1, 1, 0, 0);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn lanes_are_ordered_by_waiting_for_each_other() {
    let mut machine = machine(1);
    machine.shared(0, 0, 0, true);
    machine.blocks[0].synchronize(0, 0b11, ALL);
    machine.shared(0, 1, 0, false);
    assert_eq!(machine.launch.end(), []);
    machine.shared(0, 2, 0, false);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn bytes_of_a_word_are_apart() {
    let mut machine = machine(1);
    let byte = |lane, address, write| Access { size: 1, shared: true, ..access(0, lane, address, write) };
    machine.blocks[0].access(&byte(0, 8, true));
    machine.blocks[0].access(&byte(1, 9, true));
    assert_eq!(machine.launch.end(), []);
    // An access of eight bytes meets both words.
    let wide = Access { size: 8, shared: true, ..access(0, 2, 8, false) };
    machine.blocks[0].access(&wide);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn bytes_that_lanes_write_one_after_the_other_are_all_remembered() {
    for size in [1, 2] {
        let mut machine = machine(2);
        let mut write = |block: usize, site, address: u64| {
            let narrow = access(0, (address / size) as usize, BASE + address, true);
            machine.blocks[block].access(&Access { size, site, ..narrow });
        };
        // Each is next to that of the other block.
        (0..4 / size).for_each(|number| write(0, 1, number * size));
        (0..4 / size).for_each(|number| write(1, 2, number * size));
        assert_ne!(machine.found(), [], "{size}");
    }
}

#[test]
fn bytes_that_all_write_alike_may_be_read() {
    let mut machine = machine(1);
    let byte =
        |warp, address, site, write| Access { size: 1, site, ..access(warp, 0, BASE + address, write) };
    for warp in 0..2 {
        for (address, value) in [(0, &[7]), (1, &[9])] {
            let write = byte(warp, address, address as u16 + 1, true);
            machine.blocks[0].access(&Access { bytes: Some(value), ..write });
        }
        machine.blocks[0].access(&byte(warp, 0, 3, false));
    }
    assert_eq!(machine.found(), []);
}

#[test]
fn atomic_operations_race_with_plain_ones_alone() {
    let mut machine = machine(2);
    machine.atomic(0, 0, 128, RELAXED);
    machine.atomic(1, 0, 128, RELAXED);
    assert_eq!(machine.launch.end(), []);
    machine.read(1, 1, 0, 128);
    assert_eq!(machine.found().len(), 1);
}

/// All lanes of a warp access words of a line.
fn words(machine: &mut Machine, block: usize, words: u32, write: Option<[u32; 32]>) {
    machine.blocks[block].row(&Row {
        warp: 0,
        lanes: ALL,
        places: Places::Words { line: BASE, words },
        size: 128,
        shared: false,
        write: write.is_some(),
        strong: false,
        narrow: false,
        values: write.as_ref().map(Values::Words),
        site: u16::from(write.is_some()),
    });
}

#[test]
fn words_that_all_lanes_use() {
    let mut machine = machine(2);
    words(&mut machine, 0, 0xff, Some([3; 32]));
    words(&mut machine, 1, 0xff00, None);
    // Others write the same.
    words(&mut machine, 1, 0xf0, Some([3; 32]));
    assert_eq!(machine.launch.end(), []);
    words(&mut machine, 1, 0x0f, Some([4; 32]));
    words(&mut machine, 0, 0x300, Some([3; 32]));
    // For the two reads that are kept of each of two words, and for the writes of four words.
    let counts: Vec<_> = machine.found().iter().map(|finding| finding.count).collect();
    assert_eq!(counts, [4, 4]);
}

#[test]
fn a_lane_that_is_alone_writes_for_nobody_else() {
    let mut machine = machine(2);
    let places = Places::Words { line: BASE, words: 1 };
    let (size, shared, write, strong, narrow) = (128, false, true, false, false);
    let values = Some(Values::Words(&[3; 32]));
    let row = Row { warp: 0, lanes: 1, places, size, shared, write, strong, narrow, values, site: 1 };
    machine.blocks[0].row(&row);
    machine.read(1, 0, 0, 0);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn who_has_read_races_with_any_atomic_operation_that_does_not_know() {
    // The second block knows that the first has read the word, the third does not. Two atomic operations are no race,
    // so that the second one's is not in the place of the read.
    for apart in [false, true] {
        let mut machine = machine(3);
        if apart {
            // What is smaller than a word has the line kept word by word.
            machine.blocks[0].access(&Access { size: 1, ..access(0, 0, BASE + 4, false) });
        }
        machine.read(0, 0, 0, 0);
        machine.atomic(0, 0, 256, BOTH);
        machine.atomic(1, 0, 256, BOTH);
        machine.atomic(1, 0, 0, RELAXED);
        machine.atomic(2, 0, 0, RELAXED);
        let found = machine.found();
        let [Finding { earlier, later, .. }] = &*found else { panic!("{found:?} {apart}") };
        assert!(!earlier.example.write && later.example.strong);
    }
}

#[test]
fn fences_and_a_flag_order_blocks() {
    let mut machine = machine(3);
    machine.write(0, 0, 0, 0);
    machine.blocks[0].fence(0, false);
    machine.atomic(0, 0, 128, RELAXED);
    // Not yet: the reader has no fence.
    machine.atomic(1, 0, 128, RELAXED);
    machine.blocks[1].fence(0, false);
    machine.read(1, 0, 7, 0);
    assert_eq!(machine.launch.end(), []);
    machine.atomic(2, 0, 128, RELAXED);
    machine.read(2, 0, 7, 0);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn a_flag_without_fences_orders_nothing() {
    let mut machine = machine(2);
    machine.write(0, 0, 0, 0);
    machine.atomic(0, 0, 128, RELAXED);
    machine.atomic(1, 0, 128, RELAXED);
    machine.read(1, 0, 7, 0);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn what_is_written_behind_the_fence_is_not_published() {
    let mut machine = machine(2);
    machine.blocks[0].fence(0, false);
    machine.write(0, 0, 0, 0);
    machine.atomic(0, 0, 128, RELAXED);
    machine.atomic(1, 0, 128, BOTH);
    machine.read(1, 0, 7, 0);
    assert_eq!(machine.found().len(), 1);
}

#[test]
fn what_others_have_published_is_handed_on() {
    let mut machine = machine(3);
    machine.write(0, 1, 0, 0);
    // The other warp publishes it, which knows of it by the barrier.
    machine.barrier(0, 0);
    machine.atomic(0, 0, 128, BOTH);
    machine.atomic(1, 1, 128, BOTH);
    machine.atomic(1, 1, 256, BOTH);
    machine.atomic(2, 0, 256, BOTH);
    machine.barrier(2, 0);
    machine.read(2, 1, 7, 0);
    assert_eq!(machine.found(), []);
}

#[test]
fn launches_come_after_those_that_have_ended() {
    let device = Device::new(BASE);
    let mut first = of(&device, 1);
    first.write(0, 0, 0, 0);
    assert_eq!(first.found(), []);
    let mut second = of(&device, 1);
    second.read(0, 1, 0, 0);
    second.write(0, 1, 0, 0);
    let mut third = of(&device, 1);
    third.read(0, 1, 0, 0);
    let found = third.found();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].earlier.example.thread, None);
    assert_eq!(second.found(), []);
}

#[test]
fn a_launch_may_be_made_for_another_one() {
    let device = Device::new(BASE);
    let mut first = of(&device, 1);
    first.write(0, 0, 0, 0);
    // It asks the host for something.
    first.blocks[0].fence(0, false);
    let mut second = of(&device, 1);
    second.read(0, 1, 0, 0);
    second.write(0, 1, 0, 4);
    assert_eq!(second.found(), []);
    first.read(0, 1, 0, 4);
    assert_eq!(first.found(), []);
}

#[test]
fn numbers_of_threads_are_used_again() {
    let device = Device::new(BASE);
    for _ in 0..40 {
        let launch = device.launch(40_000, 2, false, None).expect("few threads");
        let mut block = Block::default();
        block.start(&launch, 7, 2, 0);
        block.access(&access(0, 0, BASE, true));
        assert_eq!(launch.end(), []);
    }
    // One of them never begins.
    drop(device.launch(40_000, 2, false, None));
    for _ in 0..40 {
        assert_eq!(device.launch(40_000, 2, false, None).expect("few threads").end(), []);
    }
    assert_eq!(device.lost(), 0);
    assert!(device.launch(1 << 24, 32, false, None).is_none());
    assert_eq!(device.lost(), 1);
}

#[test]
fn instructions_are_told_by_their_place() {
    let mut machine = machine(1);
    let place = |line| Place { source: Some(("f.c".to_owned(), line, 1)), ..Place::default() };
    assert_eq!(machine.device.site(1, 0x10, || place(10)), 0);
    assert_eq!(machine.device.site(1, 0x20, || place(20)), 1);
    assert_eq!(machine.device.site(1, 0x10, || unreachable!("it is known")), 0);
    assert_eq!(machine.device.site(2, 0x10, || place(30)), 2);
    // Another thread is quicker, with an instruction that has no line.
    let nowhere = || Place { source: None, ..place(40) };
    let quicker = || {
        assert_eq!(machine.device.site(3, 0x10, nowhere), 3);
        nowhere()
    };
    assert_eq!(machine.device.site(3, 0x10, quicker), 3);
    machine.shared(0, 3, 16, true);
    machine.shared(1, 9, 16, false);
    machine.shared(0, 3, 20, false);
    machine.shared(1, 9, 20, true);
    let found = machine.found();
    // In either order, it is the same two.
    assert_eq!((found.len(), found[0].count), (1, 2));
    assert_eq!(found[0].earlier.place, place(20));
    assert_eq!(found[0].later.place, place(10));
}

#[test]
fn lanes_that_write_one_value_together_do_not_race() {
    let mut machine = machine(1);
    let write = |lane, value: &'static [u8; 4]| Access {
        shared: true,
        bytes: Some(value),
        ..access(0, lane, 0, true)
    };
    machine.blocks[0].access(&write(0, &[7, 0, 0, 1]));
    machine.blocks[0].access(&write(1, &[7, 0, 0, 1]));
    machine.blocks[0].access(&Access { warp: 1, ..write(1, &[7, 0, 0, 1]) });
    // Who has written it may read it.
    machine.shared(1, 1, 0, false);
    assert_eq!(machine.launch.end(), []);
    machine.blocks[0].access(&write(2, &[7, 0, 0, 2]));
    assert_eq!(machine.found().len(), 2);
}

#[test]
fn lanes_of_old_processors_go_together() {
    let device = Device::new(BASE);
    let launch = device.launch(1, 2, true, None).expect("few threads");
    let mut block = Block::default();
    block.start(&launch, 0, 2, 64);
    let at = |warp, lane, write| Access { shared: true, ..access(warp, lane, 0, write) };
    block.access(&at(0, 0, true));
    block.access(&at(0, 1, false));
    assert_eq!(launch.end(), []);
    block.access(&at(1, 1, false));
    assert_eq!(launch.end().len(), 1);
}

#[test]
fn the_barrier_of_the_grid_orders_blocks() {
    let mut machine = machine(2);
    machine.write(0, 1, 0, 0);
    for (block, warp) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        machine.blocks[block].arrive_at_grid(warp, 0);
    }
    machine.blocks[1].pass_grid(0, 0, ALL);
    machine.read(1, 0, 9, 0);
    assert_eq!(machine.launch.end(), []);
    machine.write(1, 1, 9, 0);
    assert_eq!(machine.found().len(), 2);
}

#[test]
fn lanes_of_a_warp_hand_on_to_each_other() {
    let mut machine = machine(1);
    let lock = |lane, order: Order, machine: &mut Machine| {
        let access = Access { strong: true, site: 2, ..access(0, lane, BASE + 128, true) };
        machine.blocks[0].access(&access);
        machine.blocks[0].hand_on(&access, order, true);
    };
    lock(0, BOTH, &mut machine);
    machine.write(0, 0, 0, 0);
    lock(0, BOTH, &mut machine);
    lock(1, BOTH, &mut machine);
    machine.read(0, 0, 1, 0);
    assert_eq!(machine.found(), []);
}

#[test]
fn the_last_block_is_found_by_a_counter() {
    let mut machine = machine(2);
    machine.write(0, 0, 0, 0);
    machine.blocks[0].fence(0, false);
    machine.atomic(0, 0, 128, RELAXED);
    machine.atomic(1, 0, 128, RELAXED);
    machine.barrier(1, 0);
    machine.read(1, 1, 7, 0);
    assert_eq!(machine.found(), []);
}

#[test]
fn what_is_the_compilers_own_is_not_told() {
    let place = |instruction: &str, line, runtimes| {
        let source = Some(("f.c".to_owned(), line, 1));
        Place { instruction: instruction.to_owned(), source, runtimes, ..Place::default() }
    };
    let found = |earlier: Place, later: Place, strong| {
        let mut machine = machine(1);
        machine.device.site(1, 0, || later);
        machine.device.site(1, 1, || earlier);
        let first = Access { strong, ..access(0, 3, BASE, true) };
        machine.blocks[0].access(&first);
        machine.read(0, 1, 9, 0);
        machine.found().len()
    };
    assert_eq!(found(place("st.u32", 1, false), place("ld.u32", 2, false), false), 1);
    assert_eq!(found(place("st.u32", 1, true), place("ld.u32", 2, false), false), 0);
    assert_eq!(found(place("st.u32", 1, false), place("ld.u32", 2, true), false), 0);
    // A loop of compare and swap begins with a plain read.
    assert_eq!(found(place("atom.cas.b32", 1, false), place("ld.u32", 1, false), true), 0);
    assert_eq!(found(place("atom.cas.b32", 1, false), place("ld.u32", 2, false), true), 1);
    // Without lines it is known by its function.
    let nowhere = |instruction: &str, function: &str| Place {
        function: function.to_owned(),
        source: None,
        ..place(instruction, 1, false)
    };
    assert_eq!(found(nowhere("atom.cas.b32", "f"), nowhere("ld.u32", "f"), true), 0);
    assert_eq!(found(nowhere("atom.cas.b32", "f"), nowhere("ld.u32", "g"), true), 1);
    // So it does where the next byte of the word is somebody else's.
    let mut machine = machine(1);
    machine.device.site(1, 0, || place("ld.u32", 1, false));
    machine.device.site(1, 1, || place("st.relaxed.b8", 2, false));
    machine.device.site(1, 2, || place("atom.cas.b32", 1, false));
    machine.blocks[0].access(&Access { strong: true, size: 1, ..access(0, 3, BASE + 1, true) });
    machine.read(0, 1, 9, 0);
    assert_eq!(machine.found(), []);
}

#[test]
fn a_block_whose_clock_has_ended_is_not_looked_at() {
    let mut machine = machine(1);
    for generation in 0..(1 << 17) + 1 {
        machine.shared(0, 3, 16, true);
        machine.barrier(0, generation);
    }
    assert_eq!(machine.device.lost(), 1);
    machine.shared(1, 3, 16, true);
    machine.shared(0, 3, 16, true);
    assert_eq!(machine.found(), []);
}
