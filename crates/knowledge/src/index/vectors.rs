//! Vectors: every code is compared with the query, on all cores, and the best are compared again in full.

use super::best::{Best, Candidate};
use super::codes::{QueryTable, code_len, dot, encode, normalise, to_bytes};
use super::types::{ChunkEntry, Hit, IndexError};
use super::vector_file::{Block, FileState, FullVectors, VectorFiles};
use crate::document_set::DocumentSet;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are kept together in memory. A commit copies at most so many.
const ROWS_TOGETHER: usize = 8192;
/// Fewer rows are not worth a further thread.
const ROWS_PER_THREAD: usize = 32_768;
/// Files are written anew if more rows than this, and more than [`MOST_DEAD_PARTS`] of all, were replaced.
const MOST_DEAD: u64 = 4096;
/// One through the part of all rows.
const MOST_DEAD_PARTS: u64 = 3;
/// Rows copied at a time.
const COPY: usize = 1024;

/// How many candidates are compared in full for `k` wanted ones (docs/decisions/043-search.md has what it was measured by).
pub fn depth(k: usize) -> usize {
    (k * 10).max(400)
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    document: u32,
    /// Within its slab.
    first: u32,
    rows: u32,
}

/// Some thousand rows.
#[derive(Clone, Default)]
struct Slab {
    rows: Arc<Rows>,
    /// Documents that are still in, in order of their rows.
    live: Arc<Vec<Span>>,
}

#[derive(Clone, Default)]
struct Rows {
    /// Number of its first row in the file.
    first: u64,
    chunks: Vec<u32>,
    factors: Vec<f32>,
    bits: Vec<u8>,
}

/// What was committed at some point.
#[derive(Clone)]
pub struct VectorSnapshot {
    slabs: Vec<Slab>,
    live: u64,
    dimension: usize,
    full: FullVectors,
}

pub struct VectorIndex {
    files: VectorFiles,
    memory: Memory,
}

impl VectorIndex {
    pub fn open(dir: &Path, dimension: usize, state: FileState) -> Result<Self, IndexError> {
        let mut memory = Memory::new(dimension);
        let files = VectorFiles::open(dir, dimension, state, |block, first| memory.put(&block, first))?;
        Ok(Self { files, memory })
    }

    pub fn replace(&mut self, document: u32, chunks: &[ChunkEntry<'_>]) -> Result<(), IndexError> {
        let mut block = Block { document, ..Block::default() };
        let mut full = Vec::new();
        for chunk in chunks {
            let Some(vector) = chunk.vector else { continue };
            self.check(vector)?;
            // A vector without a length is near to nothing.
            if let Some(unit) = normalise(vector) {
                block.push(chunk.index, &encode(&unit));
                to_bytes(&unit, &mut full);
            }
        }
        if block.chunks.is_empty() && !self.memory.places.contains_key(&document) {
            return Ok(());
        }
        let first = self.files.append(&block, &full)?;
        self.memory.put(&block, first);
        Ok(())
    }

    /// Whether [`Self::replace`] would take it.
    pub fn check(&self, vector: &[f32]) -> Result<(), IndexError> {
        if vector.len() != self.memory.dimension {
            return Err(IndexError::WrongDimension { found: vector.len(), wanted: self.memory.dimension });
        }
        if vector.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(IndexError::NotANumber) }
    }

    /// On disk when it returns, though only counting once the state is named by a commit. Files with many dead rows are
    /// written anew.
    pub fn sync(&mut self) -> Result<FileState, IndexError> {
        let Memory { live, dead, .. } = self.memory;
        if dead > MOST_DEAD && dead * MOST_DEAD_PARTS > live + dead {
            self.compact()?;
        }
        self.files.sync()
    }

    /// After the commit that names the state of [`Self::sync`].
    pub fn committed(&self) -> Result<(), IndexError> {
        self.files.delete_old()
    }

    fn compact(&mut self) -> Result<(), IndexError> {
        self.files.sync()?;
        let old = self.files.reader();
        let mut files = self.files.next()?;
        let mut memory = Memory::new(self.memory.dimension);
        let mut full = Vec::new();
        let mut part = Vec::new();
        for slab in &self.memory.slabs {
            for span in slab.live.iter() {
                let block = slab.rows.block(*span, code_len(memory.dimension));
                full.clear();
                let first = slab.rows.first + u64::from(span.first);
                let rows = span.rows as usize;
                for from in (0..rows).step_by(COPY) {
                    old.read(first + from as u64, COPY.min(rows - from), &mut part)?;
                    full.extend_from_slice(&part);
                }
                let first = files.append(&block, &full)?;
                memory.put(&block, first);
            }
        }
        files.sync()?;
        *self = Self { files, memory };
        Ok(())
    }

    pub fn snapshot(&self) -> VectorSnapshot {
        VectorSnapshot {
            slabs: self.memory.slabs.clone(),
            live: self.memory.live,
            dimension: self.memory.dimension,
            full: self.files.reader(),
        }
    }

    pub fn dead(&self) -> u64 {
        self.memory.dead
    }

    pub fn bytes(&self) -> u64 {
        self.files.bytes()
    }
}

