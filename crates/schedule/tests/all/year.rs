//! A simulated year: clocks set back and forward, 40 days asleep, kills at any point.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use steward_core::Timestamp;
use steward_schedule::{
    Fate, MissReason, MissedPolicy, OpenRow, OverlapPolicy, Plan, Policy, ScheduleTime, SkipReason, Stored, Timing,
    Zones, decide,
};

use super::support::at;

const ZONES: [&str; 30] = [
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Lisbon",
    "Europe/Moscow",
    "Europe/Chisinau",
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "America/Phoenix",
    "America/Sao_Paulo",
    "America/Santiago",
    "America/Havana",
    "America/St_Johns",
    "America/Nuuk",
    "America/Asuncion",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Australia/Adelaide",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Kiritimati",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Asia/Gaza",
    "Asia/Beirut",
    "Africa/Cairo",
    "Africa/Casablanca",
];

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;

/// Numbers by chance that are the same on each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(self.0 >> 33).unwrap() % below.max(1)
    }

    fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.roll(i64::try_from(from.len()).unwrap())).unwrap()]
    }
}

struct Row {
    due: Timestamp,
    made: Timestamp,
    queued: bool,
    fate: Option<Fate>,
}

/// What a store holds of one schedule, and the clock.
struct World {
    plan: Plan,
    policy: Policy,
    rows: BTreeMap<Timestamp, Row>,
    /// Rows without a fate.
    open: BTreeSet<Timestamp>,
    /// Nominal instant, and when the run ends.
    running: Vec<(Timestamp, Timestamp)>,
    planned_until: Timestamp,
    begin: Timestamp,
    latest: Timestamp,
    paused_since: Option<Timestamp>,
    name: String,
}

impl World {
    fn new(name: String, plan: Plan, policy: Policy, begin: Timestamp) -> Self {
        let rows = BTreeMap::new();
        Self {
            plan,
            policy,
            rows,
            open: BTreeSet::new(),
            running: Vec::new(),
            planned_until: begin,
            begin,
            latest: begin,
            paused_since: None,
            name,
        }
    }

    fn stored(&self) -> Stored {
        let open = self.open.iter().map(|nominal| (nominal, &self.rows[nominal]));
        Stored {
            planned_until: self.planned_until,
            open: open.map(|(nominal, row)| OpenRow { nominal: *nominal, due: row.due, queued: row.queued }).collect(),
            running: self.running.iter().map(|(nominal, _)| *nominal).collect(),
            paused_since: self.paused_since,
        }
    }

    /// Decides at `now`, and stores it unless the process is killed. Returns when to decide again.
    fn step(&mut self, now: Timestamp, kill: bool, run_length: i64) -> Option<Timestamp> {
        self.running.retain(|(_, end)| *end > now);
        let found = decide(&self.plan, &self.policy, &self.stored(), now);
        if kill {
            // Nothing was stored; the same is asked again.
            assert_eq!(found, decide(&self.plan, &self.policy, &self.stored(), now), "{}", self.name);
            return Some(now);
        }
        self.latest = self.latest.max(now);
        for new in &found.make {
            let row = Row { due: new.due, made: now, queued: false, fate: None };
            assert!(self.rows.insert(new.nominal, row).is_none(), "{}: {:?} twice", self.name, new.nominal);
            self.open.insert(new.nominal);
        }
        for nominal in &found.queue {
            let row = self.rows.get_mut(nominal).expect("a row");
            assert!(row.fate.is_none() && !row.queued, "{}", self.name);
            row.queued = true;
        }
        for cancelled in &found.cancel {
            self.running.retain(|(nominal, _)| nominal != cancelled);
        }
        let mut busy = self.running.len() + found.cancel.len();
        let fates: BTreeMap<Timestamp, Fate> = found.settle.iter().copied().collect();
        for fate in fates.values() {
            if let Fate::Joined { into } = fate {
                // Nobody joins what is known not to run.
                let target = fates.get(into);
                assert!(
                    !matches!(target, Some(Fate::Skipped { .. } | Fate::Missed { .. })),
                    "{}: joined {target:?}",
                    self.name
                );
            }
        }
        let last_due = found.settle.iter().map(|(nominal, _)| *nominal).max();
        for (nominal, fate) in &found.settle {
            self.check_fate(*nominal, *fate, now, busy, last_due == Some(*nominal));
            busy += usize::from(*fate == Fate::Ran);
            let row = self.rows.get_mut(nominal).expect("a row");
            assert!(row.fate.is_none(), "{}: two fates of {nominal:?}", self.name);
            assert!(row.due <= self.latest, "{}: settled before it is due", self.name);
            row.fate = Some(*fate);
            self.open.remove(nominal);
            if *fate == Fate::Ran {
                self.running.push((*nominal, Timestamp(now.0 + run_length)));
            }
        }
        if self.policy.overlap != OverlapPolicy::Allow {
            assert!(self.running.len() <= 1, "{}: {} at once", self.name, self.running.len());
        }
        self.planned_until = found.planned_until;
        let run_end = self.running.iter().map(|(_, end)| *end).min();
        [found.wake_at, run_end].into_iter().flatten().min()
    }

