//! Replay of a log by the present program: the state machine, the prompts, the parsers.

use crate::prompting::argument_from_results;
use crate::prompting::compaction_event::replayed_compaction;
use crate::prompting::interpret_reply::interpret_reply;
use crate::prompting::model_request::{BuiltRequest, build_request, reply_parser, strategy};
use crate::prompting::open_arguments::arguments_from_reply;
use crate::prompting::plan_replies::{deep_plan_from_reply, plan_from_replies};
use crate::prompting::raw_reply;
use crate::prompting::search_strings;
use crate::run::journal::unknown_event;
use serde::{Deserialize, Serialize};
use steward_core::budget::Limit;
use steward_core::event::{Event, EventBody, Noticed, Outcome, Setup};
use steward_core::message::Message;
use steward_core::model::{ModelErrorClass, Purpose};
use steward_core::plan::{self, Candidate};
use steward_core::prompt::Compaction;
use steward_core::run::{Checked, Difference, Effect, RunState, check};
use steward_core::tool::{ToolCall, truncate};
use steward_core::{RunId, budget, hash};

/// Longest text quoted in a difference, characters.
const QUOTE: usize = 200;
/// Scores nearer than this are the same.
const SCORE_TOLERANCE: f32 = 1e-4;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayReport {
    pub run: RunId,
    pub events: u64,
    /// How many of them were decisions of the program or replies to be understood.
    pub decisions: u64,
    pub same: bool,
    pub differences: Vec<Difference>,
}

type RecordedAndNow = (String, String);

pub(crate) fn replay_events(run: RunId, events: &[Event], max_plan_steps: usize) -> ReplayReport {
    let mut replayer = Replayer::new(run, max_plan_steps);
    for event in events {
        replayer.step(event);
    }
    replayer.finish()
}

pub(crate) struct Replayer {
    state: RunState,
    max_plan_steps: usize,
    report: ReplayReport,
}

impl Replayer {
    pub fn new(run: RunId, max_plan_steps: usize) -> Self {
        Self {
            state: RunState::new(run),
            max_plan_steps,
            report: ReplayReport { run, events: 0, decisions: 0, same: true, differences: Vec::new() },
        }
    }

    pub fn step(&mut self, event: &Event) {
        self.report.events += 1;
        if let Some(why) = unknown_event(event) {
            self.differs(event.seq, (why, "not known to this program".to_owned()));
        } else if !self.state.is_inherited(event.seq) {
            match check(&self.state, event) {
                Checked::Differs(difference) => {
                    self.report.decisions += 1;
                    self.report.differences.push(difference);
                }
                Checked::Same => {
                    self.report.decisions += 1;
                    self.inspect(event);
                }
                Checked::NoDecision => self.inspect(event),
            }
        }
        self.state.apply(event);
    }

    pub fn finish(mut self) -> ReplayReport {
        self.report.same = self.report.differences.is_empty();
        self.report
    }

    fn differs(&mut self, seq: u64, (recorded, now): RecordedAndNow) {
        self.report.differences.push(Difference { seq, recorded, now });
    }

    /// What the state machine can't know: prompts, replies, plans.
    fn inspect(&mut self, event: &Event) {
        let Some(setup) = self.state.setup.clone() else {
            return;
        };
        let pair = match &event.body {
            EventBody::ModelRequested { purpose, model, prompt_hash, prompt, .. } => {
                self.prompt(&setup, *purpose, model, prompt_hash, prompt)
            }
            EventBody::ModelFailed { purpose, error, .. } if self.state.asking.is_none() => {
                let built = self.request(&setup, *purpose);
                (error.class == ModelErrorClass::ContextLength && built.prompt.fits)
                    .then(|| (error.message.clone(), format!("the prompt fits: about {} tokens", built.prompt.tokens)))
            }
            // Without raw, calls in the provider's own field can't be read again.
            EventBody::ModelResponded { raw, calls, .. } if !raw.is_empty() || calls.is_empty() => {
                self.report.decisions += 1;
                self.reply(&setup, &event.body)
            }
            EventBody::ContextCompacted { compaction, by, .. } => {
                let now = replayed_compaction(&self.state, &setup, compaction, by);
                now.map(|now| (describe_compaction(compaction), describe_compaction(&now)))
            }
            EventBody::PlanProposed { candidates, by, .. } => self.plan(&setup, candidates, by),
            EventBody::PlanSearched(found) => {
                let now = search_strings::strings(&self.state, &setup);
                let then = (found.queries.clone(), found.by.as_str());
                (now != then).then(|| (then.0.join("; "), now.0.join("; ")))
            }
            EventBody::PlanFailed { message } if setup.planning().plans => {
                match plan_from_replies(&self.state, self.max_plan_steps) {
                    EventBody::PlanFailed { message: now } if now == *message => None,
                    EventBody::PlanFailed { message: now } => Some((message.clone(), now)),
                    _ => Some((message.clone(), "a plan is found in the replies".to_owned())),
                }
            }
            EventBody::PlanFilled { index, arguments } => self.fill(*index, arguments),
            EventBody::DeepPlanned { .. } | EventBody::DeepReplanned { .. } => self.deep(&setup, &event.body),
            // What a call costs is only known where prices are.
            EventBody::RunFinished { outcome: Outcome::Limited { limit, .. }, .. }
                if !matches!(limit, Limit::Spend | Limit::Cost) =>
            {
                self.limit(&setup, event).map(|now| (format!("stopped at the limit of {limit:?}"), now))
            }
            _ => None,
        };
        if let Some(pair) = pair {
            self.differs(event.seq, pair);
        }
    }

