//! Timings in words.

use steward_schedule::{Language, Plan, Timing, describe, explain_changes};

use super::support::{at, cron, plan, rrule};

#[test]
fn cron_in_words() {
    let cases = [
        ("0 8 * * MON-FRI", "every weekday (Monday to Friday) at 08:00", "jeden Werktag (Montag bis Freitag) um 08:00"),
        ("0 8 * * *", "every day at 08:00", "jeden Tag um 08:00"),
        (
            "30 8,17 * * 1,4",
            "every Monday and Thursday at 08:30 and 17:30",
            "jeden Montag und Donnerstag um 08:30 und 17:30",
        ),
        ("15 8 * * *; 30 17 * * *", "every day at 08:15 and 17:30", "jeden Tag um 08:15 und 17:30"),
        ("*/15 * * * *", "every day every 15 minutes", "jeden Tag alle 15 Minuten"),
        ("* * * * *", "every day every minute", "jeden Tag jede Minute"),
        ("* 8-17 * * *", "every day every minute from 08:00 to 17:59", "jeden Tag jede Minute von 08:00 bis 17:59"),
        ("0 * * * *", "every day every hour on the hour", "jeden Tag zu jeder vollen Stunde"),
        ("20 * * * *", "every day every hour at minute 20", "jeden Tag jede Stunde zur Minute 20"),
        (
            "*/15 9-16 * * 1-5; 0 17 * * 1-5",
            "every weekday (Monday to Friday) every 15 minutes from 09:00 to 16:45 and at 17:00",
            "jeden Werktag (Montag bis Freitag) alle 15 Minuten von 09:00 bis 16:45 und um 17:00",
        ),
        (
            "0 0 */2 * MON",
            "on the 1st, 3rd, 5th, 7th, 9th, 11th, 13th, 15th, 17th, 19th, 21st, 23rd, 25th, 27th, 29th and 31st of the month or every Monday at 00:00",
            "am 1., 3., 5., 7., 9., 11., 13., 15., 17., 19., 21., 23., 25., 27., 29. und 31. des Monats oder jeden Montag um 00:00",
        ),
        (
            "0 0 13 * +FRI",
            "on the 13th of the month, if that is also every Friday at 00:00",
            "am 13. des Monats, wenn das zugleich heißt: jeden Freitag, um 00:00",
        ),
        ("0 6 L * *", "on the last day of the month at 06:00", "am letzten Tag des Monats um 06:00"),
        (
            "0 6 L-3 * *",
            "3 days before the last day of the month at 06:00",
            "3 Tage vor dem letzten Tag des Monats um 06:00",
        ),
        (
            "0 6 LW * *",
            "on the last weekday (Monday to Friday) of the month at 06:00",
            "am letzten Werktag (Montag bis Freitag) des Monats um 06:00",
        ),
        (
            "0 6 15W * *",
            "on the weekday (Monday to Friday) nearest to the 15th of the month at 06:00",
            "an dem Werktag (Montag bis Freitag), der dem 15. des Monats am nächsten liegt, um 06:00",
        ),
        ("0 6 * * FRIL", "on the last Friday of the month at 06:00", "am letzten Freitag des Monats um 06:00"),
        ("0 6 * * MON#1", "on the first Monday of the month at 06:00", "am ersten Montag des Monats um 06:00"),
        ("0 6 1 1,7 *", "on the 1st of January and July at 06:00", "am 1. Januar und Juli um 06:00"),
        ("30 0 8 * * *", "every day at 08:00:30", "jeden Tag um 08:00:30"),
        ("*/10 * * * * *", "every day every 10 seconds", "jeden Tag alle 10 Sekunden"),
        (
            "0 9-17 * * *",
            "every day at 09:00, 10:00, 11:00, 12:00, 13:00, 14:00, 15:00, 16:00 and 17:00",
            "jeden Tag um 09:00, 10:00, 11:00, 12:00, 13:00, 14:00, 15:00, 16:00 und 17:00",
        ),
        ("0 6-22 * * *", "every day every hour from 06:00 to 22:00", "jeden Tag jede Stunde von 06:00 bis 22:00"),
    ];
    for (expression, english, german) in cases {
        let plan = cron(expression, "Europe/Berlin");
        assert_eq!(describe(&plan, Language::English), format!("{english} in Europe/Berlin"), "{expression}");
        assert_eq!(describe(&plan, Language::German), format!("{german} in Europe/Berlin"), "{expression}");
    }
}

fn check(plan: &Plan, english: &str, german: &str) {
    assert_eq!(describe(plan, Language::English), english);
    assert_eq!(describe(plan, Language::German), german);
}

#[test]
fn other_timings_in_words() {
    check(
        &plan(Timing::interval(5_400, Some(at("2026-11-29T00:00+01:00"))).unwrap(), "Europe/Berlin"),
        "every 90 minutes in Europe/Berlin, counted from 2026-11-29 00:00",
        "alle 90 Minuten in Europe/Berlin, gezählt ab 2026-11-29 00:00",
    );
    check(
        &plan(Timing::once("2026-11-30T12:00").unwrap(), "Europe/Berlin"),
        "once, on Monday, 30 November 2026 at 12:00 in Europe/Berlin",
        "einmal, am Montag, 30. November 2026 um 12:00 in Europe/Berlin",
    );
    check(
        &rrule("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=10;BYMINUTE=0", "2026-11-30T10:00", "UTC"),
        "every 2 weeks on Monday at 10:00 in UTC, counted from 2026-11-30 10:00",
        "alle 2 Wochen am Montag um 10:00 in UTC, gezählt ab 2026-11-30 10:00",
    );
    check(
        &rrule("FREQ=MONTHLY;BYDAY=-2FR;COUNT=3", "2026-11-30T10:00", "UTC"),
        "every month on the second last Friday of the month at 10:00 in UTC, counted from 2026-11-30 10:00, 3 times in all",
        "einmal je Monat am vorletzten Freitag des Monats um 10:00 in UTC, gezählt ab 2026-11-30 10:00, insgesamt 3-mal",
    );
}

#[test]
fn changes_of_the_clock_in_words() {
    let now = at("2026-11-29T15:30:00Z");
    let fixed = explain_changes(&cron("30 2 * * *", "Europe/Berlin"), Language::English, now);
    assert!(fixed.contains("first instant after the gap") && fixed.contains("the first time only"), "{fixed}");
    assert!(fixed.ends_with("Next change: Sunday, 28 March 2027 at 02:00, 60 minutes forward."), "{fixed}");
    let hourly = explain_changes(&cron("30 * * * *", "Australia/Lord_Howe"), Language::English, now);
    assert!(
        hourly.contains("counts twice")
            && hourly.ends_with("Next change: Sunday, 4 April 2027 at 02:00, 30 minutes back."),
        "{hourly}"
    );
    let interval = plan(Timing::interval(3_600, None).unwrap(), "America/New_York");
    assert!(explain_changes(&interval, Language::German, now).contains("immer gleich viel Zeit"));
    let never = explain_changes(&cron("30 2 * * *", "Asia/Kathmandu"), Language::English, now);
    assert_eq!(never, "The clocks in Asia/Kathmandu don't change.");
    let both = explain_changes(&cron("0 8 * * *; 5 * * * *", "Europe/Berlin"), Language::English, now);
    assert!(both.contains("counts twice") && both.contains("the first time only"), "{both}");
}
