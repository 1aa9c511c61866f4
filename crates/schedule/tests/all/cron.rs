//! What expressions mean, where the field's libraries differ, and what is refused.

use steward_schedule::{Cron, Timing};

use super::support::{cron, shown};

fn dates(expression: &str, after: &str, count: usize) -> Vec<String> {
    shown(&cron(expression, "UTC"), after, count).into_iter().map(|text| text[..16].replace('T', " ")).collect()
}

#[test]
fn days_from_the_end_and_nearest_weekdays() {
    let cases: &[(&str, &[&str])] = &[
        // Months without a 31st are left out, as in croner: 7 of a year.
        (
            "0 0 31W * *",
            &["2027-01-29 00:00", "2027-03-31 00:00", "2027-05-31 00:00", "2027-07-30 00:00", "2027-08-31 00:00"],
        ),
        (
            "0 0 LW * *",
            &["2027-01-29 00:00", "2027-02-26 00:00", "2027-03-31 00:00", "2027-04-30 00:00", "2027-05-31 00:00"],
        ),
        ("0 0 L-3 * *", &["2027-01-28 00:00", "2027-02-25 00:00", "2027-03-28 00:00"]),
        ("0 0 L * *", &["2027-01-31 00:00", "2027-02-28 00:00"]),
        (
            "0 0 1W * *",
            &["2027-01-01 00:00", "2027-02-01 00:00", "2027-03-01 00:00", "2027-04-01 00:00", "2027-05-03 00:00"],
        ),
        ("0 0 15,L * *", &["2027-01-15 00:00", "2027-01-31 00:00", "2027-02-15 00:00"]),
        ("0 8 * * FRIL", &["2027-01-29 08:00", "2027-02-26 08:00", "2027-03-26 08:00"]),
        ("0 8 * * 5L", &["2027-01-29 08:00"]),
        ("0 8 * * MON#1", &["2027-01-04 08:00", "2027-02-01 08:00"]),
        ("0 8 * * MON#5", &["2027-03-29 08:00", "2027-05-31 08:00"]),
        ("0 8 29 2 *", &["2028-02-29 08:00", "2032-02-29 08:00"]),
        ("0 8 29 2 +MON", &["2044-02-29 08:00", "2072-02-29 08:00"]),
        ("0 0 13 * +FRI", &["2027-08-13 00:00", "2028-10-13 00:00"]),
    ];
    for (expression, expected) in cases {
        assert_eq!(dates(expression, "2026-12-31T23:59:59Z", expected.len()), *expected, "{expression}");
    }
    let in_a_year = |expression: &str| {
        dates(expression, "2026-12-31T23:59:59Z", 50).iter().filter(|at| at.starts_with("2027")).count()
    };
    assert_eq!(in_a_year("0 0 31W * *"), 7);
    assert_eq!(in_a_year("0 0 LW * *"), 12);
}

#[test]
fn two_fields_of_days_mean_either() {
    let either = [
        "2027-02-01 00:00",
        "2027-02-03 00:00",
        "2027-02-05 00:00",
        "2027-02-07 00:00",
        "2027-02-08 00:00",
        "2027-02-09 00:00",
    ];
    assert_eq!(dates("0 0 */2 * MON", "2027-01-31T12:00Z", 6), either);
    assert_eq!(
        dates("0 0 */2 * +MON", "2027-02-01T12:00Z", 4),
        ["2027-02-15 00:00", "2027-03-01 00:00", "2027-03-15 00:00", "2027-03-29 00:00"]
    );
    assert_eq!(dates("0 0 ? * MON", "2027-01-31T12:00Z", 2), ["2027-02-01 00:00", "2027-02-08 00:00"]);
}

