//! Start, end, zones, jitter and pauses.

use steward_core::Timestamp;
use steward_schedule::{
    MAX_NOTE, Outcome, Pause, PauseReason, ScheduleTime, Timing, Zones, count_failures, pause_for_failures,
};

use super::support::{at, cron, shown};

#[test]
fn start_and_end_are_part_of_it() {
    let mut time = ScheduleTime::new(Timing::cron("0 8 * * *").unwrap(), "UTC");
    time.start = Some(at("2027-01-02T08:00Z"));
    time.end = Some(at("2027-01-04T08:00Z"));
    let plan = time.plan("s", &Zones::bundled()).unwrap();
    let days = ["2027-01-02T08:00:00+00:00", "2027-01-03T08:00:00+00:00", "2027-01-04T08:00:00+00:00"];
    assert_eq!(shown(&plan, "2020-01-01T00:00Z", 9), days);
    assert_eq!(plan.list_between(at("2020-01-01T00:00Z"), at("2027-01-03T08:00Z"), 10).len(), 2);
    assert_eq!(
        plan.find_last(at("2020-01-01T00:00Z"), at("2030-01-01T00:00Z")).unwrap().nominal,
        at("2027-01-04T08:00Z")
    );
    assert_eq!(plan.find_last(at("2027-01-02T08:00Z"), at("2027-01-02T20:00Z")), None);
    time.jitter_seconds = 7_200;
    let last = time.plan("s", &Zones::bundled()).unwrap().list_next(at("2020-01-01T00:00Z"), 9)[2];
    assert_eq!(last.due, last.nominal, "no jitter past the end");
    time.end = Some(at("2027-01-01T00:00Z"));
    assert!(time.plan("s", &Zones::bundled()).unwrap_err().to_string().starts_with("end: "));
}

#[test]
fn jitter_depends_on_the_schedule_and_the_occurrence_only() {
    let mut time = ScheduleTime::new(Timing::cron("0 8 * * *").unwrap(), "UTC");
    time.jitter_seconds = 600;
    let due = |id: &str| {
        let found = time.plan(id, &Zones::bundled()).unwrap().list_next(at("2027-01-01T00:00Z"), 3);
        found.iter().map(|found| found.due.0 - found.nominal.0).collect::<Vec<_>>()
    };
    // Stored rows are due by these: they must stay what they are.
    assert_eq!(due("one"), due("one"));
    assert_ne!(due("one"), due("two"));
    let spread = (0..200).map(|number| due(&format!("schedule-{number}"))[0]).collect::<Vec<_>>();
    assert!(spread.iter().all(|late| (0..=600_000).contains(late)));
    let early = spread.iter().filter(|late| **late < 300_000).count();
    assert!((70..130).contains(&early), "{early} of 200 in the first half");
}

#[test]
fn zones_are_found_by_name_or_refused_with_a_hint() {
    let zones = Zones::bundled();
    for name in ["Europe/Berlin", "europe/berlin", " UTC ", "utc", "America/Argentina/Buenos_Aires", "Etc/GMT+5"] {
        assert!(zones.find(name).is_ok(), "{name}");
    }
    let cases = [
        ("Berlin", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("Europe/Berln", "for example Europe/Berlin"),
        ("EST", "for example"),
        ("CET", "for example"),
        ("+02:00", "for example"),
        ("", "for example"),
        ("Mars/Olympus", "for example"),
    ];
    for (name, hint) in cases {
        let error = zones.find(name).expect_err(name).to_string();
        assert!(error.starts_with("zone: ") && error.contains(hint), "{name}: {error}");
    }
}

#[test]
fn intervals_and_notes_have_limits() {
    assert!(Timing::interval(0, None).is_err());
    assert!(Timing::interval(u64::MAX, None).is_err());
    assert!(Timing::interval(1, None).is_ok());
    assert!(Pause::by_person(Timestamp(0), &"x".repeat(MAX_NOTE + 1)).is_err());
    assert_eq!(Pause::by_person(Timestamp(0), " holidays ").unwrap().note, "holidays");
}

#[test]
fn failures_in_a_row_pause_it() {
    use Outcome::{Cancelled, Failed, Succeeded};
    let cases: &[(Option<u32>, &[Outcome], u32, bool)] = &[
        (Some(3), &[], 0, false),
        (Some(3), &[Failed, Failed], 2, false),
        (Some(3), &[Failed, Failed, Failed], 3, true),
        (Some(3), &[Failed, Failed, Succeeded, Failed], 2, false),
        (Some(3), &[Cancelled, Failed, Cancelled, Failed, Failed], 3, true),
        (Some(3), &[Succeeded, Failed, Failed, Failed], 0, false),
        (Some(1), &[Failed], 1, true),
        (Some(0), &[Failed], 1, false),
        (None, &[Failed, Failed, Failed], 3, false),
    ];
    for (limit, outcomes, count, paused) in cases {
        assert_eq!(count_failures(outcomes.iter().copied()), *count, "{outcomes:?}");
        let pause = pause_for_failures(*limit, outcomes.iter().copied(), Timestamp(5));
        assert_eq!(
            pause.map(|pause| pause.reason),
            paused.then_some(PauseReason::Failures { count: *count }),
            "{limit:?} {outcomes:?}"
        );
    }
}

#[test]
fn the_calendar_ends_without_a_panic() {
    let plan = cron("0 8 * * *", "Pacific/Kiritimati");
    assert!(plan.list_next(at("9999-12-28T00:00Z"), 50).len() < 10);
    assert_eq!(plan.find_next(Timestamp(i64::MAX)), None);
    assert!(plan.find_next(Timestamp(i64::MIN)).is_none());
    let early = cron("0 8 * * *", "UTC");
    assert_eq!(shown(&early, "1969-12-31T07:59:59.500Z", 1), ["1969-12-31T08:00:00+00:00"]);
    assert_eq!(shown(&early, "1969-12-31T08:00:00Z", 1), ["1970-01-01T08:00:00+00:00"]);
}
