//! What is done about a request where the model can't decide it: a call with arguments from the request, or words that say
//! what is missing or can't be done. Nothing is made up, and a tool acts only on a request of its own kind.

use super::error::IntentError;
use super::features::{Feature, see};
use super::kinds::{Group, Kind, Kinds, Reading};
use super::replies::{Here, Replies};
use super::settings::{Kinds as Weights, Settings};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use steward_core::event::Setup;
use steward_core::message::Role;
use steward_core::ports::{Draft, Embedder, ToolScope, Tools, Wanted};

/// Words of a request that goes on from the one before.
const SHORT: usize = 7;

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decision {
    /// Words.
    Say(String),
    /// A call, and the sentence for its result.
    Call(Call),
}

/// A call that was decided on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub tool: String,
    pub arguments: Value,
    /// With places for the result (`core::run::compose`).
    pub frame: String,
    pub fit: f32,
    pub why: String,
    /// Whether it does more than look.
    pub acts: bool,
}

pub(super) struct Decider<'a> {
    pub setup: &'a Setup,
    pub tools: &'a dyn Tools,
    pub embedder: &'a dyn Embedder,
    pub scope: &'a ToolScope,
    kinds: &'static Kinds,
    replies: &'static Replies,
    weights: &'static Weights,
    files: Vec<String>,
    earlier: Vec<String>,
}

impl<'a> Decider<'a> {
    pub async fn new(
        setup: &'a Setup,
        tools: &'a dyn Tools,
        embedder: &'a dyn Embedder,
        scope: &'a ToolScope,
    ) -> Result<Self, IntentError> {
        let said = setup.history.iter().filter(|message| message.role == Role::User);
        Ok(Self {
            kinds: Kinds::shipped()?,
            replies: Replies::shipped()?,
            weights: &Settings::shipped()?.kinds,
            files: tools.files(scope).await,
            earlier: said.map(|message| message.text.clone()).collect(),
            setup,
            tools,
            embedder,
            scope,
        })
    }

    /// Decides about one request.
    pub async fn decide(&self, request: &str) -> Result<Decision, IntentError> {
        let reading = self.kinds.read(request, self.embedder).await?;
        let language = self.language(&reading).await?;
        let here = Here { language, setup: self.setup, files: &self.files };
        if let Some(decision) = self.continued(request, &reading, here).await? {
            return Ok(decision);
        }
        for (kind, score) in self.candidates(request, &reading)? {
            if let Some(decision) = self.of_kind(kind, score, request, here).await {
                return Ok(decision);
            }
        }
        Ok(self.mentioned(request, here).await)
    }

    /// What the part of a request does that comes after others: it may write down what they find.
    pub async fn follow(&self, part: &str) -> Result<Decision, IntentError> {
        const WRITE: &str = "write";
        if self.setup.tools.iter().any(|spec| spec.name == WRITE) {
            let told = self.tools.suggest(WRITE, part, self.scope).await;
            let best = told.into_iter().find(|one| one.score >= self.weights.told);
            if let Some(best) = best {
                let reading = self.kinds.read(part, self.embedder).await?;
                let here = Here { language: self.language(&reading).await?, setup: self.setup, files: &self.files };
                return Ok(Decision::Call(Call {
                    tool: WRITE.to_owned(),
                    arguments: best.arguments,
                    frame: self.replies.framed("plain", &[], here).unwrap_or_default(),
                    fit: best.score,
                    why: best.why,
                    acts: true,
                }));
            }
        }
        self.decide(part).await
    }

    /// That the rest of a request of several steps is left.
    pub async fn left(&self, rest: &[String]) -> Result<Decision, IntentError> {
        let rest = rest.join("; ");
        let reading = self.kinds.read(&rest, self.embedder).await?;
        let here = Here { language: self.language(&reading).await?, setup: self.setup, files: &self.files };
        Ok(Decision::Say(self.replies.beyond("rest", here).replace("{rest}", &rest)))
    }

    /// Words that requests for a tool begin with.
    pub fn openings(&self) -> &BTreeSet<String> {
        &self.kinds.openings
    }

