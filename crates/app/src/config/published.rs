//! Variables that platforms of this kind read and this program does not: whoever sets one is told what takes its place.

use super::fields::FIELDS;

/// Each with what does here what it did there.
const ELSEWHERE: &[(&str, &str)] = &[
    ("RAG_CACHE_TTL_SECONDS", "what a search found is kept for 24 hours, or until a document changes"),
    ("RAG_CACHE_SIMILARITY_THRESHOLD", "questions count as the same from a likeness of 0.95 on"),
    ("EMBEDDING_BASE_URL", "add a connection, and set EMBEDDING_MODEL to MODEL@CONNECTION"),
    ("EMBEDDING_API_KEY", "add a connection with the key, and set EMBEDDING_MODEL to MODEL@CONNECTION"),
    ("EMBEDDING_MODEL", "STEWARD_EMBEDDING_MODEL names the model: MODEL@CONNECTION, MODEL@auto or a folder"),
    ("EMBEDDING_API_MAX_RETRIES", "four tries are made, with longer and longer pauses"),
    ("EMBEDDING_API_TIMEOUT", "an embedding may take 180 seconds"),
    ("RAG_CHUNK_SIZE", "each collection says how its documents are cut"),
    ("RAG_CHUNK_OVERLAP", "each collection says how its documents are cut"),
    ("DB_POOL_SIZE", "16 connections to the database are kept"),
    ("DB_MAX_OVERFLOW", "16 connections to the database are kept"),
    ("DB_POOL_TIMEOUT", "16 connections to the database are kept"),
    (
        "OCR_STRATEGY",
        "the engines that are there are tried one after the other; OCR_VISION says whether models see pages",
    ),
    ("OCR_DPI", "pages are read at 300 dots per inch"),
    ("OCR_CONFIDENCE_THRESHOLD", "a page is read again by the next engine below a confidence of 0.6"),
    ("MIN_USEFUL_TEXT", "a page with fewer than 50 letters of text is read as a picture"),
    ("VECTOR_DB_URL", "vectors are in the database and in memory"),
    ("VECTOR_DB_COLLECTION", "vectors are in the database and in memory"),
    ("REDIS_HOST", "queues and caches need no second server"),
    ("REDIS_PORT", "queues and caches need no second server"),
    ("REDIS_PASSWORD", "queues and caches need no second server"),
    ("LLAMA_BIN", "the local model runs in this program; STEWARD_MODEL names its file"),
    ("TESTING_PASSTHROUGH", "there is no way around approvals"),
];

/// Settings of executors that read tool calls from replies; their file has them in a table `parser`.
const PARSER: &str = "how calls are read is a connection's to say: `strategy` in POST /api/connections, or \
                      `steward connections add … --strategy react`";

/// What takes the place of a setting that platforms of this kind have and this program does not.
pub(super) fn replacement(name: &str) -> Option<&'static str> {
    if name == "parser" || name.starts_with("parser.") {
        return Some(PARSER);
    }
    ELSEWHERE.iter().find(|(known, _)| *known == name).map(|(_, what)| *what)
}

/// Settings whose plain names are variables of such platforms. Not all are: other programs read names such as PYTHON.
const RENAMED: &[&str] = &[
    "API_HOST",
    "API_PORT",
    "CORS_ORIGINS",
    "AUTH_SECRET_KEY",
    "POSTGRES_HOST",
    "POSTGRES_PORT",
    "POSTGRES_DATABASE",
    "POSTGRES_USER",
    "POSTGRES_PASSWORD",
    "LLM_BASE_URL",
    "LLM_DEFAULT_MODEL",
    "LLM_API_KEY",
    "NFS_BASE_PATH",
];

/// What is to be said of variables that are set and that nothing here reads. `is_set`: whether one is.
pub fn unread_variables(is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let renamed = FIELDS.iter().filter(|field| RENAMED.contains(&field.name) && !is_set(field.variable));
    let renamed = renamed.map(|field| (field.name, format!("here it is {}", field.variable)));
    let all = renamed.chain(ELSEWHERE.iter().map(|(name, what)| (*name, (*what).to_owned())));
    all.filter(|(name, _)| is_set(name))
        .map(|(name, what)| format!("the variable {name} is set, but not read: {what}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{FIELDS, RENAMED, replacement, unread_variables};

    #[test]
    fn a_variable_that_nothing_reads_is_named_with_what_takes_its_place() {
        assert!(unread_variables(|_| false).is_empty());
        let said = unread_variables(|name| ["LLM_BASE_URL", "RAG_CHUNK_SIZE", "PYTHON", "LANG"].contains(&name));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains("STEWARD_LLM_BASE_URL") && said[1].contains("collection"), "{said:?}");
        let both = |name: &str| ["LLM_BASE_URL", "STEWARD_LLM_BASE_URL"].contains(&name);
        assert!(unread_variables(both).is_empty(), "the one that counts is set");
        assert!(replacement("parser.strategy").is_some_and(|what| what.contains("/api/connections")));
        assert_eq!((replacement("parsers"), replacement("MAX_RUNS")), (None, None));
        assert!(RENAMED.iter().all(|name| FIELDS.iter().any(|field| field.name == *name)));
    }
}
