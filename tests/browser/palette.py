"""Screenshots as small PNG files: at most 256 colours, each pixel an index into them.

A page has few colours and many shades between them where letters meet the ground.  The most frequent colours are
kept, and each of the others becomes the nearest of these.
"""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Page

MOST = 256
PIXELS = """async data => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paper = canvas.getContext('2d');
  paper.drawImage(image, 0, 0);
  const bytes = paper.getImageData(0, 0, image.width, image.height).data;
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def smaller(page: Page, png: bytes) -> bytes:
    """The same picture in few colours; `page` is any page, whose browser reads the file."""
    width, height, text = page.evaluate(PIXELS, base64.b64encode(png).decode())
    rgba = np.frombuffer(base64.b64decode(text), np.uint8).reshape(height * width, 4).astype(np.uint32)
    packed = rgba @ np.array([1 << 16, 1 << 8, 1, 0], np.uint32)
    colours, places = _reduced(packed)
    return _as_png(colours, places.reshape(height, width))


def _reduced(packed: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """At most `MOST` colours, and which of them each pixel has."""
    colours, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = colours[np.sort(np.argsort(-counts, kind="stable")[:MOST])]
    nearest = np.argmin(np.abs(_channels(colours)[:, None, :] - _channels(kept)[None, :, :]).sum(axis=2), axis=1)
    return kept, nearest[places.ravel()].astype(np.uint8)


def _channels(colours: npt.NDArray[np.uint32]) -> npt.NDArray[np.int16]:
    return np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], axis=1).astype(np.int16)


def _as_png(colours: npt.NDArray[np.uint32], places: npt.NDArray[np.uint8]) -> bytes:
    height, width = places.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), places], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = {
        b"IHDR": head,
        b"PLTE": _channels(colours).astype(np.uint8).tobytes(),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in parts.items())


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
