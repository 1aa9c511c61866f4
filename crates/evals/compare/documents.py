#!/usr/bin/env python3
"""Measures a running Steward beside chromadb, with onnxruntime as its embedder, on the chunks that Steward made of its documents.

    pip install chromadb onnxruntime tokenizers numpy
    compare/documents.py --server http://127.0.0.1:8800 --key-file DATA/api-key --weights CACHE/models/all-MiniLM-L6-v2-int8 \
        --questions data/retrieval/debian-docs.jsonl --most 5000

The weights are stored as int8 and are full precision before the first text: both programs compute in 32 bits. Chromadb gets the chunks
ready; Steward reads and cuts the files itself, and has an index of words besides. Prints one JSON object.
"""

import argparse
import json
import os
import pathlib
import shutil
import tempfile
import time
import urllib.parse
import urllib.request

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BATCH = 32


class Server:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def call(self, path, body=None):
        request = urllib.request.Request(self.url + path, headers={"authorization": f"Bearer {self.key}"})
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def all(self, path, most):
        rows, cursor = [], None
        while len(rows) < most:
            join = "&" if "?" in path else "?"
            page = self.call(f"{path}{join}limit=100" + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""))
            rows += page["items"]
            cursor = page["next_cursor"]
            if not cursor:
                break
        return rows[:most]


class Embedder:
    """The same model by onnxruntime."""

    def __init__(self, folder, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.inputs = {one.name for one in self.session.get_inputs()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def embed(self, texts):
        vectors = []
        for at in range(0, len(texts), BATCH):
            tokens = self.tokenizer.encode_batch(texts[at : at + BATCH])
            ids = np.array([one.ids for one in tokens], dtype=np.int64)
            mask = np.array([one.attention_mask for one in tokens], dtype=np.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
            states = self.session.run(None, {name: value for name, value in given.items() if name in self.inputs})[0]
            if states.ndim == 3:
                weights = mask[:, :, None].astype(np.float32)
                states = (states * weights).sum(1) / weights.sum(1)
            vectors.append(states / np.linalg.norm(states, axis=1, keepdims=True))
        return np.concatenate(vectors)

    # What chromadb asks of an embedding function.
    def __call__(self, input):
        return list(self.embed(input))

    def embed_query(self, input):
        return self(input)

    @staticmethod
    def name():
        return "onnxruntime"


def cpu():
    times = os.times()
    return times.user + times.system


def rss():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def timed(calls):
    took = []
    for call in calls:
        begun = time.perf_counter()
        call()
        took.append((time.perf_counter() - begun) * 1000)
    took.sort()
    return {"p50_ms": round(took[len(took) // 2], 2), "p99_ms": round(took[-(-len(took) * 99 // 100) - 1], 2)}


def size(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file()) / 1e6


def main():
    options = argparse.ArgumentParser()
    for name in ("server", "key-file", "weights", "questions"):
        options.add_argument("--" + name, required=True)
    options.add_argument("--most", type=int, default=5000)
    asked = options.parse_args()
    server = Server(asked.server, pathlib.Path(asked.key_file).read_text().strip())
    weights = pathlib.Path(asked.weights)
    questions = [json.loads(line)["text"] for line in open(asked.questions)]
    chunks = []
    for document in server.all("/api/documents?status=ready", 10**6):
        for chunk in server.all(f"/api/documents/{document['id']}/chunks", 10**6):
            chunks.append((document["facts"]["doc_type"], document["name"], chunk["text"]))
    chunks = chunks[: asked.most]
    result = {"chunks": len(chunks)}

    one = Embedder(weights, 1)
    text = "the customer bought tea and cups in the shop near the river on a cold day " * 8
    one.embed([text] * BATCH)
    begun = cpu()
    one.embed([text] * 256)
    result["onnxruntime_texts_per_cpu_second"] = round(256 / (cpu() - begun), 1)

    import chromadb

    place, before = tempfile.mkdtemp(), rss()
    two = Embedder(weights, os.cpu_count())
    client = chromadb.PersistentClient(path=place, settings=chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("chunks", embedding_function=two, metadata={"hnsw:space": "cosine"})
    begun, used, embedding = time.perf_counter(), cpu(), 0.0
    for at in range(0, len(chunks), 500):
        some = chunks[at : at + 500]
        began = time.perf_counter()
        vectors = two.embed([text for _, _, text in some])
        embedding += time.perf_counter() - began
        collection.add(
            ids=[str(at + number) for number in range(len(some))],
            embeddings=vectors,
            documents=[text for _, _, text in some],
            metadatas=[{"doc_type": kind, "name": name} for kind, name, _ in some],
        )
    collection.query(query_texts=[questions[0]], n_results=10)
    taken = time.perf_counter() - begun
    name = chunks[0][1]
    result["chromadb"] = {
        "ingest_s": round(taken, 1),
        "of_it_embedding_s": round(embedding, 1),
        "cpu_s": round(cpu() - used, 1),
        "chunks_per_s": round(len(chunks) / taken, 1),
        "query": timed([lambda q=q: collection.query(query_texts=[q], n_results=10) for q in questions * 4]),
        "filtered": timed([lambda q=q: collection.query(query_texts=[q], n_results=10, where={"name": name}) for q in questions * 4]),
        "memory_mb": round(rss() - before),
        "disk_mb": round(size(place), 1),
    }
    shutil.rmtree(place)

    def search(question, mode, **more):
        body = {"query": question, "mode": mode, "limit": 10, "fresh": True, **more}
        return server.call("/api/documents/search", body)

    search(questions[0], "hybrid")
    result["steward"] = {
        mode: {
            "query": timed([lambda q=q: search(q, mode) for q in questions * 4]),
            "filtered": timed([lambda q=q: search(q, mode, source_file=name) for q in questions * 4]),
        }
        for mode in ("vectors", "hybrid")
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
