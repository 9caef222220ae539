"""Print figures about models: `python -m figures MODULE [PART ...]`, run in the folder `training`.

Modules: context, prepositions, extraneous, articles, language_model, textbook, tagger.  Each says at its top what it
prints.  The data is $GRATER_DATA, or ../shared/data beside the checkout.
"""

import sys
from importlib import import_module

MODULES = ("context", "prepositions", "extraneous", "articles", "language_model", "textbook", "tagger")

if sys.argv[1:2] not in [[name] for name in MODULES]:
    sys.exit(f"expected one of {', '.join(MODULES)}")
import_module(f"figures.{sys.argv[1]}").main(sys.argv[2:])
