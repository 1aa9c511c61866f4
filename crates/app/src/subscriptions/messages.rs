//! A happening as the services that show it want it: texts, addresses, headers and bodies. No I/O.

use crate::dto::subscriptions::{Happening, HappeningKind, MessageForm, MessageLanguage};
use serde_json::{Value, json};
use url::Url;

/// Longest text of a message, characters.
const MAX_TEXT: usize = 1_500;

/// What a person reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub title: String,
    pub text: String,
    /// Where in the studio it leads.
    pub link: Option<String>,
    pub severity: Severity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Info,
    Success,
    Warning,
    Failure,
}

/// A request to a service.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Posting {
    pub method: &'static str,
    pub url: Url,
    pub headers: Vec<(&'static str, String)>,
    pub body: Value,
}

/// What is told of a happening.
pub(super) fn message_of(happening: &Happening, language: MessageLanguage, link_base: Option<&str>) -> Message {
    let german = language == MessageLanguage::De;
    let (english_title, german_title, severity) = match happening.kind {
        HappeningKind::RunStarted => ("Run started", "Lauf begonnen", Severity::Info),
        HappeningKind::RunFinished => ("Run finished", "Lauf beendet", Severity::Success),
        HappeningKind::RunFailed => ("Run failed", "Lauf gescheitert", Severity::Failure),
        HappeningKind::RunStopped => ("Run stopped", "Lauf angehalten", Severity::Info),
        HappeningKind::ApprovalRequested => ("Approval needed", "Freigabe nötig", Severity::Warning),
        HappeningKind::ApprovalDecided => ("Approval decided", "Freigabe entschieden", Severity::Info),
        HappeningKind::ScheduleMissed => ("Schedule missed", "Zeitplan verpasst", Severity::Warning),
        HappeningKind::SchedulePaused => ("Schedule paused", "Zeitplan pausiert", Severity::Failure),
        HappeningKind::WebhookPaused => ("Webhook paused", "Webhook pausiert", Severity::Failure),
        HappeningKind::SubscriptionPaused => ("Subscription paused", "Abonnement pausiert", Severity::Failure),
        HappeningKind::DataBlocked => ("Data kept back", "Daten zurückgehalten", Severity::Warning),
        HappeningKind::BackupFinished => ("Backup made", "Sicherung erstellt", Severity::Success),
        HappeningKind::BackupFailed => ("Backup failed", "Sicherung gescheitert", Severity::Failure),
        HappeningKind::Test => ("Test message", "Testnachricht", Severity::Info),
    };
    let kind = if german { german_title } else { english_title };
    let title = if happening.name.is_empty() { kind.to_owned() } else { format!("{kind}: {}", happening.name) };
    let fact = |name: &str| happening.detail[name].as_str().filter(|text| !text.is_empty());
    let mut lines = Vec::new();
    for name in ["title", "note", "reason", "error", "tool", "answer"] {
        lines.extend(fact(name).map(str::to_owned));
    }
    if happening.kind == HappeningKind::Test {
        let text = if german { "Diese Adresse bekommt Nachrichten." } else { "This address gets messages." };
        lines.push(text.to_owned());
    }
    if let Some(count) = happening.detail["count"].as_u64() {
        let (first, last) = (fact("first").unwrap_or(""), fact("last").unwrap_or(""));
        lines.push(if german {
            format!("{count}-mal, {first} bis {last}")
        } else {
            format!("{count} times, {first} to {last}")
        });
    }
    if happening.actor != steward_core::audit::PROGRAM && !happening.actor.is_empty() {
        lines.push(if german { format!("durch {}", happening.actor) } else { format!("by {}", happening.actor) });
    }
    lines.dedup();
    Message {
        title: clip(&title, 200),
        text: clip(&lines.join("\n"), MAX_TEXT),
        link: link_base.map(|base| format!("{}{}", base.trim_end_matches('/'), path_of(happening))),
        severity,
    }
}

/// Where in the studio one reads more.
fn path_of(happening: &Happening) -> String {
    match (happening.kind, happening.run_id) {
        (HappeningKind::ApprovalRequested | HappeningKind::ApprovalDecided, _) => {
            format!("/approvals?id={}", happening.subject)
        }
        (_, Some(run)) => format!("/runs/{run}"),
        (HappeningKind::ScheduleMissed | HappeningKind::SchedulePaused, None) => {
            format!("/schedules/{}", happening.subject)
        }
        (HappeningKind::WebhookPaused, None) => format!("/webhooks/{}", happening.subject),
        (HappeningKind::SubscriptionPaused | HappeningKind::Test, None) => {
            format!("/webhooks/outgoing/{}", happening.subject)
        }
        _ => "/".to_owned(),
    }
}

