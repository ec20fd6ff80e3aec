"""How stores are written that lose data, for the controls.

    python crash_seed.py docstore FOLDER    a LlamaIndex docstore, persisted whole
    python crash_seed.py chroma FOLDER FROM COUNT…    adds to one Chroma collection

Each addition is told on standard output once its library has returned; `chroma` adds
the next when a line comes in.
"""

import sys
from pathlib import Path

import numpy as np

DIMENSION = 8


def docstore(folder: Path) -> None:
    from llama_index.core.schema import TextNode
    from llama_index.core.storage.docstore import SimpleDocumentStore

    store = SimpleDocumentStore()
    for number in range(100_000):
        text = f"rule {number} " * 400
        store.add_documents([TextNode(id_=f"node-{number}", text=text)])
        store.persist(str(folder / "docstore.json"))
        print(f"node-{number}", flush=True)


def chroma(folder: Path, first: int, counts: list[int]) -> None:
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        str(folder), Settings(anonymized_telemetry=False)
    )
    collection = client.get_or_create_collection(
        "rules",
        embedding_function=None,
        configuration={"hnsw": {"sync_threshold": 100, "batch_size": 100}},
    )
    for count in counts:
        ids = [f"id-{n}" for n in range(first, first + count)]
        rng = np.random.default_rng(first)
        collection.add(ids=ids, embeddings=rng.standard_normal((count, DIMENSION)))
        first += count
        print(first, flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    if sys.argv[1] == "docstore":
        docstore(Path(sys.argv[2]))
    else:
        chroma(Path(sys.argv[2]), int(sys.argv[3]), [int(n) for n in sys.argv[4:]])
