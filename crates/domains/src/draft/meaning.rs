//! Names that words of a request may mean without being them.

use steward_core::text::parts;

use super::Alike;
use crate::model::Domain;

/// Least similarity, as a cosine.
const LEAST: f32 = 0.55;
/// What a similar name is worth beside the name itself.
const WORTH: f32 = 0.95;

/// A name with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub domain: String,
    pub field: Option<String>,
    pub text: String,
}

/// The names of domains and fields.
pub fn names<'d>(domains: impl IntoIterator<Item = &'d Domain>) -> Vec<Named> {
    let mut all = Vec::new();
    for described in domains {
        let domain = &described.name;
        let named = |field: Option<String>, text: String| Named { domain: domain.clone(), field, text };
        all.push(named(None, parts(domain).join(" ")));
        all.extend(described.fields.iter().map(|field| named(Some(field.name.clone()), parts(&field.name).join(" "))));
    }
    all
}

/// Which words are like which names, by their embeddings of length 1.
pub fn similar(words: &[String], of_words: &[Vec<f32>], names: &[Named], of_names: &[Vec<f32>]) -> Vec<Alike> {
    let mut found = Vec::new();
    for (word, vector) in words.iter().zip(of_words) {
        for (name, other) in names.iter().zip(of_names) {
            let cosine: f32 = vector.iter().zip(other).map(|(one, other)| one * other).sum();
            if cosine >= LEAST {
                let (domain, field) = (name.domain.clone(), name.field.clone());
                found.push(Alike { word: word.clone(), domain, field, score: cosine * WORTH });
            }
        }
    }
    found
}
