//! Requests that only continue the previous one: "and in Germany?", "the first three of them".

use crate::decide::{Call, Decider, Decision};
use crate::draft::Draft;
use crate::kinds::{Group, Reading};
use crate::rank::features::{Feature, see};
use crate::read::number;
use crate::replies::Here;
use crate::settings::Settings;
use crate::tables::{answered, unclear};
use steward_core::ports::{FileQuestion, FileWish, IntentError};
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
        let of_rows = before.query.is_some();
        if see(request, &Settings::shipped().mask).features.contains(&Feature::Path) {
            let kind = self.kinds.kinds.iter().find(|kind| kind.name == before.kind);
            let Some(kind) = kind.filter(|_| !sure) else {
                return Ok(None);
            };
            let decision = self.of_kind(kind, self.weights.sure, request, here).await;
            return Ok(decision.filter(|decision| matches!(decision, Decision::Call(_))));
        }
        if top.name == "head" && of_rows && (sure || counted(request).is_some()) {
            let Some(count) = counted(request) else { return Ok(None) };
            return Ok(self.fewer(before, count, here).await.map(Decision::Call));
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
        let draft = if of_rows {
            self.within_time(kind, self.change(&before, sure.then_some(top.name.as_str()), request)).await
        } else {
            self.draft(kind, true, request).await
        };
        if let Some(Draft { call: None, frame, words, .. }) = &draft
            && goes_on
            && of_rows
        {
            return Ok(self.replies.framed(frame, words, here).map(Decision::Say));
        }
        // What changes nothing was not understood.
        let drafted = draft.and_then(|draft| Some((draft.call?, draft.frame, draft.words, draft.query)));
        let drafted = drafted.filter(|((tool, new), ..)| *tool == before.tool && *new != before.arguments);
        let Some(((tool, arguments), frame, words, query)) = drafted else {
            return Ok((goes_on && of_rows && !sure).then(unknown));
        };
        let frame = self.replies.framed(frame, &words, here).unwrap_or_default();
        let (why, text) = (format!("goes on from “{}”", before.text), request.to_owned());
        Ok(Some(Decision::Call(Call {
            tool,
            arguments,
            frame,
            why,
            kind: kind.clone(),
            text,
            query: query.map(Box::new),
            ..before
        })))
    }

    /// The query of the call before as a request changes it. `kind`: that of the request, if it is sure.
    async fn change(&self, before: &Call, kind: Option<&str>, request: &str) -> Option<Draft> {
        let path = before.arguments["database"].as_str()?;
        let wish = match kind {
            Some("count") => Some(FileWish::Count),
            Some("sum") => Some(FileWish::Sum),
            Some("average") => Some(FileWish::Average),
            Some("rows") => Some(FileWish::Rows),
            _ => None,
        };
        let (text, today) = (request.to_owned(), self.view.today());
        let question = FileQuestion { text, before: before.query.as_deref().cloned(), wish, today };
        let made = self.view.draft(path.to_owned(), question).await?;
        match () {
            () if made.sure => Some(answered(path, made)),
            () if made.unread.is_empty() => None,
            () => Some(unclear(path, &made)),
        }
    }

    /// The first rows of a query instead of their number or all of them.
    async fn fewer(&self, before: Call, count: u32, here: Here<'_>) -> Option<Call> {
        let path = before.arguments["database"].as_str()?.to_owned();
        let made = self.view.first_rows(path.clone(), before.query.as_deref()?.clone(), count).await?;
        let Draft { call, query, .. } = answered(&path, made);
        let frame = self.replies.framed("plain", &[], here)?;
        Some(Call { arguments: call?.1, query: query.map(Box::new), frame, ..before })
    }

    /// What was done about the previous request, if that only looked.
    async fn last(&self) -> Result<Option<Call>, IntentError> {
        let Some((before, earlier)) = self.earlier.split_last() else {
            return Ok(None);
        };
        let then = Decider {
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
