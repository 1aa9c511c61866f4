//! Recurrence rules: the examples of RFC 5545, SKIP of RFC 7529, and what is refused.

use steward_schedule::Rrule;

use super::support::{rrule, shown};

fn dates(rule: &str, begin: &str, count: usize) -> Vec<String> {
    shown(&rrule(rule, begin, "America/New_York"), "1990-01-01T00:00Z", count)
        .iter()
        .map(|text| text[..16].to_owned())
        .collect()
}

/// Begin, rule, and its occurrences: the whole of it where there are fewer than nine.
#[test]
fn examples_of_the_standard() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("1997-09-02T09:00", "FREQ=DAILY;COUNT=3", &["1997-09-02T09:00", "1997-09-03T09:00", "1997-09-04T09:00"]),
        ("1997-12-23T09:00", "FREQ=DAILY;UNTIL=19971224T000000Z", &["1997-12-23T09:00"]),
        ("1997-09-02T09:00", "FREQ=DAILY;INTERVAL=10;COUNT=2", &["1997-09-02T09:00", "1997-09-12T09:00"]),
        (
            "1997-09-02T09:00",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,TH;WKST=SU",
            &["1997-09-02T09:00", "1997-09-04T09:00", "1997-09-16T09:00", "1997-09-18T09:00"],
        ),
        (
            "1997-08-05T09:00",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO",
            &["1997-08-05T09:00", "1997-08-10T09:00", "1997-08-19T09:00", "1997-08-24T09:00"],
        ),
        (
            "1997-08-05T09:00",
            "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU",
            &["1997-08-05T09:00", "1997-08-17T09:00", "1997-08-19T09:00", "1997-08-31T09:00"],
        ),
        (
            "1997-09-05T09:00",
            "FREQ=MONTHLY;COUNT=3;BYDAY=1FR",
            &["1997-09-05T09:00", "1997-10-03T09:00", "1997-11-07T09:00"],
        ),
        (
            "1997-09-28T09:00",
            "FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=3",
            &["1997-09-28T09:00", "1997-10-29T09:00", "1997-11-28T09:00"],
        ),
        (
            "1997-09-02T09:00",
            "FREQ=MONTHLY;COUNT=4;BYMONTHDAY=2,15",
            &["1997-09-02T09:00", "1997-09-15T09:00", "1997-10-02T09:00", "1997-10-15T09:00"],
        ),
        (
            "1997-05-19T09:00",
            "FREQ=YEARLY;BYDAY=20MO;COUNT=3",
            &["1997-05-19T09:00", "1998-05-18T09:00", "1999-05-17T09:00"],
        ),
        (
            "1997-09-02T09:00",
            "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3",
            &["1998-02-13T09:00", "1998-03-13T09:00", "1998-11-13T09:00"],
        ),
        (
            "1996-11-05T09:00",
            "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3",
            &["1996-11-05T09:00", "2000-11-07T09:00", "2004-11-02T09:00"],
        ),
        (
            "1997-09-04T09:00",
            "FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3",
            &["1997-09-04T09:00", "1997-10-07T09:00", "1997-11-06T09:00"],
        ),
        (
            "1997-09-29T09:00",
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3",
            &["1997-09-29T09:00", "1997-10-30T09:00", "1997-11-27T09:00"],
        ),
        (
            "1997-09-02T09:00",
            "FREQ=HOURLY;INTERVAL=3;COUNT=3",
            &["1997-09-02T09:00", "1997-09-02T12:00", "1997-09-02T15:00"],
        ),
        (
            "1997-09-02T09:00",
            "FREQ=MINUTELY;INTERVAL=90;COUNT=3",
            &["1997-09-02T09:00", "1997-09-02T10:30", "1997-09-02T12:00"],
        ),
        (
            "2007-01-15T09:00",
            "FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=4",
            &["2007-01-15T09:00", "2007-01-30T09:00", "2007-02-15T09:00", "2007-03-15T09:00"],
        ),
    ];
    for (begin, rule, expected) in cases {
        assert_eq!(
            dates(rule, begin, 9).iter().take(expected.len()).collect::<Vec<_>>(),
            expected.iter().collect::<Vec<_>>(),
            "{rule}"
        );
        if rule.contains("COUNT") || rule.contains("UNTIL") {
            assert_eq!(dates(rule, begin, 9).len(), expected.len(), "{rule}");
        }
    }
}

