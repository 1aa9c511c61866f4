//! Which of a few names a word means, by its letters, else by its meaning.

use crate::rank::cosine;
use steward_core::ports::Embedder;
use steward_core::text::{distance, parts, stem};

/// Least similarity of meaning.
const ALIKE: f32 = 0.45;
/// Least lead over the next best name.
const AHEAD: f32 = 0.05;

/// How well a word names `name` by its letters, 0 to 1; a part of a name counts less.
pub(crate) fn letters(word: &str, name: &str) -> f32 {
    let (word, whole) = (fold(&stem(word)), fold(&stem(name)));
    if word == whole || word == fold(&parts(name).concat()) || fold(&parts(name).join("_")) == word {
        return 1.0;
    }
    let parts: Vec<String> = parts(name).iter().map(|part| fold(&stem(part))).collect();
    if parts.len() > 1 && parts.contains(&word) && word != "id" {
        return 0.7;
    }
    if close(&word, &whole) { 0.8 } else { 0.0 }
}

/// The same word in a related language or with a typing error: a long common prefix, or one edit.
fn close(a: &str, b: &str) -> bool {
    let (long, short) = (a.chars().count().max(b.chars().count()), a.chars().count().min(b.chars().count()));
    if short < 4 {
        return false;
    }
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    (short >= 5 && distance(a, b) <= 1) || (common >= 4 && common * 10 >= long * 7)
}

fn fold(word: &str) -> String {
    word.chars()
        .map(|c| match c {
            'à' | 'á' | 'â' | 'ä' => 'a',
            'è' | 'é' | 'ê' | 'ë' => 'e',
            'ì' | 'í' | 'î' | 'ï' => 'i',
            'ò' | 'ó' | 'ô' | 'ö' => 'o',
            'ù' | 'ú' | 'û' | 'ü' => 'u',
            'ç' => 'c',
            'ñ' => 'n',
            other => other,
        })
        .collect()
}

/// The one of `names` that `word` means, if one is clearly nearest.
pub(crate) async fn meaning(word: &str, names: &[String], embedder: &dyn Embedder) -> Option<usize> {
    let mut texts = vec![word.to_owned()];
    texts.extend(names.iter().map(|name| parts(name).join(" ")));
    let vectors = embedder.embed(&texts).await.ok()?;
    let (wanted, others) = vectors.split_first()?;
    let mut alike: Vec<(f32, usize)> = others.iter().zip(0..).map(|(other, at)| (cosine(wanted, other), at)).collect();
    alike.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (best, at) = *alike.first()?;
    let next = alike.get(1).map_or(0.0, |next| next.0);
    (best >= ALIKE && best - next >= AHEAD).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn names_by_letters() {
        for (word, name) in [
            ("customers", "customer"),
            ("clientes", "client"),
            ("température", "temperature"),
            ("unit-price", "unit_price"),
            ("price", "unit_price"),
            ("temp_max", "temp_max"),
            ("Invoices", "Invoice"),
        ] {
            assert!(letters(word, name) > 0.0, "{word} {name}");
        }
        for (word, name) in [("day", "data"), ("wind", "window"), ("id", "album_id"), ("a", "as")] {
            assert!(letters(word, name) == 0.0, "{word} {name}");
        }
    }
}