    fn prompt(
        &self,
        setup: &Setup,
        purpose: Purpose,
        model: &str,
        prompt_hash: &str,
        prompt: &[Message],
    ) -> Option<RecordedAndNow> {
        let asked = setup.model_for(purpose).model;
        if model != asked {
            return Some((format!("ask {model}"), format!("ask {asked}")));
        }
        let built = self.request(setup, purpose);
        if !built.prompt.fits {
            return Some(("a prompt that fits".to_owned(), format!("about {} tokens do not fit", built.prompt.tokens)));
        }
        let now = &built.request.messages;
        if hash::of_json(&serde_json::json!(now)) == prompt_hash {
            return None;
        }
        let place = prompt.iter().zip(now).position(|(a, b)| a != b);
        let at = place.unwrap_or_else(|| prompt.len().min(now.len()));
        let differing = |messages: &[Message], other: &[Message]| {
            messages.get(at).map_or_else(
                || format!("the prompt ends after {at} messages"),
                |message| {
                    let before = other.get(at).map_or("", |other| other.text.as_str());
                    format!(
                        "message {} of the prompt ({:?}): {}",
                        at + 1,
                        message.role,
                        quote_difference(&message.text, before)
                    )
                },
            )
        };
        Some((differing(prompt, now), differing(now, prompt)))
    }

    fn request(&self, setup: &Setup, purpose: Purpose) -> BuiltRequest {
        let capabilities = setup.model_for(purpose).capabilities;
        build_request(&self.state, setup, capabilities, purpose, self.max_plan_steps)
    }

    fn reply(&self, setup: &Setup, body: &EventBody) -> Option<RecordedAndNow> {
        let EventBody::ModelResponded { step, purpose, text, raw, calls, finish, answered, noticed, .. } = body else {
            return None;
        };
        let form = answered.as_ref().map_or_else(
            || (strategy(&self.state, setup, setup.model_for(*purpose).capabilities, *purpose), false),
            |answered| (answered.strategy, answered.in_thought),
        );
        let mut parser = reply_parser(setup, *purpose, form, *step);
        let received = if raw.is_empty() { text } else { raw };
        for chunk in raw_reply::chunks(received, finish) {
            parser.push(&chunk);
        }
        let mut parsed = parser.finish();
        let now = interpret_reply(&self.state, setup, *purpose, &mut parsed, *step);
        if now.calls != *calls {
            return Some((
                format!("calls understood: {}", describe_calls(calls)),
                format!("calls understood: {}", describe_calls(&now.calls)),
            ));
        }
        if now.noticed != *noticed {
            return Some((
                format!("noticed: {}", describe_noticed(noticed)),
                format!("noticed: {}", describe_noticed(&now.noticed)),
            ));
        }
        (parsed.text != *text).then(|| {
            (
                format!("text understood: {}", quote_difference(text, &parsed.text)),
                format!("text understood: {}", quote_difference(&parsed.text, text)),
            )
        })
    }

