//! Reads the files that collections for measuring retrieval come in: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`.

use super::metrics::Judgements;
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum BeirError {
    #[error("{path} can't be read: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{path}, line {line}: {reason}")]
    BadLine { path: PathBuf, line: usize, reason: String },
    #[error("{path} has nothing in it")]
    Empty { path: PathBuf },
    #[error(
        "{path} judges no query of the queries and no document of the corpus; its first columns are query and document"
    )]
    Unrelated { path: PathBuf },
}

/// A line of `corpus.jsonl` or `queries.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Entry {
    #[serde(rename = "_id")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collection {
    pub documents: Vec<Entry>,
    /// Those that were judged.
    pub queries: Vec<Entry>,
    pub judgements: Judgements,
}

/// `corpus`: the file, or the folder that has `corpus.jsonl`.
pub fn read(corpus: &Path, queries: &Path, qrels: &Path) -> Result<Collection, BeirError> {
    let corpus = if corpus.is_dir() { corpus.join("corpus.jsonl") } else { corpus.to_owned() };
    let documents = entries(&corpus)?;
    let mut queries = entries(queries)?;
    let mut judgements = read_judgements(qrels)?;
    let known: HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
    let asked: HashSet<&str> = queries.iter().map(|query| query.id.as_str()).collect();
    judgements.retain(|query, _| asked.contains(query.as_str()));
    let is_known = |document: &String| known.contains(document.as_str());
    if !judgements.values().any(|documents| documents.keys().any(is_known)) {
        return Err(BeirError::Unrelated { path: qrels.to_owned() });
    }
    queries.retain(|query| judgements.contains_key(&query.id));
    Ok(Collection { documents, queries, judgements })
}

fn lines(path: &Path) -> Result<impl Iterator<Item = Result<(usize, String), BeirError>>, BeirError> {
    let unreadable = |error| BeirError::Unreadable { path: path.to_owned(), error };
    let file = BufReader::new(File::open(path).map_err(unreadable)?);
    let lines = (1..).zip(file.lines()).map(move |(number, line)| Ok((number, line.map_err(unreadable)?)));
    Ok(lines.filter(|line| !matches!(line, Ok((_, text)) if text.trim().is_empty())))
}

fn entries(path: &Path) -> Result<Vec<Entry>, BeirError> {
    let mut found: Vec<Entry> = Vec::new();
    let mut known = HashSet::new();
    for line in lines(path)? {
        let (line, text) = line?;
        let bad = |reason: String| BeirError::BadLine { path: path.to_owned(), line, reason };
        let entry: Entry = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
        if !known.insert(entry.id.clone()) {
            return Err(bad(format!("`{}` stands twice", entry.id)));
        }
        found.push(entry);
    }
    if found.is_empty() { Err(BeirError::Empty { path: path.to_owned() }) } else { Ok(found) }
}

/// Three columns (query, document, gain) or the four of TREC (query, a number, document, gain), with or without names.
fn read_judgements(path: &Path) -> Result<Judgements, BeirError> {
    let mut found = Judgements::new();
    for line in lines(path)? {
        let (line, text) = line?;
        let columns: Vec<&str> = text.split('\t').map(str::trim).collect();
        let columns = if columns.len() == 1 { text.split_whitespace().collect() } else { columns };
        let ([query, document, gain] | [query, _, document, gain]) = columns[..] else {
            let reason = format!("it has {} columns, not query, document and gain", columns.len());
            return Err(BeirError::BadLine { path: path.to_owned(), line, reason });
        };
        match gain.parse::<i64>() {
            Ok(gain) => {
                let gain = u32::try_from(gain.max(0)).unwrap_or(u32::MAX);
                found.entry(query.to_owned()).or_default().insert(document.to_owned(), gain);
            }
            Err(_) if line == 1 => {}
            Err(_) => {
                let reason = format!("`{gain}` is no whole number");
                return Err(BeirError::BadLine { path: path.to_owned(), line, reason });
            }
        }
    }
    if found.is_empty() { Err(BeirError::Empty { path: path.to_owned() }) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::{BeirError, read};
    use std::fs;
    use tempfile::TempDir;

    const CORPUS: &str =
        "{\"_id\": \"d1\", \"title\": \"T\", \"text\": \"one\"}\n\n{\"_id\": \"d2\", \"text\": \"two\"}\n";
    const QUERIES: &str = "{\"_id\": \"q1\", \"text\": \"which\"}\n{\"_id\": \"q2\", \"text\": \"unjudged\"}\n";
    const QRELS: &str = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nother\td1\t1\n";

    fn check(corpus: &str, queries: &str, qrels: &str) -> Result<super::Collection, BeirError> {
        let dir = TempDir::new().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        file("corpus.jsonl", corpus);
        read(dir.path(), &file("queries.jsonl", queries), &file("test.tsv", qrels))
    }

    #[test]
    fn collections_are_read() {
        let found = check(CORPUS, QUERIES, QRELS).unwrap();
        assert_eq!(found.documents.len(), 2);
        assert_eq!(found.documents[0].title, "T");
        assert_eq!(found.queries.len(), 1);
        assert_eq!(found.judgements["q1"]["d1"], 2);
        let trec = check(CORPUS, QUERIES, "q1 0 d2 1\n").unwrap();
        assert_eq!(trec.judgements["q1"]["d2"], 1);
    }

    #[test]
    fn bad_files_are_named_with_their_line() {
        let message = |corpus: &str, queries: &str, qrels: &str| check(corpus, queries, qrels).unwrap_err().to_string();
        assert!(message("{}\n", QUERIES, QRELS).contains("corpus.jsonl, line 1: missing field `_id`"));
        assert!(message(CORPUS, "\n{\"_id\": 1}", QRELS).contains("queries.jsonl, line 2:"));
        assert!(message(&CORPUS.repeat(2), QUERIES, QRELS).contains("line 4: `d1` stands twice"));
        assert!(message(CORPUS, QUERIES, "q1\td1\n").contains("test.tsv, line 1: it has 2 columns"));
        assert!(message(CORPUS, QUERIES, "q1\td1\t1\nq1\td2\tx\n").contains("line 2: `x` is no whole number"));
        assert!(message("", QUERIES, QRELS).contains("has nothing in it"));
        assert!(message(CORPUS, QUERIES, "x\ty\t1\n").contains("judges no query"));
    }
}
