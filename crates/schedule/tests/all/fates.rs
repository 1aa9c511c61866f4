//! Each occurrence has exactly one fate, as its policy says.

use steward_core::Timestamp;
use steward_schedule::{
    Fate, MissReason, MissedPolicy, OpenRow, OverlapPolicy, Plan, Policy, SkipReason, Stored, decide, list_withdrawn,
};

use super::support::{at, cron};

const JOINED: fn(&str) -> Fate = |text| Fate::Joined { into: at(text) };
const RUNNING: Fate = Fate::Skipped { reason: SkipReason::StillRunning };
const PAUSED: Fate = Fate::Skipped { reason: SkipReason::Paused };
const NOT_CAUGHT_UP: Fate = Fate::Missed { reason: MissReason::NotCaughtUp };
const OUTSIDE: Fate = Fate::Missed { reason: MissReason::OutsideWindow };

fn hourly() -> Plan {
    cron("0 * * * *", "UTC")
}

fn policy(missed: MissedPolicy, overlap: OverlapPolicy) -> Policy {
    Policy { missed, overlap, grace_seconds: 60 }
}

/// What is stored where everything up to `until` was planned.
fn stored(until: &str, open: &[&str], queued: &[&str], running: &[&str]) -> Stored {
    let row = |text: &&str, queued| OpenRow { nominal: at(text), due: at(text), queued };
    Stored {
        planned_until: at(until),
        open: queued.iter().map(|text| row(text, true)).chain(open.iter().map(|text| row(text, false))).collect(),
        running: running.iter().map(|text| at(text)).collect(),
        paused_since: None,
    }
}

fn settled(found: &[(Timestamp, Fate)]) -> Vec<(String, Fate)> {
    found.iter().map(|(nominal, fate)| (nominal.rfc3339()[11..16].to_owned(), *fate)).collect()
}

fn expect(list: &[(&str, Fate)]) -> Vec<(String, Fate)> {
    list.iter().map(|(nominal, fate)| ((*nominal).to_owned(), *fate)).collect()
}

#[test]
fn rows_are_made_before_they_are_due() {
    let first =
        decide(&hourly(), &Policy::default(), &stored("2027-01-01T07:30Z", &[], &[], &[]), at("2027-01-01T07:30Z"));
    assert_eq!(
        first.make.iter().map(|row| row.nominal).collect::<Vec<_>>(),
        [at("2027-01-01T08:00Z"), at("2027-01-01T09:00Z")]
    );
    assert_eq!(first.planned_until, at("2027-01-01T09:00Z"));
    assert_eq!(first.wake_at, Some(at("2027-01-01T08:00Z")));
    assert!(first.settle.is_empty() && !first.more && first.settled_until.is_none());

    let open = ["2027-01-01T08:00Z", "2027-01-01T09:00Z"];
    let due =
        decide(&hourly(), &Policy::default(), &stored("2027-01-01T09:00Z", &open, &[], &[]), at("2027-01-01T08:00Z"));
    assert_eq!(settled(&due.settle), expect(&[("08:00", Fate::Ran)]));
    assert_eq!(due.make.iter().map(|row| row.nominal).collect::<Vec<_>>(), [at("2027-01-01T10:00Z")]);
    assert_eq!(due.wake_at, Some(at("2027-01-01T09:00Z")));
}

/// Asleep from 07:30 to 12:00:30, with 08:00 and 09:00 planned.
#[test]
fn missed_occurrences_go_as_the_policy_says() {
    let wake = |missed, now: &str| {
        let asleep = stored("2027-01-01T09:00Z", &["2027-01-01T08:00Z", "2027-01-01T09:00Z"], &[], &[]);
        let found = decide(&hourly(), &policy(missed, OverlapPolicy::Allow), &asleep, at(now));
        (settled(&found.settle), found.summarize_missed().map(|(_, _, count)| count))
    };
    let late = |fate| [("08:00", fate), ("09:00", fate), ("10:00", fate), ("11:00", fate)];
    let mut skip = expect(&late(NOT_CAUGHT_UP));
    skip.extend(expect(&[("12:00", Fate::Ran)]));
    assert_eq!(wake(MissedPolicy::Skip, "2027-01-01T12:00:30Z"), (skip, Some(4)));
    // The one that is on time runs for those before it.
    let mut once = expect(&late(JOINED("2027-01-01T12:00Z")));
    once.extend(expect(&[("12:00", Fate::Ran)]));
    assert_eq!(wake(MissedPolicy::Once, "2027-01-01T12:00:30Z"), (once, None));
    // None is on time: the last one that was missed runs.
    let into = JOINED("2027-01-01T11:00Z");
    let once = expect(&[("08:00", into), ("09:00", into), ("10:00", into), ("11:00", Fate::Ran)]);
    assert_eq!(wake(MissedPolicy::Once, "2027-01-01T11:30:00Z"), (once, None));
    let all = expect(&[("08:00", OUTSIDE), ("09:00", OUTSIDE), ("10:00", Fate::Ran), ("11:00", Fate::Ran)]);
    assert_eq!(wake(MissedPolicy::All { within_seconds: 7_200 }, "2027-01-01T11:30:00Z"), (all, Some(2)));
}

