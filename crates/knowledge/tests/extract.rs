//! Files of every format say what they are known to say, and hostile ones lead to a clear error.
#![allow(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::items_after_statements,
    clippy::type_complexity,
    clippy::unwrap_used,
    reason = "tests"
)]

mod beside;
mod formats;
mod hostile;
mod mail;
mod make;
mod office;
mod open_document;
mod pages;
mod pdf;
mod text;

use steward_core::extracted::{BlockKind, Extracted};
use steward_knowledge::extract::{ExtractError, ExtractLimits, extract};

pub fn read(bytes: &[u8], name: &str) -> Result<Extracted, ExtractError> {
    extract(bytes, name, &ExtractLimits::default())
}

/// The blocks of all pages, one in a line: `# ` before headings, `- ` before items, `` ` `` before code.
pub fn shown(found: &Extracted) -> String {
    let mut all = String::new();
    for (at, page) in found.pages.iter().enumerate() {
        if at > 0 || page.name.is_some() {
            all.push_str(&format!("== {}\n", page.name.as_deref().unwrap_or_default()));
        }
        for block in &page.blocks {
            let mark = match block.kind {
                BlockKind::Heading { level } => "#".repeat(level.into()) + " ",
                BlockKind::Paragraph | BlockKind::Table => String::new(),
                BlockKind::ListItem => "- ".to_owned(),
                BlockKind::Code => "` ".to_owned(),
            };
            all.push_str(&mark);
            all.push_str(block.text.trim_end());
            all.push('\n');
        }
    }
    all
}

#[track_caller]
pub fn check(bytes: &[u8], name: &str, doc_type: &str, expected: &str) -> Extracted {
    let found = read(bytes, name).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(found.doc_type, doc_type, "{name}");
    assert_eq!(shown(&found), expected, "{name}");
    found
}

#[track_caller]
pub fn data(name: &str) -> Vec<u8> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/extract").join(name);
    std::fs::read(path).unwrap()
}
