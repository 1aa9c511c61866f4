//! Requests that only continue the previous one: "and in Germany?", "the first three of them".

use crate::decide::{Asked, Call, Decider, Decision};
use crate::kinds::{Group, Reading};
use crate::rank::features::{Feature, see};
use crate::read::number;
use crate::replies::Here;
use crate::settings::Settings;
use serde_json::json;
use steward_core::ports::IntentError;
use steward_core::text::digits;

/// Most words of a request that continues the previous one.
const SHORT: usize = 8;
/// Most earlier requests that are considered.
const BACK: usize = 4;
/// Kinds of questions about tables whose words may be changed by the next request.
const TABLES: &[&str] = &["count", "extreme", "average", "sum", "rows"];

impl Decider<'_> {
    pub async fn continued(
        &self,
        request: &str,
        reading: &Reading,
        here: Here<'_>,
    ) -> Result<Option<Decision>, IntentError> {
        let Some((top, score)) = reading.kinds.first() else {
            return Ok(None);
        };
        let sure = *score >= self.weights.sure;
        if request.split_whitespace().count() > SHORT || (sure && top.group != Group::Look) {
            return Ok(None);
        }
        let lower = request.trim_start_matches(['¿', ' ']).to_lowercase();
        let and = &Settings::shipped().split.and;
        let goes_on = top.group == Group::Look && and.iter().any(|word| lower.starts_with(word.trim_start()));
        // If the request that it continues was not understood, the rest isn't either.
        let unknown = || Decision::Say(self.replies.beyond("unknown", here));
        let Some(before) = self.last().await? else {
            let asked = goes_on && TABLES.contains(&top.name.as_str()) && !self.earlier.is_empty();
            return Ok(asked.then(unknown));
        };
        let of_rows = before.tool == "sql" && before.arguments["query"].get("from").is_some();
        if see(request, &Settings::shipped().mask).features.contains(&Feature::Path) {
            let kind = self.kinds.kinds.iter().find(|kind| kind.name == before.kind);
            let Some(kind) = kind.filter(|_| !sure) else {
                return Ok(None);
            };
            let decision = self.of_kind(kind, self.weights.sure, request, here).await;
            return Ok(decision.filter(|decision| matches!(decision, Decision::Call(_))));
        }
        if top.name == "head" && of_rows && (sure || counted(request).is_some()) {
            return Ok(counted(request).map(|count| Decision::Call(self.fewer(before, count, here))));
        }
        if before.tool == "grep" && top.name == "tail" {
            let words = [("pattern", before.arguments["pattern"].as_str().unwrap_or_default().to_owned())];
            let frame = self.replies.framed("found_last", &words, here).unwrap_or_default();
            return Ok(Some(Decision::Call(Call { frame, ..before })));
        }
        if sure && !(of_rows && TABLES.contains(&top.name.as_str())) {
            return Ok(None);
        }
        let kind = if sure { &top.name } else { &before.kind };
        let text = if of_rows { format!("{}\n{request}", before.text) } else { request.to_owned() };
        let since = text.len() - request.len();
        let draft = self.draft(kind, true, Asked { text: &text, since }).await;
        // What changes nothing was not understood.
        let drafted = draft.and_then(|draft| Some((draft.call?, draft.frame, draft.words)));
        let drafted = drafted.filter(|((tool, new), ..)| *tool == before.tool && *new != before.arguments);
        let Some(((tool, arguments), frame, words)) = drafted else {
            return Ok((goes_on && of_rows).then(unknown));
        };
        let frame = self.replies.framed(frame, &words, here).unwrap_or_default();
        let why = format!("goes on from “{}”", before.text);
        Ok(Some(Decision::Call(Call { tool, arguments, frame, why, kind: kind.clone(), text, ..before })))
    }

    /// The first rows of a query instead of their number or all of them.
    fn fewer(&self, before: Call, count: u32, here: Here<'_>) -> Call {
        let mut call = before;
        let query = &mut call.arguments["query"];
        query["limit"] = json!(count);
        if call.kind != "rows"
            && let Some(query) = query.as_object_mut()
        {
            query.remove("select");
        }
        call.frame = self.replies.framed("plain", &[], here).unwrap_or(call.frame);
        call
    }

    /// What was done about the previous request, if that only looked.
    async fn last(&self) -> Result<Option<Call>, IntentError> {
        let Some((before, earlier)) = self.earlier.split_last() else {
            return Ok(None);
        };
        let view = self.view.undescribed();
        let then = Decider {
            view: &view,
            files: self.files.clone(),
            earlier: earlier[earlier.len().saturating_sub(BACK)..].to_vec(),
            ..*self
        };
        let decision = Box::pin(then.decide(before)).await?;
        Ok(match decision {
            Decision::Call(call) if !call.acts => Some(call),
            _ => None,
        })
    }
}

/// A number in a request, in digits or as a small word. "One" alone is an article in most languages.
fn counted(request: &str) -> Option<u32> {
    let lower = request.to_lowercase();
    let of = |word: &str| {
        let small = || number::small(word).filter(|count| (2..=10).contains(count)).map(u32::from);
        digits(word).and_then(|digits| digits.parse().ok()).or_else(small)
    };
    lower.split(|c: char| !c.is_alphanumeric()).find_map(of).filter(|count| (1..=100).contains(count))
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn counts_are_read() {
        for (request, count) in [
            ("the first three of them", Some(3)),
            ("nur die ersten fünf", Some(5)),
            ("les 7 premiers", Some(7)),
            ("and one in Prague?", None),
            ("in 2024", None),
        ] {
            assert_eq!(counted(request), count, "{request}");
        }
    }
}
