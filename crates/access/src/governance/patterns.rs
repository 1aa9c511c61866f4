//! Data files, and the patterns of numbers in them.

use regex::Regex;
use serde::de::DeserializeOwned;

use super::finding::DetectorError;

pub fn read<T: DeserializeOwned>(file: &'static str, data: &str) -> Result<T, DetectorError> {
    toml::from_str(data).map_err(|error| DetectorError::Data(file, error.to_string()))
}

/// A pattern that only fits at the beginning; `name` is what it is called in its file.
pub fn anchored(file: &'static str, name: &str, pattern: &str) -> Result<Regex, DetectorError> {
    Regex::new(&format!("^(?:{pattern})")).map_err(|error| DetectorError::Data(file, format!("{name}: {error}")))
}

/// Patterns by how many characters of one sort what they fit begins with.
#[derive(Debug)]
pub struct ByBeginning<T>(Vec<Vec<T>>);

impl<T> Default for ByBeginning<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByBeginning<T> {
    pub fn add(&mut self, begins: usize, pattern: T) {
        if self.0.len() <= begins {
            self.0.resize_with(begins + 1, Vec::new);
        }
        self.0[begins].push(pattern);
    }

    pub fn with(&self, begins: usize) -> &[T] {
        self.0.get(begins).map_or(&[], Vec::as_slice)
    }
}
