//! The model exam: finds out within a minute what a model can do at one endpoint, grades it by kind of request, and
//! decides how it is used. The questions are data (`data/exam`); rules judge the answers, never another model.

mod constrained;
mod decide;
mod findings;
mod questions;
mod rules;
mod server_info;
mod session;
mod speed;
mod tasks;
mod tools;
mod window;

pub use server_info::server_version;
pub use session::{ExamLimits, ToolCallFormat};

use super::openai::{Client, Outgoing};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use findings::{Findings, Score};
use questions::QUESTIONS;
use serde_json::json;
use session::{ExamSession, NoReply, UNFINISHED, shorten};
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::exam::{Check, CheckOutcome, EXAM_VERSION, ExamReport};
use steward_core::message::Message;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider, Strategy};

pub struct Exam<'a> {
    pub client: &'a Client,
    /// Its capabilities are assumed where a check is skipped.
    pub connection: &'a Connection,
    pub format: &'a dyn ToolCallFormat,
    pub at: Timestamp,
    pub limits: ExamLimits,
}

/// Score and details for people, or why there is no result.
type CheckResult = Result<(Score, String), NoReply>;

struct ExamRun<'a> {
    session: ExamSession<'a>,
    found: Findings,
    checks: Vec<Check>,
    progress: &'a (dyn Fn(&Check) + Send + Sync),
}

/// `progress` is told each check. Dropping the future stops the exam. Fails only where the model can't be reached at
/// all; other errors are the result of one check.
pub async fn examine(exam: Exam<'_>, progress: &(dyn Fn(&Check) + Send + Sync)) -> Result<ExamReport, ModelError> {
    let session = ExamSession::new(exam.client, exam.connection.clone(), exam.format, exam.limits);
    let mut course = ExamRun { session, found: Findings::default(), checks: Vec::new(), progress };
    course.run(exam.at).await?;
    let ExamRun { session, mut found, checks, .. } = course;
    let seen = std::mem::take(&mut *session.seen());
    if let Some(error) = seen.fatal {
        return Err(error);
    }
    found.thinks_first = seen.thinks_first;
    found.unfinished = checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Skipped && UNFINISHED.contains(&&*check.detail))
        .count();
    let decided = decide::decide(&session.connection, &found);
    Ok(ExamReport {
        version: EXAM_VERSION,
        endpoint: endpoint(exam.connection),
        model: exam.connection.model.clone(),
        server: found.server.name.clone(),
        at: exam.at,
        ms: ms(session.elapsed()),
        tokens: seen.tokens,
        checks,
        constrained: found.constrained.clone().unwrap_or_default(),
        grades: decide::grades(&found),
        tokens_per_second: found.tokens_per_second,
        first_token_ms: found.first_token_ms,
        prompt_tokens_per_second: found.prompt_tokens_per_second,
        reuses_cache: found.reuses_cache.unwrap_or(false),
        capabilities: decided.capabilities,
        notes: decided.notes,
    })
}

/// Reports are stored by this: the base URL, `local` for the local model.
pub fn endpoint(connection: &Connection) -> String {
    match connection.provider {
        Provider::Local => "local".to_owned(),
        _ => without_slash(&connection.base_url).to_owned(),
    }
}

/// Base URLs are compared like this.
pub(crate) fn without_slash(base_url: &str) -> &str {
    base_url.trim().trim_end_matches('/')
}

