//! Messages in turn. Many servers and chat templates refuse two of the same side in a row, as a stopped run leaves them.

use std::borrow::Cow;
use steward_core::message::{Message, Picture, Role};
use steward_core::model::ModelRequest;

/// The request with neighbours of one side joined, and without empty replies.
pub(crate) fn in_turn(request: &ModelRequest) -> Cow<'_, ModelRequest> {
    let messages = &request.messages;
    let joined = messages.windows(2).any(|pair| joins(&pair[0], &pair[1]) || is_nothing(&pair[0]));
    if !joined {
        return Cow::Borrowed(request);
    }
    let mut turns: Vec<Message> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        if is_nothing(message) && at + 1 < messages.len() {
            continue;
        }
        match turns.last_mut().filter(|last| joins(last, message)) {
            Some(last) => join(last, message),
            None => turns.push(message.clone()),
        }
    }
    Cow::Owned(ModelRequest { messages: turns, ..request.clone() })
}

fn is_nothing(message: &Message) -> bool {
    message.role == Role::Assistant && message.text.trim().is_empty() && message.tool_calls.is_empty()
}

fn joins(first: &Message, second: &Message) -> bool {
    // The results of calls stand right behind them, each by itself.
    first.role == second.role && first.role != Role::Tool && first.tool_calls.is_empty()
}

fn join(first: &mut Message, second: &Message) {
    if !(first.text.trim().is_empty() || second.text.trim().is_empty()) {
        first.text.push_str("\n\n");
    }
    let begin = first.text.len();
    first.text.push_str(&second.text);
    first.pictures.extend(second.pictures.iter().map(|picture| Picture { at: begin + picture.at, ..picture.clone() }));
    first.tool_calls.extend_from_slice(&second.tool_calls);
}

#[cfg(test)]
mod tests {
    use super::in_turn;
    use serde_json::json;
    use steward_core::message::{Message, Picture, PictureSource, Piece, Role};
    use steward_core::model::{ModelRequest, RequestOptions};
    use steward_core::tool::{CallSource, ToolCall};

    fn request(messages: Vec<Message>) -> ModelRequest {
        ModelRequest {
            messages,
            tools: vec![],
            schema: None,
            temperature: None,
            max_tokens: None,
            stop: vec![],
            seed: None,
            timeout_ms: 9,
            options: RequestOptions::default(),
        }
    }

    fn texts(messages: Vec<Message>) -> Vec<(Role, String)> {
        let request = request(messages);
        in_turn(&request).messages.iter().map(|message| (message.role, message.text.clone())).collect()
    }

    #[test]
    fn what_one_side_said_in_a_row_is_one_message() {
        let said = texts(vec![
            Message::system("Be brief."),
            Message::system("Be kind."),
            Message::user("Write a poem"),
            Message::assistant(" "),
            Message::user("about tea"),
            Message::assistant("Tea,"),
            Message::assistant("hot."),
        ]);
        let own = |role, text: &str| (role, text.to_owned());
        let expected = [
            own(Role::System, "Be brief.\n\nBe kind."),
            own(Role::User, "Write a poem\n\nabout tea"),
            own(Role::Assistant, "Tea,\n\nhot."),
        ];
        assert_eq!(said, expected);
    }

    #[test]
    fn calls_and_their_results_stay_as_they_are() {
        let call = |id: &str| ToolCall::new(id, "look", json!({}), CallSource::Native);
        let messages = vec![
            Message::user("Look"),
            Message::assistant("I look."),
            Message::assistant("").with_calls(vec![call("a"), call("b")]),
            Message::tool("a", "one"),
            Message::tool("b", "two"),
            Message::user("And?"),
        ];
        let request = request(messages);
        let turns = in_turn(&request);
        let roles: Vec<Role> = turns.messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::User]);
        assert_eq!((turns.messages[1].text.as_str(), turns.messages[1].tool_calls.len()), ("I look.", 2));
        assert!(matches!(in_turn(&turns), std::borrow::Cow::Borrowed(_)), "nothing more to join");
    }

    #[test]
    fn pictures_keep_their_places() {
        let picture = |at| Picture { at, source: PictureSource::Url("https://example.org/a.png".into()) };
        let first = Message::user("One:").with_pictures(vec![picture(4)]);
        let second = Message::user("Two:").with_pictures(vec![picture(4)]);
        let request = request(vec![first, second]);
        let turns = in_turn(&request);
        let shown = |piece: Piece<'_>| matches!(piece, Piece::Text(_)).then_some(());
        let kinds: Vec<Option<()>> = turns.messages[0].pieces().into_iter().map(shown).collect();
        assert_eq!(kinds, [Some(()), None, Some(()), None]);
    }
}
