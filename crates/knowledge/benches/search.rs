//! What an index costs: `cargo bench -p steward-knowledge -- 1000 100000 1000000`, chunks; with `--vectors FILE` (numbers
//! of 4 bytes, little-endian, 384 a vector) the recall on vectors of real texts.
//!
//! Texts are of 50,000 words with frequencies by Zipf's law, vectors lie around 2,000 centres. Both come from their
//! number alone, so that nothing has to be kept to compare with the exact nearest.
#![expect(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use steward_knowledge::{ChunkEntry, DocumentSet, Index};

const DIMENSION: usize = 384;
const CENTRES: u64 = 2000;
const CHUNKS_OF_A_DOCUMENT: u32 = 10;
const DOCUMENTS_OF_A_COMMIT: u32 = 500;
const WORDS_OF_A_CHUNK: u64 = 120;
const VOCABULARY: f64 = 50_000.0;
const QUERIES: u64 = 200;
const EXACT_QUERIES: usize = 40;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal, four bytes a number.
    fn normals(&mut self, out: &mut Vec<f32>) {
        while out.len() < DIMENSION {
            let bits = self.next();
            let sum = |from: u32| (0..4).map(|at| ((bits >> (from + at * 8)) & 0xff) as f32).sum::<f32>();
            out.push((sum(0) - 510.0) / 147.8);
            out.push((sum(32) - 510.0) / 147.8);
        }
    }
}

fn vector(seed: u64, noise: f32) -> Vec<f32> {
    let mut random = Random(seed);
    let (mut centre, mut own) = (Vec::new(), Vec::new());
    Random(random.next() % CENTRES).normals(&mut centre);
    random.normals(&mut own);
    unit(centre.iter().zip(&own).map(|(c, o)| c + noise * o).collect())
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for x in &mut vector {
        *x /= length;
    }
    vector
}

fn word(random: &mut Random) -> u64 {
    VOCABULARY.powf(random.part()) as u64
}

fn text(seed: u64, words: u64) -> String {
    let mut random = Random(!seed);
    let mut text = String::new();
    for _ in 0..words {
        write!(text, "w{:x}q ", word(&mut random).wrapping_mul(0x9e37_79b9) & 0xff_ffff).unwrap();
    }
    text
}

fn status(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}

fn percentiles(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize].as_secs_f64() * 1000.0;
    println!("  {name:<34} p50 {:8.2} ms   p99 {:8.2} ms", at(0.5), at(0.99));
}

