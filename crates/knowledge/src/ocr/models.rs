//! Two small models: one finds lines on a page, the other reads a line (PP-OCR, by rten).

use super::detect::{self, Found};
use super::layout::blocks;
use super::prepare::Prepared;
use super::{Line, Reading};
use image::{GrayImage, imageops};
use rten::{Model, NodeId};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use std::path::{Path, PathBuf};

/// The files that are needed, in their folder: what finds lines, what reads them, and the letters that it knows.
pub const MODEL_FILES: [&str; 3] = ["det.onnx", "rec.onnx", "letters.txt"];

/// Longest side of a page on which lines are looked for.
const PAGE_SIDE: u32 = 1_536;
/// Sides are whole multiples of it.
const GRID: u32 = 32;
/// Height of a line that is read.
const LINE_HEIGHT: u32 = 48;
/// Width of a line at most; longer ones are pressed.
const LINE_WIDTH: u32 = 3_200;
const LEAST_LINE_WIDTH: u32 = 48;
/// What the first model takes for black, and how wide its shades spread, by colour.
const MEANS: [f32; 3] = [0.485, 0.456, 0.406];
const SPREADS: [f32; 3] = [0.229, 0.224, 0.225];
/// Lines that are less sure are stains.
const LEAST_CONFIDENCE: f32 = 0.3;

pub struct Models {
    finder: (Model, NodeId, NodeId),
    reader: (Model, NodeId, NodeId),
    /// By the classes of the second model, without the first, which is none.
    letters: Vec<String>,
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Models").field("letters", &self.letters.len()).finish_non_exhaustive()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    #[error("the file {} of the models that read characters can't be used: {reason}; run `make setup` to fetch it again", path.display())]
    BadFile { path: PathBuf, reason: String },
    #[error("the models that read characters failed: {0}")]
    Failed(String),
}