    /// What the policies allow, told without `decide`.
    fn check_fate(&self, nominal: Timestamp, fate: Fate, now: Timestamp, busy: usize, is_last: bool) {
        let row = &self.rows[&nominal];
        let Policy { missed, overlap, grace_seconds } = self.policy;
        let late = (now.0 - row.due.0) / SECOND;
        let missed_it = (now.0 - row.due.0) > i64::from(grace_seconds) * SECOND;
        let paused = self.paused_since.is_some();
        let within = |seconds: u32| now.0 - row.due.0 <= i64::from(seconds) * SECOND;
        let allowed = match fate {
            Fate::Ran => {
                let caught_up = match missed {
                    MissedPolicy::Skip => false,
                    MissedPolicy::Once => is_last,
                    MissedPolicy::All { within_seconds } => within(within_seconds),
                };
                let free = busy == 0 || matches!(overlap, OverlapPolicy::Allow | OverlapPolicy::CancelOther);
                !paused && free && (!missed_it || row.queued || caught_up || overlap == OverlapPolicy::CancelOther)
            }
            Fate::Joined { .. } => {
                let waits = matches!(overlap, OverlapPolicy::QueueOne | OverlapPolicy::CancelOther);
                !paused && (waits || (missed == MissedPolicy::Once && missed_it))
            }
            Fate::Skipped { reason: SkipReason::StillRunning } => !paused && overlap == OverlapPolicy::Skip && busy > 0,
            Fate::Skipped { reason: SkipReason::QueueFull } => !paused && overlap == OverlapPolicy::QueueAll,
            Fate::Skipped { reason: SkipReason::Paused } => paused,
            Fate::Missed { reason: MissReason::NotCaughtUp } => !paused && missed_it && missed == MissedPolicy::Skip,
            Fate::Missed { reason: MissReason::OutsideWindow } => {
                !paused
                    && missed_it
                    && matches!(missed, MissedPolicy::All { within_seconds } if !within(within_seconds))
            }
            Fate::Missed { reason: MissReason::PausedSince } => {
                missed_it && self.paused_since.is_some_and(|since| row.due < since)
            }
        };
        assert!(allowed, "{}: {nominal:?} {fate:?}, {late} s late, {busy} at work", self.name);
    }

    /// Decides under the state that held, then pauses or resumes.
    fn toggle_pause(&mut self, now: Timestamp) {
        self.step(now, false, SECOND);
        self.paused_since = if self.paused_since.is_some() { None } else { Some(now) };
    }

