//! Decides about a request if the model can't: a call with arguments from the request, or a reply that says what is
//! missing or impossible. Nothing is invented, and a tool acts only on a request of its own kind.

use crate::draft::{Draft, Wanted, draft};
use crate::kinds::{Group, Kind, Kinds, Reading};
use crate::rank::features::{Feature, see};
use crate::replies::{Here, Replies};
use crate::settings::{Kinds as Weights, Settings};
use crate::suggest::{Suggestion, suggest};
use crate::view::{View, telling};
use futures::FutureExt as _;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use steward_core::event::Setup;
use steward_core::message::Role;
use steward_core::ports::{DataDraft, Embedder, IntentError};
use steward_core::schema;

/// Acts whose tools read a request literally.
const LITERAL: &[&str] = &["write", "remind", "note"];
/// The tool that asks databases through their domains.
pub const DATA_TOOL: &str = "oos_query";
/// Kinds whose tools look into texts.
const READS_TEXT: &[&str] = &["read", "summary", "head", "tail", "lines", "words", "size", "search", "search_count"];
/// From here on a passage is taken for the answer, whatever the request sounds like.
const ANSWERED: f32 = 1.0;
/// Most kinds that are tried if none is sure.
const GUESSES: usize = 3;
/// Longest search for the arguments of a request whose kind is known.
const LONGEST: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    Say(String),
    Call(Call),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    pub arguments: Value,
    /// With placeholders for the result (`core::run::compose`).
    pub frame: String,
    pub fit: f32,
    pub why: String,
    /// Whether it does more than look.
    pub acts: bool,
    /// The kind of the request, and the request.
    pub kind: String,
    pub text: String,
    /// The query that it asks, of a database or file of rows.
    pub query: Option<Box<Value>>,
}

impl Call {
    /// One that only looks.
    pub fn new(kind: &str, text: &str, (tool, arguments): (String, Value), frame: String) -> Self {
        let (kind, text) = (kind.to_owned(), text.to_owned());
        Self { tool, arguments, frame, fit: 1.0, why: String::new(), acts: false, kind, text, query: None }
    }
}

pub struct Decider<'a> {
    pub setup: &'a Setup,
    pub embedder: &'a dyn Embedder,
    pub view: &'a View,
    pub kinds: &'static Kinds,
    pub replies: &'static Replies,
    pub weights: &'static Weights,
    pub files: Vec<String>,
    pub earlier: Vec<String>,
}

impl<'a> Decider<'a> {
    pub fn new(setup: &'a Setup, embedder: &'a dyn Embedder, view: &'a View) -> Self {
        let said = setup.history.iter().filter(|message| message.role == Role::User);
        Self {
            kinds: Kinds::shipped(),
            replies: Replies::shipped(),
            weights: &Settings::shipped().kinds,
            files: telling(&view.entries),
            earlier: said.map(|message| message.text.clone()).collect(),
            setup,
            embedder,
            view,
        }
    }

    /// What a request is about, and how replies to it are made.
    async fn hear(&self, request: &str) -> Result<(Reading, Here<'_>), IntentError> {
        let reading = self.kinds.read(request, self.embedder).await?;
        // The language of the request if it is long enough to tell, else that of the previous one.
        let language = match self.earlier.last() {
            Some(before) if reading.spoken < self.weights.spoken => {
                self.kinds.read(before, self.embedder).await?.language
            }
            _ if reading.spoken < self.weights.heard => "en",
            _ => reading.language,
        };
        Ok((reading, Here { language, setup: self.setup, files: &self.files }))
    }

    fn offers(&self, tool: &str) -> bool {
        self.setup.tools.iter().any(|spec| spec.name == tool)
    }

