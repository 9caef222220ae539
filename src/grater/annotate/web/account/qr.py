"""A short text as a QR code: byte mode, error correction M, versions 1 to 15 (412 bytes), drawn as SVG.

ISO/IEC 18004:2015; clauses are named where they apply.  Left out: the other modes and levels, structured append, and
anything longer; `matrix` raises ValueError for that.  Of the eight masks the one with the lowest penalty is taken
(7.8.3).  A module is a bool, True for dark; a matrix is a tuple of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise, zip_longest
from typing import TypeAlias

Matrix: TypeAlias = tuple[tuple[bool, ...], ...]
Grid: TypeAlias = list[list[bool | None]]
"""A matrix in the making; None where data go."""

CORRECTION = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24)
"""Error-correction codewords of a block, by version from 1 on (table 9, level M)."""

BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10)
LEVEL_M = 0b00
BYTES = 0b0100
PADDING = (0xEC, 0x11)
BORDER = 4
"""Light modules around the code (clause 6.3.8)."""

FORMAT_GENERATOR, FORMAT_MASK = 0b10100110111, 0b101010000010010
VERSION_GENERATOR = 0b1111100100101
FIRST_WITH_VERSION = 7
FINDER_LIKE = (True, False, True, True, True, False, True)


def matrix(text: str, *, mask: int | None = None) -> Matrix:
    """The code of a text, without its border; `mask` is the best one unless it is named."""
    data = text.encode()
    version = _version_for(len(data))
    codewords = _interleaved(_data_codewords(data, version), version)
    masked = (_drawn(codewords, version, each) for each in (range(8) if mask is None else (mask,)))
    return min(masked, key=_penalty)


def svg(text: str, *, title: str) -> str:
    """A picture of the code that scales, black on white whatever the colours of the page; `title` is HTML already."""
    rows = matrix(text)
    size = len(rows) + 2 * BORDER
    dark = "".join(
        f"M{x + BORDER} {y + BORDER}h1v1h-1z"
        for y, row in enumerate(rows)
        for x, is_dark in enumerate(row)
        if is_dark
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="qr" role="img" aria-label="{title}" '
        f'viewBox="0 0 {size} {size}" shape-rendering="crispEdges">'
        f'<path fill="#fff" d="M0 0h{size}v{size}H0z"/><path fill="#000" d="{dark}"/></svg>'
    )


def _version_for(n_bytes: int) -> int:
    for version in range(1, len(BLOCKS) + 1):
        if 4 + _length_bits(version) + 8 * n_bytes <= 8 * _n_data(version):
            return version
    raise ValueError(f"expected at most {_n_data(len(BLOCKS)) - 3} bytes for a QR code, found {n_bytes}")


def _length_bits(version: int) -> int:
    return 8 if version < 10 else 16


@cache
def _n_codewords(version: int) -> int:
    """All modules but those of patterns and information, by eight."""
    return sum(module is None for row in _patterns(version) for module in row) // 8


def _n_data(version: int) -> int:
    return _n_codewords(version) - CORRECTION[version - 1] * BLOCKS[version - 1]


def _data_codewords(data: bytes, version: int) -> list[int]:
    """Mode, length, text, terminator, and padding to the end (7.4)."""
    n_bits = 8 * _n_data(version)
    bits = f"{BYTES:04b}{len(data):0{_length_bits(version)}b}" + "".join(f"{byte:08b}" for byte in data)
    bits += "0" * min(4, n_bits - len(bits))
    bits += "0" * (-len(bits) % 8)
    codewords = [int(bits[place : place + 8], 2) for place in range(0, len(bits), 8)]
    n_padding = _n_data(version) - len(codewords)
    return codewords + [PADDING[place % 2] for place in range(n_padding)]


def _interleaved(data: Sequence[int], version: int) -> list[int]:
    """Blocks, the shorter ones first, each with its correction, read column by column (7.6)."""
    n_blocks = BLOCKS[version - 1]
    shorter, n_longer = divmod(len(data), n_blocks)
    blocks, start = [], 0
    for number in range(n_blocks):
        end = start + shorter + (number >= n_blocks - n_longer)
        blocks.append(data[start:end])
        start = end
    corrections = [_correction(block, CORRECTION[version - 1]) for block in blocks]
    columns = chain(zip_longest(*blocks), zip(*corrections, strict=True))
    return [codeword for column in columns for codeword in column if codeword is not None]


def _times(a: int, b: int) -> int:
    """A product in GF(256) modulo x^8 + x^4 + x^3 + x^2 + 1."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a = a << 1 ^ (0x11D if a & 0x80 else 0)
        b >>= 1
    return product


@cache
def _generator(degree: int) -> tuple[int, ...]:
    """The product of (x - 2^i) for i below the degree, highest power first, without its leading 1."""
    coefficients, root = [1], 1
    for _ in range(degree):
        shifted = [*coefficients, 0]
        scaled = [0, *(_times(each, root) for each in coefficients)]
        coefficients = [a ^ b for a, b in zip(shifted, scaled, strict=True)]
        root = _times(root, 2)
    return tuple(coefficients[1:])


def _correction(block: Sequence[int], degree: int) -> list[int]:
    """The remainder of the block divided by the generator (Reed and Solomon)."""
    remainder = [0] * degree
    for codeword in block:
        factor = codeword ^ remainder[0]
        remainder = [a ^ _times(b, factor) for a, b in zip([*remainder[1:], 0], _generator(degree), strict=True)]
    return remainder