    /// Lets the runs end, so that what waits has its turn, and compares with what the timing says.
    fn check(&mut self) {
        for _ in 0..3_000 {
            let Some(end) = self.running.iter().map(|(_, end)| *end).max() else { break };
            self.step(end.max(self.latest), false, SECOND);
            if !self.open.iter().any(|nominal| self.rows[nominal].queued) {
                break;
            }
        }
        let expected: Vec<Timestamp> =
            self.plan.list_between(self.begin, self.latest, usize::MAX).iter().map(|found| found.nominal).collect();
        let found: Vec<Timestamp> = self.rows.keys().copied().filter(|nominal| *nominal <= self.latest).collect();
        assert_eq!(found, expected, "{}", self.name);
        for (nominal, row) in &self.rows {
            let settled = row.fate.is_some();
            assert_eq!(settled, row.due <= self.latest, "{}: {nominal:?} {:?}", self.name, row.fate);
        }
        for (nominal, row) in &self.rows {
            match row.fate {
                Some(Fate::Joined { into }) => {
                    assert!(self.rows.contains_key(&into) && into != *nominal, "{}", self.name);
                }
                Some(Fate::Missed { reason }) if reason != MissReason::PausedSince => {
                    assert_ne!(self.policy.missed, MissedPolicy::Once, "{}: {nominal:?}", self.name);
                }
                _ => {}
            }
        }
    }
}

fn choose_timing(dice: &mut Dice) -> Timing {
    let (hour, minute) = (dice.roll(24), dice.roll(60));
    match dice.roll(8) {
        0 => Timing::cron(&format!("{minute} {} * * *", dice.roll(4))),
        1 => Timing::cron(&format!("{minute} {hour} * * MON-FRI")),
        2 => Timing::cron(&format!("*/30 {}-{} * * *", hour / 2, 12 + hour / 2)),
        3 => Timing::cron(&format!("{minute} * * * *")),
        4 => Timing::cron(&format!("0 {hour} L * *")),
        5 => Timing::interval(u64::try_from(3_600 + 60 * minute).unwrap(), None),
        6 => Timing::rrule(&format!("FREQ=MONTHLY;BYMONTHDAY=29,31;BYHOUR={hour};SKIP=BACKWARD"), "2027-12-01T00:15"),
        _ => Timing::rrule("FREQ=WEEKLY;INTERVAL=2;BYDAY=SU,WE;BYHOUR=2;BYMINUTE=30", "2027-12-01T00:00"),
    }
    .unwrap()
}

fn choose_policy(dice: &mut Dice) -> Policy {
    let within_seconds = u32::try_from(dice.roll(5) * 86_400).unwrap();
    let missed = *dice.choose(&[MissedPolicy::Skip, MissedPolicy::Once, MissedPolicy::All { within_seconds }]);
    let overlap = *dice.choose(&[
        OverlapPolicy::Skip,
        OverlapPolicy::QueueOne,
        OverlapPolicy::QueueAll,
        OverlapPolicy::CancelOther,
        OverlapPolicy::Allow,
    ]);
    Policy { missed, overlap, grace_seconds: 60 }
}