impl Models {
    pub fn load(folder: &Path) -> Result<Self, ModelsError> {
        let [finder, reader, letters] = MODEL_FILES.map(|name| folder.join(name));
        let bad = |path: &Path, reason: String| ModelsError::BadFile { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(&letters).map_err(|error| bad(&letters, error.to_string()))?;
        let mut known: Vec<String> = text.lines().map(|line| line.trim_end_matches('\r').to_owned()).collect();
        known.push(" ".to_owned());
        Ok(Self { finder: load(&finder)?, reader: load(&reader)?, letters: known })
    }

    /// Reads a page.
    pub fn read(&self, prepared: &Prepared) -> Result<Reading, ModelsError> {
        let mut lines = Vec::new();
        for found in self.find(&prepared.picture)? {
            let (text, confidence) = self.read_line(&prepared.picture, &found)?;
            if !text.trim().is_empty() && confidence >= LEAST_CONFIDENCE {
                let Found { x0, y0, x1, y1 } = found;
                lines.push(Line { text: text.trim().to_owned(), confidence, x0, y0, x1, y1 });
            }
        }
        Ok(blocks(lines, &prepared.place))
    }

    /// Lines in pixels of the picture.
    fn find(&self, picture: &GrayImage) -> Result<Vec<Found>, ModelsError> {
        let longest = picture.width().max(picture.height()).max(1);
        let scale = (PAGE_SIDE as f32 / longest as f32).min(1.0);
        let side = |side: u32| (((side as f32 * scale) as u32).div_ceil(GRID) * GRID).max(GRID);
        let (width, height) = (side(picture.width()), side(picture.height()));
        let small = imageops::resize(picture, width, height, imageops::FilterType::Triangle);
        let input = input(&small, |channel, shade| (shade / 255.0 - MEANS[channel]) / SPREADS[channel]);
        let map: NdTensor<f32, 4> = run(&self.finder, input)?;
        let (across, down) = (picture.width() as f32 / width as f32, picture.height() as f32 / height as f32);
        let found = detect::lines(map.to_contiguous().data(), map.size(3));
        let place =
            |one: Found| Found { x0: one.x0 * across, x1: one.x1 * across, y0: one.y0 * down, y1: one.y1 * down };
        Ok(found.into_iter().map(place).collect())
    }

    fn read_line(&self, picture: &GrayImage, found: &Found) -> Result<(String, f32), ModelsError> {
        let (x, y) = (found.x0 as u32, found.y0 as u32);
        let (width, height) = ((found.x1.ceil() as u32 - x).max(1), (found.y1.ceil() as u32 - y).max(1));
        let line = imageops::crop_imm(picture, x, y, width, height).to_image();
        let wide = (width as f32 * LINE_HEIGHT as f32 / height as f32).round() as u32;
        let wide = wide.clamp(LEAST_LINE_WIDTH, LINE_WIDTH);
        let line = imageops::resize(&line, wide, LINE_HEIGHT, imageops::FilterType::Triangle);
        let likely: NdTensor<f32, 3> = run(&self.reader, input(&line, |_, shade| shade / 127.5 - 1.0))?;
        let classes = likely.size(2);
        Ok(spelled(likely.to_contiguous().data(), classes, &self.letters))
    }
}

/// A picture as models take it, with its shades as each colour.
fn input(picture: &GrayImage, of: impl Fn(usize, f32) -> f32) -> NdTensor<f32, 4> {
    let mut input = NdTensor::zeros([1, 3, picture.height() as usize, picture.width() as usize]);
    for channel in 0..3 {
        for (x, y, shade) in picture.enumerate_pixels() {
            input[[0, channel, y as usize, x as usize]] = of(channel, f32::from(shade.0[0]));
        }
    }
    input
}

fn load(path: &Path) -> Result<(Model, NodeId, NodeId), ModelsError> {
    let bad = |reason: String| ModelsError::BadFile { path: path.to_owned(), reason };
    let model = Model::load_file(path).map_err(|error| bad(error.to_string()))?;
    let input = model.input_ids().first().copied().ok_or_else(|| bad("it has no input".to_owned()))?;
    let output = model.output_ids().first().copied().ok_or_else(|| bad("it has no output".to_owned()))?;
    Ok((model, input, output))
}

fn run<const N: usize>(
    (model, input, output): &(Model, NodeId, NodeId),
    picture: NdTensor<f32, 4>,
) -> Result<NdTensor<f32, N>, ModelsError> {
    let failed = |reason: String| ModelsError::Failed(reason);
    let all = model.run(vec![(*input, picture.into())], &[*output], None).map_err(|error| failed(error.to_string()))?;
    let first = all.into_iter().next().ok_or_else(|| failed("it gave nothing".to_owned()))?;
    first.try_into().map_err(|_| failed("what it gave has other dimensions".to_owned()))
}

/// The letters of a line, with how sure they are: of steps with the same letter the first counts, and the first class
/// is none.
fn spelled(likely: &[f32], classes: usize, letters: &[String]) -> (String, f32) {
    let (mut text, mut sum, mut count, mut last) = (String::new(), 0.0, 0.0, 0);
    for step in likely.chunks_exact(classes.max(1)) {
        let (class, share) = step
            .iter()
            .enumerate()
            .fold((0, 0.0), |best, (class, share)| if *share > best.1 { (class, *share) } else { best });
        if class != last
            && class > 0
            && let Some(letter) = letters.get(class - 1)
        {
            text.push_str(letter);
            sum += share;
            count += 1.0;
        }
        last = class;
    }
    (text, if count > 0.0 { sum / count } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::{Models, spelled};

    #[test]
    fn steps_become_letters() {
        let letters = ["a", "b", " "].map(str::to_owned);
        let step = |class: usize| (0..4).map(move |one| if one == class { 0.8 } else { 0.05 });
        let likely: Vec<f32> = [1, 1, 0, 1, 3, 2, 2, 0].into_iter().flat_map(step).collect();
        let (text, confidence) = spelled(&likely, 4, &letters);
        assert_eq!(text, "aa b");
        assert!((confidence - 0.8).abs() < 1e-6);
        assert_eq!(spelled(&[], 4, &letters), (String::new(), 0.0));
    }

    #[test]
    fn files_that_are_none_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let error = Models::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("letters.txt") && error.contains("make setup"), "{error}");
        std::fs::write(folder.path().join("letters.txt"), "a\nb\n").unwrap();
        std::fs::write(folder.path().join("det.onnx"), b"no model").unwrap();
        let error = Models::load(folder.path()).unwrap_err().to_string();
        assert!(error.contains("det.onnx"), "{error}");
    }
}
