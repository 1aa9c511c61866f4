//! Occurrences and their fates, as a pure function of what is stored and the time.
//!
//! An occurrence is a row before it is due, and ends in exactly one [`Fate`]. Whoever stores a [`Decision`] does so in one
//! transaction, runs that begin with it; called again with what was stored, [`decide`] says the same or what is left to do.

use serde::{Deserialize, Serialize};
use steward_core::Timestamp;

use crate::plan::{Occurrence, Plan};

/// Rows that are stored before they are due, of each schedule.
pub const ROWS_AHEAD: usize = 2;

/// Rows that one decision makes; [`Decision::more`] says that there are others.
pub const MAX_ROWS: usize = 2_000;

/// Occurrences of a schedule that wait for its run.
pub const MAX_QUEUED: usize = 1_000;

/// What becomes of occurrences whose time passed while nobody could start them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MissedPolicy {
    /// None is caught up; its owner is told.
    Skip,
    /// One run for all of them: that of the next one that is on time, else of the last.
    #[default]
    Once,
    /// Each one that was due within so many seconds runs; its owner is told of the others.
    All { within_seconds: u32 },
}

/// What becomes of an occurrence that is due while the schedule's run still works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverlapPolicy {
    #[default]
    Skip,
    /// One waits; others join it.
    QueueOne,
    /// All wait, up to [`MAX_QUEUED`], and run one after the other.
    QueueAll,
    /// The run that works is cancelled.
    CancelOther,
    /// Both work.
    Allow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    pub missed: MissedPolicy,
    pub overlap: OverlapPolicy,
    /// Seconds after which an occurrence that nobody started is missed.
    pub grace_seconds: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self { missed: MissedPolicy::default(), overlap: OverlapPolicy::default(), grace_seconds: 60 }
    }
}

/// How an occurrence ended. Each has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// A run was started for it; how that ended is the run's affair.
    Ran,
    /// The run of another occurrence of the schedule is also its own.
    Joined { into: Timestamp },
    /// The schedule's policy says so.
    Skipped { reason: SkipReason },
    /// Its time passed and it isn't caught up. The owner is told.
    Missed { reason: MissReason },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The overlap policy is to skip, and a run still worked.
    StillRunning,
    /// [`MAX_QUEUED`] waited already.
    QueueFull,
    /// The schedule was paused.
    Paused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissReason {
    /// The missed policy is to skip.
    NotCaughtUp,
    /// It was due longer ago than the missed policy's window.
    OutsideWindow,
    /// It was missed before the schedule was paused, and nothing starts in a pause.
    PausedSince,
}

/// A stored occurrence that has no fate yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenRow {
    pub nominal: Timestamp,
    pub due: Timestamp,
    /// It was due and waits for a run to end.
    pub queued: bool,
}

/// What is stored of a schedule's occurrences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Each occurrence up to this instant has its row; at first the instant at which the schedule was made or changed.
    pub planned_until: Timestamp,
    /// In the order of their nominal instants.
    pub open: Vec<OpenRow>,
    /// Nominal instants of the occurrences whose runs haven't ended.
    pub running: Vec<Timestamp>,
    pub paused_since: Option<Timestamp>,
}

/// What to store and to do. Rows are made first, then queued and settled.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// Rows to make.
    pub make: Vec<Occurrence>,
    pub planned_until: Timestamp,
    /// Rows that wait from now on.
    pub queue: Vec<Timestamp>,
    /// Occurrences with their fates. A run starts for each one that [`Fate::Ran`].
    pub settle: Vec<(Timestamp, Fate)>,
    /// Occurrences whose runs are to be cancelled before others start.
    pub cancel: Vec<Timestamp>,
    /// When to decide again, unless a run ends before; `None`: nothing is due any more.
    pub wake_at: Option<Timestamp>,
    /// There are more rows to make: decide again at once.
    pub more: bool,
    /// The clock was set back: what is due until this instant had its fate when the clock said so before.
    pub settled_until: Option<Timestamp>,
}

impl Decision {
    /// Occurrences for which a run starts, in their order.
    pub fn list_started(&self) -> impl Iterator<Item = Timestamp> + '_ {
        self.settle.iter().filter(|(_, fate)| *fate == Fate::Ran).map(|(nominal, _)| *nominal)
    }

    /// First and last nominal instant of what was missed, and how many: what one message tells the owner.
    pub fn summarize_missed(&self) -> Option<(Timestamp, Timestamp, usize)> {
        let mut missed =
            self.settle.iter().filter(|(_, fate)| matches!(fate, Fate::Missed { .. })).map(|(nominal, _)| *nominal);
        let first = missed.next()?;
        let (last, count) = missed.fold((first, 1), |(_, count), nominal| (nominal, count + 1));
        Some((first, last, count))
    }
}

