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

    pub fn none() -> Self {
        Self::from_iter([])
    }

    pub fn is_all(&self) -> bool {
        self.0.is_none()
    }

    #[inline]
    pub fn contains(&self, document: u32) -> bool {
        let Some(words) = &self.0 else { return true };
        words.get((document / 64) as usize).is_some_and(|word| word >> (document % 64) & 1 == 1)
    }

    /// How many it has; `None` for all.
    pub fn len(&self) -> Option<u64> {
        Some(self.0.as_ref()?.iter().map(|word| u64::from(word.count_ones())).sum())
    }

    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_some_and(|words| words.iter().all(|word| *word == 0))
    }

    /// Those that are in both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(a), Some(b)) => Self(Some(a.iter().zip(b.iter()).map(|(a, b)| a & b).collect())),
        }
    }

    /// Those that are in one of them.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let (Some(a), Some(b)) = (&self.0, &other.0) else { return Self::all() };
        let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
        let word = |(at, word): (usize, &u64)| word | short.get(at).copied().unwrap_or(0);
        Self(Some(long.iter().enumerate().map(word).collect()))
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
    fn sets_are_joined_and_cut() {
        let some: DocumentSet = [1, 64, 700].into_iter().collect();
        let other: DocumentSet = [64, 3].into_iter().collect();
        assert!(some.contains(700) && !some.contains(2) && !some.contains(9999));
        assert_eq!(some.and(&other), [64].into_iter().collect());
        assert_eq!(some.or(&other).len(), Some(4));
        assert_eq!(some.and(&DocumentSet::all()), some);
        assert!(some.or(&DocumentSet::all()).is_all());
        assert!(DocumentSet::none().is_empty() && !DocumentSet::all().is_empty());
        assert!(DocumentSet::all().contains(u32::MAX) && DocumentSet::all().len().is_none());
    }
}
