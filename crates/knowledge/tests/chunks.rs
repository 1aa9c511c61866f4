use proptest::prelude::*;
use steward_knowledge::{Area, Block, BlockKind, Chunk, ChunkMethod, ChunkSettings, Extracted, Page, chunk};

/// Like an embedding model: a token for each four letters of a word, one for each mark, and two for beginning and end.
fn tokens(text: &str) -> usize {
    2 + text.split_whitespace().map(|word| word.chars().count().div_ceil(4)).sum::<usize>()
}

fn block(kind: BlockKind, text: &str) -> Block {
    Block { kind, text: text.to_owned(), area: None }
}

fn heading(level: u8, text: &str) -> Block {
    block(BlockKind::Heading { level }, text)
}

fn paragraph(text: &str) -> Block {
    block(BlockKind::Paragraph, text)
}

fn document(blocks: Vec<Block>) -> Extracted {
    let page = Page { number: 1, blocks, ..Page::default() };
    Extracted { doc_type: "text".into(), pages: vec![page], ..Extracted::default() }
}

fn settings(max_chars: usize, overlap: usize, max_tokens: usize) -> ChunkSettings {
    ChunkSettings { max_chars, overlap, max_tokens, ..ChunkSettings::default() }
}

fn cut(blocks: Vec<Block>, settings: ChunkSettings) -> Vec<Chunk> {
    chunk(&document(blocks), &settings, &tokens)
}

fn texts(chunks: &[Chunk]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.text.as_str()).collect()
}

fn sentence(number: usize) -> String {
    format!("Sentence number {number} has some words in it.")
}

fn sentences(numbers: std::ops::Range<usize>) -> String {
    numbers.map(sentence).collect::<Vec<_>>().join(" ")
}

#[test]
fn nothing_makes_no_chunk() {
    assert_eq!(chunk(&Extracted::default(), &ChunkSettings::default(), &tokens), []);
    assert_eq!(cut(vec![paragraph(" \n"), heading(1, "")], ChunkSettings::default()), []);
}

#[test]
fn small_sections_are_joined_and_large_ones_begin_a_chunk() {
    let long = sentences(0..12);
    let chunks = cut(
        vec![
            heading(1, "Guide"),
            heading(2, "A"),
            paragraph("Short."),
            heading(2, "B"),
            paragraph(&long),
            heading(2, "C"),
            paragraph("End."),
        ],
        settings(600, 100, 1000),
    );
    assert_eq!(chunks.len(), 2);
    assert!(chunks[0].text.starts_with("Guide\n\nA\n\nShort.\n\nB\n\nSentence number 0"));
    assert_eq!(chunks[0].headings, ["Guide"]);
    assert_eq!((chunks[1].text.as_str(), chunks[1].headings.join("/")), ("C\n\nEnd.", "Guide/C".to_owned()));
    assert_eq!(chunks[1].embedding_text(), "Guide\nC\n\nEnd.");
}

#[test]
fn long_texts_are_cut_at_paragraphs_and_sentences_and_repeat_a_little() {
    let chunks = cut(vec![paragraph(&sentences(0..40))], settings(400, 100, 1000));
    assert!(chunks.len() > 4);
    for pair in chunks.windows(2) {
        assert!(pair[0].text.ends_with("in it."));
        let repeated = pair[1].text.split_inclusive(". ").next().unwrap().trim_end();
        assert!(pair[0].text.contains(repeated), "{} | {}", pair[0].text, pair[1].text);
    }
    let chunks = cut(vec![paragraph(&sentences(0..6)), paragraph(&sentences(6..11))], settings(400, 0, 1000));
    assert!(chunks[0].text.ends_with("number 5 has some words in it."), "{:?}", texts(&chunks));
}

#[test]
fn a_table_repeats_the_names_of_its_columns() {
    let rows: Vec<String> = (0..30).map(|row| format!("| row {row} | value of {row} |")).collect();
    let table = format!("| name | value |\n|---|---|\n{}", rows.join("\n"));
    let chunks = cut(vec![paragraph("Before."), block(BlockKind::Table, &table)], settings(300, 100, 1000));
    assert!(chunks.len() > 2);
    assert!(chunks[0].text.starts_with("Before.\n\n| name | value |\n|---|---|\n| row 0 |"));
    for chunk in &chunks[1..] {
        assert!(chunk.text.starts_with("| name | value |\n|---|---|\n| row "), "{}", chunk.text);
    }
    for row in &rows {
        assert_eq!(chunks.iter().filter(|chunk| chunk.text.lines().any(|line| line == row)).count(), 1, "{row}");
    }
}