fn build(index: &Index, chunks: u32, vectors: &dyn Fn(u64) -> Vec<f32>) -> Duration {
    let begun = Instant::now();
    let mut making = Duration::ZERO;
    for document in 0..chunks.div_ceil(CHUNKS_OF_A_DOCUMENT) {
        let made = Instant::now();
        let numbers = 0..CHUNKS_OF_A_DOCUMENT.min(chunks - document * CHUNKS_OF_A_DOCUMENT);
        let content: Vec<(String, Vec<f32>)> = numbers
            .map(|chunk| u64::from(document * CHUNKS_OF_A_DOCUMENT + chunk))
            .map(|seed| (text(seed, WORDS_OF_A_CHUNK), vectors(seed)))
            .collect();
        making += made.elapsed();
        let entry = |(index, (text, vector)): (u32, &'_ (String, Vec<f32>))| (index, text.clone(), vector.clone());
        let owned: Vec<(u32, String, Vec<f32>)> = (0..).zip(&content).map(entry).collect();
        let entries: Vec<ChunkEntry<'_>> = owned
            .iter()
            .map(|(index, text, vector)| ChunkEntry { index: *index, heading: "", text, vector: Some(vector) })
            .collect();
        index.apply(u64::from(document) + 1, document, &entries).unwrap();
        if document % DOCUMENTS_OF_A_COMMIT == DOCUMENTS_OF_A_COMMIT - 1 {
            index.commit().unwrap();
        }
    }
    index.commit().unwrap();
    index.rest().unwrap();
    begun.elapsed().saturating_sub(making)
}

/// Scores of the nearest of all, by plain comparison.
fn exact(queries: &[Vec<f32>], chunks: u32, vectors: &dyn Fn(u64) -> Vec<f32>, k: usize) -> Vec<Vec<f32>> {
    let mut best: Vec<Vec<f32>> = vec![Vec::new(); queries.len()];
    for chunk in 0..chunks {
        let vector = vectors(u64::from(chunk));
        for (query, best) in queries.iter().zip(&mut best) {
            let score: f32 = query.iter().zip(&vector).map(|(a, b)| a * b).sum();
            if best.len() < k || score > best[k - 1] {
                best.insert(best.partition_point(|other| *other > score), score);
                best.truncate(k);
            }
        }
    }
    best
}

/// Of texts that say the same any counts, so it is scores that are compared.
fn recall(index: &Index, queries: &[Vec<f32>], nearest: &[Vec<f32>], k: usize, depth: usize) -> f64 {
    const ROUNDING: f32 = 2e-4;
    let mut found = 0;
    for (query, nearest) in queries.iter().zip(nearest) {
        let hits = index.search_vectors_with(query, &DocumentSet::all(), k, depth).unwrap();
        found += hits.iter().filter(|hit| hit.score >= nearest[k - 1] - ROUNDING).count();
    }
    found as f64 / (queries.len() * k) as f64
}

fn recalls(index: &Index, queries: &[Vec<f32>], chunks: u32, vectors: &dyn Fn(u64) -> Vec<f32>) {
    let queries = &queries[..queries.len().min(EXACT_QUERIES)];
    let nearest = exact(queries, chunks, vectors, 100);
    for depth in [50, 100, 200, 400, 800, 1600] {
        let at_10 = recall(index, queries, &nearest, 10, depth);
        let at_100 = recall(index, queries, &nearest, 100, depth.max(100));
        println!("  depth {depth:5}   recall@10 {at_10:.4}   recall@100 {at_100:.4}");
    }
}

fn measure(chunks: u32, vectors: &dyn Fn(u64) -> Vec<f32>, queries: &[Vec<f32>]) {
    let dir = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    let path = dir.path().join("index");
    let before = status("VmRSS");
    let index = Index::open(&path, "bench", DIMENSION).unwrap();
    println!("{chunks} chunks; an open index without any takes {:.1} MB", status("VmRSS") - before);
    let took = build(&index, chunks, vectors);
    let stats = index.stats().unwrap();
    println!(
        "  built in {:.1} s ({:.0} chunks/s); words {:.1} MB in {} segments, vectors {:.1} MB",
        took.as_secs_f64(),
        f64::from(chunks) / took.as_secs_f64(),
        stats.text_bytes as f64 / 1e6,
        stats.text_segments,
        stats.vector_bytes as f64 / 1e6,
    );
    drop(index);
    let before = status("RssAnon");
    let opened = Instant::now();
    let index = Index::open(&path, "bench", DIMENSION).unwrap();
    println!(
        "  opened again in {:.2} s: {:.1} MB of anonymous memory more (codes {:.1} MB)",
        opened.elapsed().as_secs_f64(),
        status("RssAnon") - before,
        index.stats().unwrap().memory_bytes as f64 / 1e6
    );
    searches(&index, chunks, queries);
    println!("  memory after that: {:.1} MB anonymous, {:.1} MB mapped files", status("RssAnon"), status("RssFile"));
    recalls(&index, queries, chunks, vectors);
}

fn searches(index: &Index, chunks: u32, queries: &[Vec<f32>]) {
    let documents = chunks.div_ceil(CHUNKS_OF_A_DOCUMENT);
    let every = |one_of: u32| (0..documents).filter(|document| document % one_of == 0).collect::<DocumentSet>();
    let sets = [("all", DocumentSet::all()), ("50 %", every(2)), ("10 %", every(10)), ("1 %", every(100))];
    let mut random = Random(7);
    let texts: Vec<String> = (0..QUERIES).map(|at| text((1 << 40) + at, 3 + random.next() % 6)).collect();
    for (name, set) in &sets {
        let time = |search: &mut dyn FnMut(usize)| -> Vec<Duration> {
            search(0);
            let one = |at: usize| {
                let begun = Instant::now();
                search(at);
                begun.elapsed()
            };
            (0..texts.len()).map(one).collect()
        };
        percentiles(&format!("words, {name}"), time(&mut |at| drop(index.search_text(&texts[at], set, 100).unwrap())));
        let query = |at: usize| &queries[at % queries.len()];
        percentiles(
            &format!("vectors, {name}"),
            time(&mut |at| drop(index.search_vectors(query(at), set, 100).unwrap())),
        );
        percentiles(
            &format!("both, {name}"),
            time(&mut |at| {
                drop(index.search_text(&texts[at], set, 100).unwrap());
                drop(index.search_vectors(query(at), set, 100).unwrap());
            }),
        );
    }
}

fn real(file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    let (numbers, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let all: Vec<&[f32]> = numbers.chunks_exact(DIMENSION).collect();
    // The last ones ask.
    let (known, asking) = all.split_at(all.len() - 200);
    let queries: Vec<Vec<f32>> = asking.iter().map(|vector| vector.to_vec()).collect();
    let chunks = u32::try_from(known.len()).unwrap();
    println!("{}: {chunks} vectors of real texts", file.display());
    let dir = tempfile::tempdir().unwrap();
    let index = Index::open(dir.path(), "bench", DIMENSION).unwrap();
    let vectors = |at: u64| known[at as usize].to_vec();
    build(&index, chunks, &vectors);
    recalls(&index, &queries, chunks, &vectors);
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [flag, file] = &arguments[..]
        && flag == "--vectors"
    {
        return real(Path::new(file));
    }
    let sizes: Vec<u32> = arguments.iter().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![1000, 10_000] } else { sizes };
    let vectors = |seed: u64| vector(seed, 0.9);
    let queries: Vec<Vec<f32>> = (0..QUERIES).map(|at| vector((1 << 41) + at, 0.9)).collect();
    for chunks in sizes {
        measure(chunks, &vectors, &queries);
    }
}
