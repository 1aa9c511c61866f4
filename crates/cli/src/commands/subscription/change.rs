use super::rows::{SUBSCRIPTION, find};
use super::secrets::print_secret;
use crate::client::Client;
use crate::commands::rows::{object, text};
use crate::commands::unattended::{argument_of, is_input, secret_of};
use crate::options::Word;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Make a subscription, which is yours: what you may see is told. What signs its messages is shown only this once.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward subscription add on-call --form slack --address slack.txt --kind run.failed --kind approval.requested\n  steward subscription add room --form matrix --address room.txt --token token.txt --language de --link-base https://steward.example.org\n  echo https://example.org/in | steward subscription add all-of-it --address - --all\n\nThe address often holds a secret, so it stands in a file or comes from standard input, as the token does."
)]
pub struct Add {
    /// Its name.
    name: String,
    /// A file with the address where messages are sent, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    address: PathBuf,
    #[command(flatten)]
    fields: SubscriptionFields,
}

/// Change a subscription of yours: only what is said. Its address, token and secrets stay unless they are given anew.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward subscription edit on-call --kind run.failed --rename failures\n  steward subscription edit on-call --kind any --all=false\n  steward subscription edit on-call --address slack.txt"
)]
pub struct Edit {
    /// Its name, or the beginning or end of its id.
    name: String,
    /// Another name for it.
    #[arg(long, value_name = "NAME")]
    rename: Option<String>,
    /// A file with the address where messages are sent from now on, `-` for standard input.
    #[arg(long, value_name = "FILE")]
    address: Option<PathBuf>,
    /// No token any more.
    #[arg(long, conflicts_with = "token")]
    no_token: bool,
    #[command(flatten)]
    fields: SubscriptionFields,
}

/// Settings of a subscription.
#[derive(Debug, Clone, Args)]
pub struct SubscriptionFields {
    /// How messages look [default: standard].
    #[arg(long, value_name = "FORM")]
    form: Option<Form>,
    /// A file with what the service asks for besides, such as an access token; `-` for standard input.
    #[arg(long, value_name = "FILE")]
    token: Option<PathBuf>,
    /// What is told; may be given often, in place of those before [default: any].
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Also of runs, schedules and webhooks of others, for those who see them; `--all=false`: only of what is yours.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    all: Option<bool>,
    /// The language of messages [default: en].
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<Language>,
    /// The address of this server as the readers of messages know it, for links; `none`: no links.
    #[arg(long, value_name = "URL")]
    link_base: Option<String>,
}

/// How messages look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// JSON, signed by Standard Webhooks: for programs.
    Standard,
    /// An incoming webhook.
    Slack,
    /// A workflow "when a Teams webhook request is received".
    Teams,
    /// An incoming webhook.
    Mattermost,
    /// A room: https://HOMESERVER/!ROOM:SERVER, with an access token.
    Matrix,
    /// A topic: https://SERVER/TOPIC.
    Ntfy,
    /// A server, with an application's token.
    Gotify,
    /// The notify address of Apprise's API.
    Apprise,
}

/// What can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Everything.
    Any,
    /// A run began.
    #[value(name = "run.started")]
    RunStarted,
    /// A run did what was asked.
    #[value(name = "run.finished")]
    RunFinished,
    /// A run failed, or a limit ended it.
    #[value(name = "run.failed")]
    RunFailed,
    /// A person stopped a run.
    #[value(name = "run.stopped")]
    RunStopped,
    /// A run waits for a person.
    #[value(name = "approval.requested")]
    ApprovalRequested,
    /// A person answered.
    #[value(name = "approval.decided")]
    ApprovalDecided,
    /// Occurrences of a schedule weren't caught up.
    #[value(name = "schedule.missed")]
    ScheduleMissed,
    /// A schedule paused by itself.
    #[value(name = "schedule.paused")]
    SchedulePaused,
    /// A webhook paused by itself.
    #[value(name = "webhook.paused")]
    WebhookPaused,
    /// A subscription paused by itself.
    #[value(name = "subscription.paused")]
    SubscriptionPaused,
    /// A policy kept confidential data from a model.
    #[value(name = "data.blocked")]
    DataBlocked,
    /// A backup was made; for administrators.
    #[value(name = "backup.finished")]
    BackupFinished,
    /// A backup failed; for administrators.
    #[value(name = "backup.failed")]
    BackupFailed,
}

/// The language of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// English
    En,
    /// German
    De,
}