/// The request that tells it; `id` is the same when it is sent again. Fails with what is wrong with the address.
pub(super) fn post_message(
    form: MessageForm,
    (address, token): (&str, Option<&str>),
    id: &str,
    happening: &Happening,
    message: &Message,
) -> Result<Posting, String> {
    let url = Url::parse(address).map_err(|error| format!("the address can't be read: {error}"))?;
    let mut headers = Vec::new();
    let bearer = token.map(|token| ("authorization", format!("Bearer {token}")));
    let (title, text, link) = (&message.title, &message.text, message.link.as_deref());
    let (mut method, mut to) = ("POST", url.clone());
    let body = match form {
        MessageForm::Standard => {
            headers.extend(bearer);
            json!({"type": happening.kind, "timestamp": happening.at.rfc3339(), "data": happening})
        }
        MessageForm::Slack => slack_body(message),
        MessageForm::Mattermost => {
            let link = link.map(|link| format!("\n<{link}>")).unwrap_or_default();
            json!({"text": format!("**{}**\n{}{link}", plain(title), plain(text))})
        }
        MessageForm::Teams => teams_body(message),
        MessageForm::Matrix => {
            let room = url.path().trim_start_matches('/').to_owned();
            if !room.starts_with('!') && !room.starts_with("%21") {
                return Err("the address of a Matrix room is https://HOMESERVER/!ROOM:SERVER".to_owned());
            }
            headers.extend(bearer);
            (method, to) = ("PUT", url.clone());
            to.set_path("");
            if let Ok(mut path) = to.path_segments_mut() {
                let room = percent_encoding::percent_decode_str(&room).decode_utf8_lossy().into_owned();
                path.extend(["_matrix", "client", "v3", "rooms", &room, "send", "m.room.message", id]);
            }
            let link = link.map(|link| format!("\n{link}")).unwrap_or_default();
            json!({"msgtype": "m.text", "body": format!("{title}\n{text}{link}")})
        }
        MessageForm::Ntfy => {
            let topic = url.path_segments().and_then(|mut parts| parts.next_back().map(str::to_owned));
            let topic = topic.filter(|topic| !topic.is_empty()).ok_or("the address of ntfy is https://SERVER/TOPIC")?;
            headers.extend(bearer);
            if let Ok(mut path) = to.path_segments_mut() {
                path.pop();
            }
            let priority = if matches!(message.severity, Severity::Failure | Severity::Warning) { 4 } else { 3 };
            let shown = if text.is_empty() { title } else { text };
            let mut body = json!({"topic": topic, "title": title, "message": shown, "priority": priority});
            if let Some(link) = link {
                body["click"] = json!(link);
            }
            body
        }
        MessageForm::Gotify => {
            if !url.path().ends_with("/message") {
                to.set_path(&format!("{}/message", url.path().trim_end_matches('/')));
            }
            headers.extend(token.map(|token| ("x-gotify-key", token.to_owned())));
            let priority = if matches!(message.severity, Severity::Failure | Severity::Warning) { 8 } else { 4 };
            let shown = if text.is_empty() { title } else { text };
            let mut body = json!({"title": title, "message": shown, "priority": priority});
            if let Some(link) = link {
                body["extras"] = json!({"client::notification": {"click": {"url": link}}});
            }
            body
        }
        MessageForm::Apprise => {
            let kind = match message.severity {
                Severity::Info => "info",
                Severity::Success => "success",
                Severity::Warning => "warning",
                Severity::Failure => "failure",
            };
            headers.extend(bearer);
            let link = link.map(|link| format!("\n{link}")).unwrap_or_default();
            json!({"title": title, "body": format!("{text}{link}").trim(), "type": kind, "format": "text"})
        }
    };
    Ok(Posting { method, url: to, headers, body })
}

fn slack_body(message: &Message) -> Value {
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut shown = format!("*{}*", escape(&message.title));
    if !message.text.is_empty() {
        shown = format!("{shown}\n{}", escape(&message.text));
    }
    if let Some(link) = &message.link {
        shown = format!("{shown}\n<{link}>");
    }
    json!({
        "text": escape(&message.title),
        "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": shown}}],
    })
}

/// An adaptive card.
fn teams_body(message: &Message) -> Value {
    let title =
        json!({"type": "TextBlock", "text": plain(&message.title), "weight": "Bolder", "size": "Medium", "wrap": true});
    let mut parts = vec![title];
    if !message.text.is_empty() {
        let text = plain(&message.text.replace('\n', "\n\n"));
        parts.push(json!({"type": "TextBlock", "text": text, "wrap": true}));
    }
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
        "body": parts,
    });
    if let Some(link) = &message.link {
        card["actions"] = json!([{"type": "Action.OpenUrl", "title": "Steward", "url": link}]);
    }
    json!({"type": "message", "attachments": [{
        "contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": null, "content": card,
    }]})
}

/// Without what Markdown would read as more than text: names come from people, and from outside.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for sign in text.chars() {
        if matches!(sign, '*' | '_' | '[' | ']' | '(' | ')' | '`' | '<' | '>' | '#' | '@' | '~' | '|' | '!') {
            plain.push('\\');
        }
        plain.push(sign);
    }
    plain
}

fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}
