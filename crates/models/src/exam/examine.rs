//! The course of an exam.

use std::time::Duration;

use steward_core::Timestamp;
use steward_core::exam::{Check, CheckOutcome, EXAM_VERSION, ExamReport};
use steward_core::message::Message;
use steward_core::model::{Connection, ModelError, ModelErrorClass, Provider, Strategy};

use super::desk::{Desk, ExamLimits, Silence, UNMADE, cut};
use super::findings::{Findings, Score};
use super::questions::BOOK;
use super::tongue::Tongue;
use super::{constrained, crowd, decide, server, speed, tasks, tools, vision, window};
use crate::openai::Client;

/// Who is examined, and how.
pub struct Exam<'a> {
    /// Asks.
    pub client: &'a Client,
    /// The connection; its capabilities are what is assumed where a check is skipped.
    pub connection: &'a Connection,
    /// Explains tools and reads replies.
    pub tongue: &'a dyn Tongue,
    /// When it is.
    pub at: Timestamp,
    /// What it may take.
    pub limits: ExamLimits,
}

/// How a check went: points and words, or why it was not made.
pub(super) type Mark = Result<(Score, String), Silence>;

/// Checks in the order in which they matter.
struct Course<'a> {
    desk: Desk<'a>,
    found: Findings,
    checks: Vec<Check>,
    progress: &'a (dyn Fn(&Check) + Send + Sync),
}

/// Examines a connection; `progress` is told each check. Dropping the future stops it. Fails only
/// where the model can't be asked at all; what goes wrong in one check is that check's result.
pub async fn examine(exam: Exam<'_>, progress: &(dyn Fn(&Check) + Send + Sync)) -> Result<ExamReport, ModelError> {
    let desk = Desk::new(exam.client, exam.connection.clone(), exam.tongue, exam.limits);
    let mut course = Course { desk, found: Findings::default(), checks: Vec::new(), progress };
    course.run(exam.at).await?;
    let Course { desk, mut found, checks, .. } = course;
    if let Some(error) = desk.fatal() {
        return Err(error);
    }
    found.thinks_first = desk.thinks_first();
    found.unmade = checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Skipped && UNMADE.contains(&&*check.detail))
        .count();
    let decided = decide::decide(&desk.connection, &found);
    Ok(ExamReport {
        version: EXAM_VERSION,
        endpoint: endpoint(exam.connection),
        model: exam.connection.model.clone(),
        server: found.told.server.clone(),
        at: exam.at,
        ms: ms(desk.elapsed()),
        tokens: desk.spent(),
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

/// What a report is kept under: the base URL, `local` for the local model.
pub fn endpoint(connection: &Connection) -> String {
    match connection.provider {
        Provider::Local => "local".to_owned(),
        _ => connection.base_url.trim().trim_end_matches('/').to_owned(),
    }
}

impl Course<'_> {
    async fn run(&mut self, at: Timestamp) -> Result<(), ModelError> {
        let told = server::ask(&self.desk).await;
        self.found.told = told;
        let begun = self.desk.elapsed();
        let reached = reach(&self.desk, &mut self.found).await;
        if let Err(Silence::Failed(error)) = &reached
            && error.class != ModelErrorClass::Timeout
        {
            return Err(error.clone());
        }
        let silent = reached.is_err();
        self.keep("reach", reached, begun);
        if silent {
            self.skip_rest(UNMADE[2]);
            return Ok(());
        }
        for name in ORDER {
            if self.desk.fatal().is_some() {
                break;
            }
            let begun = self.desk.elapsed();
            let why = self.desk.over().or_else(|| self.pointless(name));
            let mark = match why {
                Some(why) => Err(Silence::Over(why)),
                None => self.check(name, at).await,
            };
            self.keep(name, mark, begun);
        }
        Ok(())
    }

    /// Why a check would tell nothing new.
    fn pointless(&self, name: &str) -> Option<&'static str> {
        let good = |strategy| self.found.form(strategy).is_some_and(|form| form.score.share() >= 0.75);
        match name {
            "guided_calls" if !decide::can_constrain(&self.found) => Some("no way to constrain its output works"),
            "react" | "markers" if good(Strategy::Native) || good(Strategy::GuidedJson) => Some("a better form works"),
            "markers" if good(Strategy::React) => Some("a better form works"),
            "many_tools" if decide::best_form(&self.found).is_none() => Some("it can't choose among a few tools"),
            "vision" if self.found.told.vision != Some(true) => {
                Some("the server does not list it as one that sees pictures")
            }
            _ => None,
        }
    }

    async fn check(&mut self, name: &str, at: Timestamp) -> Mark {
        let (desk, found) = (&self.desk, &mut self.found);
        match name {
            "system_role" => system_role(desk, found).await,
            "native_calls" => tools::form(desk, found, Strategy::Native).await,
            "parallel_calls" => tools::parallel(desk, found).await,
            "follow_up" => tools::follow_up(desk, found).await,
            "constrained_output" => constrained::check(desk, found).await,
            "guided_calls" => tools::form(desk, found, Strategy::GuidedJson).await,
            "react" => tools::form(desk, found, Strategy::React).await,
            "markers" => tools::form(desk, found, Strategy::Markers).await,
            "window" => window::check(desk, found).await,
            "speed" => speed::check(desk, found).await,
            "cache" => speed::cache(desk, found, at).await,
            "many_tools" => crowd::check(desk, found).await,
            "summary" => tasks::summary(desk, found).await,
            "vision" => vision::check(desk, found).await,
            _ => tasks::check(desk, found).await,
        }
    }

    fn keep(&mut self, name: &str, mark: Mark, begun: Duration) {
        let check = check_of(name, mark, ms(self.desk.elapsed().saturating_sub(begun)));
        (self.progress)(&check);
        self.checks.push(check);
    }

    fn skip_rest(&mut self, why: &'static str) {
        for name in ORDER {
            let now = self.desk.elapsed();
            self.keep(name, Err(Silence::Over(why)), now);
        }
    }
}

