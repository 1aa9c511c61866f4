//! The embedder with the real model.

use std::path::PathBuf;
use std::time::Duration;
use steward_core::ports::Embedder;
use steward_models::embed::{CrossEncoder, DIMENSION, LazyMiniLm, MiniLm, ModelFolders};

fn dir() -> PathBuf {
    steward_testkit::set_up("models/all-MiniLM-L6-v2-int8")
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[test]
fn meaning_is_near_and_the_rest_is_far() {
    let model = MiniLm::load(&dir()).unwrap();
    let pairs = [
        ("How many customers are there?", "count of clients", "The weather in Oslo is cold"),
        ("delete a file", "remove a document from disk", "play some music"),
        ("What does the invoice say?", "read the bill", "run the unit tests"),
        ("restart the server", "reboot the machine", "bake a cake"),
    ];
    for (text, near, far) in pairs {
        let v = model.embed(&[text, near, far]).unwrap();
        for vector in &v {
            assert_eq!(vector.len(), DIMENSION);
            assert!((dot(vector, vector) - 1.0).abs() < 1e-5);
        }
        let (near, far) = (dot(&v[0], &v[1]), dot(&v[0], &v[2]));
        assert!(near > 0.35 && near > far + 0.2, "{text}: {near} {far}");
    }
}

#[test]
fn known_similarities_are_met() {
    // As sentence-transformers gives them for all-MiniLM-L6-v2; the model card's own example.
    let model = MiniLm::load(&dir()).unwrap();
    let v = model
        .embed(&[
            "That is a happy person",
            "That is a happy dog",
            "That is a very happy person",
            "Today is a sunny day",
        ])
        .unwrap();
    for (i, expected) in [(1, 0.695), (2, 0.943), (3, 0.257)] {
        let got = dot(&v[0], &v[i]);
        assert!((got - expected).abs() < 0.02, "{i}: {got} instead of {expected}");
    }
}

#[test]
fn a_batch_gives_what_single_calls_give() {
    let model = MiniLm::load_with(&dir(), 2).unwrap();
    let texts: Vec<String> =
        (0..40).map(|i| format!("Text {i}: {}", "some words of a sentence ".repeat(i % 13))).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together).step_by(7) {
        let alone = &model.embed(&[text]).unwrap()[0];
        let gap = alone.iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(gap < 1e-4, "{gap}");
    }
}

#[test]
fn odd_texts_are_fine() {
    let model = MiniLm::load(&dir()).unwrap();
    assert!(model.embed(&[]).unwrap().is_empty());
    let long = "database ".repeat(100_000);
    let cut = "database ".repeat(254);
    let nul = "a\0b";
    let v = model.embed(&["", "   ", "日本語のテキスト", "🦀🦀", nul, &long, &cut, &"x".repeat(5000)]).unwrap();
    assert_eq!(v.len(), 8);
    for vector in &v {
        assert!(vector.iter().all(|n| n.is_finite()));
    }
    assert!(dot(&v[5], &v[6]) > 0.9999, "only the first 256 tokens are read");
}

#[test]
fn spelling_that_is_normalised_does_not_count() {
    let model = MiniLm::load(&dir()).unwrap();
    let v = model
        .embed(&[
            "the cafe in zurich, open!",
            "The  CAFÉ in\tZürich , open !",
            "the café in zu\u{308}rich,\u{200b} open!",
        ])
        .unwrap();
    assert!(dot(&v[0], &v[1]) > 0.99999);
    assert!(dot(&v[0], &v[2]) > 0.99999);
}

