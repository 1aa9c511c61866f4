//! A value that is read where it is used, and may be replaced while the program runs. Whoever has read it keeps what they
//! read until they read it again, so nothing in progress changes under them.

use crate::locks::{read, write};
use std::fmt;
use std::sync::{Arc, RwLock};

/// Cheap to clone; clones share the value.
pub struct Live<T>(Arc<RwLock<Arc<T>>>);

impl<T> Live<T> {
    pub fn new(value: T) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(value))))
    }

    pub fn get(&self) -> Arc<T> {
        Arc::clone(&read(&self.0))
    }

    /// Returns the value before.
    pub fn replace(&self, value: T) -> Arc<T> {
        std::mem::replace(&mut *write(&self.0), Arc::new(value))
    }
}

impl<T: Clone> Live<T> {
    pub fn copy(&self) -> T {
        (*self.get()).clone()
    }
}

impl<T> Clone for Live<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Default for Live<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> From<T> for Live<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: fmt::Debug> fmt::Debug for Live<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Live;

    #[test]
    fn what_was_read_stays_and_what_is_read_next_is_new() {
        let live = Live::new(1);
        let (read, other) = (live.get(), live.clone());
        assert_eq!(*other.replace(2), 1);
        assert_eq!((*read, *live.get(), live.copy()), (1, 2, 2));
    }
}
