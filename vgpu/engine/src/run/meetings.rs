//! Who has come to the barriers of a block, and from where: what is looked at in launches whose synchronization is
//! checked, and which rules are broken.

use gangway_ptx::meaning::Barrier as Kind;

use super::barrier::{Arrival, BARRIERS};
use super::job::Job;
use super::stand::{Form, Stand};
use super::sync::{Doing, Groups, Rule};
use crate::abi::Warp;
use crate::fault::Place;

/// Lanes of a warp that have come.
#[derive(Clone, Debug)]
struct Came {
    warp: usize,
    lanes: u32,
    count: Option<u32>,
    stand: Stand,
    form: Form,
}

/// The barriers of a block.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    block: [u32; 3],
    each: [Vec<Came>; BARRIERS],
    /// By warp: the lanes that have ended.
    gone: Vec<u32>,
}

impl Meetings {
    /// A block starts.
    pub fn start(&mut self, job: &Job, block: [u32; 3]) {
        self.block = block;
        self.each.iter_mut().for_each(Vec::clear);
        self.gone.clear();
        self.gone.resize(job.extent.warps(), 0);
    }

    /// Lanes of a warp have ended, with those that it never had.
    pub fn exit(&mut self, warp: usize, gone: u32) {
        if let Some(known) = self.gone.get_mut(warp) {
            *known = gone;
        }
    }

    /// Lanes come to a barrier. It is told before the barrier may be complete.
    pub fn arrive(&mut self, job: &Job, warp: &Warp, barrier: u32, arrival: Arrival, masked: bool) {
        let Some(stand) = Stand::new(job, warp, masked) else { return };
        let Some(form) = stand.form(job.program().module()) else { return };
        let Arrival { warp: index, lanes, gone, count, .. } = arrival;
        self.exit(index, gone);
        let new = Came { warp: index, lanes, count, stand, form };
        let before = self.each[barrier as usize].iter();
        let mut twice: Vec<&Came> =
            before.filter(|came| came.warp == index && came.lanes & lanes != 0).collect();
        if !twice.is_empty() {
            twice.push(&new);
            self.tell(job, Rule::Twice(barrier), &twice);
        }
        self.each[barrier as usize].push(new);
    }

    /// A barrier is complete.
    pub fn complete(&mut self, job: &Job, barrier: u32) {
        let came = std::mem::take(&mut self.each[barrier as usize]);
        let Some((first, others)) = came.split_first() else { return };
        let all: Vec<&Came> = came.iter().collect();
        let reduces = |came: &Came| matches!(came.form.barrier, Kind::Reduce(_));
        let threads = job.extent.threads.next_multiple_of(32);
        let count = |came: &Came| came.count.unwrap_or(threads);
        let rule = if others.iter().any(|other| reduces(other) != reduces(first)) {
            Rule::Mixed(barrier)
        } else if others.iter().any(|other| count(other) != count(first)) {
            Rule::Counts(barrier)
        } else if !self.are_of_a_team(job, barrier, &came) {
            Rule::Team
        } else if came.iter().any(|one| others.iter().any(|other| apart(one, other))) {
            Rule::Apart
        } else if first.count.is_some() && self.lack_lanes(&came) {
            Rule::Short(barrier)
        } else {
            // What has been told of is kept for the next time.
            self.each[barrier as usize] = came;
            return self.each[barrier as usize].clear();
        };
        self.tell(job, rule, &all);
    }

    /// Whether threads that meet as a team of OpenMP are at one construct: the sequence of barriers and worksharing
    /// regions is the same for all of them (OpenMP 5.2 section 15.3.1). Of libgomp's that is not known: it makes
    /// futexes of the hardware's barriers, at which threads of two constructs that follow each other meet.
    fn are_of_a_team(&self, job: &Job, barrier: u32, came: &[Came]) -> bool {
        let mode = job.sync.as_ref().and_then(|found| found.mode(job.launched()));
        let is_team = mode.is_some_and(|mode| mode.is_team_barrier(barrier, came[0].count.is_some()));
        !is_team || came.iter().all(|other| came[0].stand.is_at_construct(job, &other.stand))
    }

    /// Whether some lanes of warps that have come have neither come nor ended.
    fn lack_lanes(&self, came: &[Came]) -> bool {
        let lanes = |warp: usize| {
            let own = came.iter().filter(|came| came.warp == warp);
            own.fold(0, |lanes, came| lanes | came.lanes)
        };
        came.iter().any(|came| lanes(came.warp) | self.gone[came.warp] != u32::MAX)
    }

    fn tell(&self, job: &Job, rule: Rule, came: &[&Came]) {
        let Some(found) = &job.sync else { return };
        let mut groups = Groups::default();
        for came in came {
            groups.add(came.doing(job, rule), came.stand.place(job), came.warp, came.lanes);
        }
        found.note(job.launched(), rule, self.block, groups);
    }

    /// Tells of those that wait at barriers of the block: what for, where, the warp and its lanes.
    pub fn waiting(&self, job: &Job, mut tell: impl FnMut(Doing, Place, usize, u32)) {
        for came in self.each.iter().flatten().filter(|came| came.form.barrier != Kind::Arrive) {
            tell(came.doing(job, Rule::Deadlock), came.stand.place(job), came.warp, came.lanes);
        }
    }
}

impl Came {
    /// What these do, as far as a rule asks for it.
    fn doing(&self, job: &Job, rule: Rule) -> Doing {
        if self.stand.entered(job.program().module()) == Some(END_OF_REGION) {
            return Doing::WaitAtEnd;
        }
        match (self.form.barrier, rule, self.count) {
            (_, Rule::Counts(_) | Rule::Deadlock, Some(count)) => Doing::WaitFor(count),
            (_, Rule::Counts(_), None) => Doing::WaitForAll,
            (Kind::Arrive, ..) => Doing::Come,
            (Kind::Wait | Kind::Reduce(_), ..) => Doing::Wait,
        }
    }
}

/// Whether two that meet have come to instructions that must not meet: an aligned barrier is one for all threads of
/// the block, or for all of a warp where it has a count, as others may arrive then. A device runtime's functions know
/// what they do.
fn apart(one: &Came, other: &Came) -> bool {
    if one.stand.entered.is_some() || other.stand.entered.is_some() {
        return false;
    }
    let aligned = one.form.aligned || other.form.aligned;
    let together = one.warp == other.warp || one.count.is_none();
    aligned && together && one.stand.at != other.stand.at
}

/// The function of libgomp's in which threads of a team begin and end.
const END_OF_REGION: &str = "gomp_nvptx_main";
