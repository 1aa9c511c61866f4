use super::estimate_tokens;
use crate::tool::ToolSpec;
use serde_json::Value;
use std::sync::Arc;

/// Longest description of a tool for a tiny window, characters.
const TOOL: usize = 120;
/// Longest description of an argument for a tiny window, characters.
const ARGUMENT: usize = 60;

/// Estimated tokens of `tools` in the provider's own field.
pub fn weigh_tools(tools: &[ToolSpec]) -> u64 {
    tools.iter().map(weigh).sum()
}

fn weigh(spec: &ToolSpec) -> u64 {
    estimate_tokens(&spec.name) + estimate_tokens(&spec.description) + estimate_tokens(&spec.parameters.to_string()) + 8
}

/// `spec` shortened for tiny windows to the first sentence of each description.
#[must_use]
pub fn brief(mut spec: ToolSpec) -> ToolSpec {
    spec.description = sentence(&spec.description, TOOL);
    shorten(Arc::make_mut(&mut spec.parameters));
    spec
}

fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "description" => {
                        *text = sentence(text, ARGUMENT);
                    }
                    other => shorten(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// The first sentence, or as many whole words as fit.
fn sentence(text: &str, limit: usize) -> String {
    let text = text.trim();
    let end = text
        .match_indices(['.', '!', '?', ';', '\n'])
        .map(|(at, mark)| at + mark.len())
        .find(|end| text[*end..].is_empty() || text[*end..].starts_with(char::is_whitespace));
    let first = text[..end.unwrap_or(text.len())].trim_end();
    if first.chars().count() <= limit {
        return first.to_owned();
    }
    let mut short = String::new();
    for word in first.split_whitespace() {
        if short.chars().count() + word.chars().count() + 1 > limit {
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::{sentence, weigh_tools};
    use crate::tool::tool_search;

    #[test]
    fn a_description_keeps_its_first_sentence() {
        assert_eq!(sentence("Reads a.txt. Or more.", 80), "Reads a.txt.");
        assert_eq!(sentence("Reads a file", 80), "Reads a file");
        assert_eq!(sentence("Reads a very long file", 12), "Reads a very…");
        assert_eq!(sentence("", 5), "");
    }

    #[test]
    fn few_words_weigh_less() {
        let long = tool_search();
        let short = super::brief(long.clone());
        assert_eq!(short.name, long.name);
        assert!(weigh_tools(&[short]) <= weigh_tools(&[long]));
    }
}