#[test]
fn code_is_cut_between_lines() {
    let code: Vec<String> = (0..40).map(|line| format!("    let x{line} = {line};")).collect();
    let chunks = cut(vec![block(BlockKind::Code, &code.join("\n"))], settings(300, 100, 1000));
    let all: Vec<&str> = chunks.iter().flat_map(|chunk| chunk.text.lines()).collect();
    assert_eq!(all, code);
}

#[test]
fn text_without_sentences_is_cut_by_length() {
    let chunks = cut(vec![paragraph(&"x".repeat(9000))], settings(1500, 300, 100_000));
    assert_eq!(chunks.iter().map(|chunk| chunk.text.len()).collect::<Vec<_>>(), [4000, 4000, 1000]);
    assert!(chunks.iter().all(|chunk| chunk.method == ChunkMethod::Fixed));
    let chunks = cut(vec![paragraph(&"x".repeat(9000))], ChunkSettings::default());
    assert!(chunks.iter().all(|chunk| tokens(&chunk.text) <= 256));
}

#[test]
fn pages_areas_and_titles_come_along() {
    let area = |y| Area { x: 0.1, y, width: 0.8, height: 0.1 };
    let on_page = |number, y| Page {
        number,
        blocks: vec![Block { kind: BlockKind::Paragraph, text: "One. Two.".into(), area: Some(area(y)) }],
        ..Page::default()
    };
    let document = Extracted {
        title: Some("Report".into()),
        pages: vec![on_page(3, 0.1), on_page(4, 0.5)],
        ..Extracted::default()
    };
    let chunks = chunk(&document, &ChunkSettings::default(), &tokens);
    assert_eq!(chunks.len(), 1);
    assert_eq!((chunks[0].first_page, chunks[0].last_page), (3, 4));
    assert_eq!(chunks[0].areas, [(3, area(0.1)), (4, area(0.5))]);
    assert_eq!(chunks[0].headings, ["Report"]);
}

fn any_block() -> impl Strategy<Value = Block> {
    let words = prop::collection::vec("[a-zA-Zäß0-9,;]{1,14}[.!?]?", 0..80).prop_map(|words| words.join(" "));
    let kind = prop_oneof![
        (1_u8..=6).prop_map(|level| BlockKind::Heading { level }),
        Just(BlockKind::Paragraph),
        Just(BlockKind::Paragraph),
        Just(BlockKind::ListItem),
        Just(BlockKind::Code),
    ];
    (kind, words, any::<bool>()).prop_map(|(kind, text, lines)| {
        let short = matches!(kind, BlockKind::Heading { .. }) && text.len() > 60;
        let text = if short { text.split(' ').take(6).collect::<Vec<_>>().join(" ") } else { text };
        Block { kind, text: if lines { text.replace(". ", ".\n") } else { text }, area: None }
    })
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn chunks_have_all_of_the_text_in_order_and_keep_to_their_limits(
        blocks in prop::collection::vec(any_block(), 0..12),
        max_chars in 80_usize..800,
        overlap in 0_usize..200,
        max_tokens in 24_usize..200,
    ) {
        let settings = settings(max_chars, overlap, max_tokens);
        let document = document(blocks);
        let chunks = chunk(&document, &settings, &tokens);
        prop_assert_eq!(&chunks, &chunk(&document, &settings, &tokens));
        let whole: String = document.pages[0].blocks.iter().map(|block| without_spaces(&block.text)).collect();
        let mut end = 0;
        for (at, chunk) in (0..).zip(&chunks) {
            prop_assert_eq!(chunk.index, at);
            prop_assert!(tokens(&chunk.embedding_text()) <= max_tokens, "{:?}", chunk);
            if chunk.method == ChunkMethod::Semantic {
                prop_assert!(chunk.text.chars().count() <= max_chars, "{:?}", chunk);
            }
            let text = without_spaces(&chunk.text);
            // It goes on where the one before ended, or a little earlier.
            let earliest = end - text.len().min(end);
            let from = (earliest..=end).rev().find(|from| {
                whole.is_char_boundary(*from) && whole[*from..].starts_with(&text) && from + text.len() > end
            });
            prop_assert!(from.is_some(), "{:?} does not follow", chunk);
            let from = from.unwrap();
            prop_assert!(end - from <= overlap * 2, "{:?} repeats too much", chunk);
            end = from + text.len();
        }
        prop_assert_eq!(end, whole.len(), "something is missing at the end");
    }
}