    /// Asks the databases what was read from a request, and says with the answer how it was understood.
    pub async fn data_call(&self, draft: &DataDraft, request: &str) -> Result<Call, IntentError> {
        let (_, here) = self.hear(request).await?;
        let mut what = draft.said.clone();
        if !draft.unread.is_empty() {
            let unread = self.replies.framed("data_unread", &[("spare", draft.unread.join(", "))], here);
            what = format!("{what}; {}", unread.unwrap_or_default());
        }
        let frame = self.replies.framed(if draft.number { "data_number" } else { "rows" }, &[("what", what)], here);
        let call = (DATA_TOOL.to_owned(), json!({"query": draft.query}));
        let why = format!("read as {}", draft.said);
        Ok(Call { why, ..Call::new(DATA_TOOL, request, call, frame.unwrap_or_default()) })
    }

    /// Whether a request that no tool fits may be a question about data: it is no talk.
    pub async fn is_about_data(&self, request: &str) -> Result<bool, IntentError> {
        let reading = self.kinds.read(request, self.embedder).await?;
        let talk =
            reading.kinds.first().is_some_and(|(kind, score)| kind.group == Group::Talk && *score >= self.weights.sure);
        Ok(!talk)
    }

    pub async fn data_unclear(&self, unread: &[String], request: &str) -> Result<String, IntentError> {
        let (_, here) = self.hear(request).await?;
        let frame = if unread.is_empty() { "data_unclear" } else { "data_unknown" };
        Ok(self.replies.framed(frame, &[("spare", unread.join(", "))], here).unwrap_or_default())
    }

    pub async fn decide(&self, request: &str) -> Result<Decision, IntentError> {
        let (reading, here) = self.hear(request).await?;
        if let Some(decision) = self.continued(request, &reading, here).await? {
            return Ok(decision);
        }
        if let Some(decision) = self.literal(request, &reading, here) {
            return Ok(decision);
        }
        let asks = request.trim_end().ends_with('?');
        let mut unclear = None;
        let documents = self.replies.passages(here);
        let told = self.tells_where(request);
        for (kind, score) in self.candidates(request, &reading) {
            // A passage says more than a guess at a file; what a table answers by itself goes first.
            let reads_text = READS_TEXT.contains(&kind.name.as_str());
            if let Some(text) =
                documents.as_ref().filter(|_| reads_text && !told && (score == 0.0 || self.is_answered()))
            {
                return Ok(Decision::Say(text.clone()));
            }
            match self.of_kind(kind, score, request, here).await {
                // What can't be done in general, or not be told without asking back, may stand in a document.
                Some(Decision::Say(_)) if matches!(kind.group, Group::Beyond | Group::Look) && documents.is_some() => {}
                // A question may merely sound like a command.
                Some(say @ Decision::Say(_)) if asks && kind.group == Group::Act => unclear = Some(say),
                Some(decision) => return Ok(decision),
                None => {}
            }
        }
        if let Some(text) = documents {
            return Ok(Decision::Say(text));
        }
        if let Some(decision) = self.mentioned(request, here).await.or(unclear) {
            return Ok(decision);
        }
        let nearest = reading.kinds.first().filter(|(kind, score)| {
            matches!(kind.group, Group::Talk | Group::Beyond)
                && *score >= self.weights.likely
                && self.named(request).is_empty()
        });
        Ok(Decision::Say(match nearest {
            Some((kind, _)) => self.replies.reply(kind, here),
            None if self.setup.looked_through.documents > 0 => self
                .replies
                .beyond("nothing_found", here)
                .replace("{documents}", &self.setup.looked_through.documents.to_string()),
            None => self.replies.beyond("unknown", here),
        }))
    }

    /// Whether the request says which file it is about, or which words.
    fn tells_where(&self, request: &str) -> bool {
        let features = see(request, &Settings::shipped().mask).features;
        features.contains(&Feature::Path) || features.contains(&Feature::Quoted) || !self.named(request).is_empty()
    }

    /// Whether a passage holds the better part of the request's words, and means the same.
    fn is_answered(&self) -> bool {
        self.setup.references.iter().any(|one| one.nearest >= ANSWERED)
    }

