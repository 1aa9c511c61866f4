use super::registry::ConnectionRegistry;
use super::report_refresh::is_free;
use async_trait::async_trait;
use futures::future::join_all;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;
use steward_core::ConnectionId;
use steward_core::exam::{Check, ExamReport};
use steward_core::locks::lock;
use steward_core::model::{Auth, ModelChunk, ModelError, ModelErrorClass, Price, Provider, Strategy};
use steward_core::ports::{ConnectionsError, ExamState, Examiner, Recognised, TypedKey};
use steward_core::tool::{ToolCall, ToolSpec};
use steward_models::exam::{Exam, ExamLimits, ToolCallFormat, examine};
use steward_models::recognise::recognise;
use steward_parse::{Dialects, Reading, StreamParser, ToolIndex, guided, markers_instructions, react};

/// Prompts and parsers of exams, the same as in runs.
#[derive(Debug, Clone, Copy)]
pub struct ExamPrompts;

impl ToolCallFormat for ExamPrompts {
    fn instructions(&self, strategy: Strategy, tools: &[ToolSpec]) -> String {
        match strategy {
            Strategy::Native => String::new(),
            Strategy::GuidedJson => guided::instructions(tools),
            Strategy::React => react::instructions(tools),
            Strategy::Markers => markers_instructions(tools),
        }
    }

    fn schema(&self, tools: &[ToolSpec]) -> Value {
        guided::schema(tools)
    }

    fn calls(&self, strategy: Strategy, tools: &[ToolSpec], reply: &[ModelChunk]) -> Vec<ToolCall> {
        let text: String = reply
            .iter()
            .filter_map(|chunk| match chunk {
                ModelChunk::Text(piece) => Some(piece.as_str()),
                _ => None,
            })
            .collect();
        let reading = Reading {
            // The models' own forms are understood in runs, too; phrases that imply a call prove nothing.
            dialects: Dialects::All,
            in_thought: text.contains("</think>") && !text.contains("<think>"),
            ..Reading::strict(strategy)
        };
        let mut parser = StreamParser::with(reading, &ToolIndex::new(tools), "exam_");
        for chunk in reply {
            parser.push(chunk);
        }
        parser.finish().calls
    }
}

/// Marks a connection as being examined until this is dropped.
struct Seat<'a> {
    taken: &'a Mutex<HashSet<ConnectionId>>,
    id: ConnectionId,
}

impl<'a> Seat<'a> {
    fn take(taken: &'a Mutex<HashSet<ConnectionId>>, id: ConnectionId) -> Option<Self> {
        let mut all = lock(taken);
        all.insert(id).then_some(Self { taken, id })
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut all = lock(self.taken);
        all.remove(&self.id);
    }
}

impl ConnectionRegistry {
    /// Examines within `limits` and stores the report, which is used from then on.
    pub async fn examine_within(
        &self,
        id: ConnectionId,
        limits: ExamLimits,
        progress: &(dyn Fn(&Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError> {
        let known = self.own(id).ok_or_else(|| unknown(id))?;
        let name = &known.connection.name;
        let _seat = Seat::take(&self.at_work, id).ok_or_else(|| {
            error(
                ModelErrorClass::RateLimit,
                format!("`{name}` is being examined already"),
                "wait for the report; two exams at once would disturb each other",
            )
        })?;
        let exam =
            Exam { client: self.client(), connection: &known.connection, format: &ExamPrompts, at: self.now(), limits };
        lock(&self.failed).remove(&id);
        let done = match examine(exam, progress).await {
            Ok(report) => self.keep(&report).await.map(|()| report).map_err(|not| not_kept(name, &not)),
            Err(error) => Err(error),
        };
        let report = done.inspect_err(|error| {
            lock(&self.failed).insert(id, (known.connection.model.clone(), error.clone()));
        })?;
        tracing::info!(connection = name, ms = report.ms, tokens = report.tokens, "examined");
        Ok(report)
    }

    /// Asks each connection but the built-in model for its models; how many there are, and whether its own is among them.
    pub async fn probe(&self, limit: Duration) -> Vec<(String, Result<String, ModelError>)> {
        let remote = self.known().into_iter().map(|known| known.connection);
        let remote = remote.filter(|connection| connection.provider != Provider::Local);
        let asked = remote.map(|connection| async move {
            let listed = self.client().models(&connection, limit).await;
            let told = listed.map(|names| {
                let own = names.is_empty() || names.contains(&connection.model);
                let note = if own { "" } else { ", and its model is not among them" };
                format!("{} models{note}", names.len())
            });
            (connection.name, told)
        });
        join_all(asked).await
    }
}

#[async_trait]
impl Examiner for ConnectionRegistry {
    async fn examine(
        &self,
        id: ConnectionId,
        progress: &(dyn for<'c> Fn(&'c Check) + Send + Sync),
    ) -> Result<ExamReport, ModelError> {
        self.examine_within(id, ExamLimits::default(), progress).await
    }

    async fn report(&self, id: ConnectionId) -> Option<ExamReport> {
        self.report_of(&self.own(id)?.connection)
    }

    async fn state(&self, id: ConnectionId, price: Option<Price>) -> ExamState {
        if lock(&self.at_work).contains(&id) {
            return ExamState::Running;
        }
        let own = self.own(id).map(|known| known.connection);
        if own.as_ref().is_some_and(|own| self.report_of(own).is_some()) {
            return ExamState::Done;
        }
        let failed = lock(&self.failed).get(&id).cloned();
        if let Some((model, error)) = failed
            && own.as_ref().is_some_and(|own| own.model == model)
        {
            return ExamState::Failed { message: error.message, hint: error.hint };
        }
        // It is about to begin.
        if self.examines() && own.as_ref().is_some_and(is_free) {
            return ExamState::Running;
        }
        let most_tokens = ExamLimits::default().tokens;
        // Answers cost more than prompts, and nobody knows yet how many of them are answers.
        let dear = price.map(|price| u128::from(price.input.max(price.output)) * u128::from(most_tokens));
        let most_cost = dear.map(|cost| u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX));
        ExamState::Waiting { most_tokens, most_cost }
    }

    async fn recognise(&self, base_url: &str, auth: &Auth, key: TypedKey) -> Result<Recognised, ModelError> {
        recognise(&self.client().with_key(key), base_url, auth).await
    }
}

fn unknown(id: ConnectionId) -> ModelError {
    error(ModelErrorClass::UnknownModel, format!("there is no connection {id}"), "`steward connections` lists them")
}

fn not_kept(name: &str, why: &ConnectionsError) -> ModelError {
    error(
        ModelErrorClass::Server,
        format!("the report of `{name}` could not be kept: {why}"),
        "see the server's log, then examine it again",
    )
}

fn error(class: ModelErrorClass, message: String, hint: &str) -> ModelError {
    ModelError::new(class, message, hint)
}
