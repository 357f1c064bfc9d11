# SPDX-License-Identifier: Apache-2.0
"""Layers on their way through a loader's decisions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.doctor import libraries
from harness.doctor.ask import Answer, Asker
from harness.doctor.entries import Entry, read_folder
from harness.doctor.findings import Finding, note
from harness.doctor.linker import Linker
from harness.doctor.loaders import LAYERS_FOLDER, LoaderFile
from harness.doctor.vendors import code_name

_API_VERSION = 100


@dataclass
class Layer:
    """A layer that was named somewhere; `loaded`: the loader has it in its process."""

    entry: Entry
    path: Path | None = None
    loaded: bool = False
    findings: list[Finding] = field(default_factory=list)


def walk_layers(loader: LoaderFile, environment: Mapping[str, str], asker: Asker, linker: Linker) -> list[Layer]:
    """Every layer that is named, each looked at in a process of its own."""
    names = [name for name in environment.get("OPENCL_LAYERS", "").split(":") if name]
    entries = [Entry("OPENCL_LAYERS", name, name, "library") for name in names]
    if "OPENCL_LAYER_PATH" in loader.variables:
        folder = Path(environment.get("OPENCL_LAYER_PATH") or LAYERS_FOLDER)
        if os.path.isdir(folder):
            entries += read_folder(folder, ".lay").entries
    layers = [_walk(entry, loader, asker, linker) for entry in entries]
    maps = set(loader.listing.answer.get("maps", []) if loader.listing else [])
    for layer in layers:
        layer.loaded = layer.path is not None and os.path.realpath(layer.path) in maps
        if layer.entry.where == "OPENCL_LAYERS" and "OPENCL_LAYERS" not in loader.variables:
            layer.findings.append(
                note(
                    "layers-unknown",
                    f"{loader.path} knows no layers: OPENCL_LAYERS has no effect.",
                    "OPENCL_LAYERS",
                    "Use a loader that has layers: ocl-icd 2.3.0 or newer, or Khronos'.",
                )
            )
    return layers


def _walk(entry: Entry, loader: LoaderFile, asker: Asker, linker: Linker) -> Layer:
    layer = Layer(entry, findings=list(entry.findings))
    if not entry.meant:
        return layer
    library = libraries.inspect(entry.meant, entry.where, linker)
    layer.path = library.path
    layer.findings += [
        Finding(f"layer-{one.name}", one.what, one.where, _advice(one, entry), one.harmless) for one in library.findings
    ]
    if library.step != "loading":
        return layer
    answer = asker.ask("layer", entry.meant, str(loader.path))
    if answer.errors:
        layer.findings += list(libraries.explain(library, answer, entry.where))
    else:
        layer.findings += list(_judge(layer, answer))
    return layer


def _advice(finding: Finding, entry: Entry) -> str:
    if entry.where == "OPENCL_LAYERS" and "not-found" in finding.name:
        return f"Correct OPENCL_LAYERS, or remove {entry.meant} from it."
    return finding.do.replace("the driver", "the layer")


def _judge(layer: Layer, answer: Answer) -> Iterator[Finding]:
    where, path = layer.entry.where, layer.path
    remove = f"Remove it from {where}, or get a version of it for this loader."
    exports = answer.get("exports") or []
    if answer.end:
        how = "does not come back from" if answer.end == "hang" else f"crashes ({answer.end}) in"
        yield Finding("layer-crashes", f"The layer {path} {how} {answer.within}.", where, remove)
        return
    lacking = [name for name in ("clGetLayerInfo", "clInitLayer") if name not in exports]
    if lacking and not ("clInitLayerWithProperties" in exports and lacking == ["clInitLayer"]):
        yield Finding(
            "layer-functions", f"{path} is not a layer: it does not export {' and '.join(lacking)}.", where, remove
        )
        return
    version = answer.get("api_version")
    if answer.get("info_code") or version != _API_VERSION:
        message = code_name(answer.get("info_code")) if answer.get("info_code") else f"version {version}"
        yield Finding(
            "layer-version",
            f"The layer {path} is refused: clGetLayerInfo answers {message}, and {_API_VERSION} is the only version.",
            where,
            remove,
        )
    if answer.get("init_code"):
        yield Finding(
            "layer-init",
            f"The layer {path} does not start: clInitLayer answers {code_name(answer.get('init_code'))}.",
            where,
            remove,
        )
    elif answer.get("init_code") == 0 and not answer.get("table"):
        yield Finding("layer-init", f"The layer {path} gives no table of functions.", where, remove)