#[test]
fn skip_moves_days_that_a_month_lacks() {
    let cases: &[(&str, &[&str])] = &[
        ("FREQ=MONTHLY;BYMONTHDAY=31", &["2027-01-31", "2027-03-31", "2027-05-31"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=OMIT", &["2027-01-31", "2027-03-31", "2027-05-31"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", &["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"]),
        (
            "RSCALE=GREGORIAN;FREQ=MONTHLY;BYMONTHDAY=31;SKIP=FORWARD",
            &["2027-01-31", "2027-03-01", "2027-03-31", "2027-05-01"],
        ),
        ("FREQ=MONTHLY;BYMONTHDAY=28,31;SKIP=BACKWARD", &["2027-01-28", "2027-01-31", "2027-02-28", "2027-03-28"]),
        (
            "FREQ=MONTHLY;BYMONTHDAY=1,31;SKIP=FORWARD",
            &["2027-01-01", "2027-01-31", "2027-02-01", "2027-03-01", "2027-03-31"],
        ),
        (
            "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=31;SKIP=FORWARD",
            &["2027-01-31", "2027-05-01", "2027-07-31", "2027-10-31"],
        ),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;SKIP=BACKWARD", &["2027-02-28", "2028-02-29", "2029-02-28"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;SKIP=FORWARD", &["2027-03-01", "2028-02-29", "2029-03-01"]),
    ];
    for (rule, expected) in cases {
        let found = dates(rule, "2027-01-01T09:00", expected.len());
        assert_eq!(found.iter().map(|text| &text[..10]).collect::<Vec<_>>(), *expected, "{rule}");
    }
    let leap = dates("FREQ=YEARLY;SKIP=BACKWARD", "2024-02-29T09:00", 3);
    assert_eq!(leap, ["2024-02-29T09:00", "2025-02-28T09:00", "2026-02-28T09:00"]);
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let cases = [
        ("", "FREQ: it is missing"),
        ("FREQ=FORTNIGHTLY", "FREQ: `FORTNIGHTLY`"),
        ("FREQ=SECONDLY", "FREQ: SECONDLY isn't supported"),
        ("FREQ=DAILY;BYSECOND=5", "BYSECOND: it isn't supported"),
        ("FREQ=YEARLY;BYYEARDAY=100", "BYYEARDAY: it isn't supported"),
        ("FREQ=YEARLY;BYWEEKNO=20", "BYWEEKNO: it isn't supported"),
        ("FREQ=YEARLY;BYEASTER=0", "BYEASTER: it isn't supported"),
        ("FREQ=DAILY;FOO=1", "FOO: it isn't supported"),
        ("FREQ=DAILY;X-OURS=1", "X-OURS: it isn't supported"),
        ("FREQ=DAILY;TZID=Europe/Berlin", "TZID: it isn't supported"),
        ("FREQ=DAILY;SKIP=SIDEWAYS", "SKIP: `SIDEWAYS`"),
        ("RSCALE=HEBREW;FREQ=DAILY", "RSCALE: the calendar HEBREW"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ: it is given twice"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL: `0`"),
        ("FREQ=DAILY;COUNT=0", "COUNT: `0`"),
        ("FREQ=DAILY;COUNT=-1", "COUNT: `-1`"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270201", "COUNT: COUNT and UNTIL"),
        ("FREQ=DAILY;UNTIL=2027", "UNTIL: `2027`"),
        ("FREQ=DAILY;UNTIL=20270230", "UNTIL: `20270230`"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR: `24`"),
        ("FREQ=DAILY;BYHOUR=", "BYHOUR: "),
        ("FREQ=MONTHLY;BYMONTHDAY=32", "BYMONTHDAY: `32`"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY: `0`"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY: it can't stand"),
        ("FREQ=WEEKLY;BYDAY=2MO", "BYDAY: an ordinal"),
        ("FREQ=MONTHLY;BYDAY=XX", "BYDAY: `XX`"),
        ("FREQ=MONTHLY;BYDAY=M", "BYDAY: `M`"),
        ("FREQ=MONTHLY;BYDAY=99MO", "BYDAY: `99`"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS: there is nothing"),
        ("FREQ=HOURLY;BYMINUTE=1,2;BYSETPOS=1", "BYSETPOS: it isn't supported"),
        (
            "FREQ=YEARLY;BYMONTH=1;BYHOUR=1,2,3,4,5,6;BYMINUTE=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17;BYSETPOS=1",
            "too many times",
        ),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "RRULE: `FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30` never happens"),
        ("FREQ=DAILY;UNTIL=20200101", "never happens"),
        ("DAILY", "RRULE: `DAILY` isn't NAME=VALUE"),
        ("FREQ=DAILY\nRRULE:FREQ=WEEKLY", "more than one line"),
    ];
    for (rule, expected) in cases {
        let error = Rrule::parse(rule, "2027-01-01T09:00").expect_err(rule).to_string();
        assert!(error.contains(expected), "{rule}: {error}");
    }
    for begin in ["", "2027-01-01", "2027-01-01T09:00Z", "2027-02-30T09:00", "tomorrow"] {
        let error = Rrule::parse("FREQ=DAILY", begin).expect_err(begin).to_string();
        assert!(error.starts_with("begin: "), "{begin}: {error}");
    }
}

#[test]
fn the_beginning_is_no_occurrence_of_its_own() {
    assert_eq!(dates("FREQ=WEEKLY;BYDAY=MO;COUNT=2", "2027-01-01T09:00", 5), ["2027-01-04T09:00", "2027-01-11T09:00"]);
}
