"""All routes, a file for each group of them."""

from __future__ import annotations

from onesided.server.api import (
    accounts,
    approvals,
    attacks,
    datasets,
    jobs,
    maps,
    operating,
    people,
    publishing,
    questions,
    releases,
    sessions,
    stewards,
)
from onesided.server.routing import ApiRoute

ROUTES: tuple[ApiRoute, ...] = (
    *datasets.ROUTES,
    *questions.ROUTES,
    *jobs.ROUTES,
    *releases.ROUTES,
    *accounts.ROUTES,
    *approvals.ROUTES,
    *people.ROUTES,
    *sessions.ROUTES,
    *stewards.ROUTES,
    *maps.ROUTES,
    *attacks.ROUTES,
    *publishing.ROUTES,
    *operating.ROUTES,
)
