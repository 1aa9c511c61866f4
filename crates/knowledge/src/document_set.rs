//! Which documents a search may see.

use std::sync::Arc;

/// A set of document numbers, which is cheap to clone. Every search takes one: what is outside of it is neither scored
/// nor counted.
#[derive(Debug, Clone, Default)]
pub struct DocumentSet(Option<Arc<[u64]>>);

impl DocumentSet {
    /// Every document, also those that come later.
    pub fn all() -> Self {
        Self(None)
    }

    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub fn contains(&self, document: u32) -> bool {
        let Some(words) = &self.0 else { return true };
        words.get((document / 64) as usize).is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(|words| words.iter().all(|word| *word == 0))
    }
}

impl FromIterator<u32> for DocumentSet {
    fn from_iter<I: IntoIterator<Item = u32>>(documents: I) -> Self {
        let mut words: Vec<u64> = Vec::new();
        for document in documents {
            let at = (document / 64) as usize;
            if at >= words.len() {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (document % 64);
        }
        Self(Some(words.into()))
    }
}

impl PartialEq for DocumentSet {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DocumentSet;

    #[test]
    fn a_set_has_what_it_was_made_of() {
        let some: DocumentSet = [1, 64, 700].into_iter().collect();
        assert!(some.contains(1) && some.contains(64) && some.contains(700));
        assert!(!some.contains(2) && !some.contains(9999));
        assert!(!some.is_all() && !some.is_empty() && some == [700, 64, 1].into_iter().collect());
        assert!(DocumentSet::from_iter([]).is_empty() && !DocumentSet::all().is_empty());
        assert!(DocumentSet::all().contains(u32::MAX) && DocumentSet::all().is_all());
    }
}