/// What is in memory of all rows.
struct Memory {
    dimension: usize,
    slabs: Vec<Slab>,
    /// Slab of each document that has rows.
    places: HashMap<u32, usize>,
    live: u64,
    dead: u64,
}

impl Memory {
    fn new(dimension: usize) -> Self {
        Self { dimension, slabs: Vec::new(), places: HashMap::new(), live: 0, dead: 0 }
    }

    /// Replaces what is there of its document.
    fn put(&mut self, block: &Block, first: u64) {
        if let Some(at) = self.places.remove(&block.document) {
            let live = Arc::make_mut(&mut self.slabs[at].live);
            if let Some(span) = live.iter().position(|span| span.document == block.document) {
                let rows = u64::from(live.remove(span).rows);
                self.live -= rows;
                self.dead += rows;
            }
            if live.is_empty() && at + 1 < self.slabs.len() {
                self.slabs[at] = Slab::default();
            }
        }
        if block.chunks.is_empty() {
            return;
        }
        if self.slabs.last().is_none_or(|slab| slab.rows.chunks.len() >= ROWS_TOGETHER) {
            let rows = Rows { first, ..Rows::default() };
            self.slabs.push(Slab { rows: Arc::new(rows), live: Arc::default() });
        }
        let at = self.slabs.len() - 1;
        let slab = &mut self.slabs[at];
        let rows = Arc::make_mut(&mut slab.rows);
        #[expect(clippy::cast_possible_truncation, reason = "rows of a document are counted in 32 bits")]
        let span = Span { document: block.document, first: rows.chunks.len() as u32, rows: block.chunks.len() as u32 };
        rows.chunks.extend_from_slice(&block.chunks);
        rows.factors.extend_from_slice(&block.factors);
        rows.bits.extend_from_slice(&block.bits);
        debug_assert_eq!(rows.bits.len(), rows.chunks.len() * code_len(self.dimension));
        Arc::make_mut(&mut slab.live).push(span);
        self.places.insert(block.document, at);
        self.live += u64::from(span.rows);
    }
}

impl Rows {
    fn block(&self, span: Span, code_len: usize) -> Block {
        let range = span.first as usize..(span.first + span.rows) as usize;
        Block {
            document: span.document,
            chunks: self.chunks[range.clone()].to_vec(),
            factors: self.factors[range.clone()].to_vec(),
            bits: self.bits[range.start * code_len..range.end * code_len].to_vec(),
        }
    }
}

/// A row by its number in the file, its document and its chunk.
type Row = (u64, u32, u32);

impl VectorSnapshot {
    pub fn vectors(&self) -> u64 {
        self.live
    }

    fn live_rows(&self) -> usize {
        usize::try_from(self.live).unwrap_or(usize::MAX).max(1)
    }

    pub fn memory(&self) -> u64 {
        let row = 8 + code_len(self.dimension);
        let slab = |slab: &Slab| slab.rows.chunks.capacity() * row + slab.live.capacity() * size_of::<Span>();
        self.slabs.iter().map(slab).sum::<usize>() as u64
    }

    /// The nearest, with `depth` candidates compared in full.
    pub fn search(
        &self,
        query: &[f32],
        documents: &DocumentSet,
        k: usize,
        depth: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let Some(unit) = normalise(query) else { return Ok(Vec::new()) };
        if k == 0 || documents.is_empty() {
            return Ok(Vec::new());
        }
        let mut candidates = self.scan(&QueryTable::new(&unit), documents, depth.max(k).min(self.live_rows()));
        candidates.sort_by_key(|candidate| candidate.place);
        let mut hits = Vec::with_capacity(candidates.len());
        let mut full = Vec::new();
        for Candidate { place: (row, document, chunk), .. } in candidates {
            self.full.read(row, 1, &mut full)?;
            hits.push(Hit { document, chunk, score: dot(&unit, &full) });
        }
        hits.sort_by(Hit::order);
        hits.truncate(k);
        Ok(hits)
    }

    fn scan(&self, table: &QueryTable, documents: &DocumentSet, depth: usize) -> Vec<Candidate<Row>> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let worth = self.live_rows() / ROWS_PER_THREAD;
        let threads = cores.min(worth).max(1);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut best = Best::new(depth);
            while let Some(slab) = self.slabs.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.scan_slab(slab, table, documents, &mut best);
            }
            best.into_vec()
        };
        let mut all = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut all = work();
            for other in others {
                match other.join() {
                    Ok(found) => all.extend(found),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            all
        });
        if all.len() > depth {
            all.select_nth_unstable(depth);
            all.truncate(depth);
        }
        all
    }

    fn scan_slab(&self, slab: &Slab, table: &QueryTable, documents: &DocumentSet, best: &mut Best<Row>) {
        let len = code_len(self.dimension);
        let rows = &slab.rows;
        for span in slab.live.iter().filter(|span| documents.contains(span.document)) {
            let range = span.first as usize..(span.first + span.rows) as usize;
            let codes = rows.bits[range.start * len..range.end * len].chunks_exact(len);
            for ((at, bits), factor) in range.clone().zip(codes).zip(&rows.factors[range]) {
                let score = table.estimate(bits, *factor);
                if score > best.least || !best.is_full() {
                    best.push(score, (rows.first + at as u64, span.document, rows.chunks[at]));
                }
            }
        }
    }
}
