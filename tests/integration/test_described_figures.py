"""A picture is described at ingest, and its description cited as a model's."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from ollama_server import OllamaServer
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from elt_llm_core.config.loader import load_config
from elt_llm_core.config.sections import RagConfig
from elt_llm_core.jobs import JobContext, run_job
from elt_llm_core.models.factory import build_models
from elt_llm_core.results import Support
from elt_llm_core.store import Store
from elt_llm_ingest.ingest import IngestJob
from elt_llm_query.page_images import render_page
from elt_llm_query.query import query_collections

pytestmark = pytest.mark.network
SEEN = "A bar chart of berths: they rose from 40 in 2019 to 55 in 2023."
ASK = "How did the number of berths change from 2019 to 2023?"


def answer(messages: list[dict]) -> str:
    if "images" in messages[-1]:
        return SEEN
    return "Berths rose from 40 in 2019 to 55 in 2023 [F1]."


def report(path: Path) -> Path:
    canvas = Canvas(str(path))
    lines = ["The marina has two gates and a crane.", "Its berths are let by the year."]
    for place, line in enumerate(lines * 4):
        canvas.drawString(100, 780 - 14 * place, line)
    picture = Image.new("RGB", (200, 100), "white")
    picture.paste("red", (20, 40, 80, 100))
    canvas.drawImage(ImageReader(picture), 100, 400, 300, 150)
    canvas.drawString(100, 385, "Figure 1. Berths of the marina")
    canvas.save()
    return path


def configured(server: OllamaServer) -> RagConfig:
    eyes = {"strategy": "ollama", "options": {"llm_model": "eyes"}}
    return load_config(
        overrides={
            "models": {"llm_strategy": "ollama"},
            "ollama": {"base_url": server.base_url, "llm_model": "writer"},
            "roles": {"vision": [eyes]},
            "enrichment": {"strategy": ["figure_descriptions"]},
            "query": {"synthesizer_strategy": "compact"},
        },
        environ={},
    )


def test_a_described_picture_is_cited_with_its_label_and_its_crop(tmp_path):
    file = report(tmp_path / "marina.pdf")
    store = Store(tmp_path / "data")
    with OllamaServer(reply=answer, models=("eyes", "writer")) as server:
        server.capabilities = ["vision"]
        config = configured(server)
        models = build_models(config)
        job = IngestJob(paths=(str(file),), collection="marina").build(models)
        assert run_job(job, JobContext(config, store)).counts["added"] == 1
        result = query_collections(
            ["marina"], ASK, store=store, config=config, models=models
        )
        prompt = json.dumps(server.bodies("/api/chat")[-1])
    assert f"<AI_GENERATED>\\n{SEEN}" in prompt
    (statement,) = result.statements
    assert statement.verdict is Support.GENERATED
    (proof,) = result.citations
    assert (proof.label, proof.support, proof.page) == ("F1", Support.GENERATED, 1)
    crop = render_page(file.read_bytes(), 1, proof.boxes, scale=1, crop=True)
    image = Image.open(io.BytesIO(crop)).convert("RGB")
    red, green, _ = (np.asarray(channel) for channel in image.split())
    assert ((red > 200) & (green < 120)).any(), "the crop shows the picture"
    extract = query_collections(
        ["marina"], ASK, store=store, config=load_config(environ={}), models=models
    )
    assert all("bar chart" not in c.quote for c in extract.citations)
    store.close()
