//! Keys of connections from a terminal or standard input, as the API takes them.

use super::rows::text;
use crate::term::Term;
use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use std::io::Read as _;
use steward_core::model::Provider;

/// How a connection proves who it is.
#[derive(Debug, Clone, Default, Args)]
pub struct AuthArgs {
    /// Ask for a key, without echo; `-` reads it from standard input.
    #[arg(long, value_name = "-", num_args = 0..=1, default_missing_value = "")]
    key: Option<String>,
    /// Environment variable of the server that holds the key, instead.
    #[arg(long, value_name = "VARIABLE", conflicts_with = "key")]
    key_env: Option<String>,
    /// User name: the key is a password.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["header", "region"])]
    user: Option<String>,
    /// Header that carries the key.
    #[arg(long, value_name = "NAME", conflicts_with = "region")]
    header: Option<String>,
    /// Region of Amazon: requests are signed, and the key is the secret access key.
    #[arg(long, conflicts_with = "key_env")]
    region: Option<String>,
    /// Id of the access key.
    #[arg(long, value_name = "ID", requires = "region")]
    access_key_id: Option<String>,
    /// Ask for a session token, too; on standard input it is the second line.
    #[arg(long, requires = "access_key_id")]
    session_token: bool,
}

/// Longest input, bytes.
const MOST: u64 = 64 * 1024;

pub(super) fn has_own_header(provider: Provider) -> bool {
    matches!(provider, Provider::AzureOpenAi | Provider::Anthropic | Provider::Gemini)
}

/// The API's `auth` object; prompts for what has to be typed.
pub(super) async fn given(args: &AuthArgs, term: Term) -> anyhow::Result<Value> {
    let auth = match (&args.user, &args.header, &args.region) {
        (Some(user), ..) => json!({"kind": "basic", "user": user}),
        (_, Some(header), _) => json!({"kind": "header", "header": header}),
        (_, _, Some(region)) => json!({"kind": "aws", "region": region}),
        _ => json!({"kind": "bearer"}),
    };
    if let Some(variable) = &args.key_env {
        let mut auth = from_environment(auth);
        auth["variable"] = json!(variable);
        return Ok(auth);
    }
    let Some(from) = &args.key else {
        return match text(&auth, "kind") {
            "bearer" => Ok(json!({"kind": "none"})),
            "aws" if args.access_key_id.is_none() => Ok(from_environment(auth)),
            _ => bail!("add --key to type in the key, or --key - to give it on standard input"),
        };
    };
    let secret = secret(Some(from), args.session_token, term).await?;
    if auth["kind"] == "aws" && args.access_key_id.is_none() {
        bail!("an access key has an id, too: add --access-key-id ID");
    }
    Ok(with_secret(auth, args.access_key_id.as_deref(), &secret))
}

fn from_environment(mut auth: Value) -> Value {
    auth["kind"] = format!("{}_env", text(&auth, "kind")).into();
    auth
}

/// An `auth` object with what is secret of it; `id` is that of an access key.
pub(super) fn with_secret(mut auth: Value, id: Option<&str>, secret: &Secret) -> Value {
    if auth["kind"] == "aws" {
        auth["access_key_id"] = json!(id);
        auth["secret_access_key"] = json!(secret.first);
        auth["session_token"] = json!(secret.session);
    } else {
        auth["key"] = json!(secret.first);
    }
    auth
}

pub(super) struct Secret {
    pub first: String,
    pub session: Option<String>,
}

/// Prompts for a key; `-` reads standard input.
pub(super) async fn secret(from: Option<&str>, session: bool, term: Term) -> anyhow::Result<Secret> {
    match from {
        Some("-") => {
            let text = std::io::read_to_string(std::io::stdin().take(MOST));
            read(&text.context("the key can't be read from standard input")?, session)
        }
        None | Some("") if term.can_ask => {
            let first = term.ask_hidden("Key:").await?.unwrap_or_default();
            let session =
                if session { Some(term.ask_hidden("Session token:").await?.unwrap_or_default()) } else { None };
            if first.is_empty() || session.as_deref() == Some("") {
                bail!("nothing was typed, so nothing was changed");
            }
            Ok(Secret { first, session })
        }
        None | Some("") => {
            bail!("there is no terminal to ask for the key; give it on standard input and write - for it")
        }
        Some(_) => bail!(
            "a key never stands in the command, where other programs and the shell's history see it; leave it out to be asked for it, or write - and give it on standard input. Take this one for known, and make another at its provider"
        ),
    }
}

fn read(text: &str, session: bool) -> anyhow::Result<Secret> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().map(str::to_owned);
    let token = session.then(|| lines.next().map(str::to_owned)).flatten();
    if first.is_none() || token.is_some() != session || lines.next().is_some() {
        bail!(
            "standard input must be {}",
            if session { "the secret access key and the session token, a line each" } else { "the key, on one line" }
        );
    }
    Ok(Secret { first: first.unwrap_or_default(), session: token })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::read;

    #[test]
    fn a_key_is_one_line() {
        let key = read(" sk-1\n", false).unwrap();
        assert_eq!((key.first.as_str(), key.session), ("sk-1", None));
        let both = read("secret\r\ntoken\n", true).unwrap();
        assert_eq!((both.first.as_str(), both.session.as_deref()), ("secret", Some("token")));
        for (text, session) in [("", false), ("a\nb", false), ("a", true), ("a\nb\nc", true)] {
            assert!(read(text, session).is_err(), "{text:?}");
        }
    }
}
