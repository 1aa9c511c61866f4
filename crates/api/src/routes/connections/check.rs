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
    // Providers with one address of their own have a default.
    if !(input.base_url.trim().is_empty() && has_own_address(input.provider)) {
        url(&input.base_url)?;
    }
    auth(&input.auth)?;
    if input.weight > 1000 {
        return Err(Problem::invalid(
            "weight",
            "`weight` is 0 to 1000",
            "choose the connection's share among equals, 1 by default",
        ));
    }
    let tokens = 256..=100_000_000;
    if let Some(can) = &input.capabilities
        && !(tokens.contains(&can.window)
            && (1..=1000).contains(&can.max_tools)
            && can.num_ctx.is_none_or(|number| tokens.contains(&number))
            && can
                .prompt_tokens
                .is_none_or(|number| tokens.contains(&number)))
    {
        return Err(Problem::invalid(
            "capabilities",
            "`window`, `num_ctx`, `prompt_tokens` or `max_tools` is out of range",
            "choose 256 to 100000000 tokens and 1 to 1000 tools",
        ));
    }
    Ok(())
}

/// Whether the provider is at one place in the world.
fn has_own_address(provider: Provider) -> bool {
    matches!(
        provider,
        Provider::OpenAi
            | Provider::Anthropic
            | Provider::Gemini
            | Provider::Cohere
            | Provider::HuggingFace
    )
}

/// Refuses what is no address, with or without a scheme.
pub(super) fn address(text: &str) -> Result<(), Problem> {
    let text = text.trim();
    if text.contains("://") {
        url(text)
    } else {
        url(&format!("http://{text}"))
    }
}

fn url(text: &str) -> Result<(), Problem> {
    let url = text.trim();
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let fits = host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && url.len() <= 500
        && !url.chars().any(|c| c.is_whitespace() || c.is_control());
    if fits {
        return Ok(());
    }
    Err(Problem::invalid(
        "base_url",
        "the base URL is no http or https address without a user name",
        "give it up to and with /v1, such as http://127.0.0.1:11434/v1",
    ))
}

/// Refuses what can't be the name of a variable or of a header.
pub(super) fn auth(auth: &Auth) -> Result<(), Problem> {
    let variable = match auth {
        Auth::None => return Ok(()),
        Auth::BearerEnv { variable } | Auth::ApiKeyEnv { variable } => variable,
        Auth::BasicEnv { user, variable } => {
            one_line("auth.user", user, 200)?;
            if user.contains(':') {
                return Err(Problem::invalid(
                    "auth.user",
                    "a user name has no colon",
                    "give the name alone; the password is read from the environment variable",
                ));
            }
            variable
        }
        Auth::HeaderEnv { header, variable } => {
            let fits = (1..=100).contains(&header.len())
                && header
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
            if !fits {
                return Err(Problem::invalid(
                    "auth.header",
                    "that is no name of a header",
                    "give the header's name, such as X-Api-Key; its value is read from the environment variable",
                ));
            }
            variable
        }
    };
    let fits = !variable.is_empty()
        && variable.len() <= 100
        && variable
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !variable.starts_with(|c: char| c.is_ascii_digit());
    if fits {
        return Ok(());
    }
    Err(Problem::invalid(
        "auth.variable",
        "that is no name of an environment variable",
        "give the name of the variable that holds the key, such as OPENAI_API_KEY; never the key",
    ))
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
        for (auth, expect) in [
            (json!({"kind": "api_key_env", "variable": "A_KEY"}), true),
            (json!({"kind": "api_key_env", "variable": ""}), false),
            (
                json!({"kind": "basic_env", "user": "ann", "variable": "PASSWORD"}),
                true,
            ),
            (
                json!({"kind": "basic_env", "user": "a:b", "variable": "PASSWORD"}),
                false,
            ),
            (
                json!({"kind": "basic_env", "user": "", "variable": "PASSWORD"}),
                false,
            ),
            (
                json!({"kind": "header_env", "header": "X-Key", "variable": "A_KEY"}),
                true,
            ),
            (
                json!({"kind": "header_env", "header": "X Key", "variable": "A_KEY"}),
                false,
            ),
        ] {
            fits("auth", auth, expect);
        }
        fits("base_url", json!(""), false);
        fits("weight", json!(0), true);
        fits("weight", json!(1001), false);
        fits("price", json!({"input": 150_000, "output": 600_000}), true);
        fits("wire", json!("native"), true);
        fits("capabilities", json!({"num_ctx": 10}), false);
        fits("capabilities", json!({"prompt_tokens": 10}), false);
        fits("capabilities", json!({"window": 10}), false);
        fits("capabilities", json!({"window": 8192}), true);
    }
}