    /// The files that a part names.
    pub fn named(&self, part: &str) -> Vec<&str> {
        let words: Vec<&str> = part
            .split(|c: char| c.is_whitespace() || ",;:\"'`“”„«»()".contains(c))
            .map(|w| w.trim_end_matches('.'))
            .collect();
        self.files.iter().map(String::as_str).filter(|file| words.contains(file)).collect()
    }

    /// That of the request, if it is long enough to tell; else that of the one before.
    async fn language(&self, reading: &Reading) -> Result<&'static str, IntentError> {
        match self.earlier.last() {
            Some(before) if reading.spoken < self.weights.spoken => {
                Ok(self.kinds.read(before, self.embedder).await?.language)
            }
            _ if reading.spoken < self.weights.heard => Ok("en"),
            _ => Ok(reading.language),
        }
    }

    /// The kinds that are looked into, in order.
    fn candidates<'r>(&self, request: &str, reading: &'r Reading) -> Result<Vec<(&'r Kind, f32)>, IntentError> {
        let seen = see(request, &Settings::shipped()?.mask);
        let has = |feature| seen.features.contains(&feature);
        let find = |name: &str| reading.kinds.iter().find(|(kind, _)| kind.name == name);
        let mut found: Vec<(&Kind, f32)> = Vec::new();
        let Some(top) = reading.kinds.first() else {
            return Ok(found);
        };
        let spoken_of = has(Feature::Path) || has(Feature::Url);
        // Talk and the world at large have no files.
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
        if let Some((kind, score)) = sure {
            found.push((kind, *score));
            return Ok(found);
        }
        // Without a clear word, only what the workspace itself confirms is done.
        let looks =
            reading.kinds.iter().filter(|(kind, score)| kind.group == Group::Look && *score >= self.weights.guess);
        found.extend(looks.take(2).map(|(kind, _)| (*kind, 0.0)));
        Ok(found)
    }

    async fn of_kind(&self, kind: &Kind, score: f32, request: &str, here: Here<'_>) -> Option<Decision> {
        let sure = score >= self.weights.sure;
        if matches!(kind.group, Group::Talk | Group::Beyond) {
            return Some(Decision::Say(self.replies.reply(kind, here)));
        }
        let has = |tool: &&String| self.setup.tools.iter().any(|spec| spec.name == **tool);
        let Some(tool) = kind.tools.iter().find(has) else {
            return sure.then(|| Decision::Say(self.replies.beyond("no_tool", here)));
        };
        if kind.group == Group::Act && score < self.weights.act {
            return Some(Decision::Say(self.replies.too_little(kind, here)));
        }
        match self.draft(&kind.name, sure, request).await {
            Some(Draft { call: Some((tool, arguments)), frame, words }) => {
                if !has(&&tool) {
                    return sure.then(|| Decision::Say(self.replies.beyond("no_tool", here)));
                }
                let frame = self.replies.framed(frame, &words, here)?;
                Some(Decision::Call(Call {
                    tool,
                    arguments,
                    frame,
                    fit: score.clamp(0.3, 1.0),
                    why: format!("{} ({score:.2})", kind.name),
                    acts: kind.group == Group::Act,
                }))
            }
            Some(Draft { frame, words, .. }) if sure => Some(Decision::Say(self.replies.framed(frame, &words, here)?)),
            Some(_) => None,
            None => self.suggested(kind, tool, score, request, here).await,
        }
    }

    /// What the tool itself reads out of the request.
    async fn suggested(&self, kind: &Kind, tool: &str, score: f32, request: &str, here: Here<'_>) -> Option<Decision> {
        let own = self.tools.suggest(tool, request, self.scope).await;
        let Some(best) = own.into_iter().find(|one| one.score >= self.weights.told) else {
            let sure = score >= self.weights.sure;
            return match kind.group {
                Group::Act => Some(Decision::Say(self.replies.too_little(kind, here))),
                _ if sure => Some(Decision::Say(self.replies.beyond("unknown", here))),
                _ => None,
            };
        };
        Some(Decision::Call(Call {
            tool: tool.to_owned(),
            arguments: best.arguments,
            frame: self.replies.framed("plain", &[], here)?,
            fit: score.clamp(0.3, 1.0),
            why: best.why,
            acts: kind.group == Group::Act,
        }))
    }

    async fn draft(&self, kind: &str, sure: bool, request: &str) -> Option<Draft> {
        let wanted = Wanted { kind, text: request, sure, earlier: &self.earlier, asking: &self.kinds.asking };
        self.tools.draft(wanted, self.scope, self.embedder).await
    }

    /// A request that only goes on from the one before: "and in Germany?", "the first three of them".
    async fn continued(
        &self,
        request: &str,
        reading: &Reading,
        here: Here<'_>,
    ) -> Result<Option<Decision>, IntentError> {
        let (Some(before), Some((top, score))) = (self.earlier.last(), reading.kinds.first()) else {
            return Ok(None);
        };
        let words = request.split_whitespace().count();
        let first = top.name == "head" && *score >= self.weights.sure;
        let names_file = see(request, &Settings::shipped()?.mask).features.contains(&Feature::Path);
        if words > SHORT || (*score >= self.weights.sure && (!first || names_file)) {
            return Ok(None);
        }
        let earlier = self.kinds.read(before, self.embedder).await?;
        let Some((kind, sure)) =
            earlier.kinds.first().filter(|(kind, sure)| kind.group == Group::Look && *sure >= self.weights.sure)
        else {
            return Ok(None);
        };
        let text = match (first, names_file) {
            (true, _) => before.clone(),
            (false, true) => request.to_owned(),
            (false, false) => format!("{} {request}", without_names(before)),
        };
        let decision = self.of_kind(kind, *sure, &text, here).await;
        Ok(match decision {
            Some(Decision::Call(mut call)) if first => {
                let Some(count) = counted(request) else {
                    return Ok(None);
                };
                let query = &mut call.arguments["query"];
                if call.tool != "sql" || query.get("from").is_none() {
                    return Ok(None);
                }
                query["limit"] = json!(count);
                if kind.name != "rows"
                    && let Some(query) = query.as_object_mut()
                {
                    query.remove("select");
                }
                call.frame = self.replies.framed("plain", &[], here).unwrap_or(call.frame);
                Some(Decision::Call(call))
            }
            Some(Decision::Call(call)) => Some(Decision::Call(call)),
            _ => None,
        })
    }

    /// Where nothing else is known: lines of documents that hold the words of the request, or that it isn't known.
    async fn mentioned(&self, request: &str, here: Here<'_>) -> Decision {
        let found = self.draft("mention", false, request).await;
        let call = found.and_then(|draft| {
            let (tool, arguments) = draft.call?;
            self.setup.tools.iter().find(|spec| spec.name == tool)?;
            Some(Call {
                tool,
                arguments,
                frame: self.replies.framed(draft.frame, &draft.words, here)?,
                fit: 0.3,
                why: "a word of the request stands in a document".to_owned(),
                acts: false,
            })
        });
        match call {
            Some(call) => Decision::Call(call),
            None => Decision::Say(self.replies.beyond("unknown", here)),
        }
    }
}

/// A request without the names in it, which the next one replaces.
fn without_names(request: &str) -> String {
    let words = request.split_whitespace().enumerate();
    let kept: Vec<&str> = words
        .filter(|(at, word)| {
            let upper = word.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(char::is_uppercase);
            *at == 0 || !upper || word.contains('.')
        })
        .map(|(_, word)| word)
        .collect();
    kept.join(" ")
}

/// The number that a request says, in digits or as a small word.
fn counted(request: &str) -> Option<u32> {
    const WORDS: [&[&str]; 5] = [
        &["two", "zwei", "deux", "dos"],
        &["three", "drei", "trois", "tres"],
        &["four", "vier", "quatre", "cuatro"],
        &["five", "fünf", "cinq", "cinco"],
        &["ten", "zehn", "dix", "diez"],
    ];
    let lower = request.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .find_map(|word| {
            let said = WORDS.iter().zip([2, 3, 4, 5, 10]);
            word.parse().ok().or_else(|| said.into_iter().find(|(words, _)| words.contains(&word)).map(|s| s.1))
        })
        .filter(|count| (1..=100).contains(count))
}
