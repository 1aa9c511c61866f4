use jiff::Timestamp as Instant;
use steward_core::Timestamp;
use steward_schedule::{Plan, ScheduleTime, Timing, Zones};

pub fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<Instant>().unwrap_or_else(|error| panic!("{text}: {error}")).as_millisecond())
}

pub fn plan(timing: Timing, zone: &str) -> Plan {
    ScheduleTime::new(timing, zone).plan("s1", &Zones::bundled()).unwrap_or_else(|error| panic!("{zone}: {error}"))
}

pub fn cron(expression: &str, zone: &str) -> Plan {
    plan(Timing::cron(expression).unwrap_or_else(|error| panic!("{expression}: {error}")), zone)
}

pub fn rrule(rule: &str, begin: &str, zone: &str) -> Plan {
    plan(Timing::rrule(rule, begin).unwrap_or_else(|error| panic!("{rule}: {error}")), zone)
}

/// The next occurrences as a page shows them.
pub fn shown(plan: &Plan, after: &str, count: usize) -> Vec<String> {
    plan.list_next(at(after), count).iter().map(|found| plan.show(found.nominal)).collect()
}

/// All of a day given by its first and last instant.
pub fn between(plan: &Plan, after: &str, until: &str) -> Vec<String> {
    let (mut from, until) = (Timestamp(at(after).0 - 1), at(until));
    let mut found = Vec::new();
    while let Some(next) = plan.find_next(from).filter(|next| next.nominal < until) {
        found.push(plan.show(next.nominal));
        from = next.nominal;
    }
    found
}