/// A run of 07:00 still works; 08:00 to 11:00 were missed and are to be caught up by one.
#[test]
fn what_would_join_a_skipped_one_is_skipped_with_it() {
    let open = ["2027-01-01T08:00Z", "2027-01-01T09:00Z"];
    let busy = stored("2027-01-01T09:00Z", &open, &[], &["2027-01-01T07:00Z"]);
    let once = policy(MissedPolicy::Once, OverlapPolicy::Skip);
    let found = decide(&hourly(), &once, &busy, at("2027-01-01T11:30:00Z"));
    let all = [("08:00", RUNNING), ("09:00", RUNNING), ("10:00", RUNNING), ("11:00", RUNNING)];
    assert_eq!(settled(&found.settle), expect(&all));
    // Two are on time: the first one runs, and what was missed is its own.
    let minutely = cron("* * * * *", "UTC");
    let known = stored("2027-01-01T08:00Z", &["2027-01-01T08:00Z"], &[], &[]);
    let found = decide(&minutely, &once, &known, at("2027-01-01T08:03:00Z"));
    let into = JOINED("2027-01-01T08:02Z");
    let all = [("08:00", into), ("08:01", into), ("08:02", Fate::Ran), ("08:03", RUNNING)];
    assert_eq!(settled(&found.settle), expect(&all));
}

/// A run works, 07:00 waits, 08:00 was missed and 12:00 is on time.
#[test]
fn what_would_join_one_that_joins_another_joins_that_one() {
    let known = stored("2027-01-01T10:59Z", &[], &["2027-01-01T07:00Z"], &["2027-01-01T06:00Z"]);
    let queue_one = policy(MissedPolicy::Once, OverlapPolicy::QueueOne);
    let found = decide(&hourly(), &queue_one, &known, at("2027-01-01T12:00:10Z"));
    let into = JOINED("2027-01-01T07:00Z");
    assert_eq!(settled(&found.settle), expect(&[("11:00", into), ("12:00", into)]));
    // Two are on time: the second one cancels for both.
    let minutely = cron("* * * * *", "UTC");
    let known = stored("2027-01-01T08:00Z", &[], &[], &["2027-01-01T07:00Z"]);
    let cancel = policy(MissedPolicy::Once, OverlapPolicy::CancelOther);
    let found = decide(&minutely, &cancel, &known, at("2027-01-01T08:03:00Z"));
    let into = JOINED("2027-01-01T08:03Z");
    assert_eq!(settled(&found.settle), expect(&[("08:01", into), ("08:02", into), ("08:03", Fate::Ran)]));
}

#[test]
fn overlaps_go_as_the_policy_says() {
    let at_nine = |overlap, queued: &[&str], running: &[&str]| {
        let known = stored("2027-01-01T10:00Z", &["2027-01-01T09:00Z", "2027-01-01T10:00Z"], queued, running);
        let found = decide(&hourly(), &policy(MissedPolicy::Once, overlap), &known, at("2027-01-01T09:00:01Z"));
        (settled(&found.settle), found.queue.len(), found.cancel.len())
    };
    let (seven, eight) = (["2027-01-01T07:00Z"], ["2027-01-01T08:00Z"]);
    let ran = expect(&[("09:00", Fate::Ran)]);
    for overlap in [
        OverlapPolicy::Skip,
        OverlapPolicy::QueueOne,
        OverlapPolicy::QueueAll,
        OverlapPolicy::CancelOther,
        OverlapPolicy::Allow,
    ] {
        assert_eq!(at_nine(overlap, &[], &[]), (ran.clone(), 0, 0), "{overlap:?}: nothing works");
    }
    assert_eq!(at_nine(OverlapPolicy::Skip, &[], &eight), (expect(&[("09:00", RUNNING)]), 0, 0));
    assert_eq!(at_nine(OverlapPolicy::Allow, &[], &eight), (ran.clone(), 0, 0));
    assert_eq!(at_nine(OverlapPolicy::QueueOne, &[], &eight), (vec![], 1, 0));
    assert_eq!(
        at_nine(OverlapPolicy::QueueOne, &eight, &seven),
        (expect(&[("09:00", JOINED("2027-01-01T08:00Z"))]), 0, 0)
    );
    assert_eq!(at_nine(OverlapPolicy::QueueAll, &eight, &seven), (vec![], 1, 0));
    // The run at 07:00 has ended: what waits comes first.
    assert_eq!(at_nine(OverlapPolicy::QueueAll, &eight, &[]), (expect(&[("08:00", Fate::Ran)]), 1, 0));
    assert_eq!(at_nine(OverlapPolicy::QueueOne, &eight, &[]), (expect(&[("08:00", Fate::Ran)]), 1, 0));
    assert_eq!(at_nine(OverlapPolicy::CancelOther, &[], &eight), (ran, 0, 1));
    let joined = expect(&[("08:00", JOINED("2027-01-01T09:00Z")), ("09:00", Fate::Ran)]);
    assert_eq!(at_nine(OverlapPolicy::CancelOther, &eight, &seven), (joined, 0, 1), "the policy was changed");
}

