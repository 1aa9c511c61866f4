//! BM25 over words, by tantivy.

use super::best::{Best, Candidate};
use super::exact::{ExactMatches, TermKind, exact_terms};
use super::language::Stems;
use super::narrow;
use super::query::TextQuery;
use super::statistics::{Allowed, Statistics};
use super::types::{ChunkEntry, ChunkKey, Hit, IndexError};
use super::words::words;
use crate::document_set::DocumentSet;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use steward_core::locks::lock;
use tantivy::directory::MmapDirectory;
use tantivy::indexer::LogMergePolicy;
use tantivy::query::{
    Bm25StatisticsProvider as _, BooleanQuery, BoostQuery, EnableScoring, Occur, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{
    DocAddress, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term,
};

/// What words take of memory before they go to a file, bytes. The least that the library allows is 15 MB.
const WRITER_MEMORY: usize = 20_000_000;
/// How much more a word counts that stands in a heading.
const HEADING: f32 = 1.5;
/// The rarest ones of a long question are looked for.
const MOST_TERMS: usize = 64;
/// Sets of documents whose counts are remembered until the next commit.
const REMEMBERED: usize = 16;
/// How much more quoted words count that stand one after the other: more than anything else.
const PHRASE: f32 = 50.0;
/// A quoted phrase comes before all other terms.
const QUOTED: f32 = 100.0;
/// Chunks that hold a quoted phrase, or all quoted words, of which more are not told apart.
const MOST_QUOTED: u64 = 100_000;
/// A code is rare that stands in no more chunks than one through so many, at least and at most in these.
const RARE_SHARE: u64 = 300;
const RARE: (u64, u64) = (5, 20);
/// Any other word: in no more than one through so many, and at most in these.
const RARE_WORD_SHARE: u64 = 200;
const RARE_WORD: u64 = 3;
/// Below one through so many of all chunks, these are visited alone.
const NARROW: u64 = 5;
/// A segment with so many removed chunks is written anew, as a part of it.
const MOST_DELETED: f32 = 0.2;

#[derive(Debug, Clone, Copy)]
pub struct Fields {
    pub document: Field,
    pub chunk: Field,
    pub heading: Field,
    pub text: Field,
}

pub struct TextIndex {
    index: Index,
    fields: Fields,
    reader: IndexReader,
    writer: Option<IndexWriter>,
}

/// What was committed at some point.
pub struct TextSnapshot {
    searcher: Searcher,
    fields: Fields,
    allowed: Mutex<Vec<(DocumentSet, Arc<Allowed>)>>,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing =
        TextFieldIndexing::default().set_tokenizer("raw").set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = Fields {
        document: schema.add_u64_field("document", FAST | INDEXED),
        chunk: schema.add_u64_field("chunk", FAST),
        heading: schema.add_text_field("heading", text.clone()),
        text: schema.add_text_field("text", text),
    };
    (schema.build(), fields)
}

impl TextIndex {
    pub fn open(dir: &Path) -> Result<Self, IndexError> {
        std::fs::create_dir_all(dir)?;
        let (schema, fields) = schema();
        // No content is stored, so there is nothing to compress and no thread for it.
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let directory = MmapDirectory::open(dir).map_err(tantivy::TantivyError::from)?;
        let index = Index::builder().schema(schema).settings(settings).open_or_create(directory)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, fields, reader, writer: None })
    }

    /// What the last commit said besides.
    pub fn payload(&self) -> Result<Option<String>, IndexError> {
        Ok(self.index.load_metas()?.payload)
    }

    pub fn snapshot(&self) -> Result<TextSnapshot, IndexError> {
        self.reader.reload()?;
        Ok(TextSnapshot { searcher: self.reader.searcher(), fields: self.fields, allowed: Mutex::default() })
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, IndexError> {
        if let Some(writer) = self.writer.take() {
            return Ok(self.writer.insert(writer));
        }
        let writer = self.index.writer_with_num_threads(1, WRITER_MEMORY)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(MOST_DELETED);
        writer.set_merge_policy(Box::new(merging));
        Ok(self.writer.insert(writer))
    }

    pub fn replace(&mut self, document: u32, chunks: &[ChunkEntry<'_>]) -> Result<(), IndexError> {
        let fields = self.fields;
        let writer = self.writer()?;
        writer.delete_term(Term::from_field_u64(fields.document, u64::from(document)));
        for chunk in chunks {
            let stems = Stems::of_text(chunk.text);
            let mut entry = TantivyDocument::default();
            entry.add_u64(fields.document, u64::from(document));
            entry.add_u64(fields.chunk, u64::from(chunk.index));
            entry.add_pre_tokenized_text(fields.heading, tokens(chunk.heading, &stems));
            entry.add_pre_tokenized_text(fields.text, tokens(chunk.text, &stems));
            writer.add_document(entry)?;
        }
        Ok(())
    }

    /// Makes it durable, together with `payload`.
    pub fn commit(&mut self, payload: &str) -> Result<(), IndexError> {
        let mut prepared = self.writer()?.prepare_commit()?;
        prepared.set_payload(payload);
        prepared.commit()?;
        Ok(())
    }

    /// Gives the memory for writing back, once segments that are being merged are. A writer that is only dropped writes no
    /// more what is in the index, but goes on to delete the files of what it has merged (tantivy 0.27).
    pub fn stop_writing(&mut self) -> Result<(), IndexError> {
        match self.writer.take() {
            Some(writer) => Ok(writer.wait_merging_threads()?),
            None => Ok(()),
        }
    }
}

impl Drop for TextIndex {
    fn drop(&mut self) {
        if let Err(error) = self.stop_writing() {
            tracing::warn!(%error, "an index was closed while it could not be merged");
        }
    }
}

fn tokens(text: &str, stems: &Stems) -> PreTokenizedString {
    let token = |word: super::words::Word| Token {
        position: word.position as usize,
        text: word.text,
        position_length: 1,
        offset_from: 0,
        offset_to: 0,
    };
    PreTokenizedString { text: String::new(), tokens: words(text, stems).into_iter().map(token).collect() }
}

/// As BM25 has it.
#[expect(clippy::cast_precision_loss, reason = "counts, for a score")]
fn inverse_frequency(all: u64, found: usize) -> f32 {
    let (all, found) = (all as f32, found as f32);
    ((all - found + 0.5) / (found + 0.5)).max(0.0).ln_1p()
}

impl TextSnapshot {
    pub fn chunks(&self) -> u64 {
        self.searcher.num_docs()
    }

    pub fn segments(&self) -> usize {
        self.searcher.segment_readers().len()
    }

    pub fn search(&self, text: &str, documents: &DocumentSet, k: usize) -> Result<Vec<Hit>, IndexError> {
        let question = TextQuery::read(text);
        if k == 0 || question.is_empty() || documents.is_empty() {
            return Ok(Vec::new());
        }
        let allowed = self.allowed(documents)?;
        if allowed.as_ref().is_some_and(|allowed| allowed.chunks == 0) {
            return Ok(Vec::new());
        }
        let statistics = Statistics::new(&self.searcher, allowed.as_deref());
        let best = match &allowed {
            Some(few) if few.chunks * NARROW < self.chunks() && question.phrases.is_empty() => {
                let terms = self.terms(question, &statistics)?;
                let mut best = Best::new(k);
                for (address, score) in narrow::score(&self.searcher, few, &statistics, &terms)? {
                    best.push(score, address);
                }
                best
            }
            _ => self.best(question, &statistics, allowed.as_deref(), k)?,
        };
        self.hits(best.into_vec())
    }

    fn best(
        &self,
        question: TextQuery,
        statistics: &Statistics<'_>,
        allowed: Option<&Allowed>,
        k: usize,
    ) -> Result<Best<DocAddress>, IndexError> {
        let query = self.query(question, statistics)?;
        let weight = query.weight(EnableScoring::enabled_from_statistics_provider(statistics, &self.searcher))?;
        let mut best = Best::new(k);
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let alive = reader.alive_bitset();
            let allowed = allowed.and_then(|allowed| allowed.segments.get(segment as usize));
            weight.for_each_pruning(best.least, reader, &mut |doc, score| {
                let seen = allowed
                    .map_or_else(|| alive.is_none_or(|alive| alive.is_alive(doc)), |allowed| allowed.contains(doc));
                if seen {
                    best.push(score, DocAddress::new(segment, doc));
                }
                best.least
            })?;
        }
        Ok(best)
    }

    fn hits(&self, best: Vec<Candidate<DocAddress>>) -> Result<Vec<Hit>, IndexError> {
        let mut hits = Vec::with_capacity(best.len());
        for found in best {
            let fast = self.searcher.segment_reader(found.place.segment_ord).fast_fields();
            let number = |name: &str| -> Result<u32, IndexError> {
                let value = fast.u64(name)?.first(found.place.doc_id).unwrap_or_default();
                Ok(u32::try_from(value).unwrap_or(u32::MAX))
            };
            hits.push(Hit { document: number("document")?, chunk: number("chunk")?, score: found.score });
        }
        hits.sort_by(Hit::order);
        Ok(hits)
    }

    /// `None` for all documents.
    fn allowed(&self, documents: &DocumentSet) -> Result<Option<Arc<Allowed>>, IndexError> {
        if documents.is_all() {
            return Ok(None);
        }
        let mut known = lock(&self.allowed);
        if let Some((_, allowed)) = known.iter().find(|(set, _)| set == documents) {
            return Ok(Some(Arc::clone(allowed)));
        }
        let allowed = Arc::new(Allowed::of(&self.searcher, documents, [self.fields.heading, self.fields.text])?);
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push((documents.clone(), Arc::clone(&allowed)));
        Ok(Some(allowed))
    }

    fn terms(&self, mut question: TextQuery, statistics: &Statistics<'_>) -> Result<Vec<(Term, f32)>, IndexError> {
        self.keep_rarest(&mut question, statistics)?;
        let fields = self.boosts();
        let in_fields = |(text, weight): (String, f32)| {
            fields.map(|(field, boost)| (Term::from_field_text(field, &text), weight * boost))
        };
        Ok(question.terms.into_iter().flat_map(in_fields).collect())
    }

    fn boosts(&self) -> [(Field, f32); 2] {
        [(self.fields.heading, HEADING), (self.fields.text, 1.0)]
    }

    fn query(&self, mut question: TextQuery, statistics: &Statistics<'_>) -> Result<Box<dyn Query>, IndexError> {
        let phrases = std::mem::take(&mut question.phrases);
        let mut parts: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        for (term, weight) in self.terms(question, statistics)? {
            let term = TermQuery::new(term, IndexRecordOption::WithFreqs);
            parts.push((Occur::Should, Box::new(BoostQuery::new(Box::new(term), weight))));
        }
        for phrase in phrases {
            for (_, word) in &phrase {
                let word = std::slice::from_ref(word).iter().map(|word| (0, word.clone())).collect::<Vec<_>>();
                parts.push((Occur::Must, self.phrase(&word, 1.0)));
            }
            if phrase.len() > 1 {
                parts.push((Occur::Should, self.phrase(&phrase, PHRASE)));
            }
        }
        Ok(Box::new(BooleanQuery::new(parts)))
    }

    /// Words one after the other, in a text or in its headings.
    fn phrase(&self, words: &[(u32, String)], weight: f32) -> Box<dyn Query> {
        let in_field = |(field, boost): (Field, f32)| -> (Occur, Box<dyn Query>) {
            let term = |text: &str| Term::from_field_text(field, text);
            let query: Box<dyn Query> = match words {
                [(_, one)] => Box::new(TermQuery::new(term(one), IndexRecordOption::WithFreqs)),
                several => Box::new(PhraseQuery::new_with_offset(
                    several.iter().map(|(at, text)| (*at as usize, term(text))).collect(),
                )),
            };
            (Occur::Should, Box::new(BoostQuery::new(query, boost * weight)))
        };
        Box::new(BooleanQuery::new(self.boosts().into_iter().map(in_field).collect()))
    }

    /// The chunks that hold what a question names exactly, as far as that is rare among those that may be seen.
    pub fn find_exact(&self, question: &str, documents: &DocumentSet) -> Result<ExactMatches, IndexError> {
        let mut found = ExactMatches::default();
        let terms = exact_terms(question);
        if terms.is_empty() || documents.is_empty() {
            return Ok(found);
        }
        let allowed = self.allowed(documents)?;
        let all = allowed.as_ref().map_or_else(|| self.chunks(), |allowed| allowed.chunks);
        for term in &terms {
            let most = match term.kind {
                TermKind::Quoted => MOST_QUOTED,
                TermKind::Code => (all / RARE_SHARE).clamp(RARE.0, RARE.1),
                TermKind::Word => (all / RARE_WORD_SHARE).min(RARE_WORD),
            };
            if most == 0 {
                continue;
            }
            let query = self.phrase(&term.phrase, 1.0);
            let Some(places) = self.matching(query.as_ref(), allowed.as_deref(), most)? else { continue };
            let quoted = if term.kind == TermKind::Quoted { QUOTED } else { 0.0 };
            let weight = inverse_frequency(all, places.len()) + quoted;
            for key in self.keys(&places)? {
                let chunk = found.chunks.entry(key).or_default();
                chunk.weight += weight;
                chunk.terms.push(term.text.clone());
            }
        }
        let words: HashSet<&String> = terms
            .iter()
            .filter(|term| term.kind == TermKind::Quoted)
            .flat_map(|term| &term.phrase)
            .map(|(_, word)| word)
            .collect();
        if !words.is_empty() {
            let each = words.into_iter().map(|word| (Occur::Must, self.phrase(&[(0, word.clone())], 1.0)));
            let places = self.matching(&BooleanQuery::new(each.collect()), allowed.as_deref(), MOST_QUOTED)?;
            found.quoted = Some(self.keys(&places.unwrap_or_default())?.into_iter().collect());
        }
        Ok(found)
    }

    /// Where something stands; `None` if it stands in more than `most` chunks.
    fn matching(
        &self,
        query: &dyn Query,
        allowed: Option<&Allowed>,
        most: u64,
    ) -> Result<Option<Vec<DocAddress>>, IndexError> {
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher))?;
        let mut found = Vec::new();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        for (segment, reader) in (0..).zip(self.searcher.segment_readers()) {
            let alive = reader.alive_bitset();
            let allowed = allowed.and_then(|allowed| allowed.segments.get(segment as usize));
            weight.for_each_no_score(reader, &mut |docs| {
                let seen = |doc: &u32| {
                    allowed.map_or_else(|| alive.is_none_or(|alive| alive.is_alive(*doc)), |some| some.contains(*doc))
                };
                if found.len() <= most {
                    found.extend(docs.iter().filter(|doc| seen(doc)).map(|doc| DocAddress::new(segment, *doc)));
                }
            })?;
            if found.len() > most {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    fn keys(&self, places: &[DocAddress]) -> Result<Vec<ChunkKey>, IndexError> {
        let found = places.iter().map(|place| Candidate { score: 0.0, place: *place }).collect();
        Ok(self.hits(found)?.iter().map(Hit::key).collect())
    }

    fn keep_rarest(&self, question: &mut TextQuery, statistics: &Statistics<'_>) -> Result<(), IndexError> {
        if question.terms.len() <= MOST_TERMS {
            return Ok(());
        }
        let mut counted = Vec::with_capacity(question.terms.len());
        for (text, weight) in question.terms.drain(..) {
            let count = statistics.doc_freq(&Term::from_field_text(self.fields.text, &text))?
                + statistics.doc_freq(&Term::from_field_text(self.fields.heading, &text))?;
            if count > 0 {
                counted.push((count, text, weight));
            }
        }
        counted.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        question.terms = counted.into_iter().take(MOST_TERMS).map(|(_, text, weight)| (text, weight)).collect();
        Ok(())
    }
}