pub(super) async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let token = wanted.fields.token.as_deref();
    if is_input(&wanted.address) && token.is_some_and(is_input) {
        bail!("standard input can be read once; give the address or the token by a file");
    }
    let mut body = settings(&wanted.fields)?;
    body.extend(object([("name", Some(json!(wanted.name))), ("address", Some(address_in(&wanted.address)?))]));
    let made: Value = client.post(SUBSCRIPTION.path, &Value::Object(body)).await?;
    let row = &made["subscription"];
    let exit = term.changed(&made, &format!("made `{}`, which leads to {}", text(row, "name"), text(row, "place")));
    if !term.json {
        print_secret(&made, term);
        term.note(&format!("try it with: steward subscription test {}", argument_of(row)));
        if client.server_url().is_none() {
            term.note("messages are sent while a server runs: steward serve");
        }
    }
    Ok(exit)
}

pub(super) async fn edit(client: &Client, wanted: Edit, term: Term) -> anyhow::Result<Exit> {
    let inputs = [wanted.address.as_deref(), wanted.fields.token.as_deref()];
    if inputs.into_iter().flatten().filter(|file| is_input(file)).count() > 1 {
        bail!("standard input can be read once; give the address or the token by a file");
    }
    let before = find(client, &wanted.name).await?;
    let mut change = settings(&wanted.fields)?;
    change.extend(object([
        ("name", wanted.rename.map(Value::from)),
        ("address", wanted.address.as_deref().map(address_in).transpose()?),
        ("token", wanted.no_token.then(|| json!(""))),
    ]));
    if change.is_empty() {
        bail!("nothing was changed; say what to change, such as --kind run.failed or --address FILE");
    }
    let kept = ["name", "form", "kinds", "all", "language", "link_base"];
    let mut body = object(kept.map(|name| (name, Some(before[name].clone()))));
    // Without one these stay, but for the token where `--no-token` is said.
    body.extend(change);
    let row: Value = client.put(&SUBSCRIPTION.path_of(&before), &Value::Object(body)).await?;
    let exit = term.changed(&row, &format!("changed `{}`", text(&row, "name")));
    if row["form"] == "standard" && before["form"] != "standard" && !term.json {
        let how = argument_of(&row);
        term.note(&format!(
            "its messages are signed from now on; a secret for the receiver is shown by: steward subscription secret add {how}"
        ));
    }
    Ok(exit)
}

fn address_in(file: &std::path::Path) -> anyhow::Result<Value> {
    Ok(json!(secret_of(file, "--address", "put the address there, as the service shows it")?))
}

/// Those that were said.
fn settings(fields: &SubscriptionFields) -> anyhow::Result<Map<String, Value>> {
    let SubscriptionFields { form, token, kind, all, language, link_base } = fields;
    let token = token.as_deref().map(|file| secret_of(file, "--token", "leave --token out if there is none"));
    let kinds = if kind.contains(&Kind::Any) { json!([]) } else { json!(words(kind)) };
    Ok(object([
        ("form", form.map(|form| json!(form.word()))),
        ("token", token.transpose()?.map(Value::from)),
        ("kinds", (!kind.is_empty()).then_some(kinds)),
        ("all", all.map(Value::from)),
        ("language", language.map(|language| json!(language.word()))),
        ("link_base", link_base.as_ref().map(|base| if base == "none" { Value::Null } else { json!(base) })),
    ]))
}

fn words(kinds: &[Kind]) -> Vec<String> {
    kinds.iter().map(|kind| kind.word()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, SubscriptionFields, settings};
    use serde_json::{Value, json};

    #[test]
    fn only_what_is_said_is_sent() {
        let none = SubscriptionFields {
            form: None,
            token: None,
            kind: Vec::new(),
            all: None,
            language: None,
            link_base: None,
        };
        assert!(settings(&none).unwrap().is_empty());
        let kind = vec![Kind::RunFailed, Kind::BackupFailed];
        let some = SubscriptionFields { kind, link_base: Some("none".to_owned()), ..none.clone() };
        let expect = json!({"kinds": ["run.failed", "backup.failed"], "link_base": null});
        assert_eq!(Value::Object(settings(&some).unwrap()), expect);
        let any = SubscriptionFields { kind: vec![Kind::RunFailed, Kind::Any], all: Some(false), ..none };
        assert_eq!(Value::Object(settings(&any).unwrap()), json!({"kinds": [], "all": false}));
    }
}
