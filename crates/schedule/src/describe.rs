//! Timings in words.

mod cron;
mod rrule;

use jiff::civil::DateTime;

use crate::plan::Plan;
use crate::texts::{Language, Texts};
use crate::timing::{OnceTime, Timing};
use crate::wall::WallTimes;
use crate::zone::find_changes;
use steward_core::Timestamp;

/// The timing and its zone in words: `every weekday (Monday to Friday) at 08:00 in Europe/Berlin`.
pub fn describe(plan: &Plan, language: Language) -> String {
    let texts = Texts::of(language);
    let (text, further) = match plan.timing() {
        Timing::Cron { expression } => (cron::describe(texts, expression), Vec::new()),
        Timing::Interval { every_seconds, anchor } => {
            let begin = plan.to_wall(anchor.unwrap_or_default());
            let counted = texts.fill("counted_from", &[("date", &show_time(begin))]);
            (describe_length(texts, every_seconds.get()), vec![counted])
        }
        Timing::Once { at } => {
            let wall = match at {
                OnceTime::Wall(wall) => *wall,
                OnceTime::Instant(at) => plan.to_wall(Timestamp(at.as_millisecond())),
            };
            let time = cron::show_clock(wall.hour().unsigned_abs(), wall.minute().unsigned_abs());
            (texts.fill("once", &[("date", &texts.long_date(wall.date())), ("time", &time)]), Vec::new())
        }
        Timing::Rrule(rule) => rrule::describe(texts, rule),
    };
    let said = texts.fill("in_zone", &[("text", &text), ("zone", plan.zone_name())]);
    std::iter::once(said).chain(further).collect::<Vec<_>>().join(&texts.comma)
}

/// What happens to the timing when the clocks of its zone change, and when they do so next.
pub fn explain_changes(plan: &Plan, language: Language, now: Timestamp) -> String {
    let texts = Texts::of(language);
    let rules: Vec<&str> = match plan.timing() {
        Timing::Interval { .. } => vec!["interval"],
        Timing::Once { at: OnceTime::Instant(_) } => vec!["instant"],
        Timing::Once { at: OnceTime::Wall(_) } => vec!["fixed"],
        Timing::Rrule(rule) => vec![name_rule(rule.is_every_hour())],
        Timing::Cron { expression } => {
            let mut rules: Vec<&str> = expression.lines.iter().map(|line| name_rule(line.is_every_hour())).collect();
            rules.sort_unstable();
            rules.dedup();
            rules
        }
    };
    // Two years show each change that a zone's rules foresee.
    let change = jiff::Timestamp::from_millisecond(now.0)
        .ok()
        .and_then(|now| find_changes(plan.zone(), now, 731).into_iter().next());
    let Some(change) = change else {
        return texts.fill("never", &[("zone", plan.zone_name())]);
    };
    let mut sentences: Vec<String> = rules.iter().map(|rule| texts.fill(rule, &[])).collect();
    // The time that clocks show at that moment, before they are changed.
    let before = plan.to_wall(Timestamp(change.at.as_millisecond() - 1000));
    let shown = before.checked_add(jiff::SignedDuration::from_secs(1)).unwrap_or(before);
    let name = if change.seconds > 0 { "next_forward" } else { "next_back" };
    sentences.push(texts.fill(
        name,
        &[
            ("date", &texts.long_date(shown.date())),
            ("time", &cron::show_clock(shown.hour().unsigned_abs(), shown.minute().unsigned_abs())),
            ("n", &(change.seconds.unsigned_abs() / 60).to_string()),
        ],
    ));
    sentences.join(" ")
}

fn name_rule(every_hour: bool) -> &'static str {
    if every_hour { "every_hour" } else { "fixed" }
}

/// `2027-01-04 08:00`, with seconds where there are any.
fn show_time(wall: DateTime) -> String {
    let form = if wall.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" };
    wall.strftime(form).to_string()
}

/// `every 90 minutes`: in the largest unit that it is a multiple of.
fn describe_length(texts: &Texts, seconds: u64) -> String {
    let (unit, length) = [(3, 86_400), (2, 3_600), (1, 60), (0, 1)]
        .into_iter()
        .find(|(_, length)| seconds.is_multiple_of(*length))
        .unwrap_or((0, 1));
    let n = seconds / length;
    if n == 1 {
        let name = ["every_second", "every_minute", "every_unit", "every_day"][unit];
        return texts.fill(name, &[("unit", &texts.elapsed_units[unit])]);
    }
    texts.fill("every_count", &[("n", &n.to_string()), ("unit", &texts.elapsed_plural_units[unit])])
}