def _patterns(version: int) -> Grid:
    """Finders, timing and alignment (6.3), and False where format and version will be written."""
    size = 17 + 4 * version
    grid: Grid = [[None] * size for _ in range(size)]
    for place in range(size):
        grid[6][place] = grid[place][6] = place % 2 == 0
    for top, left in ((0, 0), (0, size - 7), (size - 7, 0)):
        _draw_rings(grid, top + 3, left + 3, dark=(0, 1, 3), reach=4)
    centres = _alignment(version)
    for y in centres:
        for x in centres:
            if (y, x) not in ((6, 6), (6, centres[-1]), (centres[-1], 6)):
                _draw_rings(grid, y, x, dark=(0, 2), reach=2)
    for y, x in chain.from_iterable((*_format_places(size), *_version_places(version))):
        grid[y][x] = False
    grid[size - 8][8] = True
    return grid


def _draw_rings(grid: Grid, y: int, x: int, *, dark: tuple[int, ...], reach: int) -> None:
    """Squares around a centre, one in another; those at these distances are dark."""
    for row in range(max(0, y - reach), min(len(grid), y + reach + 1)):
        for column in range(max(0, x - reach), min(len(grid), x + reach + 1)):
            grid[row][column] = max(abs(row - y), abs(column - x)) in dark


def _alignment(version: int) -> list[int]:
    """The rows and columns of alignment patterns (annex E): from 6 to the last, evenly, odd steps made even."""
    if version == 1:
        return []
    last, n_gaps = 4 * version + 10, version // 7 + 1
    step = -(-(last - 6) // n_gaps)
    step += step % 2
    return [6, *(last - step * place for place in reversed(range(n_gaps)))]


def _format_places(size: int) -> Iterator[list[tuple[int, int]]]:
    """The two places of each of the fifteen bits of the format, the highest first (7.9)."""
    around = [(8, x) for x in (0, 1, 2, 3, 4, 5, 7, 8)] + [(y, 8) for y in (7, 5, 4, 3, 2, 1, 0)]
    apart = [(y, 8) for y in range(size - 1, size - 8, -1)] + [(8, x) for x in range(size - 8, size)]
    yield from ([one, other] for one, other in zip(around, apart, strict=True))


def _version_places(version: int) -> Iterator[list[tuple[int, int]]]:
    """The two places of each of the eighteen bits of the version, the lowest first (7.10)."""
    if version >= FIRST_WITH_VERSION:
        last = 17 + 4 * version - 11
        yield from ([(bit // 3, last + bit % 3), (last + bit % 3, bit // 3)] for bit in range(18))


def _with_remainder(value: int, generator: int) -> int:
    """A value followed by its remainder, as BCH codes have it."""
    n_bits = generator.bit_length() - 1
    remainder = value << n_bits
    while remainder.bit_length() > n_bits:
        remainder ^= generator << (remainder.bit_length() - n_bits - 1)
    return value << n_bits | remainder


def _is_masked(mask: int, y: int, x: int) -> bool:
    """Table 10."""
    conditions = (
        (y + x) % 2,
        y % 2,
        x % 3,
        (y + x) % 3,
        (y // 2 + x // 3) % 2,
        y * x % 2 + y * x % 3,
        (y * x % 2 + y * x % 3) % 2,
        ((y + x) % 2 + y * x % 3) % 2,
    )
    return conditions[mask] == 0


def _drawn(codewords: Sequence[int], version: int, mask: int) -> Matrix:
    grid = _patterns(version)
    bits = chain((codeword >> place & 1 for codeword in codewords for place in range(7, -1, -1)), iter(int, 1))
    for y, x in _data_places(grid):
        grid[y][x] = bool(next(bits)) != _is_masked(mask, y, x)
    form = _with_remainder(LEVEL_M << 3 | mask, FORMAT_GENERATOR) ^ FORMAT_MASK
    _write(grid, list(_format_places(len(grid))), form, n_bits=15)
    number = _with_remainder(version, VERSION_GENERATOR)
    _write(grid, list(_version_places(version))[::-1], number, n_bits=18)
    return tuple(tuple(bool(module) for module in row) for row in grid)


def _write(grid: Grid, places: Sequence[Sequence[tuple[int, int]]], value: int, *, n_bits: int) -> None:
    for bit, pair in enumerate(places):
        for y, x in pair:
            grid[y][x] = bool(value >> (n_bits - 1 - bit) & 1)


def _data_places(grid: Grid) -> list[tuple[int, int]]:
    """Free modules in pairs of columns from the right, up and down in turn, past the column of timing (7.7.3)."""
    size = len(grid)
    rights = [*list(range(size - 1, 6, -2)), 5, 3, 1]
    places = []
    for number, right in enumerate(rights):
        rows = range(size) if number % 2 else range(size - 1, -1, -1)
        places += [(y, x) for y in rows for x in (right, right - 1) if grid[y][x] is None]
    return places


def _penalty(rows: Matrix) -> int:
    """The four features of table 11, with its weights 3, 3, 40 and 10."""
    lines = [*rows, *zip(*rows, strict=True)]
    n_dark, n_all = sum(map(sum, rows)), len(rows) ** 2
    blocks = sum(
        a == b == c == d
        for upper, lower in pairwise(rows)
        for a, b, c, d in zip(upper, upper[1:], lower, lower[1:], strict=False)
    )
    return sum(map(_line_penalty, lines)) + 3 * blocks + 10 * (abs(20 * n_dark - 10 * n_all) // n_all)


def _line_penalty(line: Sequence[bool]) -> int:
    """Runs of five or more, and what looks like a finder with four light modules on a side."""
    penalty, run = 0, 0
    for place, module in enumerate(line):
        run = run + 1 if place and module == line[place - 1] else 1
        penalty += 3 if run == 5 else run > 5
    light = (False,) * 4
    for place in range(len(line) - 10):
        penalty += 40 * (tuple(line[place : place + 11]) in (FINDER_LIKE + light, light + FINDER_LIKE))
    return penalty