/// Says which occurrences are to be stored and what becomes of each that is due.
///
/// Called before a pause begins or ends, too, so that what is due gets its fate under the state that held then.
pub fn decide(plan: &Plan, policy: &Policy, stored: &Stored, now: Timestamp) -> Decision {
    let (make, more) = list_new_rows(plan, stored, now);
    let rows = stored.open.iter().copied().chain(make.iter().map(|found| OpenRow {
        nominal: found.nominal,
        due: found.due,
        queued: false,
    }));
    let (queued, planned): (Vec<OpenRow>, Vec<OpenRow>) = rows.partition(|row| row.queued);
    let (due, ahead): (Vec<OpenRow>, Vec<OpenRow>) = planned.into_iter().partition(|row| row.due <= now);
    let planned_until = make.last().map_or(stored.planned_until, |last| last.nominal.max(stored.planned_until));
    let mut settling = Settling {
        policy,
        now,
        queued: queued.iter().map(|row| row.nominal).collect(),
        busy: stored.running.len(),
        decision: Decision { planned_until, more, ..Decision::default() },
    };
    if let Some(since) = stored.paused_since {
        settling.settle_paused(since, &due);
    } else {
        // What was missed joins the first one that is on time, else the last one; with more rows to come it isn't among these.
        let on_time = due.iter().find(|row| !settling.is_late(row)).or(due.last()).map(|row| row.nominal);
        let later = if more { plan.find_last(planned_until, now).map(|found| found.nominal) } else { None };
        let target = later.or(on_time);
        let ready = settling.settle_missed(&due, target);
        settling.settle_overlaps(&stored.running, &ready);
        settling.follow_target(target, later.is_some());
    }
    let mut decision = settling.decision;
    decision.make = make;
    decision.settled_until = find_settled_until(plan, stored, now, &ahead);
    decision.wake_at = if more { Some(now) } else { ahead.iter().map(|row| row.due).min() };
    decision
}

/// Nominal instants of rows to delete when a schedule changes or ends: what isn't due yet. Planning goes on from `now`.
pub fn list_withdrawn(stored: &Stored, now: Timestamp) -> Vec<Timestamp> {
    stored.open.iter().filter(|row| !row.queued && row.due > now).map(|row| row.nominal).collect()
}

/// The rows up to now and [`ROWS_AHEAD`] later ones; whether there are more up to now.
fn list_new_rows(plan: &Plan, stored: &Stored, now: Timestamp) -> (Vec<Occurrence>, bool) {
    let mut ahead = stored.open.iter().filter(|row| !row.queued && row.nominal > now).count();
    let mut found: Vec<Occurrence> = Vec::new();
    let mut after = stored.planned_until;
    while let Some(next) = plan.find_next(after) {
        if next.nominal > now {
            if ahead >= ROWS_AHEAD {
                break;
            }
            ahead += 1;
        } else if found.len() >= MAX_ROWS {
            return (found, true);
        }
        after = next.nominal;
        found.push(next);
    }
    (found, false)
}

/// The last instant up to which nothing fires although the timing says so, since it had its fate already.
fn find_settled_until(plan: &Plan, stored: &Stored, now: Timestamp, ahead: &[OpenRow]) -> Option<Timestamp> {
    let next = plan.find_next(now)?.nominal;
    let is_open = ahead.iter().any(|row| row.nominal == next);
    (next <= stored.planned_until && !is_open).then(|| {
        let first_open = ahead.first().map_or(stored.planned_until, |row| row.nominal);
        Timestamp(first_open.0.min(stored.planned_until.0))
    })
}

struct Settling<'a> {
    policy: &'a Policy,
    now: Timestamp,
    /// Nominal instants of what waits.
    queued: Vec<Timestamp>,
    /// Runs that work, those that start now among them.
    busy: usize,
    decision: Decision,
}

