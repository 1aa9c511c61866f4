use std::collections::HashSet;

/// Lower-case names from a data file: words between blanks, `#` begins a comment line.
#[derive(Debug)]
pub(in crate::sql) struct NameSet(HashSet<&'static str>);

impl NameSet {
    pub fn read(text: &'static str) -> Self {
        Self(text.lines().filter(|line| !line.trim_start().starts_with('#')).flat_map(str::split_whitespace).collect())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name.to_ascii_lowercase().as_str())
    }
}