#[test]
fn a_pause_starts_nothing_and_tells_what_was_missed_before() {
    let mut known =
        stored("2027-01-01T10:00Z", &["2027-01-01T09:00Z", "2027-01-01T10:00Z"], &["2027-01-01T08:00Z"], &[]);
    known.paused_since = Some(at("2027-01-01T09:30Z"));
    let found = decide(&hourly(), &Policy::default(), &known, at("2027-01-01T10:00:01Z"));
    let before = Fate::Missed { reason: MissReason::PausedSince };
    assert_eq!(settled(&found.settle), expect(&[("08:00", PAUSED), ("09:00", before), ("10:00", PAUSED)]));
    assert_eq!(found.make.len(), 2, "a page shows what comes after the pause");
}

#[test]
fn a_clock_that_was_ahead_is_told() {
    // The clock said noon, then 07:30 again.
    let known = stored("2027-01-01T14:00Z", &["2027-01-01T13:00Z", "2027-01-01T14:00Z"], &[], &[]);
    let found = decide(&hourly(), &Policy::default(), &known, at("2027-01-01T07:30Z"));
    assert_eq!((found.make.len(), found.settle.len()), (0, 0));
    assert_eq!(found.settled_until, Some(at("2027-01-01T13:00Z")));
    assert_eq!(found.wake_at, Some(at("2027-01-01T13:00Z")));
}

#[test]
fn long_absences_are_settled_in_parts() {
    let every = cron("* * * * *", "UTC");
    let begin = at("2027-01-01T00:00:30Z");
    let now = Timestamp(begin.0 + 40 * 86_400_000);
    let mut known = Stored { planned_until: begin, open: vec![], running: vec![], paused_since: None };
    let (mut fates, mut calls, mut started) = (0, 0, 0);
    loop {
        let found = decide(&every, &policy(MissedPolicy::Once, OverlapPolicy::Allow), &known, now);
        fates += found.settle.len();
        started += found.list_started().count();
        calls += 1;
        known.planned_until = found.planned_until;
        if !found.more {
            break;
        }
    }
    assert_eq!(fates, 40 * 24 * 60);
    assert_eq!(started, 1);
    assert!(calls >= 28, "{calls} calls");
}

#[test]
fn a_changed_schedule_withdraws_what_is_not_due() {
    let known = stored("2027-01-01T10:00Z", &["2027-01-01T09:00Z", "2027-01-01T10:00Z"], &["2027-01-01T08:00Z"], &[]);
    assert_eq!(list_withdrawn(&known, at("2027-01-01T09:00Z")), [at("2027-01-01T10:00Z")]);
}

/// Whatever stands and works: what joins another one joins one that runs or waits, or that the next decision settles.
#[test]
fn nothing_joins_what_does_not_run() {
    let minutely = cron("* * * * *", "UTC");
    let begin = at("2027-01-01T00:00Z");
    let minute = |count: i64| Timestamp(begin.0 + count * 60_000);
    let missed = [MissedPolicy::Skip, MissedPolicy::Once, MissedPolicy::All { within_seconds: 300 }];
    for overlap in [
        OverlapPolicy::Skip,
        OverlapPolicy::QueueOne,
        OverlapPolicy::QueueAll,
        OverlapPolicy::CancelOther,
        OverlapPolicy::Allow,
    ] {
        for number in 0..3 * 3 * 3 * 5 * 3 {
            let missed = missed[number % 3];
            let counts: [i64; 3] = [0, 1, 2];
            let (waiting, working) = (counts[number / 3 % 3], counts[number / 9 % 3]);
            let asleep = [0, 1, 3, 9, 3_000][number / 27 % 5];
            let grace_seconds = [1, 60, 200][number / 135];
            let row = |nominal, queued| OpenRow { nominal, due: nominal, queued };
            let known = Stored {
                planned_until: begin,
                open: (0..waiting).map(|one| row(minute(one - 2), true)).collect(),
                running: (0..working).map(|one| minute(one - 9)).collect(),
                paused_since: None,
            };
            let policy = Policy { missed, overlap, grace_seconds };
            let found = decide(&minutely, &policy, &known, Timestamp(minute(asleep).0 + 2_000));
            let waits: Vec<Timestamp> = known.open.iter().map(|row| row.nominal).chain(found.queue.clone()).collect();
            for (nominal, fate) in &found.settle {
                let Fate::Joined { into } = fate else { continue };
                let runs = found.settle.contains(&(*into, Fate::Ran)) || waits.contains(into);
                let later = found.more && *into > found.planned_until;
                assert!(runs || later, "{overlap:?} {missed:?} {waiting} {working} {asleep}: {nominal:?} {found:?}");
            }
        }
    }
}
