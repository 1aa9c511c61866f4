//! A model that sees reads a page from its picture.

use super::call_meter::CallMeter;
use crate::data_rules::read_data_rules;
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt as _;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use steward_core::extracted::{ExtractFailure, ExtractFailureKind};
use steward_core::governance::{Classification, DataAction};
use steward_core::live::Live;
use steward_core::model::{Connection, Usage};
use steward_core::passthrough_request::PassthroughRequest;
use steward_core::ports::{ManagedConnections, Passage, Passed, PictureModel, ReserveError};
use steward_core::routing::Routing;
use steward_core::{TenantId, UserId};
use steward_store::Store;

/// Longest time for a page, milliseconds.
const DEADLINE_MS: u64 = 180_000;
/// Bytes of an answer; a page has fewer letters.
const MOST_BYTES: usize = 1 << 20;
const MOST_TOKENS: u32 = 4_000;
/// What a picture and the words around it take at most, about.
const PICTURE_TOKENS: u64 = 3_000;
/// What a model says where it sees no text.
const NO_TEXT: &str = "NO TEXT";

const ASK: &str = include_str!("../../prompts/read_page.txt");

/// Which models may be shown pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VisionUse {
    Off,
    /// Those in the house.
    #[default]
    InHouse,
    /// Others as well, unless a policy keeps the document from them.
    Any,
}

/// Asks connections whose exam says that they see.
pub struct VisionModel {
    pub tenant: TenantId,
    pub store: Arc<Store>,
    pub connections: Arc<dyn ManagedConnections>,
    pub meter: CallMeter,
    pub allowed: Live<VisionUse>,
}

impl VisionModel {
    /// The connections that may be shown something so confidential, those in the house first.
    async fn targets(&self, classification: Option<Classification>) -> Result<Vec<Connection>, ExtractFailure> {
        let mut targets = self.seeing().await;
        if targets.iter().any(|one| !one.is_in_house()) || classification.is_some() {
            let rules = read_data_rules(&self.store, self.tenant).await.map_err(|error| failed(&error.to_string()))?;
            if classification.is_some_and(|level| rules.demanding(DataAction::Block, level).is_some()) {
                return Ok(Vec::new());
            }
            // What its text says can't be looked at before it is read.
            targets.retain(|one| {
                let kept = classification.and_then(|level| rules.keeps_whole_from(one.is_in_house(), level));
                kept.is_none() && (one.is_in_house() || !rules.keeps_texts())
            });
        }
        Ok(targets)
    }

    async fn seeing(&self) -> Vec<Connection> {
        let allowed = *self.allowed.get();
        if allowed == VisionUse::Off {
            return Vec::new();
        }
        let all = self.connections.list().await.into_iter().map(|known| known.connection);
        let may_see = |one: &Connection| {
            one.capabilities.vision && one.speaks_openai_dialect() && (one.is_in_house() || allowed == VisionUse::Any)
        };
        let mut targets: Vec<Connection> = all.filter(may_see).collect();
        targets.sort_by_key(|one| !one.is_in_house());
        targets
    }

    async fn ask(
        &self,
        targets: &mut Vec<Connection>,
        png: &[u8],
        user: Option<UserId>,
    ) -> Result<String, ExtractFailure> {
        let picture = format!("data:image/png;base64,{}", STANDARD.encode(png));
        let body = json!({
            "model": targets.first().map_or("", |first| first.model.as_str()),
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": ASK},
                {"type": "image_url", "image_url": {"url": picture}},
            ]}],
            "max_tokens": MOST_TOKENS,
            "temperature": 0,
            "stream": false,
        });
        let body = serde_json::to_vec(&body).map_err(|error| failed(&error.to_string()))?;
        let asked = PassthroughRequest::of(&body).map_err(|error| failed(&error.to_string()))?;
        let Some((first, others)) = targets.split_first() else {
            return Err(failed("there is none"));
        };
        let others: Vec<_> = others.iter().map(|one| one.id).collect();
        let most = Usage { prompt_tokens: PICTURE_TOKENS, completion_tokens: MOST_TOKENS.into(), ..Usage::default() };
        let reserved = self.meter.reserve(first, &others, user, most, Duration::from_millis(DEADLINE_MS)).await;
        let (mut call, full) = reserved.map_err(|error| not_reserved(&error))?;
        targets.retain(|one| !full.contains(&one.id));
        let passed = self
            .meter
            .gateway
            .pass(targets, &Routing::default(), Passage::ChatCompletions, (body.into(), &asked), DEADLINE_MS)
            .await;
        let passed = passed.map_err(|error| {
            call.settle(Some(Usage::default()), true);
            failed(&error.to_string())
        })?;
        call.answered_by(&passed.connection, self.meter.gateway.price(&passed.connection));
        let (text, took) = answer(passed).await?;
        call.settle(took, false);
        Ok(text)
    }
}

/// With what its server says that it took.
async fn answer(passed: Passed) -> Result<(String, Option<Usage>), ExtractFailure> {
    let (status, mut body, mut bytes) = (passed.status, passed.body, Vec::new());
    while let Some(piece) = body.next().await {
        bytes.extend(piece.map_err(|error| failed(&error.to_string()))?);
        if bytes.len() > MOST_BYTES {
            return Err(failed("its answer is too long"));
        }
    }
    if status != 200 {
        return Err(failed(&format!("it answered with status {status}")));
    }
    let answer: Value = serde_json::from_slice(&bytes).map_err(|_| failed("its answer is no JSON"))?;
    let text = answer.pointer("/choices/0/message/content").and_then(Value::as_str);
    let used = |name: &str| answer.get("usage")?.get(name)?.as_u64();
    let used = used("prompt_tokens").map(|prompt_tokens| Usage {
        prompt_tokens,
        completion_tokens: used("completion_tokens").unwrap_or_default(),
        ..Usage::default()
    });
    text.map(|text| (written(text), used)).ok_or_else(|| failed("its answer has no text"))
}

/// What is on the page, without what models like to put around it.
fn written(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let text = inner.and_then(|text| text.split_once('\n')).map_or(text, |(_, text)| text.trim());
    if text == NO_TEXT { String::new() } else { text.to_owned() }
}

fn not_reserved(error: &ReserveError) -> ExtractFailure {
    let hint = match error {
        ReserveError::Exceeded(..) => "Raise the limit under Budgets, and process the document again.".to_owned(),
        ReserveError::Store(_) => "See the log.".to_owned(),
    };
    ExtractFailure { hint, ..failed(&error.to_string()) }
}

fn failed(error: &str) -> ExtractFailure {
    ExtractFailure {
        kind: ExtractFailureKind::Unavailable,
        message: format!("the model that sees could not be asked: {error}"),
        hint: "Test the connection, and process the document again.".to_owned(),
    }
}

#[async_trait]
impl PictureModel for VisionModel {
    async fn read(
        &self,
        png: &[u8],
        classification: Option<Classification>,
        user: Option<UserId>,
    ) -> Result<Option<String>, ExtractFailure> {
        let mut targets = self.targets(classification).await?;
        if targets.is_empty() { Ok(None) } else { self.ask(&mut targets, png, user).await.map(Some) }
    }

    async fn is_there(&self) -> bool {
        !self.seeing().await.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn what_stands_around_the_text_goes() {
        for (answer, expect) in [
            ("  A page.\n\nOf two parts. ", "A page.\n\nOf two parts."),
            ("```markdown\n# A page\n```", "# A page"),
            ("NO TEXT", ""),
            ("", ""),
        ] {
            assert_eq!(written(answer), expect);
        }
    }
}
