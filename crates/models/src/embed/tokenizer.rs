//! Reads the `tokenizer.json` of a model.

use super::EmbedError;
use super::unigram::Unigram;
use super::wordpiece::WordPiece;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

pub(super) enum Tokenizer {
    WordPiece(WordPiece),
    Unigram(Unigram),
}

#[derive(Deserialize)]
struct File {
    model: ModelPart,
    #[serde(default)]
    normalizer: Value,
}

#[derive(Deserialize)]
#[serde(tag = "type")]
enum ModelPart {
    WordPiece {
        vocab: HashMap<String, i32>,
    },
    Unigram {
        vocab: Vec<(String, f64)>,
        unk_id: Option<usize>,
    },
    #[serde(other)]
    Other,
}

impl Tokenizer {
    /// A WordPiece model that lower-cases, or a Unigram model.
    pub fn load(path: &Path) -> Result<Self, EmbedError> {
        let bad = |reason: String| EmbedError::BadFile { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|e| bad(e.to_string()))?;
        let file: File = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        let missing = |token: &str| bad(format!("it has no token {token}"));
        match file.model {
            ModelPart::WordPiece { .. } if file.normalizer["lowercase"] == false => {
                Err(bad("it tells capital letters apart, which is not supported".to_owned()))
            }
            ModelPart::WordPiece { vocab } => WordPiece::new(vocab).map(Self::WordPiece).map_err(missing),
            ModelPart::Unigram { vocab, unk_id } => Unigram::new(vocab, unk_id).map(Self::Unigram).map_err(missing),
            ModelPart::Other => Err(bad("it is neither a WordPiece nor a Unigram model".to_owned())),
        }
    }

    /// Tokens including begin and end, at most `limit`.
    pub fn encode(&self, text: &str, limit: usize) -> Vec<i32> {
        match self {
            Self::WordPiece(words) => words.encode(text, limit),
            Self::Unigram(pieces) => pieces.encode(text, limit),
        }
    }

    /// What stands behind the end of a text that is shorter than others.
    pub fn pad(&self) -> i32 {
        match self {
            Self::WordPiece(_) => 0,
            Self::Unigram(pieces) => pieces.pad(),
        }
    }

    /// How many tokens stand between two texts that are read together.
    pub fn separators(&self) -> usize {
        match self {
            Self::WordPiece(_) => 1,
            Self::Unigram(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::Tokenizer;

    #[test]
    fn what_can_not_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer.json");
        let load = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Tokenizer::load(&path).map(drop).map_err(|error| error.to_string())
        };
        let words = r#""model": {"type": "WordPiece", "vocab": {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2}}"#;
        assert_eq!(load(&format!("{{{words}}}")), Ok(()));
        assert_eq!(load(&format!("{{{words}, \"normalizer\": null}}")), Ok(()));
        let pieces = r#"[["<s>", 0], ["<pad>", 0], ["</s>", 0], ["<unk>", 0.0]]"#;
        assert_eq!(load(&format!(r#"{{"model": {{"type": "Unigram", "vocab": {pieces}, "unk_id": 3}}}}"#)), Ok(()));
        for (text, told) in [
            ("{", "EOF"),
            (r#"{"model": {"type": "BPE", "vocab": {}}}"#, "neither a WordPiece nor a Unigram"),
            (r#"{"model": {"type": "WordPiece", "vocab": {}}}"#, "no token [CLS]"),
            (r#"{"model": {"type": "Unigram", "vocab": [], "unk_id": 0}}"#, "no token <s>"),
            (
                &format!(r#"{{{words}, "normalizer": {{"type": "BertNormalizer", "lowercase": false}}}}"#),
                "capital letters",
            ),
        ] {
            let error = load(text).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
