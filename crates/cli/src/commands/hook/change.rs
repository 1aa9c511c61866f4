use super::places::{event_id, filter};
use super::rows::{HOOK, address_of, find};
use super::secrets::{SecretArgs, print_secret};
use crate::client::Client;
use crate::commands::rows::{object, text};
use crate::commands::unattended::{pause_after, reads_input, request_of};
use crate::options::{Word, duration};
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

/// Make a webhook, which is yours: its runs work with your rights. Its address and its secret are shown; the secret only this once.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward hook add issues --signing github --filter header:x-github-event=issues --filter '/action=opened' \"Answer the issue {{payload.issue.title}}: {{payload.issue.body}}\"\n  steward hook add paid --signing stripe --secret stripe.txt --filter '/type=invoice.paid' \"Thank {{payload.data.object.customer_name}}.\"\n  steward hook add alarms --signing token --header X-Alarm-Key --agent keeper - < request.txt\n\n`{{payload}}`, `{{payload.issue.title}}`, `{{payload:/a key/0}}`, `{{header.x-github-event}}`, `{{event}}`, `{{hook}}` and `{{received}}` in the request are filled in.\n\nFilters, of which all must hold, are PLACE=VALUE, PLACE=VALUE,VALUE (one of them), PLACE*=TEXT (contains it), PLACE? (is there) or PLACE! (isn't there). PLACE is header:NAME, or a place in the payload such as /action or /issue/labels/0/name. Numbers, true, false and null are taken as such; put what is a text in double quotes: '/id=\"5\"'."
)]
pub struct Add {
    /// Its name.
    name: String,
    /// What the agent is asked each time; `-` reads it from standard input.
    #[arg(required = true)]
    request: Vec<String>,
    /// How the sender signs.
    #[arg(long, value_name = "WAY")]
    signing: SigningWay,
    /// The agent whose runs it starts, by name (see `steward agents`) [default: steward].
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    given: SecretArgs,
    #[command(flatten)]
    fields: HookFields,
}

/// Change a webhook of yours: only what is said. Its address and its secrets stay.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward hook edit issues --filter header:x-github-event=issues,push\n  steward hook edit issues --filter none --rename all-issues\n  steward hook edit issues \"Answer the issue {{payload.issue.title}} in two lines.\""
)]
pub struct Edit {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// What the agent is asked from now on; `-` reads it from standard input.
    request: Vec<String>,
    /// Another name for it.
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// How the sender signs from now on.
    #[arg(long, value_name = "WAY")]
    signing: Option<SigningWay>,
    /// The agent whose runs it starts from now on, by name.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    fields: HookFields,
}

/// Settings of a webhook.
#[derive(Debug, Clone, Args)]
pub struct HookFields {
    /// Where the secret stands, for `token`: a header's name [default: Authorization, after Bearer].
    #[arg(long, value_name = "NAME")]
    header: Option<String>,
    /// Only calls that pass it start runs, such as '/action=opened'; may be given often, in place of those before; `none`: all do.
    #[arg(long, value_name = "FILTER", value_parser = filter)]
    filter: Vec<Value>,
    /// How old, or how far ahead, a signed time may be: 90s, 5m or seconds [default: 5m].
    #[arg(long, alias = "window-seconds", value_name = "TIME", value_parser = window)]
    window: Option<u64>,
    /// Where the sender's own id of an event stands, by which repeats are known: header:NAME or /id; `none`: where its way of
    /// signing says.
    #[arg(long, value_name = "PLACE", value_parser = event_id)]
    event_id: Option<Value>,
    /// Have it rest after so many runs that failed one after the other, or `never` [default: 5].
    #[arg(long, alias = "pause-after-failures", value_name = "N", value_parser = pause_after)]
    pause_after: Option<Value>,
}