#[test]
fn fields_lists_steps_and_names() {
    let cases: &[(&str, &[&str])] = &[
        ("0 8 * * MON-FRI", &["2027-01-01 08:00", "2027-01-04 08:00"]),
        ("0 8 * * 1-5", &["2027-01-01 08:00", "2027-01-04 08:00"]),
        ("0 8 * * 0", &["2027-01-03 08:00"]),
        ("0 8 * * 7", &["2027-01-03 08:00"]),
        ("0 8 * * sun", &["2027-01-03 08:00"]),
        ("0 8 * * FRI-SUN", &["2027-01-01 08:00", "2027-01-02 08:00", "2027-01-03 08:00", "2027-01-08 08:00"]),
        ("0 8 * * SAT-SUN", &["2027-01-02 08:00", "2027-01-03 08:00", "2027-01-09 08:00"]),
        ("0 8 * * */2", &["2027-01-02 08:00", "2027-01-03 08:00", "2027-01-05 08:00"]),
        (
            "5/15 8 * * *",
            &["2027-01-01 08:05", "2027-01-01 08:20", "2027-01-01 08:35", "2027-01-01 08:50", "2027-01-02 08:05"],
        ),
        ("0 9-17/4 * * *", &["2027-01-01 09:00", "2027-01-01 13:00", "2027-01-01 17:00"]),
        ("0 0 1 jan,JUL *", &["2027-01-01 00:00", "2027-07-01 00:00", "2028-01-01 00:00"]),
        ("0 0 1 */3 *", &["2027-01-01 00:00", "2027-04-01 00:00", "2027-07-01 00:00"]),
        ("@daily", &["2027-01-01 00:00", "2027-01-02 00:00"]),
        ("@weekly", &["2027-01-03 00:00"]),
        ("15 8 * * *; 30 17 * * *", &["2027-01-01 08:15", "2027-01-01 17:30", "2027-01-02 08:15"]),
    ];
    for (expression, expected) in cases {
        assert_eq!(dates(expression, "2026-12-31T23:59:59Z", expected.len()), *expected, "{expression}");
    }
    let seconds = shown(&cron("*/20 30 8 * * *", "UTC"), "2027-01-01T08:30:00Z", 3);
    assert_eq!(seconds, ["2027-01-01T08:30:20+00:00", "2027-01-01T08:30:40+00:00", "2027-01-02T08:30:00+00:00"]);
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    let cases = [
        ("", "cron: "),
        ("* * * *", "has 4 fields"),
        ("0 0 0 1 1 * 2027", "has 7 fields"),
        ("60 * * * *", "minute: `60`"),
        ("0 24 * * *", "hour: `24`"),
        ("0 0 0 * *", "day of month: `0`"),
        ("0 0 32 * *", "day of month: `32`"),
        ("0 0 * 13 *", "month: `13`"),
        ("0 0 * 0 *", "month: `0`"),
        ("0 0 * FEBR *", "month: `FEBR`"),
        ("0 0 * * 8", "day of week: `8`"),
        ("0 0 * * MO", "day of week: `MO`"),
        ("0 22-2 * * *", "write it as two, for example `22-23,0-2`"),
        ("*/90 * * * *", "every 90 minutes"),
        ("*/0 * * * *", "isn't a step"),
        ("*/x * * * *", "isn't a step"),
        ("1,,2 * * * *", "minute: ``"),
        ("-1 * * * *", "minute: "),
        ("+1 * * * *", "minute: "),
        ("0 0 L-0 * *", "before the last"),
        ("0 0 L-31 * *", "before the last"),
        ("0 0 W * *", "day of month: ``"),
        ("0 0 * * MON#6", "1st to 5th"),
        ("0 0 * * MON#0", "1st to 5th"),
        ("0 0 30 2 *", "never happens"),
        ("0 0 31 4,6,9,11 *", "never happens"),
        ("0 0 31W 2 *", "never happens"),
        ("@reboot", "isn't known"),
        ("@every 5m", "isn't known"),
        ("0 8 * * MON; bad", "has 1 fields"),
    ];
    for (expression, expected) in cases {
        let error = Cron::parse(expression).expect_err(expression).to_string();
        assert!(error.to_lowercase().contains(&expected.to_lowercase()), "{expression}: {error}");
        assert!(
            error.contains("example") || error.contains("Use an interval") || error.contains("L` is its last"),
            "{expression}: {error}"
        );
    }
}

#[test]
fn json_reads_what_it_writes_and_nothing_else() {
    let texts = [
        r#"{"kind":"cron","expression":"0 8 * * MON-FRI"}"#,
        r#"{"kind":"interval","every_seconds":900}"#,
        r#"{"kind":"interval","every_seconds":900,"anchor":1764428400000}"#,
        r#"{"kind":"once","at":"2027-03-14T02:30:00"}"#,
        r#"{"kind":"once","at":"2027-03-14T02:30:00Z"}"#,
        r#"{"kind":"rrule","rule":"FREQ=MONTHLY;BYDAY=-1FR","begin":"2027-01-04T08:00:00"}"#,
    ];
    for text in texts {
        let timing: Timing = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(serde_json::to_string(&timing).unwrap(), text);
    }
    let bad = [
        (r#"{"kind":"cron","expression":"0 25 * * *"}"#, "hour: `25`"),
        (r#"{"kind":"interval","every_seconds":0}"#, "an interval of 0 s"),
        (r#"{"kind":"once","at":"2027-03-14"}"#, "isn't a date with a time"),
        (r#"{"kind":"once","at":"2027-02-30T08:00"}"#, "isn't a date with a time"),
        (r#"{"kind":"rrule","rule":"FREQ=DAILY;BYSECOND=5","begin":"2027-01-04T08:00:00"}"#, "BYSECOND"),
        (r#"{"kind":"cron","expression":"0 8 * * *","zone":"UTC"}"#, "unknown field"),
        (r#"{"kind":"moon"}"#, "unknown variant"),
    ];
    for (text, expected) in bad {
        let error = serde_json::from_str::<Timing>(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
