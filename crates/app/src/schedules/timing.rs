//! Between what is sent and the types of the room `schedule`.

use crate::app::{AppError, AppResult};
use crate::dto::schedules::{
    MissedOccurrences, NextOccurrence, OverlappingOccurrences, ReadWhen, ScheduleInput, SchedulePreview,
    ScheduleQuestion, ScheduleTiming, ScheduleWhen,
};
use crate::unattended::{read_kept, to_kept};
use steward_core::Timestamp;
use steward_core::ports::ScheduleBody;
use steward_schedule::{
    Language, MissedPolicy, OverlapPolicy, Pause, Plan, Policy, Question, ReadTiming, ScheduleTime, Timing,
    TimingError, Zones, describe, explain_changes,
};

/// Longest cron expression or recurrence rule, bytes.
const MAX_TIMING: usize = 2_000;
/// How many of the next times are shown.
const SHOWN: usize = 5;

/// What is kept of a schedule, read.
pub(super) struct Kept {
    pub time: ScheduleTime,
    pub policy: Policy,
    pub pause: Option<Pause>,
}

impl Kept {
    pub fn read(body: &ScheduleBody) -> AppResult<Self> {
        Ok(Self {
            time: read_kept(&body.time)?,
            policy: read_kept(&body.policy)?,
            pause: body.pause.as_ref().map(read_kept).transpose()?,
        })
    }
}

pub(super) fn refused(error: TimingError) -> AppError {
    AppError::invalid("when", format!("{}: {}", error.part, error.problem), error.hint)
}

pub(super) fn time_of(when: &ScheduleWhen) -> AppResult<ScheduleTime> {
    if let ScheduleTiming::Cron { expression: text } | ScheduleTiming::Rrule { rule: text, .. } = &when.timing
        && text.len() > MAX_TIMING
    {
        let title = format!("it has {} bytes, and may have {MAX_TIMING}", text.len());
        return Err(AppError::invalid("when", title, "make several schedules of it"));
    }
    let timing = match &when.timing {
        ScheduleTiming::Cron { expression } => Timing::cron(expression),
        ScheduleTiming::Interval { every_seconds, anchor } => Timing::interval(*every_seconds, *anchor),
        ScheduleTiming::Once { at } => Timing::once(at),
        ScheduleTiming::Rrule { rule, begin } => Timing::rrule(rule, begin),
    };
    Ok(ScheduleTime {
        timing: timing.map_err(refused)?,
        zone: when.zone.clone(),
        start: when.start,
        end: when.end,
        jitter_seconds: when.jitter_seconds,
    })
}

/// Times of the room, as they are sent: the JSON of both is the same.
pub(super) fn when_of(time: &ScheduleTime) -> AppResult<ScheduleWhen> {
    read_kept(&to_kept(time))
}

pub(super) fn policy_of(input: &ScheduleInput) -> Policy {
    let missed = match input.missed {
        MissedOccurrences::Skip => MissedPolicy::Skip,
        MissedOccurrences::Once => MissedPolicy::Once,
        MissedOccurrences::All { within_seconds } => MissedPolicy::All { within_seconds },
    };
    let overlap = match input.overlap {
        OverlappingOccurrences::Skip => OverlapPolicy::Skip,
        OverlappingOccurrences::QueueOne => OverlapPolicy::QueueOne,
        OverlappingOccurrences::QueueAll => OverlapPolicy::QueueAll,
        OverlappingOccurrences::CancelOther => OverlapPolicy::CancelOther,
        OverlappingOccurrences::Allow => OverlapPolicy::Allow,
    };
    Policy { missed, overlap, grace_seconds: input.grace_seconds }
}

pub(super) fn missed_of(policy: &Policy) -> MissedOccurrences {
    match policy.missed {
        MissedPolicy::Skip => MissedOccurrences::Skip,
        MissedPolicy::Once => MissedOccurrences::Once,
        MissedPolicy::All { within_seconds } => MissedOccurrences::All { within_seconds },
    }
}

