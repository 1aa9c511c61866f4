use super::has_own_address;
use crate::dto::auth::AuthInput;
use crate::dto::connections::ConnectionInput;
use crate::error::{AppError, AppResult};
use crate::inputs::is_line;
use secrecy::{ExposeSecret, SecretString};
use steward_core::model::Provider;

pub(super) fn check_input(input: &ConnectionInput) -> AppResult<()> {
    if input.provider == Provider::Local {
        return Err(AppError::invalid(
            "provider",
            "the built-in model can't be added or changed here",
            "it is found by itself; for another model in this program run `make setup` and see the docs on models",
        ));
    }
    one_line("name", &input.name, 64)?;
    // It stands in paths: `connection/<name>` is a model's name under `/v1`.
    if input.name.contains('/') {
        return Err(AppError::invalid(
            "name",
            "name: give 1 to 64 characters without `/`, such as `office-vllm`",
            "correct the connection",
        ));
    }
    one_line("model", &input.model, 200)?;
    // Providers with one address of their own have a default.
    if !(input.base_url.trim().is_empty() && has_own_address(input.provider)) {
        url(&input.base_url)?;
    }
    check_auth(&input.auth)?;
    if input.weight > 1000 {
        return Err(AppError::invalid(
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
            && can.prompt_tokens.is_none_or(|number| tokens.contains(&number)))
    {
        return Err(AppError::invalid(
            "capabilities",
            "`window`, `num_ctx`, `prompt_tokens` or `max_tools` is out of range",
            "choose 256 to 100000000 tokens and 1 to 1000 tools",
        ));
    }
    Ok(())
}

pub(super) fn check_address(text: &str) -> AppResult<()> {
    let text = text.trim();
    if text.contains("://") { url(text) } else { url(&format!("http://{text}")) }
}

fn url(text: &str) -> AppResult<()> {
    let url = text.trim();
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    let host = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let fits = host.is_some_and(|host| !host.is_empty() && !host.contains('@'))
        && url.len() <= 500
        && !url.chars().any(|c| c.is_whitespace() || c.is_control());
    if fits && url::Url::parse(url).is_ok_and(|url| url.has_host()) {
        return Ok(());
    }
    Err(AppError::invalid(
        "base_url",
        "the base URL is no http or https address without a user name",
        "give it up to and with /v1, such as http://127.0.0.1:11434/v1",
    ))
}

/// Refuses what can't be the name of a variable or of a header, or a key.
pub(super) fn check_auth(auth: &AuthInput) -> AppResult<()> {
    match auth {
        AuthInput::None => Ok(()),
        AuthInput::Bearer { key: given } | AuthInput::ApiKey { key: given } => key("key", given.as_ref()),
        AuthInput::Basic { user: name, key: given } => user(name).and(key("key", given.as_ref())),
        AuthInput::Header { header: name, key: given } => header(name).and(key("key", given.as_ref())),
        AuthInput::Aws { region: place, access_key_id: id, secret_access_key: secret, session_token: token } => {
            region(place)?;
            if id.is_some() != secret.is_some() || (token.is_some() && id.is_none()) {
                return Err(AppError::invalid(
                    "auth.secret_access_key",
                    "an access key has an id and a secret",
                    "give both anew, or neither to keep them",
                ));
            }
            key("access_key_id", id.as_ref())?;
            key("secret_access_key", secret.as_ref())?;
            key("session_token", token.as_ref())
        }
        AuthInput::AwsEnv { region: place } => region(place),
        AuthInput::BearerEnv { variable: name } | AuthInput::ApiKeyEnv { variable: name } => variable(name),
        AuthInput::BasicEnv { user: name, variable: place } => user(name).and(variable(place)),
        AuthInput::HeaderEnv { header: name, variable: place } => header(name).and(variable(place)),
    }
}

/// A key, where one was given: what a header can hold.
fn key(field: &str, given: Option<&SecretString>) -> AppResult<()> {
    let Some(given) = given else {
        return Ok(());
    };
    let text = given.expose_secret().trim();
    if (1..=8192).contains(&text.len()) && text.bytes().all(|b| matches!(b, b' '..=b'~')) {
        return Ok(());
    }
    Err(AppError::invalid(
        format!("auth.{field}"),
        "that is no key: it has 1 to 8192 characters on one line",
        "paste the key as its provider shows it, or leave it out to keep the one that is there",
    ))
}

fn user(name: &str) -> AppResult<()> {
    one_line("auth.user", name, 200)?;
    if name.contains(':') {
        return Err(AppError::invalid(
            "auth.user",
            "a user name has no colon",
            "give the name alone; the password has a place of its own",
        ));
    }
    Ok(())
}

fn header(name: &str) -> AppResult<()> {
    let fits =
        (1..=100).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if fits {
        return Ok(());
    }
    Err(AppError::invalid(
        "auth.header",
        "that is no name of a header",
        "give the header's name, such as X-Api-Key; its value has a place of its own",
    ))
}

fn region(name: &str) -> AppResult<()> {
    let fits = (1..=40).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if fits {
        return Ok(());
    }
    Err(AppError::invalid(
        "auth.region",
        "that is no region of Amazon",
        "give the one in the address, such as eu-central-1",
    ))
}

fn variable(name: &str) -> AppResult<()> {
    let fits = !name.is_empty()
        && name.len() <= 100
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    if fits {
        return Ok(());
    }
    Err(AppError::invalid(
        "auth.variable",
        "that is no name of an environment variable",
        "give the name of the variable that holds the key, such as OPENAI_API_KEY; a key itself goes into `key`",
    ))
}

fn one_line(field: &str, text: &str, most: usize) -> AppResult<()> {
    if !is_line(text.trim(), most) {
        return Err(AppError::invalid(
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

    use super::check_input as check;
    use serde_json::{Value, json};

    fn fits(field: &str, value: Value, expect: bool) {
        let mut body =
            json!({"name": "work", "provider": "compatible", "base_url": "http://127.0.0.1:9/v1", "model": "m"});
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
        fits("auth", json!({"kind": "bearer_env", "variable": "A_KEY"}), true);
        fits("auth", json!({"kind": "bearer_env", "variable": "sk-123"}), false);
        for (auth, expect) in [
            (json!({"kind": "api_key_env", "variable": "A_KEY"}), true),
            (json!({"kind": "api_key_env", "variable": ""}), false),
            (json!({"kind": "basic_env", "user": "ann", "variable": "PASSWORD"}), true),
            (json!({"kind": "basic_env", "user": "a:b", "variable": "PASSWORD"}), false),
            (json!({"kind": "basic_env", "user": "", "variable": "PASSWORD"}), false),
            (json!({"kind": "header_env", "header": "X-Key", "variable": "A_KEY"}), true),
            (json!({"kind": "header_env", "header": "X Key", "variable": "A_KEY"}), false),
            (json!({"kind": "bearer"}), true),
            (json!({"kind": "bearer", "key": "sk-1"}), true),
            (json!({"kind": "bearer", "key": " "}), false),
            (json!({"kind": "api_key", "key": "a\nb"}), false),
            (json!({"kind": "header", "header": "X Key", "key": "k"}), false),
            (json!({"kind": "basic", "user": "ann", "key": "pw"}), true),
            (json!({"kind": "aws", "region": "eu-central-1"}), true),
            (json!({"kind": "aws", "region": "Frankfurt"}), false),
            (json!({"kind": "aws", "region": "eu-central-1", "access_key_id": "AK"}), false),
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
