use std::fmt::Write as _;
use steward_core::message::{Message, Role};

pub(crate) fn with_calls_as_text(messages: &[Message]) -> Vec<Message> {
    let mut plain: Vec<Message> = Vec::with_capacity(messages.len());
    for message in messages {
        let mut text = message.text.clone();
        for call in &message.tool_calls {
            if !text.is_empty() {
                text.push('\n');
            }
            let _ = write!(text, "[called {} {}]", call.name, call.arguments);
        }
        let role = if message.tool_call_id.is_some() {
            text = format!("Observation: {text}");
            Role::User
        } else {
            message.role
        };
        match plain.last_mut() {
            Some(last) if last.role == role && role != Role::System => {
                last.text.push_str("\n\n");
                last.text.push_str(&text);
            }
            _ => plain.push(Message { role, text, ..Message::user("") }),
        }
    }
    plain
}

/// `messages` for a model that follows no system message: what it says goes before the request.
pub(crate) fn without_system(mut messages: Vec<Message>) -> Vec<Message> {
    if messages.first().map(|first| first.role) != Some(Role::System) {
        return messages;
    }
    let system = messages.remove(0);
    match messages.iter_mut().find(|message| message.role == Role::User) {
        Some(first) => first.text = format!("{}\n\n{}", system.text, first.text),
        None => messages.insert(0, Message::user(system.text)),
    }
    messages
}

/// As providers take them: arguments that could not be read are no object, and the call's result says why.
pub(crate) fn with_object_arguments(mut messages: Vec<Message>) -> Vec<Message> {
    for call in messages.iter_mut().flat_map(|message| &mut message.tool_calls) {
        if !call.arguments.is_object() {
            call.arguments = serde_json::json!({});
        }
    }
    messages
}
