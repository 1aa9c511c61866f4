use crate::approval::Taint;
use crate::governance::Classified;
use crate::reference::{Citation, GivenDocument};
use crate::tool::ToolCall;
use serde::{Deserialize, Serialize};

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = MessageRole)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions.
    System,
    /// A person or a calling program.
    User,
    /// A model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// One message of a conversation or of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = ModelMessage)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its text; may be empty where `tool_calls` are not.
    pub text: String,
    /// Calls that an assistant message makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tool_call_id: Option<String>,
    /// In a conversation: what of outside had entered the run that said this. Never part
    /// of a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<Taint>,
    /// In a conversation: the most confidential that the run which said this had seen. Never part of a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub classified: Option<Classified>,
    /// In a conversation: the passages that it cites. Never part of a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<Citation>,
    /// In a conversation: the documents that were given with it. Never part of a prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<GivenDocument>,
}

/// Given documents of a conversation that are looked through, the newest.
const MOST_GIVEN: usize = 100;

/// The documents that a request may be about: those given with it, then those of earlier messages, the newest first, each once.
pub fn given_documents(now: &[GivenDocument], history: &[Message]) -> Vec<GivenDocument> {
    let before = history.iter().rev().flat_map(|message| &message.documents);
    let mut all: Vec<GivenDocument> = Vec::new();
    for one in now.iter().chain(before) {
        if all.len() < MOST_GIVEN && all.iter().all(|known| known.id != one.id) {
            all.push(one.clone());
        }
    }
    all
}

impl Message {
    fn plain(role: Role, text: impl Into<String>) -> Self {
        Self {
            role,
            text: text.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            taint: Vec::new(),
            classified: None,
            citations: Vec::new(),
            documents: Vec::new(),
        }
    }

    pub fn system(text: impl Into<String>) -> Self {
        Self::plain(Role::System, text)
    }

    pub fn user(text: impl Into<String>) -> Self {
        Self::plain(Role::User, text)
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        Self::plain(Role::Assistant, text)
    }

    pub fn tool(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self { tool_call_id: Some(id.into()), ..Self::plain(Role::Tool, text) }
    }

    #[must_use]
    pub fn with_calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.tool_calls = calls;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, given_documents};
    use crate::DocumentId;
    use crate::reference::GivenDocument;
    use uuid::Uuid;

    #[test]
    fn a_document_that_is_given_again_is_one() {
        let given =
            |number: u128| GivenDocument { id: DocumentId(Uuid::from_u128(number)), name: format!("{number}.pdf") };
        let said = |documents: Vec<GivenDocument>| Message { documents, ..Message::user("Read it") };
        let history = [said(vec![given(1)]), said(vec![given(2), given(3)]), Message::assistant("Yes.")];
        let all = given_documents(&[given(3), given(4)], &history);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["3.pdf", "4.pdf", "2.pdf", "1.pdf"]);
        assert!(given_documents(&[], &[]).is_empty());
    }
}