    fn plan(&self, setup: &Setup, candidates: &[Candidate], by: &str) -> Option<RecordedAndNow> {
        let now = if by == "model" {
            match plan_from_replies(&self.state, self.max_plan_steps) {
                EventBody::PlanProposed { candidates, .. } => candidates,
                EventBody::PlanFailed { message } => {
                    return Some((describe_candidates(candidates), format!("no plan: {message}")));
                }
                _ => return None,
            }
        } else {
            // What the tools proposed then can't be asked again; how it is scored can.
            let mut now: Vec<Candidate> = candidates
                .iter()
                .map(|old| Candidate {
                    plan: old.plan.clone(),
                    score: plan::score(&old.plan, &setup.tools, plan::MOST_STEPS, old.score.fit),
                })
                .collect();
            now.sort_by(|a, b| b.score.total.total_cmp(&a.score.total));
            now
        };
        let same = now.len() == candidates.len()
            && now
                .iter()
                .zip(candidates)
                .all(|(a, b)| a.plan == b.plan && (a.score.total - b.score.total).abs() < SCORE_TOLERANCE);
        (!same).then(|| (describe_candidates(candidates), describe_candidates(&now)))
    }

    /// The steps that the model's reply holds; plans made otherwise are the state machine's.
    fn deep(&self, setup: &Setup, recorded: &EventBody) -> Option<RecordedAndNow> {
        let (then, reason) = match recorded {
            EventBody::DeepPlanned { steps, by, .. } if by == "model" => (steps, None),
            EventBody::DeepReplanned { steps, by, reason, .. } if by == "model" => (steps, Some(reason.clone())),
            _ => return None,
        };
        let (EventBody::DeepPlanned { steps: now, .. } | EventBody::DeepReplanned { steps: now, .. }) =
            deep_plan_from_reply(&self.state, setup, reason)
        else {
            return None;
        };
        let words = |steps: &[steward_core::deep::DeepStep]| {
            let goals: Vec<&str> = steps.iter().map(|step| step.goal.as_str()).collect();
            format!("{} steps: {}", steps.len(), goals.join("; "))
        };
        (now != *then).then(|| (words(then), words(&now)))
    }

    fn fill(&self, index: usize, recorded: &Result<serde_json::Value, String>) -> Option<RecordedAndNow> {
        let now = match &self.state.reply {
            Some((Purpose::Fill, text)) => arguments_from_reply(&self.state, index, text),
            // Without a model's answer: what was observed, if that is enough.
            _ => Ok(argument_from_results::arguments(&self.state, index)?),
        };
        let words = |result: &Result<serde_json::Value, String>| match result {
            Ok(value) => format!("arguments of step {}: {}", index + 1, quote_difference(&value.to_string(), "")),
            Err(why) => format!("step {} stays open: {why}", index + 1),
        };
        (now != *recorded).then(|| (words(recorded), words(&now)))
    }

    /// A run that ended because its next model call did not fit: whether that call would fit now.
    fn limit(&self, setup: &Setup, event: &Event) -> Option<String> {
        let purpose = match self.state.next(event.at).first()? {
            Effect::CallModel(purpose) => *purpose,
            Effect::SearchForPlan => Purpose::Search,
            Effect::MakePlan => Purpose::Plan,
            Effect::DeepPlan { .. } => Purpose::Deep,
            Effect::Fill { .. } => Purpose::Fill,
            _ => return None,
        };
        let built = self.request(setup, purpose);
        budget::model_call_fits(&setup.budget, &self.state.spent, built.reserved(), 0)
            .is_ok()
            .then(|| format!("ask the model: {} tokens fit the budget", built.reserved()))
    }
}

/// `text` around the place where it leaves `other`, quoted.
fn quote_difference(text: &str, other: &str) -> String {
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(40);
    let rest: String = text.chars().skip(from).collect();
    let dots = if from > 0 { "…" } else { "" };
    format!("“{dots}{}”", truncate(&rest, QUOTE).0)
}

fn describe_noticed(noticed: &Noticed) -> String {
    truncate(&serde_json::json!(noticed).to_string(), QUOTE).0
}

fn describe_compaction(compaction: &Compaction) -> String {
    format!(
        "older messages: {} of the history and {} of the run left out, results before {} cut, summary {}",
        compaction.history_from,
        compaction.run_from,
        compaction.cut,
        quote_difference(&compaction.summary, "")
    )
}

fn describe_calls(calls: &[ToolCall]) -> String {
    if calls.is_empty() {
        return "none".to_owned();
    }
    let all: Vec<String> = calls
        .iter()
        .map(|call| format!("{} {} (id {}, {:?})", call.name, call.arguments, call.id, call.source))
        .collect();
    truncate(&all.join("; "), 3 * QUOTE).0
}

fn describe_candidates(candidates: &[Candidate]) -> String {
    let best = candidates.first().map_or_else(String::new, |best| {
        let steps: Vec<&str> = best.plan.steps.iter().map(|step| step.tool.as_str()).collect();
        format!("; best: {} with score {:.3}", steps.join(", "), best.score.total)
    });
    format!("{} plans{best}", candidates.len())
}