/// After `reach`, the checks that decide most go first.
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

fn check_of(name: &str, mark: Mark, ms: u64) -> Check {
    let (outcome, score, detail) = match mark {
        Ok((score, detail)) => {
            let outcome = match score.points {
                points if points == score.of => CheckOutcome::Passed,
                0 => CheckOutcome::Failed,
                _ => CheckOutcome::Partly,
            };
            (outcome, score, detail)
        }
        Err(Silence::Over(why)) => (CheckOutcome::Skipped, Score::default(), why.to_owned()),
        Err(failed) => (CheckOutcome::Failed, Score::new(0, 1), failed.why()),
    };
    Check { name: name.to_owned(), outcome, points: score.points, of: score.of, detail: cut(&detail), ms }
}

async fn reach(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    // Long enough for a model that thinks to show it.
    let heard = desk.say(vec![Message::user("Say hello in one word.")], 300).await?;
    found.first_token_ms = ms(heard.first);
    let server = match found.told.server.as_str() {
        "" => "a server that does not say what it is".to_owned(),
        name => name.to_owned(),
    };
    Ok((Score::new(1, 1), format!("{server} answers: {}", heard.answer())))
}

async fn system_role(desk: &Desk<'_>, found: &mut Findings) -> Mark {
    let question = &BOOK.system;
    let messages = vec![Message::system(&question.system), Message::user(&question.ask)];
    let heard = match desk.say(messages, 60).await {
        Ok(heard) => heard,
        Err(Silence::Failed(error)) if error.class == ModelErrorClass::BadRequest => {
            found.system_role = Some(false);
            return Err(Silence::Failed(error));
        }
        Err(silence) => return Err(silence),
    };
    let obeyed = question.rule.is_met(&heard.text);
    found.system_role = Some(obeyed);
    let detail = if obeyed {
        "it follows a system message".to_owned()
    } else {
        format!("it was told how to begin and wrote: {}", heard.answer())
    };
    Ok((Score::new(u32::from(obeyed), 1), detail))
}

pub(super) fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
