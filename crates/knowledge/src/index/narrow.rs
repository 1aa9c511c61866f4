//! BM25 over a small part of the documents.
//!
//! Where few chunks may be seen, skipping what can't be among the best hardly skips anything. Here the occurrences in these
//! chunks alone are visited, once, and counted at the same time.

use super::statistics::Allowed;
use super::types::IndexError;
use std::collections::HashMap;
use tantivy::postings::Postings as _;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, Searcher, Term};

/// As in the index's own scoring.
const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Seeking costs as much as going on by so many occurrences.
const SEEK: u64 = 8;

/// Each allowed chunk that has one of the terms, with its score, in no order.
pub fn score(
    searcher: &Searcher,
    allowed: &Allowed,
    statistics: &dyn Bm25StatisticsProvider,
    terms: &[(Term, f32)],
) -> Result<Vec<(DocAddress, f32)>, IndexError> {
    let mut lengths: HashMap<Field, f32> = HashMap::new();
    let mut scores: HashMap<DocAddress, f32> = HashMap::new();
    let chunks = float(allowed.chunks);
    for (term, weight) in terms {
        let field = term.field();
        let average = match lengths.get(&field) {
            Some(average) => *average,
            None => *lengths.entry(field).or_insert(float(statistics.total_num_tokens(field)?) / chunks),
        };
        let found = occurrences(searcher, allowed, term, average)?;
        let count = float(found.len() as u64);
        let idf = (1.0 + (chunks - count + 0.5) / (count + 0.5)).ln();
        for (address, frequency) in found {
            *scores.entry(address).or_default() += weight * idf * (1.0 + K1) * frequency;
        }
    }
    Ok(scores.into_iter().collect())
}

#[expect(clippy::cast_precision_loss, reason = "counts, for a score")]
fn float(count: u64) -> f32 {
    count as f32
}

/// Where a term occurs, and how much that says by its frequency and the length of the text: less than 1.
fn occurrences(
    searcher: &Searcher,
    allowed: &Allowed,
    term: &Term,
    average: f32,
) -> Result<Vec<(DocAddress, f32)>, IndexError> {
    let mut found = Vec::new();
    for (at, (segment, reader)) in (0..).zip(allowed.segments.iter().zip(searcher.segment_readers())) {
        let index = reader.inverted_index(term.field())?;
        let Some(mut postings) = index.read_postings(term, IndexRecordOption::WithFreqs)? else { continue };
        let lengths = reader.get_fieldnorms_reader(term.field())?;
        segment.visit(&mut postings, SEEK, |chunk, postings| {
            let frequency = float(u64::from(postings.term_freq()));
            let length = float(u64::from(lengths.fieldnorm(chunk)));
            let part = frequency / (frequency + K1 * (1.0 - B + B * length / average));
            found.push((DocAddress::new(at, chunk), part));
        });
    }
    Ok(found)
}
