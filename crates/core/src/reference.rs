//! Passages of documents that a run answers from, and what of them its answer cites.

use crate::DocumentId;
use crate::governance::Classified;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;

/// Where a tool's result has the passages that it found.
pub const REFERENCES: &str = "references";

/// A passage of a document that a run was given to answer from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Reference {
    /// As answers cite it: `[1]`.
    pub number: u32,
    /// The document.
    pub document: DocumentId,
    /// The chunk's place in the document, from 0.
    pub chunk: u32,
    /// The document's name.
    pub name: String,
    /// Its path, if it has one.
    pub source: String,
    /// The headings that the passage stands under, the outermost first.
    pub headings: Vec<String>,
    /// The page where it begins, from 1.
    pub first_page: u32,
    /// The page where it ends.
    pub last_page: u32,
    /// What it says.
    pub text: String,
    /// The part of it that answers best, where an answer can be no more than that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// How near it is to the request, if both have vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub cosine: Option<f32>,
    /// How near its best part is: the cosine, 0 without vectors, and the share of the request's words there, added.
    #[serde(default)]
    #[schema(required)]
    pub nearest: f32,
    /// Whether its document came from outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// How closely it is to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub classified: Option<Classified>,
}

impl Reference {
    /// The document's name with the page and the headings, for people and models.
    pub fn place(&self) -> String {
        let mut place = self.name.clone();
        if self.first_page > 1 || self.last_page > 1 {
            let _ = write!(place, ", page {}", self.first_page);
        }
        if let Some(heading) = self.headings.last() {
            let _ = write!(place, ", {heading}");
        }
        place
    }
}

/// What was looked through for passages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LookedThrough {
    /// How many documents.
    pub documents: u64,
    /// Passages that were left out, since a policy keeps them from the model.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kept_back: u32,
    /// Name of that policy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
    /// Why documents could not be looked through as usual.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub problem: String,
}

/// A document that somebody gave with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GivenDocument {
    /// The document.
    pub id: DocumentId,
    /// Its name as it was then.
    pub name: String,
}

/// A passage that an answer cites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Citation {
    /// As the answer cites it: `[1]`.
    pub number: u32,
    /// The document.
    pub document: DocumentId,
    /// The chunk's place in the document, from 0.
    pub chunk: u32,
    /// The document's name.
    pub name: String,
    /// The headings that the passage stands under, the outermost first.
    #[serde(default)]
    #[schema(required)]
    pub headings: Vec<String>,
    /// The page where it begins, from 1.
    pub first_page: u32,
}

impl From<&Reference> for Citation {
    fn from(reference: &Reference) -> Self {
        Self {
            number: reference.number,
            document: reference.document,
            chunk: reference.chunk,
            name: reference.name.clone(),
            headings: reference.headings.clone(),
            first_page: reference.first_page,
        }
    }
}

/// The passages in the data of a tool's result.
pub fn references_of(data: &Value) -> Vec<Reference> {
    let found = data.get(REFERENCES).and_then(Value::as_array);
    found.into_iter().flatten().filter_map(|one| Reference::deserialize(one).ok()).collect()
}

/// Those that a text cites as `[1]` or `[1, 2]`, in the order of their numbers.
pub fn cited<'a>(text: &str, references: &'a [Reference]) -> Vec<&'a Reference> {
    let mut numbers: Vec<u32> = Vec::new();
    for (at, _) in text.match_indices('[') {
        let Some((inside, _)) = text[at + 1..].split_once(']') else {
            break;
        };
        let parts: Option<Vec<u32>> = inside.split(',').map(|part| part.trim().parse().ok()).collect();
        numbers.extend(parts.unwrap_or_default());
    }
    references.iter().filter(|one| numbers.contains(&one.number)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Reference, cited};
    use crate::DocumentId;
    use uuid::Uuid;

    fn reference(number: u32) -> Reference {
        Reference {
            number,
            document: DocumentId(Uuid::nil()),
            chunk: 0,
            name: "handbook.pdf".to_owned(),
            source: String::new(),
            headings: vec!["Notice".to_owned()],
            first_page: 3,
            last_page: 3,
            text: String::new(),
            quote: String::new(),
            cosine: None,
            nearest: 0.0,
            outside: false,
            classified: None,
        }
    }

    #[test]
    fn only_what_a_text_names_is_cited() {
        let all: Vec<Reference> = (1..=4).map(reference).collect();
        let numbers = |text: &str| cited(text, &all).iter().map(|one| one.number).collect::<Vec<_>>();
        assert_eq!(numbers("Three months [2], as [1] and [2] say."), [1, 2]);
        assert_eq!(numbers("See [1, 4]."), [1, 4]);
        assert_eq!(numbers("a[0] and [9] and [x] and [ and [3"), [] as [u32; 0]);
    }
}