pub(super) fn overlap_of(policy: &Policy) -> OverlappingOccurrences {
    match policy.overlap {
        OverlapPolicy::Skip => OverlappingOccurrences::Skip,
        OverlapPolicy::QueueOne => OverlappingOccurrences::QueueOne,
        OverlapPolicy::QueueAll => OverlappingOccurrences::QueueAll,
        OverlapPolicy::CancelOther => OverlappingOccurrences::CancelOther,
        OverlapPolicy::Allow => OverlappingOccurrences::Allow,
    }
}

/// What a time says, and its next occurrences after `now`.
pub(super) fn preview_time(
    time: &ScheduleTime,
    (zones, language): (&Zones, Language),
    now: Timestamp,
) -> AppResult<SchedulePreview> {
    let plan = time.plan("", zones).map_err(refused)?;
    Ok(SchedulePreview {
        when: Some(when_of(time)?),
        description: describe(&plan, language),
        clock_changes: explain_changes(&plan, language, now),
        next: next_of(&plan, now),
        question: None,
    })
}

pub(super) fn next_of(plan: &Plan, now: Timestamp) -> Vec<NextOccurrence> {
    let shown = |found: steward_schedule::Occurrence| NextOccurrence {
        nominal: found.nominal,
        due: found.due,
        shown: plan.show(found.nominal),
        change: found.change.into(),
    };
    plan.list_next(now, SHOWN).into_iter().map(shown).collect()
}

pub(super) fn preview_question(question: Question) -> AppResult<SchedulePreview> {
    let choice = |read: ReadTiming| Ok(ReadWhen { when: when_of(&read.time)?, description: read.description });
    let choices = question.choices.into_iter().map(choice).collect::<AppResult<_>>()?;
    Ok(SchedulePreview {
        when: None,
        description: String::new(),
        clock_changes: String::new(),
        next: Vec::new(),
        question: Some(ScheduleQuestion { about: question.about, text: question.text, choices }),
    })
}

/// The request of one occurrence: `{{date}}`, `{{time}}`, `{{due}}` and `{{schedule}}` are filled in.
pub(super) fn fill_request(body: &ScheduleBody, plan: &Plan, nominal: Timestamp) -> String {
    let shown = plan.show(nominal);
    let part = |range: std::ops::Range<usize>| shown.get(range).unwrap_or_default();
    let values = [("date", part(0..10)), ("time", part(11..16)), ("due", &shown), ("schedule", &body.name)];
    let mut filled = String::with_capacity(body.request.len());
    let mut rest = body.request.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let known = after.split_once("}}").and_then(|(name, after)| {
            let value = values.iter().find(|(known, _)| *known == name.trim())?.1;
            Some((value, after))
        });
        if let Some((value, after)) = known {
            filled.push_str(value);
            rest = after;
        } else {
            filled.push_str("{{");
            rest = after;
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::{fill_request, to_kept};
    use steward_core::Timestamp;
    use steward_core::ports::ScheduleBody;
    use steward_schedule::{Policy, ScheduleTime, Timing, Zones};

    #[test]
    fn a_request_is_filled_with_the_time_by_the_wall_clock() {
        let time = ScheduleTime::new(Timing::cron("0 8 * * *").unwrap(), "Europe/Berlin");
        let plan = time.plan("x", &Zones::bundled()).unwrap();
        let request = "Report of {{date}}, {{ time }} ({{schedule}}, {{due}}); {{date} {{other}} {{";
        let body = ScheduleBody {
            name: "{{date}}".to_owned(),
            request: request.to_owned(),
            time: to_kept(&time),
            policy: to_kept(&Policy::default()),
            pause_after_failures: None,
            pause: None,
        };
        let filled = fill_request(&body, &plan, Timestamp(1_798_786_800_000));
        let expect = "Report of 2027-01-01, 08:00 ({{date}}, 2027-01-01T08:00:00+01:00); {{date} {{other}} {{";
        assert_eq!(filled, expect);
    }
}
