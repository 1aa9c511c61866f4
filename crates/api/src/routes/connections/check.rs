//! Whether a connection can be as it is configured.

use crate::dto::connection::{Auth, ConnectionInput};
use crate::dto::names::Provider;
use crate::problem::Problem;

/// Refuses what can't be, naming the field.
pub(super) fn check(input: &ConnectionInput) -> Result<(), Problem> {
    if input.provider == Provider::Local {
        return Err(Problem::invalid(
            "provider",
            "the built-in model can't be added or changed here",
            "it is found by itself; for another model in this program run `make setup` and see the docs on models",
        ));
    }
    one_line("name", &input.name, 64)?;
    one_line("model", &input.model, 200)?;
    let url = input.base_url.trim();
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let fits = host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && url.len() <= 500
        && !url.chars().any(|c| c.is_whitespace() || c.is_control());
    if !fits {
        return Err(Problem::invalid(
            "base_url",
            "the base URL is no http or https address without a user name",
            "give it up to and with /v1, such as http://127.0.0.1:11434/v1",
        ));
    }
    if let Auth::BearerEnv { variable } = &input.auth {
        let fits = !variable.is_empty()
            && variable.len() <= 100
            && variable
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !variable.starts_with(|c: char| c.is_ascii_digit());
        if !fits {
            return Err(Problem::invalid(
                "auth.variable",
                "that is no name of an environment variable",
                "give the name of the variable that holds the key, such as OPENAI_API_KEY; never the key",
            ));
        }
    }
    if let Some(can) = &input.capabilities
        && !(can.window >= 256 && can.window <= 100_000_000 && (1..=1000).contains(&can.max_tools))
    {
        return Err(Problem::invalid(
            "capabilities",
            "`window` or `max_tools` is out of range",
            "choose a window of 256 to 100000000 tokens and 1 to 1000 tools",
        ));
    }
    Ok(())
}

fn one_line(field: &str, text: &str, most: usize) -> Result<(), Problem> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > most || text.chars().any(char::is_control) {
        return Err(Problem::invalid(
            field,
            format!("`{field}` has 1 to {most} characters on one line"),
            "correct it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "tests")]

    use super::check;
    use serde_json::{Value, json};

    fn fits(field: &str, value: Value, expect: bool) {
        let mut body = json!({"name": "work", "provider": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"});
        body[field] = value.clone();
        let input = serde_json::from_value(body).unwrap();
        assert_eq!(check(&input).is_ok(), expect, "{field} {value}");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        fits("name", json!("work"), true);
        fits("name", json!(""), false);
        fits("provider", json!("local"), false);
        fits("provider", json!("ollama"), true);
        for (url, expect) in [
            ("https://models.example.org/v1", true),
            ("ftp://models.example.org/v1", false),
            ("models.example.org", false),
            ("http://", false),
            ("http://ann:secret@models.example.org/v1", false),
            ("http://a b/v1", false),
        ] {
            fits("base_url", json!(url), expect);
        }
        fits(
            "auth",
            json!({"kind": "bearer_env", "variable": "A_KEY"}),
            true,
        );
        fits(
            "auth",
            json!({"kind": "bearer_env", "variable": "sk-123"}),
            false,
        );
        fits("capabilities", json!({"window": 10}), false);
        fits("capabilities", json!({"window": 8192}), true);
    }
}
