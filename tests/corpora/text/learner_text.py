"""Texts for property tests: pieces that break tokenisers, put together in any order."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = [
    *"aBIxnst_159.,:;!?-/&'’´`\"()@#$%+*=~<>\\",
    *(" ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u2028"),
    *("cannot", "do", "n't", "'s", "'ll", "ca", "''", "``", "...", "…", "--", "–", "—", "−"),
    *("e.g.", "U.S.", "Mr.", "etc", "Ph.D", "p", "http://", "www.", "com", "pdf"),
    *("é", "e\u0301", "\u0301", "\u200d", "\u200b", "\ufe0f", "ש", "اب", "中", "。", "क्"),
    *("👍", "👍🏽", "👨\u200d👩\u200d👧", "🇸🇬", "🏽", "1️⃣"),
]

learner_text = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=12)