#[test]
fn missing_and_broken_files_are_named() {
    let empty = tempfile::tempdir().unwrap();
    let error = MiniLm::load(empty.path()).unwrap_err().to_string();
    assert!(error.contains("model.onnx") && error.contains("make setup"), "{error}");
    std::fs::write(empty.path().join("model.onnx"), b"nonsense").unwrap();
    std::fs::write(empty.path().join("tokenizer.json"), b"{}").unwrap();
    let error = MiniLm::load(empty.path()).unwrap_err().to_string();
    assert!(error.contains("cannot be loaded"), "{error}");
    std::fs::copy(dir().join("model.onnx"), empty.path().join("model.onnx")).unwrap();
    let error = MiniLm::load(empty.path()).unwrap_err().to_string();
    assert!(error.contains("tokenizer.json"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_port_loads_late_and_forgets() {
    let port = LazyMiniLm::with(dir(), Some(Duration::from_millis(300)), None);
    assert!(!port.is_loaded());
    assert_eq!((port.model(), port.dimension()), ("all-MiniLM-L6-v2", DIMENSION));
    assert!(port.embed(&[]).await.unwrap().is_empty());
    assert!(!port.is_loaded(), "nothing to do, nothing to load");
    let text = ["hello".to_owned()];
    let (a, b) = tokio::join!(port.embed(&text), port.embed(&text));
    assert_eq!(a.unwrap(), b.unwrap());
    assert!(port.is_loaded());
    // Idle for long enough, it is given back.
    while port.is_loaded() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(port.embed(&text).await.unwrap().len(), 1);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors");
    let text = ["hello".to_owned(), "files of a folder".to_owned()];
    let keeping = || LazyMiniLm::with(dir(), None, Some(file.clone()));
    let first = keeping();
    let made = first.embed_lasting(&text[..1]).await.unwrap();
    assert!(first.is_loaded());
    let second = keeping();
    assert_eq!(second.embed_lasting(&text[..1]).await.unwrap(), made);
    assert!(!second.is_loaded(), "the vector was there");
    let both = second.embed_lasting(&text).await.unwrap();
    assert_eq!((both.len(), &both[0]), (2, &made[0]));
    assert!(second.is_loaded(), "the new one had to be made");

    let nowhere = LazyMiniLm::new("/nonexistent");
    let error = nowhere.embed(&text).await.unwrap_err().to_string();
    assert!(error.contains("make setup"), "{error}");
}

#[tokio::test]
async fn another_model_of_the_folder_is_used_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other-model");
    std::fs::create_dir(&other).unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        std::os::unix::fs::symlink(dir().join(name), other.join(name)).unwrap();
    }
    let config = r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#;
    std::fs::write(other.join("config_sentence_transformers.json"), config).unwrap();
    let folders = ModelFolders::new(folder.path(), None);
    for name in ["missing", "..", ".", "", "other-model/..", "/etc"] {
        assert!(folders.find(name).is_none(), "{name}");
    }
    let model = folders.find("other-model").unwrap();
    let texts = ["the sea".to_owned()];
    let (asked, read) = (model.embed(&texts, true).await.unwrap(), model.embed(&texts, false).await.unwrap());
    let plain = MiniLm::load(&dir()).unwrap().embed(&["query: the sea", "passage: the sea"]).unwrap();
    assert!(dot(&asked[0], &plain[0]) > 0.9999 && dot(&read[0], &plain[1]) > 0.9999);
    std::fs::write(other.join("bad"), "").unwrap();
    let broken = folder.path().join("broken");
    std::fs::create_dir(&broken).unwrap();
    std::fs::write(broken.join("model.onnx"), "no model").unwrap();
    std::fs::write(broken.join("tokenizer.json"), "{}").unwrap();
    let error = folders.find("broken").unwrap().embed(&texts, true).await.unwrap_err();
    assert!(error.to_string().contains("model.onnx"), "{error}");
}

#[test]
fn a_cross_encoder_scores_pairs_and_can_be_given_up() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/data/cross-encoder");
    assert!(CrossEncoder::find(&dir().join("nowhere")).is_none());
    let model = CrossEncoder::find(std::path::Path::new(folder)).unwrap();
    let texts = ["the valve", "The pump is serviced every year.", "", "wild flowers"];
    let scores = model.scores("when is the pump serviced", &texts, &|| false).unwrap();
    assert_eq!(scores, [1.0, 4.0, 0.0, 0.0]);
    let many = vec!["the pump is serviced in march"; 70];
    assert_eq!(model.scores("pump", &many, &|| false).unwrap(), vec![1.0; 70]);
    let error = model.scores("pump", &texts, &|| true).unwrap_err();
    assert!(error.to_string().contains("too long"), "{error}");
}