    /// Decides about a part that follows others; it may write down what they find.
    pub async fn follow(&self, part: &str) -> Result<Decision, IntentError> {
        const WRITE: &str = "write";
        let Some(best) = self.said(WRITE, part).filter(|one| one.score >= self.weights.told) else {
            return self.decide(part).await;
        };
        let (_, here) = self.hear(part).await?;
        let frame = self.replies.framed("plain", &[], here).unwrap_or_default();
        Ok(Decision::Call(Call {
            fit: best.score,
            why: best.why,
            acts: true,
            ..Call::new(WRITE, part, (WRITE.to_owned(), best.arguments), frame)
        }))
    }

    /// Says that the rest of a request of several steps is left undone.
    pub async fn left(&self, rest: &[String]) -> Result<Decision, IntentError> {
        let rest = rest.join("; ");
        let (_, here) = self.hear(&rest).await?;
        Ok(Decision::Say(self.replies.beyond("rest", here).replace("{rest}", &rest)))
    }

    /// Words that requests for a tool begin with.
    pub fn openings(&self) -> &BTreeSet<String> {
        &self.kinds.openings
    }

    pub fn named(&self, part: &str) -> Vec<&str> {
        let words: Vec<&str> = part
            .split(|c: char| c.is_whitespace() || ",;:\"'`“”„«»()".contains(c))
            .map(|w| w.trim_end_matches('.'))
            .collect();
        self.files.iter().map(String::as_str).filter(|file| words.contains(file)).collect()
    }

    /// An act that the request states literally, unless it is surely of another kind.
    fn literal(&self, request: &str, reading: &Reading, here: Here<'_>) -> Option<Decision> {
        let seen = see(request, &Settings::shipped().mask);
        // A file that doesn't exist can hardly be looked at.
        let new_file = seen.features.contains(&Feature::Path) && self.named(request).is_empty();
        let sure = reading.kinds.first().is_none_or(|(_, score)| *score >= self.weights.sure);
        if (sure && !new_file) || request.ends_with('?') {
            return None;
        }
        let acts = reading.kinds.iter().filter(|(kind, score)| {
            kind.group == Group::Act && *score >= self.weights.guess && LITERAL.contains(&kind.name.as_str())
        });
        let mut suggested = acts.filter_map(|(kind, score)| {
            let tool = kind.tools.first().filter(|tool| self.offers(tool))?;
            self.suggested(kind, tool, *score, request, here)
        });
        suggested.find(|decision| matches!(decision, Decision::Call(_)))
    }

