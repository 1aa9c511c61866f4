//! What was read from a file, in the order in which a person reads it, or why nothing was.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Extracted {
    /// What the content is, whatever the file's name says: `pdf`, `docx`, `html`, `markdown`, `text`, `eml`, …
    pub doc_type: String,
    pub title: Option<String>,
    /// A document without pages has one.
    pub pages: Vec<Page>,
    /// What could not be read, in sentences.
    pub warnings: Vec<String>,
}

/// A page, a sheet of a workbook, a slide, or a chapter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// From 1.
    pub number: u32,
    /// Of a sheet, slide or chapter.
    pub name: Option<String>,
    pub blocks: Vec<Block>,
    /// It has pictures and next to no text: characters are to be recognised.
    pub is_scan: bool,
    /// What came of that; `None`: nobody has tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ocr: Option<PageOcr>,
}

/// What reads pages that are pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OcrEngine {
    /// The program of that name.
    Tesseract,
    /// The models that run in this program.
    Onnx,
    /// A language model that sees.
    Vision,
}

/// What an engine read on a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PageReading {
    pub blocks: Vec<Block>,
    /// Mean over its letters, 0 to 1.
    pub confidence: f32,
}

/// Who read the characters of a page, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageOcr {
    /// `None`: no engine found a text.
    pub engine: Option<OcrEngine>,
    /// Percent.
    pub confidence: u8,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    pub kind: BlockKind,
    /// A table is one of Markdown.
    pub text: String,
    /// Where it stands, if the format says.
    pub area: Option<Area>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum BlockKind {
    /// `level` from 1 to 6.
    Heading {
        level: u8,
    },
    Paragraph,
    ListItem,
    Table,
    Code,
}

/// A part of a page in fractions of its width and height, from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Area {
    pub x: f32,
    pub y: f32,
    pub width: f32,
    pub height: f32,
}

/// Why a file could not be read, in words for whoever added it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ExtractFailure {
    pub kind: ExtractFailureKind,
    /// What is wrong with the file, a sentence without its end.
    pub message: String,
    /// What to do.
    pub hint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractFailureKind {
    PasswordProtected,
    Empty,
    Broken,
    /// The file, what is packed in it, or its text is over a limit.
    TooLarge,
    /// Parts are nested in each other beyond a limit.
    TooDeep,
    UnknownFormat,
    /// The program that reads it ended unexpectedly.
    Crashed,
    /// It took longer than the limit, by the clock or the processor.
    TimedOut,
    OutOfMemory,
    /// The file itself can't be opened.
    Unreadable,
    /// Hostile files can't be read safely on this machine.
    Unavailable,
}

impl ExtractFailureKind {
    /// Whether the same file may be read at another time or on another machine.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::TimedOut | Self::Unreadable | Self::Unavailable)
    }
}
