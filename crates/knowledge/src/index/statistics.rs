//! How often words occur in the documents that a search may see, so that no score tells of others.

use super::types::IndexError;
use crate::document_set::DocumentSet;
use std::collections::HashMap;
use std::sync::Mutex;
use steward_core::locks::lock;
use tantivy::postings::SegmentPostings;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet as _, Searcher, SegmentReader, TERMINATED, Term};

/// Counting alone goes on faster than scoring.
const SEEK: u64 = 16;

/// The chunks of a segment that belong to a set of documents.
pub struct AllowedSegment {
    bits: Vec<u64>,
    pub chunks: u32,
}

impl AllowedSegment {
    #[inline]
    pub fn contains(&self, chunk: DocId) -> bool {
        self.bits.get((chunk / 64) as usize).is_some_and(|word| word >> (chunk % 64) & 1 == 1)
    }

    pub fn each(&self) -> impl Iterator<Item = DocId> {
        (0..).zip(&self.bits).flat_map(|(at, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(at * 64 + bit)
            })
        })
    }

    /// Calls `found` with each of these chunks in which a term occurs, at its place in `postings`. Seeking costs as much
    /// as going on by `seek` occurrences.
    pub fn visit(&self, postings: &mut SegmentPostings, seek: u64, mut found: impl FnMut(DocId, &SegmentPostings)) {
        if u64::from(self.chunks) * seek < u64::from(postings.size_hint()) {
            for chunk in self.each() {
                let doc = if postings.doc() < chunk { postings.seek(chunk) } else { postings.doc() };
                if doc == TERMINATED {
                    break;
                }
                if doc == chunk {
                    found(chunk, postings);
                }
            }
        } else {
            while postings.doc() != TERMINATED {
                if self.contains(postings.doc()) {
                    found(postings.doc(), postings);
                }
                postings.advance();
            }
        }
    }
}

/// The chunks of an index that belong to a set of documents.
pub struct Allowed {
    pub segments: Vec<AllowedSegment>,
    pub chunks: u64,
    /// How many words they have, in each field.
    words: Vec<(Field, u64)>,
}

impl Allowed {
    pub fn of<const N: usize>(
        searcher: &Searcher,
        documents: &DocumentSet,
        fields: [Field; N],
    ) -> Result<Self, IndexError> {
        let mut all = Self { segments: Vec::new(), chunks: 0, words: fields.map(|field| (field, 0)).to_vec() };
        for reader in searcher.segment_readers() {
            let segment = Self::segment(reader, documents)?;
            for (field, words) in &mut all.words {
                let lengths = reader.get_fieldnorms_reader(*field)?;
                *words += segment.each().map(|chunk| u64::from(lengths.fieldnorm(chunk))).sum::<u64>();
            }
            all.chunks += u64::from(segment.chunks);
            all.segments.push(segment);
        }
        Ok(all)
    }

    fn segment(reader: &SegmentReader, documents: &DocumentSet) -> Result<AllowedSegment, IndexError> {
        let numbers = reader.fast_fields().column_first_or_default::<u64>("document")?;
        let mut bits = vec![0_u64; (reader.max_doc() as usize).div_ceil(64)];
        let mut chunks = 0;
        for chunk in reader.doc_ids_alive() {
            let number = u32::try_from(numbers.get_val(chunk)).unwrap_or(u32::MAX);
            if documents.contains(number) {
                bits[(chunk / 64) as usize] |= 1 << (chunk % 64);
                chunks += 1;
            }
        }
        Ok(AllowedSegment { bits, chunks })
    }

    fn count(&self, searcher: &Searcher, term: &Term) -> tantivy::Result<u64> {
        let mut count = 0;
        for (segment, reader) in self.segments.iter().zip(searcher.segment_readers()) {
            let Some(mut postings) =
                reader.inverted_index(term.field())?.read_postings(term, IndexRecordOption::Basic)?
            else {
                continue;
            };
            segment.visit(&mut postings, SEEK, |_, _| count += 1);
        }
        Ok(count)
    }
}

/// Counts for BM25.
pub struct Statistics<'a> {
    searcher: &'a Searcher,
    /// `None`: every document is.
    allowed: Option<&'a Allowed>,
    counted: Mutex<HashMap<Term, u64>>,
}

impl<'a> Statistics<'a> {
    pub fn new(searcher: &'a Searcher, allowed: Option<&'a Allowed>) -> Self {
        Self { searcher, allowed, counted: Mutex::default() }
    }
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        let Some(allowed) = self.allowed else { return self.searcher.total_num_tokens(field) };
        Ok(allowed.words.iter().find(|(known, _)| *known == field).map_or(0, |(_, words)| *words).max(1))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        self.allowed.map_or_else(|| self.searcher.total_num_docs(), |allowed| Ok(allowed.chunks))
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let Some(allowed) = self.allowed else { return self.searcher.doc_freq(term) };
        if let Some(count) = lock(&self.counted).get(term) {
            return Ok(*count);
        }
        let count = allowed.count(self.searcher, term)?;
        lock(&self.counted).insert(term.clone(), count);
        Ok(count)
    }
}
