//! Input that means harm or nothing: no panic, and no search without an end.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use steward_core::Timestamp;
use steward_schedule::{Cron, Language, OnceTime, Plan, Rrule, Timing, describe, explain_changes};

use super::support::{at, plan};

/// Far more than any of them takes, in a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// Each timing can be said, and each place of its texts is filled in.
fn check_words(plan: &Plan) -> Result<(), TestCaseError> {
    for language in [Language::English, Language::German] {
        let now = at("2027-09-04T00:00Z");
        for text in [describe(plan, language), explain_changes(plan, language, now)] {
            prop_assert!(
                text.len() > 15 && !text.contains(['{', '}', '?', '_']) || text.contains("Lord_Howe"),
                "{text}"
            );
            prop_assert!(!text.contains("  ") && !text.contains(" ,"), "{text}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_cron_is_read_or_refused(text in "[0-9*/,LW#?;@+ -]{0,24}|([0-9*]{1,2}(/[0-9]{1,2})?(-[0-9]{1,2})?(,[0-9LW]{1,2})? ){4,6}[0-9MONL#*]{1,4}") {
        if let Ok(cron) = Cron::parse(&text) {
            let plan = plan(Timing::Cron { expression: cron }, "America/Santiago");
            check_words(&plan)?;
            for found in plan.list_next(at("2027-09-04T00:00Z"), 3) {
                prop_assert!(found.nominal > at("2027-09-04T00:00Z"));
            }
        }
    }

    #[test]
    fn any_rule_is_read_or_refused(
        frequency in "MINUTELY|HOURLY|DAILY|WEEKLY|MONTHLY|YEARLY|SECONDLY|X",
        parts in prop::collection::vec("(INTERVAL|COUNT|BYMONTH|BYMONTHDAY|BYHOUR|BYMINUTE|BYSETPOS)=-?[0-9]{1,3}(,-?[0-9]{1,2}){0,2}|BYDAY=-?[0-9]?(MO|SU|XX)|UNTIL=20[0-9]{6}(T[0-9]{6}Z?)?|SKIP=(OMIT|BACKWARD|FORWARD)|WKST=SU", 0..4),
        begin in "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]",
    ) {
        let rule = std::iter::once(format!("FREQ={frequency}")).chain(parts).collect::<Vec<_>>().join(";");
        if let Ok(rule) = Rrule::parse(&rule, &begin) {
            let plan = plan(Timing::Rrule(rule), "Europe/Berlin");
            check_words(&plan)?;
            let found = plan.list_next(at("1999-01-01T00:00Z"), 4);
            prop_assert!(!found.is_empty());
            prop_assert!(found.windows(2).all(|pair| pair[0].nominal < pair[1].nominal));
        }
    }

    #[test]
    fn any_time_is_read_or_refused(text in "\\PC{0,30}|[0-9TZ:+.-]{0,25}") {
        if let Ok(time) = OnceTime::parse(&text) {
            let plan = plan(Timing::Once { at: time }, "Pacific/Apia");
            let _ = plan.find_next(Timestamp(0));
        }
        let _ = Cron::parse(&text);
        let _ = Rrule::parse(&text, &text);
    }
}

#[test]
fn searches_end_soon() {
    let all = |end: u32| (0..end).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    let each_minute = format!("FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYHOUR={};BYMINUTE={}", all(24), all(60));
    let rules = [
        each_minute.as_str(),
        "FREQ=MINUTELY;INTERVAL=1439;BYHOUR=3;BYMINUTE=7;COUNT=1000",
        "FREQ=MINUTELY;INTERVAL=100000;BYMONTH=2;BYMONTHDAY=29;BYHOUR=3;BYMINUTE=7",
        "FREQ=MINUTELY;INTERVAL=2;BYMINUTE=1",
        "FREQ=HOURLY;INTERVAL=99999;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;BYHOUR=3",
        "FREQ=DAILY;INTERVAL=100000;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=WEEKLY;INTERVAL=99999;BYMONTH=2",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31;BYMONTH=2",
        "FREQ=YEARLY;INTERVAL=9;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO;COUNT=1000",
        "FREQ=YEARLY;BYDAY=53MO;COUNT=1000",
        "FREQ=YEARLY;BYDAY=MO;BYSETPOS=366;SKIP=FORWARD",
    ];
    for rule in rules {
        let begin = Instant::now();
        if let Ok(timing) = Timing::rrule(rule, "2027-01-01T00:00") {
            let plan = plan(timing, "Europe/Berlin");
            plan.list_next(at("2027-01-01T00:00Z"), 50);
        }
        let taken = begin.elapsed();
        assert!(taken < LIMIT, "{rule}: {taken:?}");
    }
    for cron in ["0 0 29 2 +MON", "59 59 23 31 12 +SUN", "0 0 29W 2 +SAT", "0 0 29 2 +SUN#5"] {
        let begin = Instant::now();
        if let Ok(timing) = Timing::cron(cron) {
            plan(timing, "America/New_York").list_next(at("2027-01-01T00:00Z"), 50);
        }
        assert!(begin.elapsed() < LIMIT, "{cron}: {:?}", begin.elapsed());
    }
}
