//! What Tesseract writes as TSV.

use super::layout::{block_of_lines, mean_confidence};
use super::prepare::Place;
use super::{Line, Reading};

const WORD: &str = "5";
/// Blocks of signs in which it has no trust are lines and stains.
const STAIN: f32 = 0.3;

/// The lines of a page, with the blocks that Tesseract parted them in.
pub fn read_tsv(tsv: &str, place: &Place) -> Reading {
    let mut blocks: Vec<((u32, u32), Vec<Line>)> = Vec::new();
    let mut last_line = None;
    for row in tsv.lines().skip(1) {
        let Some(word) = Word::of(row) else { continue };
        let paragraph = (word.block, word.paragraph);
        if blocks.last().is_none_or(|(known, _)| *known != paragraph) {
            blocks.push((paragraph, Vec::new()));
            last_line = None;
        }
        let Some((_, lines)) = blocks.last_mut() else { continue };
        match lines.last_mut().filter(|_| last_line == Some(word.line)) {
            Some(line) => join(line, &word.part),
            None => lines.push(word.part),
        }
        last_line = Some(word.line);
    }
    blocks.retain(|(_, lines)| mean_confidence(lines) >= STAIN);
    let confidence = mean_confidence(blocks.iter().flat_map(|(_, lines)| lines));
    let blocks = blocks.iter().filter_map(|(_, lines)| block_of_lines(lines, place)).collect();
    Reading { blocks, confidence }
}

struct Word {
    block: u32,
    paragraph: u32,
    line: u32,
    part: Line,
}

impl Word {
    fn of(row: &str) -> Option<Self> {
        let mut fields = row.split('\t');
        if fields.next()? != WORD {
            return None;
        }
        let mut number = || fields.next()?.parse::<f32>().ok();
        let (_page, block, paragraph, line, _word) = (number()?, number()?, number()?, number()?, number()?);
        let (x0, y0, width, height, confidence) = (number()?, number()?, number()?, number()?, number()?);
        let text = fields.next()?.trim();
        let confidence = (confidence / 100.0).clamp(0.0, 1.0);
        (!text.is_empty()).then(|| Self {
            block: block as u32,
            paragraph: paragraph as u32,
            line: line as u32,
            part: Line { text: text.to_owned(), confidence, x0, y0, x1: x0 + width, y1: y0 + height },
        })
    }
}

/// Confidences of words count by their letters.
fn join(line: &mut Line, word: &Line) {
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count() as f32;
    let (before, more) = (letters(&line.text), letters(&word.text));
    line.confidence = (line.confidence * before + word.confidence * more) / (before + more).max(1.0);
    line.text.push(' ');
    line.text.push_str(&word.text);
    (line.x0, line.y0) = (line.x0.min(word.x0), line.y0.min(word.y0));
    (line.x1, line.y1) = (line.x1.max(word.x1), line.y1.max(word.y1));
}

#[cfg(test)]
mod tests {
    use super::read_tsv;
    use crate::ocr::Place;

    const HEAD: &str =
        "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n";

    #[test]
    fn words_become_lines_and_paragraphs() {
        let tsv = format!(
            "{HEAD}1\t1\t0\t0\t0\t0\t0\t0\t100\t200\t-1\t\n\
             5\t1\t1\t1\t1\t1\t10\t20\t30\t10\t90\tOpen\n\
             5\t1\t1\t1\t1\t2\t45\t20\t30\t10\t80\tdoors\n\
             5\t1\t1\t1\t2\t1\t10\t40\t30\t10\t70\ttoday\n\
             5\t1\t2\t1\t1\t1\t10\t90\t30\t10\t96\tClosed\n\
             5\t1\t3\t1\t1\t1\t10\t150\t3\t10\t12\t|\n"
        );
        let found = read_tsv(&tsv, &Place::new(100, 200));
        let texts: Vec<&str> = found.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["Open doors today", "Closed"]);
        let area = found.blocks[0].area.unwrap();
        let sides = [area.x, area.y, area.width, area.height];
        assert!(sides.iter().zip([0.1, 0.1, 0.65, 0.15]).all(|(one, other)| (one - other).abs() < 1e-5), "{area:?}");
        assert!((found.confidence - 0.846).abs() < 0.01, "{}", found.confidence);
    }

    #[test]
    fn what_is_no_tsv_is_nothing() {
        for broken in ["", HEAD, "5\t1\t1", "Error in pixRead", "\n5\t1\ta\t1\t1\t1\t1\t1\t1\t1\t90\tx"] {
            assert!(read_tsv(broken, &Place::new(10, 10)).blocks.is_empty(), "{broken}");
        }
    }
}