/// A year with a leap day, both changes of the clock, an hour back, a month forward, 40 days asleep and kills.
fn simulate(number: usize) -> usize {
    let mut dice = Dice(u64::try_from(number).unwrap() * 7_919 + 1);
    let zone = ZONES[number % ZONES.len()];
    let (timing, policy) = (choose_timing(&mut dice), choose_policy(&mut dice));
    let name = format!("{number}: {timing:?} in {zone}, {policy:?}");
    let mut time = ScheduleTime::new(timing, zone);
    time.jitter_seconds = *dice.choose(&[0, 0, 30, 7_200]);
    let plan = time.plan(&format!("schedule-{number}"), &Zones::bundled()).unwrap();
    let begin = at("2028-01-01T00:00Z");
    let end = begin.0 + 366 * DAY;
    let mut world = World::new(name, plan, policy, begin);
    let mut now = begin;
    let sleep_at = begin.0 + dice.roll(300) * DAY;
    let mut jumps = vec![(sleep_at, 40 * DAY), (begin.0 + dice.roll(330) * DAY, 30 * DAY)];
    jumps.extend((0..3).map(|_| (begin.0 + dice.roll(366) * DAY + dice.roll(DAY), -HOUR)));
    while now.0 < end {
        let kill = dice.roll(50) == 0;
        let length = *dice.choose(&[SECOND, 60 * SECOND, 3 * HOUR]);
        let wake = world.step(now, kill, length).map_or(end, |wake| wake.0);
        // A timer is late by up to some seconds; sometimes somebody else asks first.
        let mut next = if dice.roll(10) == 0 { now.0 + dice.roll(HOUR) } else { wake + dice.roll(5 * SECOND) };
        next = next.max(now.0 + 1);
        if let Some(at) = jumps.iter().position(|(when, _)| now.0 < *when && *when <= next) {
            let (when, by) = jumps.swap_remove(at);
            next = when + by;
        }
        now = Timestamp(next);
    }
    // The clock may have been set back shortly before.
    world.step(world.latest.max(now), false, SECOND);
    world.check();
    let made_late = world.rows.values().filter(|row| row.made > row.due).count();
    assert!(made_late < world.rows.len() || world.rows.len() < 3, "{}: all rows were made late", world.name);
    world.rows.len()
}

#[test]
fn a_schedule_of_each_zone_through_a_year() {
    let rows: usize = (0..ZONES.len()).map(simulate).sum();
    assert!(rows > 20_000, "{rows} occurrences");
}

#[test]
fn prove_a_thousand_schedules_through_a_year() {
    let rows: usize = (0..1_000).map(simulate).sum();
    assert!(rows > 1_000_000, "{rows} occurrences");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any order of instants, kills and lengths of runs.
    #[test]
    fn no_occurrence_has_two_fates_whatever_the_clock_does(
        seed in 0_u64..1_000_000,
        steps in prop::collection::vec((-3 * HOUR..6 * HOUR, prop::bool::weighted(0.2), 1..4 * HOUR, 0..12), 1..80),
    ) {
        let mut dice = Dice(seed);
        let zone = *dice.choose(&ZONES);
        let timing = choose_timing(&mut dice);
        let policy = choose_policy(&mut dice);
        let plan = ScheduleTime::new(timing, zone).plan("p", &Zones::bundled()).unwrap();
        let begin = Timestamp(at("2028-03-01T00:00Z").0 + dice.roll(240) * DAY);
        let mut world = World::new(format!("seed {seed}, {zone}"), plan, policy, begin);
        let mut now = begin;
        for (by, kill, length, pause) in steps {
            now = Timestamp((now.0 + by).max(begin.0));
            if pause == 0 {
                world.toggle_pause(now);
            } else {
                world.step(now, kill, length);
            }
        }
        if world.paused_since.is_some() {
            world.toggle_pause(world.latest.max(now));
        }
        world.step(world.latest.max(now), false, SECOND);
        world.check();
    }

    #[test]
    fn jitter_is_the_same_each_time_and_never_reaches_the_next(
        id in "[a-z0-9-]{1,12}",
        minutes in 1_i64..30,
        jitter in 0_u32..7_200,
    ) {
        let mut time = ScheduleTime::new(Timing::interval(u64::try_from(minutes * 60).unwrap(), None).unwrap(), "UTC");
        time.jitter_seconds = jitter;
        let plan = time.plan(&id, &Zones::bundled()).unwrap();
        let found = plan.list_next(at("2027-01-01T00:00Z"), 20);
        for pair in found.windows(2) {
            prop_assert!(pair[0].nominal <= pair[0].due && pair[0].due < pair[1].nominal);
            prop_assert!(pair[0].due.0 - pair[0].nominal.0 <= i64::from(jitter) * 1000);
        }
        prop_assert_eq!(found, time.plan(&id, &Zones::bundled()).unwrap().list_next(at("2027-01-01T00:00Z"), 20));
    }
}
