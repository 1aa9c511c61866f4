//! What a request wants, as far as that can be told without a language model, and what that needs of a workspace.

use super::knowledge::EmbedError;
use super::tools::ToolScope;
use crate::event::{Ranked, Setup};
use crate::plan::Candidate;
use crate::tables::Schema;
use crate::tool::ToolSpec;
use async_trait::async_trait;
use serde_json::Value;
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// All but `final_answer`, best first.
    pub tools: Vec<Ranked>,
    pub wants_tool: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Plans, best first: calls with the sentence for their results, or only an answer.
    pub candidates: Vec<Candidate>,
    pub ranking: Ranking,
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum IntentError {
    #[error("the intent filter cannot compare the request with the tools: {0}")]
    Embed(#[from] EmbedError),
    #[error("the embedder returned {got} vectors for {asked} texts; it is not usable")]
    Vectors { asked: usize, got: usize },
    /// A bug; the run goes on without a proposal.
    #[error("reading the request panicked")]
    Panicked,
}

#[async_trait]
pub trait Intent: Send + Sync {
    /// Ranks all of `tools`, by common words where there is no embedder.
    async fn rank(&self, request: &str, tools: &[ToolSpec]) -> Ranking;
    /// The plan for a request, with arguments from its words and from the workspace. Not made for a model that plans by
    /// itself, except as a guess where its own reply holds no call.
    async fn propose(&self, request: &str, setup: &Setup, scope: &ToolScope) -> Result<Proposal, IntentError>;
    /// Files of a workspace that can be asked about, the most informative first. Blocks.
    fn files(&self, workspace: &Path) -> Vec<String>;
    /// Example requests that work with these files, best first, in `language` (`en`, `de`, `fr` or `es`).
    fn tries(&self, files: &[String], language: &str) -> Vec<String>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the workspace, `/` between folders.
    pub path: String,
    pub folder: bool,
}

impl Entry {
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Name without extension.
    pub fn base(&self) -> &str {
        match self.name().rsplit_once('.') {
            Some((base, _)) if !base.is_empty() && !self.folder => base,
            _ => self.name(),
        }
    }

    /// In lower case; empty if there is none.
    pub fn extension(&self) -> String {
        match self.name().rsplit_once('.') {
            Some((base, extension)) if !base.is_empty() && !self.folder => extension.to_lowercase(),
            _ => String::new(),
        }
    }
}

/// What a request wants of rows, as a classifier finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileWish {
    Rows,
    Count,
    Sum,
    Average,
}

/// A question about a database or a file of rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FileQuestion {
    pub text: String,
    /// The query that it goes on from.
    pub before: Option<Value>,
    pub wish: Option<FileWish>,
    /// As `2024-01-31`.
    pub today: String,
}

/// What was read from the words of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FileDraft {
    /// As queries over domains are written.
    pub query: Value,
    /// For SQLite, with its values in it; empty if nothing of the question is known.
    pub sql: String,
    /// What it asks, in a few words.
    pub said: String,
    pub form: FileForm,
    /// The table that it asks, with its columns; without one, that of the file, or the names of all tables.
    pub table: String,
    pub columns: Vec<String>,
    /// Words that were not understood.
    pub unread: Vec<String>,
    /// Whether so much is understood that its answer can be given.
    pub sure: bool,
    /// How well it explains the question, from 0.
    pub score: f32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    Rows,
    Number,
    /// The number of all rows of a table.
    AllRows,
}

/// Reads workspaces. Every method blocks and stays inside the folder.
pub trait WorkspaceReader: Send + Sync {
    /// Some files and folders, those nearest to the top first; hidden ones and links are left out.
    fn entries(&self, workspace: &Path) -> Vec<Entry>;
    /// A file of at most `most` bytes.
    fn read(&self, workspace: &Path, path: &str, most: u64) -> Option<Vec<u8>>;
    fn databases(&self, workspace: &Path, entries: &[Entry]) -> Vec<String>;
    /// The tables of a database or file of rows; `None`: it can't be opened.
    fn schema(&self, workspace: &Path, path: &str) -> Option<Schema>;
    /// What a question asks of a database or file of rows, as of data that is described; `None`: it can't be opened.
    fn draft(&self, workspace: &Path, path: &str, question: &FileQuestion) -> Option<FileDraft>;
    /// The first rows of a query that was drafted before, instead of their number or all of them.
    fn first_rows(&self, workspace: &Path, path: &str, query: &Value, count: u32) -> Option<FileDraft>;
    /// Whether the tool `terminal` runs a program of this name.
    fn runs(&self, program: &str) -> bool;
    /// The argument vector of a command line; `None` if it is not a single command.
    fn split_command(&self, line: &str) -> Option<Vec<String>>;
}