    fn candidates<'r>(&self, request: &str, reading: &'r Reading) -> Vec<(&'r Kind, f32)> {
        let seen = see(request, &Settings::shipped().mask);
        let has = |feature| seen.features.contains(&feature);
        let find = |name: &str| reading.kinds.iter().find(|(kind, _)| kind.name == name);
        let mut found: Vec<(&Kind, f32)> = Vec::new();
        let Some(top) = reading.kinds.first() else {
            return found;
        };
        let spoken_of = has(Feature::Path) || has(Feature::Url);
        // Talk and general knowledge involve no files.
        let telling = |kind: &Kind| {
            !spoken_of || (kind.group != Group::Talk && !["world", "weather", "opinion"].contains(&kind.name.as_str()))
        };
        if has(Feature::Arithmetic) && top.0.group != Group::Act {
            found.extend(find("calc").map(|(kind, _)| (*kind, 0.0)));
        }
        if has(Feature::Url) && top.1 < self.weights.sure {
            found.extend(find("fetch").map(|(kind, _)| (*kind, 0.0)));
        }
        let sure = reading.kinds.iter().find(|(kind, score)| telling(kind) && *score >= self.weights.sure);
        found.extend(sure.map(|(kind, score)| (*kind, *score)));
        // Without a clear word, only what the workspace itself confirms is done.
        let looks = reading.kinds.iter().filter(|(kind, score)| {
            kind.group == Group::Look
                && *score >= self.weights.guess
                && found.iter().all(|(known, _)| known.name != kind.name)
        });
        let looks: Vec<(&Kind, f32)> = looks.take(GUESSES).map(|(kind, _)| (*kind, 0.0)).collect();
        found.extend(looks);
        found
    }

    pub async fn of_kind(&self, kind: &Kind, score: f32, request: &str, here: Here<'_>) -> Option<Decision> {
        let sure = score >= self.weights.sure;
        if matches!(kind.group, Group::Talk | Group::Beyond) {
            return Some(Decision::Say(self.replies.reply(kind, here)));
        }
        let no_tool = || sure.then(|| Decision::Say(self.replies.beyond("no_tool", here)));
        let Some(tool) = kind.tools.iter().find(|tool| self.offers(tool)) else {
            return no_tool();
        };
        match self.draft(&kind.name, sure, request).await {
            Some(Draft { call: Some((tool, _)), .. }) if !self.offers(&tool) => no_tool(),
            Some(Draft { call: Some(call), frame, words, query }) => Some(Decision::Call(Call {
                query: query.map(Box::new),
                fit: score.clamp(0.3, 1.0),
                why: format!("{} ({score:.2})", kind.name),
                acts: kind.group == Group::Act,
                ..Call::new(&kind.name, request, call, self.replies.framed(frame, &words, here)?)
            })),
            Some(Draft { frame, words, .. }) if sure => Some(Decision::Say(self.replies.framed(frame, &words, here)?)),
            Some(_) => None,
            None => self.suggested(kind, tool, score, request, here),
        }
    }

    /// The arguments that the tool's own reader finds in the request.
    fn suggested(&self, kind: &Kind, tool: &str, score: f32, request: &str, here: Here<'_>) -> Option<Decision> {
        // If the kind is not sure, the request has to say so literally.
        let needed = if score < self.weights.act { self.weights.literal } else { self.weights.told };
        let Some(best) = self.said(tool, request).filter(|one| one.score >= needed) else {
            return (kind.group == Group::Act).then(|| Decision::Say(self.replies.too_little(kind, here)));
        };
        let call = (tool.to_owned(), best.arguments);
        Some(Decision::Call(Call {
            fit: score.clamp(0.3, 1.0),
            why: best.why,
            acts: kind.group == Group::Act,
            ..Call::new(&kind.name, request, call, self.replies.framed("plain", &[], here)?)
        }))
    }

    pub async fn draft(&self, kind: &str, sure: bool, text: &str) -> Option<Draft> {
        let wanted = Wanted { kind, text, sure, earlier: &self.earlier, asking: &self.kinds.asking };
        self.within_time(kind, draft(wanted, self.view, self.embedder)).await
    }

    /// What becomes of a search for arguments that neither panics nor takes too long.
    pub async fn within_time(&self, kind: &str, work: impl Future<Output = Option<Draft>>) -> Option<Draft> {
        let work = AssertUnwindSafe(work).catch_unwind();
        match tokio::time::timeout(LONGEST, work).await {
            Ok(Ok(draft)) => draft,
            Ok(Err(_)) => {
                tracing::error!(kind, "the search for arguments panicked");
                None
            }
            Err(_) => {
                tracing::warn!(kind, "the search for arguments took too long");
                None
            }
        }
    }

    /// The arguments in the request, if the tool accepts them.
    fn said(&self, tool: &str, request: &str) -> Option<Suggestion> {
        let spec = self.setup.tools.iter().find(|spec| spec.name == tool)?;
        suggest(tool, request, self.view).filter(|one| schema::validate(&spec.parameters, &one.arguments).is_ok())
    }

    /// Last resort: lines of documents that hold the words of the request.
    async fn mentioned(&self, request: &str, here: Here<'_>) -> Option<Decision> {
        let Draft { call, frame, words, .. } = self.draft("mention", false, request).await?;
        let frame = self.replies.framed(frame, &words, here);
        let Some(call) = call else {
            return frame.map(Decision::Say);
        };
        let why = "a word of the request stands in a document".to_owned();
        self.offers(&call.0).then_some(())?;
        Some(Decision::Call(Call { fit: 0.3, why, ..Call::new("mention", request, call, frame?) }))
    }
}
