"""What does not fit the screen of a phone, and cells of stacked tables that have another name than their column."""

from __future__ import annotations

from playwright.sync_api import Page, ViewportSize

PHONE: ViewportSize = {"width": 360, "height": 720}

OFF_SCREEN = """() => [...document.querySelectorAll('main *')]
  .filter(each => !each.closest('.only-read, .stack thead, svg') && each.getClientRects().length)
  .map(each => [each, each.getBoundingClientRect()])
  .filter(([each, box]) => box.right > innerWidth + 1 || box.left < -1 || each.scrollWidth > each.clientWidth + 1 &&
    !['visible', 'clip'].includes(getComputedStyle(each).overflowX) && !['INPUT', 'SELECT'].includes(each.tagName))
  .map(([each]) => `${each.tagName.toLowerCase()}.${each.className}: ${each.textContent}`
    .replace(/\\s+/g, ' ').slice(0, 100))"""

MISNAMED = """() => [...document.querySelectorAll('.stack td[data-label]')]
  .filter(cell => cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent.trim() !== cell.dataset.label)
  .map(cell => cell.dataset.label)"""


def off_screen(page: Page) -> list[str]:
    """What a phone shows only if it is pushed aside: parts past the edge, and boxes that scroll sideways.

    Whatever is folded is opened first.
    """
    page.set_viewport_size(PHONE)
    page.evaluate("document.querySelectorAll('main details').forEach(each => { each.open = true; })")
    return [str(each) for each in page.evaluate(OFF_SCREEN)]


def misnamed(page: Page) -> list[str]:
    return [str(each) for each in page.evaluate(MISNAMED)]
