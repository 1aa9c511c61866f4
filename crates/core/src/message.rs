use crate::approval::Taint;
use crate::governance::Classified;
use crate::reference::{Citation, GivenDocument};
use crate::tool::ToolCall;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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
    /// In a prompt: the pictures within its text, in their order. They are never kept.
    #[serde(skip)]
    pub pictures: Vec<Picture>,
}

/// A picture within the text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Where in the text it stands, bytes; between two characters.
    pub at: usize,
    pub source: PictureSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureSource {
    /// The picture itself, in Base64.
    Data { media_type: String, base64: Arc<str> },
    /// Where the provider gets it.
    Url(String),
}

/// A piece of a message's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    Text(&'a str),
    Picture(&'a PictureSource),
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
            pictures: Vec::new(),
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
    pub fn with_pictures(mut self, pictures: Vec<Picture>) -> Self {
        self.pictures = pictures;
        self
    }

    /// Its text, cut where a picture stands, and its pictures; blank texts beside pictures are left out.
    pub fn pieces(&self) -> Vec<Piece<'_>> {
        if self.pictures.is_empty() {
            return vec![Piece::Text(&self.text)];
        }
        let mut pieces = Vec::with_capacity(2 * self.pictures.len() + 1);
        let mut from = 0;
        for picture in &self.pictures {
            pieces.extend(self.text.get(from..picture.at).map(Piece::Text));
            pieces.push(Piece::Picture(&picture.source));
            from = picture.at;
        }
        pieces.extend(self.text.get(from..).map(Piece::Text));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()));
        pieces
    }

    #[must_use]
    pub fn with_calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.tool_calls = calls;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Message, Picture, PictureSource, Piece, given_documents};
    use crate::DocumentId;
    use crate::reference::GivenDocument;
    use uuid::Uuid;

    #[test]
    fn pictures_stand_where_they_stood() {
        let picture = |at, name: &str| Picture { at, source: PictureSource::Url(name.into()) };
        let message =
            Message::user("first \nsecond").with_pictures(vec![picture(0, "a"), picture(6, "b"), picture(7, "c")]);
        let (a, b, c) = (&message.pictures[0].source, &message.pictures[1].source, &message.pictures[2].source);
        let expected =
            [Piece::Picture(a), Piece::Text("first "), Piece::Picture(b), Piece::Picture(c), Piece::Text("second")];
        assert_eq!(message.pieces(), expected);
        assert_eq!(Message::user("").pieces(), [Piece::Text("")]);
    }

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