impl ExamRun<'_> {
    async fn run(&mut self, at: Timestamp) -> Result<(), ModelError> {
        self.found.server = server_info::ask(&self.session).await;
        let begun = self.session.elapsed();
        let reached = reach(&self.session, &mut self.found).await;
        if let Err(NoReply::Failed(error)) = &reached
            && error.class != ModelErrorClass::Timeout
        {
            return Err(error.clone());
        }
        let silent = reached.is_err().then_some(UNFINISHED[2]);
        self.keep("reach", reached, begun);
        for name in ORDER {
            if silent.is_none() && self.session.seen().fatal.is_some() {
                break;
            }
            let begun = self.session.elapsed();
            let why = silent.or_else(|| self.session.over()).or_else(|| self.skip_reason(name));
            let mark = match why {
                Some(why) => Err(NoReply::Over(why)),
                None => self.check(name, at).await,
            };
            self.keep(name, mark, begun);
        }
        Ok(())
    }

    fn skip_reason(&self, name: &str) -> Option<&'static str> {
        let good = |strategy| self.found.form(strategy).is_some_and(|form| form.score.share() >= 0.75);
        match name {
            "guided_calls" if !decide::can_constrain(&self.found) => Some("no way to constrain its output works"),
            "react" | "markers" if good(Strategy::Native) || good(Strategy::GuidedJson) => Some("a better form works"),
            "markers" if good(Strategy::React) => Some("a better form works"),
            "many_tools" if decide::best_form(&self.found).is_none() => Some("it can't choose among a few tools"),
            "vision" if self.found.server.vision != Some(true) => {
                Some("the server does not list it as one that sees pictures")
            }
            _ => None,
        }
    }

    async fn check(&mut self, name: &str, at: Timestamp) -> CheckResult {
        let (session, found) = (&self.session, &mut self.found);
        match name {
            "system_role" => system_role(session, found).await,
            "native_calls" => tools::form(session, found, Strategy::Native).await,
            "parallel_calls" => tools::parallel(session, found).await,
            "follow_up" => tools::follow_up(session, found).await,
            "constrained_output" => constrained::check(session, found).await,
            "guided_calls" => tools::form(session, found, Strategy::GuidedJson).await,
            "react" => tools::form(session, found, Strategy::React).await,
            "markers" => tools::form(session, found, Strategy::Markers).await,
            "window" => window::check(session, found).await,
            "speed" => speed::check(session, found).await,
            "cache" => speed::cache(session, found, at).await,
            "many_tools" => tools::check(session, found).await,
            "summary" => tasks::summary(session, found).await,
            "vision" => vision(session, found).await,
            _ => tasks::check(session, found).await,
        }
    }

    fn keep(&mut self, name: &str, mark: CheckResult, begun: Duration) {
        let (outcome, score, detail) = match mark {
            Ok((score, detail)) => {
                let outcome = match score.points {
                    points if points == score.of => CheckOutcome::Passed,
                    0 => CheckOutcome::Failed,
                    _ => CheckOutcome::Partly,
                };
                (outcome, score, detail)
            }
            Err(NoReply::Over(why)) => (CheckOutcome::Skipped, Score::default(), why.to_owned()),
            Err(failed) => (CheckOutcome::Failed, Score::new(0, 1), failed.why()),
        };
        let (name, detail, ms) = (name.to_owned(), shorten(&detail), ms(self.session.elapsed().saturating_sub(begun)));
        let check = Check { name, outcome, points: score.points, of: score.of, detail, ms };
        (self.progress)(&check);
        self.checks.push(check);
    }
}

/// After `reach`, the most decisive checks first.
const ORDER: [&str; 15] = [
    "system_role",
    "native_calls",
    "constrained_output",
    "guided_calls",
    "window",
    "parallel_calls",
    "follow_up",
    "react",
    "markers",
    "speed",
    "summary",
    "many_tools",
    "questions",
    "cache",
    "vision",
];

async fn reach(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    // Long enough for a reasoning model to show that it is one.
    let reply = session.ask_text(vec![Message::user("Say hello in one word.")], 300).await?;
    found.first_token_ms = ms(reply.first);
    let server = match found.server.name.as_str() {
        "" => "a server that does not say what it is".to_owned(),
        name => name.to_owned(),
    };
    Ok((Score::new(1, 1), format!("{server} answers: {}", reply.answer())))
}

async fn system_role(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let question = &QUESTIONS.system;
    let messages = vec![Message::system(&question.system), Message::user(&question.ask)];
    let reply = session.ask_text(messages, 60).await;
    if reply.as_ref().is_err_and(NoReply::is_refusal) {
        found.system_role = Some(false);
    }
    let reply = reply?;
    let obeyed = question.rule.is_met(&reply.text);
    found.system_role = Some(obeyed);
    verdict(obeyed, "it follows a system message", || format!("it was told how to begin and wrote: {}", reply.answer()))
}

const RED_SQUARE: &[u8] = include_bytes!("../data/exam/red_square.png");

/// Whether it sees: a red square, asked for its colour.
async fn vision(session: &ExamSession<'_>, found: &mut Findings) -> CheckResult {
    let picture = STANDARD.encode(RED_SQUARE);
    let mut body = json!({
        "model": session.connection.model,
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": QUESTIONS.vision.ask},
            {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}},
        ]}],
        "stream": false,
    });
    body[constrained::max_tokens_field(&session.connection)] = json!(session.longest(30));
    let answer = constrained::raw(session, &Outgoing::post("chat/completions", &body)).await;
    if answer.as_ref().is_err_and(NoReply::is_refusal) {
        found.vision = Some(false);
    }
    let answer = constrained::content(&answer?);
    let sees = QUESTIONS.vision.rule.is_met(&answer);
    found.vision = Some(sees);
    verdict(sees, "it names the colour of a picture", || {
        format!("asked for the colour of a red picture it wrote: {answer}")
    })
}

/// One point, or none.
#[expect(clippy::unnecessary_wraps, reason = "checks end with it")]
fn verdict(good: bool, yes: &str, no: impl FnOnce() -> String) -> CheckResult {
    Ok((Score::new(u32::from(good), 1), if good { yes.to_owned() } else { no() }))
}

pub(crate) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
