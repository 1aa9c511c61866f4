//! The stated rule for changes of the clock, against the table of `unattended.md`.

use steward_schedule::{ClockChange, Timing};

use super::support::{at, between, cron, plan, rrule, shown};

/// Expression, zone, from and to, and what is due between them.
type Case = (&'static str, &'static str, [&'static str; 2], &'static [&'static str]);

fn check(cases: &[Case]) {
    for (expression, zone, [from, to], expected) in cases {
        let found = between(&cron(expression, zone), from, to);
        assert_eq!(found, *expected, "{expression} in {zone} from {from}");
    }
}

#[test]
fn a_missing_time_fires_once_at_the_first_instant_after_the_gap() {
    check(&[
        // Midnight to 1:00 is missing.
        (
            "30 0 * * *",
            "America/Santiago",
            ["2027-09-05T00:00-04:00", "2027-09-06T03:00Z"],
            &["2027-09-05T01:00:00-03:00"],
        ),
        ("0 0 * * *", "America/Santiago", ["2027-09-05T04:00Z", "2027-09-06T03:00Z"], &["2027-09-05T01:00:00-03:00"]),
        (
            "0,20,40 0 * * *",
            "America/Santiago",
            ["2027-09-05T04:00Z", "2027-09-06T03:00Z"],
            &["2027-09-05T01:00:00-03:00"],
        ),
        (
            "*/10 0 * * *",
            "America/Santiago",
            ["2027-09-05T04:00Z", "2027-09-06T03:00Z"],
            &["2027-09-05T01:00:00-03:00"],
        ),
        // What is due at the end of the gap anyway fires once.
        (
            "30 0,1 * * *",
            "America/Santiago",
            ["2027-09-05T04:00Z", "2027-09-06T03:00Z"],
            &["2027-09-05T01:00:00-03:00", "2027-09-05T01:30:00-03:00"],
        ),
        ("0 0,1 * * *", "America/Santiago", ["2027-09-05T04:00Z", "2027-09-06T03:00Z"], &["2027-09-05T01:00:00-03:00"]),
        // Half an hour is missing.
        (
            "15 2 * * *",
            "Australia/Lord_Howe",
            ["2027-10-02T13:30Z", "2027-10-03T13:00Z"],
            &["2027-10-03T02:30:00+11:00"],
        ),
        (
            "45 2 * * *",
            "Australia/Lord_Howe",
            ["2027-10-02T13:30Z", "2027-10-03T13:00Z"],
            &["2027-10-03T02:45:00+11:00"],
        ),
        ("30 2 * * *", "America/New_York", ["2027-03-14T05:00Z", "2027-03-15T04:00Z"], &["2027-03-14T03:00:00-04:00"]),
        ("30 2 * * *", "Europe/Berlin", ["2027-03-27T23:00Z", "2027-03-28T22:00Z"], &["2027-03-28T03:00:00+02:00"]),
        // A whole day is missing, 30 December 2011, a Friday.
        (
            "0 8 * * *",
            "Pacific/Apia",
            ["2011-12-29T10:00Z", "2012-01-01T10:00Z"],
            &[
                "2011-12-29T08:00:00-10:00",
                "2011-12-31T00:00:00+14:00",
                "2011-12-31T08:00:00+14:00",
                "2012-01-01T08:00:00+14:00",
            ],
        ),
        ("0 8 * * FRI", "Pacific/Apia", ["2011-12-29T10:00Z", "2012-01-01T10:00Z"], &["2011-12-31T00:00:00+14:00"]),
        // The day without a change.
        ("30 2 * * *", "America/New_York", ["2027-03-15T04:00Z", "2027-03-16T04:00Z"], &["2027-03-15T02:30:00-04:00"]),
    ]);
}

#[test]
fn a_time_that_comes_twice_fires_the_first_time() {
    check(&[
        ("30 1 * * *", "America/New_York", ["2027-11-07T04:00Z", "2027-11-08T05:00Z"], &["2027-11-07T01:30:00-04:00"]),
        ("30 2 * * *", "Europe/Berlin", ["2027-10-30T22:00Z", "2027-10-31T23:00Z"], &["2027-10-31T02:30:00+02:00"]),
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            ["2027-04-03T13:00Z", "2027-04-04T13:30Z"],
            &["2027-04-04T01:45:00+11:00"],
        ),
        (
            "15 1 * * *",
            "Australia/Lord_Howe",
            ["2027-04-03T13:00Z", "2027-04-04T13:30Z"],
            &["2027-04-04T01:15:00+11:00"],
        ),
        (
            "*/20 1 * * *",
            "America/New_York",
            ["2027-11-07T04:00Z", "2027-11-08T05:00Z"],
            &["2027-11-07T01:00:00-04:00", "2027-11-07T01:20:00-04:00", "2027-11-07T01:40:00-04:00"],
        ),
        (
            "0 */2 * * *",
            "Europe/Berlin",
            ["2027-10-30T22:00Z", "2027-10-31T04:00Z"],
            &["2027-10-31T00:00:00+02:00", "2027-10-31T02:00:00+02:00", "2027-10-31T04:00:00+01:00"],
        ),
        // In Santiago the hour before midnight comes twice, so the day ends once by the calendar.
        (
            "30 23 * * *",
            "America/Santiago",
            ["2027-04-03T12:00Z", "2027-04-05T12:00Z"],
            &["2027-04-03T23:30:00-03:00", "2027-04-04T23:30:00-04:00"],
        ),
    ]);
}

#[test]
fn what_fires_in_every_hour_goes_on_as_a_clock_does() {
    check(&[
        (
            "30 * * * *",
            "America/New_York",
            ["2027-03-14T06:00Z", "2027-03-14T09:00Z"],
            &["2027-03-14T01:30:00-05:00", "2027-03-14T03:30:00-04:00", "2027-03-14T04:30:00-04:00"],
        ),
        (
            "*/30 * * * *",
            "America/New_York",
            ["2027-11-07T05:00Z", "2027-11-07T07:00Z"],
            &[
                "2027-11-07T01:00:00-04:00",
                "2027-11-07T01:30:00-04:00",
                "2027-11-07T01:00:00-05:00",
                "2027-11-07T01:30:00-05:00",
            ],
        ),
        (
            "*/15 * * * *",
            "Australia/Lord_Howe",
            ["2027-10-02T15:00Z", "2027-10-02T16:00Z"],
            &[
                "2027-10-03T01:30:00+10:30",
                "2027-10-03T01:45:00+10:30",
                "2027-10-03T02:30:00+11:00",
                "2027-10-03T02:45:00+11:00",
            ],
        ),
        (
            "0 0-23 * * *",
            "Europe/Berlin",
            ["2027-03-28T00:00Z", "2027-03-28T02:00Z"],
            &["2027-03-28T01:00:00+01:00", "2027-03-28T03:00:00+02:00"],
        ),
    ]);
}

#[test]
fn zones_without_changes_and_odd_offsets() {
    check(&[
        (
            "45 8 * * *",
            "Asia/Kathmandu",
            ["2027-03-28T00:00Z", "2027-03-30T00:00Z"],
            &["2027-03-28T08:45:00+05:45", "2027-03-29T08:45:00+05:45"],
        ),
        ("0 8 * * *", "UTC", ["2027-03-28T00:00Z", "2027-03-29T00:00Z"], &["2027-03-28T08:00:00+00:00"]),
        (
            "0 8 * * *",
            "Asia/Tokyo",
            ["2027-03-28T00:00+09:00", "2027-03-29T00:00+09:00"],
            &["2027-03-28T08:00:00+09:00"],
        ),
        (
            "0 8 29 2 *",
            "Asia/Kolkata",
            ["2027-03-01T00:00Z", "2033-01-01T00:00Z"],
            &["2028-02-29T08:00:00+05:30", "2032-02-29T08:00:00+05:30"],
        ),
    ]);
}

#[test]
fn intervals_are_elapsed_time() {
    let every = plan(Timing::interval(7_200, Some(at("2027-03-13T23:00-05:00"))).unwrap(), "America/New_York");
    assert_eq!(
        shown(&every, "2027-03-14T03:59:59Z", 4),
        [
            "2027-03-13T23:00:00-05:00",
            "2027-03-14T01:00:00-05:00",
            "2027-03-14T04:00:00-04:00",
            "2027-03-14T06:00:00-04:00",
        ]
    );
    let day = plan(Timing::interval(86_400, Some(at("2027-10-30T08:00+02:00"))).unwrap(), "Europe/Berlin");
    assert_eq!(shown(&day, "2027-10-30T00:00Z", 2), ["2027-10-30T08:00:00+02:00", "2027-10-31T07:00:00+01:00"]);
    assert_eq!(shown(&day, "2027-10-29T00:00Z", 1), ["2027-10-29T08:00:00+02:00"], "it counts backwards too");
}

#[test]
fn a_single_time_keeps_to_the_same_rule() {
    let gap = plan(Timing::once("2027-03-14T02:30").unwrap(), "America/New_York");
    assert_eq!(shown(&gap, "2027-01-01T00:00Z", 3), ["2027-03-14T03:00:00-04:00"]);
    assert_eq!(gap.find_next(at("2027-01-01T00:00Z")).unwrap().change, ClockChange::AfterGap);
    assert_eq!(gap.find_next(at("2027-03-14T07:00Z")), None);
    let twice = plan(Timing::once("2027-11-07T01:30").unwrap(), "America/New_York");
    assert_eq!(shown(&twice, "2027-01-01T00:00Z", 3), ["2027-11-07T01:30:00-04:00"]);
    assert_eq!(twice.find_next(at("2027-01-01T00:00Z")).unwrap().change, ClockChange::FirstOfTwo);
    let instant = plan(Timing::once("2027-11-07T01:30:00-05:00").unwrap(), "America/New_York");
    assert_eq!(shown(&instant, "2027-01-01T00:00Z", 3), ["2027-11-07T01:30:00-05:00"]);
}

#[test]
fn recurrence_rules_keep_to_the_same_rule() {
    let daily = rrule("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "2027-03-13T00:00", "America/New_York");
    assert_eq!(
        shown(&daily, "2027-03-13T05:00Z", 3),
        ["2027-03-13T02:30:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-15T02:30:00-04:00",]
    );
    let hourly = rrule("FREQ=HOURLY", "2027-11-07T00:30", "America/New_York");
    assert_eq!(
        shown(&hourly, "2027-11-07T04:00Z", 4),
        [
            "2027-11-07T00:30:00-04:00",
            "2027-11-07T01:30:00-04:00",
            "2027-11-07T01:30:00-05:00",
            "2027-11-07T02:30:00-05:00",
        ]
    );
    let nights = rrule("FREQ=HOURLY;INTERVAL=6", "2027-09-04T00:00", "America/Santiago");
    assert_eq!(
        shown(&nights, "2027-09-04T22:00Z", 3),
        ["2027-09-05T01:00:00-03:00", "2027-09-05T06:00:00-03:00", "2027-09-05T12:00:00-03:00",]
    );
}

#[test]
fn the_next_five_are_shown_with_their_offsets() {
    let daily = cron("30 2 * * *", "Europe/Berlin");
    let found = daily.list_next(at("2027-03-26T12:00Z"), 5);
    let shown: Vec<_> = found.iter().map(|found| (daily.show(found.nominal), found.change)).collect();
    assert_eq!(
        shown,
        [
            ("2027-03-27T02:30:00+01:00".to_owned(), ClockChange::None),
            ("2027-03-28T03:00:00+02:00".to_owned(), ClockChange::AfterGap),
            ("2027-03-29T02:30:00+02:00".to_owned(), ClockChange::None),
            ("2027-03-30T02:30:00+02:00".to_owned(), ClockChange::None),
            ("2027-03-31T02:30:00+02:00".to_owned(), ClockChange::None),
        ]
    );
    let autumn = daily.list_next(at("2027-10-31T00:00Z"), 2);
    assert_eq!(autumn[0].change, ClockChange::FirstOfTwo);
    assert_eq!(autumn[1].change, ClockChange::None);
    let each = cron("*/30 * * * *", "Europe/Berlin").list_next(at("2027-10-31T00:45Z"), 3);
    assert_eq!(
        each.iter().map(|found| found.change).collect::<Vec<_>>(),
        [ClockChange::SecondOfTwo, ClockChange::SecondOfTwo, ClockChange::None,]
    );
}