/// How senders sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SigningWay {
    /// Standard Webhooks: webhook-id, webhook-timestamp, webhook-signature.
    Standard,
    /// X-Hub-Signature-256.
    Github,
    /// Stripe-Signature.
    Stripe,
    /// X-Slack-Signature.
    Slack,
    /// X-Gitlab-Token, or as Standard Webhooks.
    Gitlab,
    /// The secret itself in a header.
    Token,
}

/// Seconds.
fn window(text: &str) -> Result<u64, String> {
    text.parse().or_else(|_| duration(text).map(|length| length.as_secs()))
}

pub(super) async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    if wanted.given.reads_input() && reads_input(&wanted.request) {
        bail!("standard input can be read once; give the request or the secret by another way");
    }
    let agent = client.agent_named(wanted.agent.as_deref()).await?;
    let secret = wanted.given.read()?;
    let given = secret.is_some();
    let mut body = settings(&wanted.fields);
    body.extend(object([
        ("name", Some(json!(wanted.name))),
        ("agent_id", Some(json!(agent.id))),
        ("request", request_of(&wanted.request)?.map(Value::from)),
        ("signing", Some(signing(&wanted.signing.word(), wanted.fields.header.as_deref()))),
        ("secret", secret.map(Value::from)),
    ]));
    let made: Value = client.post(HOOK.path, &Value::Object(body)).await?;
    let hook = &made["hook"];
    let exit = term.changed(&made, &format!("made `{}`", text(hook, "name")));
    if !term.json {
        print_secret(&made, given, &address_of(client, hook), term);
        if client.server_url().is_none() {
            term.note(
                "senders reach it while a server runs (steward serve), at that server's address with this behind it",
            );
        }
    }
    Ok(exit)
}

pub(super) async fn edit(client: &Client, wanted: Edit, term: Term) -> anyhow::Result<Exit> {
    let row = find(client, &wanted.name).await?;
    let agent = match &wanted.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id),
        None => None,
    };
    let mut change = settings(&wanted.fields);
    if wanted.signing.is_some() || wanted.fields.header.is_some() {
        let kind = wanted.signing.map_or_else(|| text(&row["signing"], "kind").to_owned(), Word::word);
        change.insert("signing".to_owned(), signing(&kind, wanted.fields.header.as_deref()));
    }
    change.extend(object([
        ("name", wanted.rename.map(Value::from)),
        ("agent_id", agent.map(|id| json!(id))),
        ("request", request_of(&wanted.request)?.map(Value::from)),
    ]));
    if change.is_empty() {
        bail!("nothing was changed; say what to change, such as --filter '/action=opened' or --pause-after never");
    }
    let kept =
        ["name", "agent_id", "request", "signing", "window_seconds", "event_id", "filters", "pause_after_failures"];
    let mut body = object(kept.map(|name| (name, Some(row[name].clone()))));
    body.extend(change);
    let row: Value = client.put(&HOOK.path_of(&row), &Value::Object(body)).await?;
    Ok(term.changed(&row, &format!("changed `{}`", text(&row, "name"))))
}

fn signing(kind: &str, header: Option<&str>) -> Value {
    Value::Object(object([("kind", Some(json!(kind))), ("header", header.map(Value::from))]))
}

/// Those that were said, beside the way of signing.
fn settings(fields: &HookFields) -> Map<String, Value> {
    let HookFields { filter, window, event_id, pause_after, .. } = fields;
    let filters: Vec<&Value> = filter.iter().filter(|one| !one.is_null()).collect();
    object([
        ("filters", (!filter.is_empty()).then(|| json!(filters))),
        ("window_seconds", window.map(|seconds| json!(seconds))),
        ("event_id", event_id.clone()),
        ("pause_after_failures", pause_after.clone()),
    ])
}

#[cfg(test)]
mod tests {
    use super::window;

    #[test]
    fn a_window_has_a_unit_or_is_seconds() {
        assert_eq!((window("300"), window("5m")), (Ok(300), Ok(300)));
        assert!(window("soon").unwrap_err().contains("90s"));
    }
}