impl Settling<'_> {
    fn settle(&mut self, nominal: Timestamp, fate: Fate) {
        self.decision.settle.push((nominal, fate));
    }

    fn start(&mut self, nominal: Timestamp) {
        self.busy += 1;
        self.settle(nominal, Fate::Ran);
    }

    fn settle_paused(&mut self, since: Timestamp, due: &[OpenRow]) {
        for nominal in std::mem::take(&mut self.queued) {
            self.settle(nominal, Fate::Skipped { reason: SkipReason::Paused });
        }
        for row in due {
            let in_pause = row.due >= since || !self.is_late(row);
            self.settle(
                row.nominal,
                if in_pause {
                    Fate::Skipped { reason: SkipReason::Paused }
                } else {
                    Fate::Missed { reason: MissReason::PausedSince }
                },
            );
        }
    }

    fn is_late(&self, row: &OpenRow) -> bool {
        self.now.0.saturating_sub(row.due.0) > i64::from(self.policy.grace_seconds) * 1000
    }

    /// Settles what was missed; returns what is to start now.
    fn settle_missed(&mut self, due: &[OpenRow], target: Option<Timestamp>) -> Vec<Timestamp> {
        let mut ready = Vec::new();
        for row in due {
            if !self.is_late(row) {
                ready.push(row.nominal);
                continue;
            }
            match self.policy.missed {
                MissedPolicy::Skip => self.settle(row.nominal, Fate::Missed { reason: MissReason::NotCaughtUp }),
                MissedPolicy::Once => match target {
                    Some(into) if into > row.nominal => self.settle(row.nominal, Fate::Joined { into }),
                    _ => ready.push(row.nominal),
                },
                MissedPolicy::All { within_seconds } => {
                    if self.now.0.saturating_sub(row.due.0) <= i64::from(within_seconds) * 1000 {
                        ready.push(row.nominal);
                    } else {
                        self.settle(row.nominal, Fate::Missed { reason: MissReason::OutsideWindow });
                    }
                }
            }
        }
        ready
    }

    fn settle_overlaps(&mut self, running: &[Timestamp], ready: &[Timestamp]) {
        let allow = self.policy.overlap == OverlapPolicy::Allow;
        if self.policy.overlap == OverlapPolicy::CancelOther {
            self.cancel_others(running, ready);
            return;
        }
        while !self.queued.is_empty() && (allow || self.busy == 0) {
            let first = self.queued.remove(0);
            self.start(first);
        }
        for &nominal in ready {
            if allow || (self.busy == 0 && self.queued.is_empty()) {
                self.start(nominal);
                continue;
            }
            match (self.policy.overlap, self.queued.first().copied()) {
                (OverlapPolicy::QueueOne, Some(into)) => self.settle(nominal, Fate::Joined { into }),
                (OverlapPolicy::QueueOne | OverlapPolicy::QueueAll, _) if self.queued.len() < MAX_QUEUED => {
                    self.queued.push(nominal);
                    self.decision.queue.push(nominal);
                }
                (OverlapPolicy::QueueAll, _) => self.settle(nominal, Fate::Skipped { reason: SkipReason::QueueFull }),
                _ => self.settle(nominal, Fate::Skipped { reason: SkipReason::StillRunning }),
            }
        }
    }

    /// What joined the target shares its fate unless that one runs or waits: it is skipped with it, or joins what it joined.
    fn follow_target(&mut self, target: Option<Timestamp>, is_later: bool) {
        let Some(into) = target else { return };
        let settled = self.decision.settle.iter().find(|(nominal, _)| *nominal == into).map(|(_, fate)| *fate);
        let shared = settled.or_else(|| if is_later { self.foresee() } else { None });
        let Some(shared @ (Fate::Skipped { .. } | Fate::Joined { .. })) = shared else { return };
        for (_, fate) in self.decision.settle.iter_mut().filter(|(_, fate)| *fate == Fate::Joined { into }) {
            *fate = shared;
        }
    }

    /// The fate of an occurrence that the next decision, which follows at once, settles.
    fn foresee(&self) -> Option<Fate> {
        match (self.policy.overlap, self.queued.first()) {
            (OverlapPolicy::Skip, _) if self.busy > 0 => Some(Fate::Skipped { reason: SkipReason::StillRunning }),
            (OverlapPolicy::QueueOne, Some(&into)) => Some(Fate::Joined { into }),
            _ => None,
        }
    }

    /// The last one that is ready runs; what works is cancelled, and what waits or is ready before it joins it.
    fn cancel_others(&mut self, running: &[Timestamp], ready: &[Timestamp]) {
        let waiting = std::mem::take(&mut self.queued);
        let all: Vec<Timestamp> = waiting.iter().chain(ready).copied().collect();
        if ready.is_empty() && self.busy > 0 {
            // What waits under an earlier policy cancels nothing.
            return;
        }
        let Some((&last, others)) = all.split_last() else { return };
        for &nominal in others {
            self.settle(nominal, Fate::Joined { into: last });
        }
        self.decision.cancel = running.to_vec();
        self.start(last);
    }
}
