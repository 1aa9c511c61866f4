//! Against others' libraries, where they and the stated rule mean the same: croner for cron by the wall clock, python-dateutil
//! for recurrence rules.

use jiff::Timestamp as Instant;
use proptest::prelude::*;
use proptest::sample::select;

use steward_schedule::Zones;

use super::support::{cron, rrule, shown};

/// A field: `*`, or a list of values, ranges and steps between `low` and `high`.
fn field(low: u8, high: u8) -> impl Strategy<Value = String> {
    let value = low..=high;
    let item = prop_oneof![
        3 => value.clone().prop_map(|value| value.to_string()),
        2 => (value.clone(), value).prop_map(|(one, other)| format!("{}-{}", one.min(other), one.max(other))),
        1 => (2..=(high / 2)).prop_map(|step| format!("*/{step}")),
    ];
    prop_oneof![2 => Just("*".to_owned()), 3 => prop::collection::vec(item, 1..3).prop_map(|items| items.join(","))]
}

fn day_of_month() -> impl Strategy<Value = String> {
    prop_oneof![4 => field(1, 31), 1 => select(vec!["L", "LW", "15W", "1W", "31W", "28W"]).prop_map(str::to_owned)]
}

fn day_of_week() -> impl Strategy<Value = String> {
    let special = select(vec!["MON#1", "FRI#2", "5#L", "SUN#5", "MON-FRI", "+MON", "+1-5"]);
    prop_oneof![2 => Just("*".to_owned()), 2 => (0..=7_u8).prop_map(|day| day.to_string()), 1 => special.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cron_agrees_with_croner_where_no_clock_changes(
        minute in field(0, 59),
        hour in field(0, 23),
        day in day_of_month(),
        month in field(1, 12),
        weekday in day_of_week(),
        begin in 1_700_000_000_i64..2_500_000_000,
    ) {
        let expression = format!("{minute} {hour} {day} {month} {weekday}");
        let Ok(theirs) = expression.parse::<croner::Cron>() else { return Ok(()) };
        let begin = Instant::from_second(begin).unwrap();
        let Ok(ours) = steward_schedule::Cron::parse(&expression) else {
            // What never happens is refused; croner finds nothing.
            prop_assert!(theirs.find_next_occurrence(&begin.to_zoned(jiff::tz::TimeZone::UTC), false).is_err(), "{expression}");
            return Ok(());
        };
        let after = begin.to_string();
        let found: Vec<String> = shown(&cron(ours.text(), "UTC"), &after, 6);
        let expected: Vec<String> = theirs
            .iter_after(begin.to_zoned(jiff::tz::TimeZone::UTC))
            .take(6)
            .map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
            .collect();
        prop_assert_eq!(found, expected, "{} after {}", expression, after);
    }
}

/// What the rule of `wall.rs` says, found by looking at every minute around a change of the clock. `holds` is whether the
/// pattern names a wall-clock minute.
fn look_at_every_minute(
    zone: &jiff::tz::TimeZone,
    from: Instant,
    minutes: i64,
    every_hour: bool,
    holds: impl Fn(jiff::civil::DateTime) -> bool,
) -> Vec<Instant> {
    let minute = |n: i64| from.checked_add(jiff::SignedDuration::from_mins(n)).unwrap();
    let mut found = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut before: Option<jiff::civil::DateTime> = None;
    for at in (0..minutes).map(minute) {
        let wall = zone.to_datetime(at);
        let mut due = holds(wall) && (every_hour || !seen.contains(&wall));
        if let Some(last) = before {
            // Minutes of the wall clock between the last one and this: a gap.
            let mut missing = last.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
            while !every_hour && missing < wall {
                due |= holds(missing);
                missing = missing.checked_add(jiff::SignedDuration::from_mins(1)).unwrap();
            }
        }
        if due {
            found.push(at);
        }
        seen.insert(wall);
        before = Some(wall);
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changes_of_the_clock_are_as_every_minute_says(
        zone in 0_usize..10_000,
        year in 1972_i16..2040,
        skip in 0_usize..4,
        minutes in prop::collection::btree_set(0_i8..60, 1..4),
        hours in prop::collection::btree_set(0_i8..24, 1..24),
        all_hours in prop::bool::weighted(0.3),
    ) {
        let names: Vec<String> = jiff::tz::TimeZoneDatabase::bundled().available().map(|name| name.to_string()).filter(|name| name.contains('/')).collect();
        let name = &names[zone % names.len()];
        let zone = Zones::bundled().find(name).unwrap();
        let begin = jiff::civil::date(year, 1, 1).at(0, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
        let Some(change) = zone.following(begin).nth(skip) else { return Ok(()) };
        if change.timestamp() > "2040-01-01T00:00Z".parse().unwrap() || change.timestamp().as_second() % 60 != 0 {
            return Ok(());
        }
        let hours: Vec<i8> = if all_hours { (0..24).collect() } else { hours.into_iter().collect() };
        let list = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(",");
        let expression = format!(
            "{} {} * * *",
            list(&mut minutes.iter().map(i8::to_string)),
            list(&mut hours.iter().map(i8::to_string)),
        );
        let from = change.timestamp().checked_sub(jiff::SignedDuration::from_hours(30)).unwrap();
        if zone.to_datetime(from).second() != 0 {
            return Ok(());
        }
        let holds = |wall: jiff::civil::DateTime| hours.contains(&wall.hour()) && minutes.contains(&wall.minute());
        let mut expected = look_at_every_minute(&zone, from, 72 * 60, hours.len() == 24, holds);
        // The first minutes may repeat what an earlier change showed before.
        expected.retain(|at| *at >= change.timestamp().checked_sub(jiff::SignedDuration::from_hours(6)).unwrap());
        let plan = cron(&expression, name);
        let after = change.timestamp().checked_sub(jiff::SignedDuration::from_hours(6)).unwrap();
        let last = from.checked_add(jiff::SignedDuration::from_hours(72)).unwrap();
        let found: Vec<Instant> = plan
            .list_between(
                steward_core::Timestamp(after.as_millisecond() - 1),
                steward_core::Timestamp(last.as_millisecond() - 1),
                10_000,
            )
            .iter()
            .map(|found| Instant::from_millisecond(found.nominal.0).unwrap())
            .collect();
        prop_assert_eq!(found, expected, "{} in {} around {}", expression, name, change.timestamp());
    }
}

/// Where croner 4.0.3 does otherwise than is stated: its answer, for whoever updates it.
#[test]
fn where_croner_differs() {
    let theirs = |expression: &str, zone: &str, after: &str, count: usize| -> Vec<String> {
        let begin = after.parse::<Instant>().unwrap().to_zoned(Zones::bundled().find(zone).unwrap());
        let found = expression.parse::<croner::Cron>().unwrap();
        found.iter_after(begin).take(count).map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()).collect()
    };
    let cases = [
        // After a day that is missing it finds nothing more.
        ("0 8 * * *", "Pacific/Apia", "2011-12-29T20:00Z", 0, "2011-12-31T00:00:00+14:00"),
        // A step within a missing hour has no run that day.
        ("*/20 2 * * *", "America/New_York", "2027-03-14T05:00Z", 1, "2027-03-14T03:00:00-04:00"),
    ];
    for (expression, zone, after, count, ours) in cases {
        assert_eq!(shown(&cron(expression, zone), after, 1), [ours], "{expression}");
        let theirs = theirs(expression, zone, after, 1);
        assert!(theirs.len() == count && theirs != [ours], "{expression}: {theirs:?}");
    }
    // A step of hours comes twice where the hour does.
    assert_eq!(theirs("0 */2 * * *", "Europe/Berlin", "2027-10-30T22:00Z", 2)[1], "2027-10-31T02:00:00+01:00");
    assert!("0 0 L-3 * *".parse::<croner::Cron>().is_err());
    assert!("*/90 * * * *".parse::<croner::Cron>().is_ok());
}

#[test]
fn recurrence_rules_agree_with_dateutil() {
    let mut checked = 0;
    for line in include_str!("../data/rrules.txt").lines().filter(|line| !line.starts_with('#')) {
        let [begin, rule, expected] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let expected: Vec<&str> = expected.split(' ').collect();
        let found = shown(&rrule(rule, begin, "UTC"), "2020-01-01T00:00Z", 8);
        let found: Vec<&str> = found.iter().map(|text| &text[..16]).collect();
        assert_eq!(found, expected, "{rule} from {begin}");
        checked += 1;
    }
    assert_eq!(checked, 400);
}
