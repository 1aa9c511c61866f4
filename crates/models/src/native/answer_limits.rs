//! How long the answers of Anthropic's models may be, since its interface wants a limit in each request, and how a model is
//! told how long to think.

use serde::Deserialize;
use std::sync::LazyLock;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct AnswerLimits {
    model: String,
    /// Longest answer, tokens.
    pub most: u32,
    pub thinking: Thinking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Thinking {
    None,
    /// By a number of tokens.
    Budget,
    /// By a word; the model then decides by itself.
    Effort,
}

#[derive(Deserialize)]
struct Table {
    models: Vec<AnswerLimits>,
}

static TABLE: LazyLock<Vec<AnswerLimits>> = LazyLock::new(|| {
    let table: Option<Table> = serde_json::from_str(include_str!("../../data/answer_limits.json")).ok();
    table.map_or_else(Vec::new, |table| table.models)
});

/// Those of the model with this name, with or without Bedrock's prefixes.
pub(super) fn answer_limits(model: &str) -> AnswerLimits {
    let name = model.rsplit(['.', '/']).find(|part| part.starts_with("claude")).unwrap_or(model);
    let rows = TABLE.iter().filter(|row| name.starts_with(&row.model));
    let unknown = AnswerLimits { model: String::new(), most: 4096, thinking: Thinking::None };
    rows.max_by_key(|row| row.model.len()).cloned().unwrap_or(unknown)
}

/// The longest answer that a refusal allows: `max_tokens: 128000 > 64000, which is the maximum …`, or where prompt and answer
/// are more than the window: `150000 + 64000 > 200000`.
pub(crate) fn longest_allowed(refusal: &str) -> Option<u32> {
    let at = refusal.find("max_tokens")?;
    let number = |text: &str, last: bool| -> Option<u32> {
        let parts: Vec<&str> = text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
        if last { parts.last()? } else { parts.first()? }.parse().ok()
    };
    let (before, after) = refusal[at..].split_once('>')?;
    let most = number(after, false)?;
    match before.rsplit_once('+') {
        Some((prompt, _)) => most.checked_sub(number(prompt, true)?).filter(|left| *left > 0),
        None => Some(most),
    }
}

#[cfg(test)]
mod tests {
    use super::{TABLE, Thinking, answer_limits, longest_allowed};

    #[test]
    fn each_model_has_its_own_limit() {
        assert!(TABLE.len() > 10, "the table is understood");
        let cases = [
            ("claude-3-haiku-20240307", 4096, Thinking::None),
            ("claude-3-5-sonnet-latest", 8192, Thinking::None),
            ("claude-sonnet-4-20250514", 64_000, Thinking::Budget),
            ("claude-opus-4-20250514", 32_000, Thinking::Budget),
            ("claude-opus-4-5-20251101", 64_000, Thinking::Budget),
            ("claude-opus-4-8", 128_000, Thinking::Effort),
            ("claude-next", 128_000, Thinking::Effort),
            ("eu.anthropic.claude-3-7-sonnet-20250219-v1:0", 64_000, Thinking::Budget),
        ];
        for (model, most, thinking) in cases {
            let limits = answer_limits(model);
            assert_eq!((limits.most, limits.thinking), (most, thinking), "{model}");
        }
    }

    #[test]
    fn a_refusal_tells_the_limit() {
        let cases = [
            (
                "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens for claude-x",
                Some(64_000),
            ),
            (
                "input length and `max_tokens` exceed context limit: 150000 + 64000 > 200000, decrease input length",
                Some(50_000),
            ),
            ("input length and `max_tokens` exceed context limit: 250000 + 64000 > 200000", None),
            ("temperature: 3 > 1", None),
            ("max_tokens: must be positive", None),
        ];
        for (refusal, expected) in cases {
            assert_eq!(longest_allowed(refusal), expected, "{refusal}");
        }
    }
}
