use super::names::NameSet;

/// What one kind of server permits.
#[derive(Debug)]
pub(in crate::sql) struct Rules {
    /// Functions without effects, and those written without parentheses.
    pub functions: NameSet,
    /// Functions that may stand for a table.
    pub table_functions: NameSet,
    /// Words that call a function without parentheses, and tell about the session.
    pub words: NameSet,
    /// Functions that look for one of their arguments in another without looking at the clock, each as `name:place`.
    pub searching: NameSet,
    /// Functions whose result can be far larger than their arguments.
    pub growing: NameSet,
    /// Types that may be cast to: those whose reading of a text looks nothing up.
    pub types: NameSet,
    /// Schemas that describe the server or the session.
    pub closed_schemas: NameSet,
    /// Beginnings of the names of such tables, whatever the schema.
    pub closed_prefixes: &'static [&'static str],
    /// `/*!` and the like are run by the server.
    pub live_comments: bool,
    /// INSERT, UPDATE and DELETE too.
    pub write: bool,
}

impl Rules {
    /// Whether the server keeps names such as this one for itself, whatever the schema.
    pub fn closes(&self, name: &str) -> bool {
        let lower = name.to_lowercase();
        let mut prefixes = self.closed_prefixes.iter();
        prefixes.any(|prefix| lower.starts_with(prefix))
    }
}
