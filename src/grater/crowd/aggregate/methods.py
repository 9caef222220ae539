"""The methods by their published names; others join by entry points of the group `grater.aggregators`."""

from __future__ import annotations

from grater.crowd.aggregate.fit import Method
from grater.registry import Registry

METHODS: Registry[Method] = Registry(
    "aggregation method",
    "grater.aggregators",
    {
        "majority": "grater.crowd.aggregate.majority:fit",
        "wawa": "grater.crowd.aggregate.wawa:fit",
        "dawid-skene": "grater.crowd.aggregate.dawid_skene:fit",
        "one-coin": "grater.crowd.aggregate.one_coin:fit",
        "mace": "grater.crowd.aggregate.mace:fit",
        "glad": "grater.crowd.aggregate.glad:fit",
    },
)
