"""From a trained network to the file that `context` runs: ONNX, weights of eight bits.

Weights of the matrices become whole numbers of eight bits, each row with a scale of its own (dynamic quantisation:
activations are quantised as they come); embeddings too.  Norms and the heads stay as they are.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import torch

from grater.detect.context.train.network import Transformer

INPUT, OUTPUT = "pieces", "logits"
OPSET = 18


def export_onnx(network: Transformer, path: Path) -> None:
    """The network in full precision; batch and length are free."""
    network = network.eval().float().cpu()
    example = torch.tensor([[2, 5, 6, 7, 8, 3, 0, 0], [2, 5, 6, 7, 8, 9, 10, 3]])
    free = {INPUT: {0: torch.export.Dim("n"), 1: torch.export.Dim("length")}}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's exporter warns of its own code
        program = torch.onnx.export(
            network,
            (example,),
            input_names=[INPUT],
            output_names=[OUTPUT],
            dynamic_shapes=free,
            opset_version=OPSET,
            dynamo=True,
            verbose=False,
        )
        program.save(str(path), external_data=False)


def quantise(path: Path, to: Path) -> None:
    """The same network with weights of eight bits."""
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    ready = to.with_suffix(".ready.onnx")
    quant_pre_process(str(path), str(ready), skip_symbolic_shape=True)
    quantize_dynamic(
        str(ready),
        str(to),
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gather"],
    )
    ready.unlink()
