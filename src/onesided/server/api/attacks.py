"""What an attacker learns from absence, tried out on simulated people; no data are read."""

from __future__ import annotations

from fractions import Fraction

from onesided.loss import privacy_loss
from onesided.server.fields import AMOUNT, BodyType
from onesided.server.routing import STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, NUMBER_SCHEMA, answer

_MOST_EPSILON = Fraction(50)


def attack_absence(call: ApiCall) -> Reply:
    from onesided.audit.absence import attack_absence as attacked

    reports = attacked(min(privacy_loss(call.body["epsilon"]), _MOST_EPSILON))
    first = reports[0]
    return Reply(
        {
            "people": first.published + first.missing,
            "sensitive": first.sensitive,
            "ways": [
                {
                    "way": each.way,
                    "published": each.published,
                    "missing": each.missing,
                    "sensitive": each.sensitive,
                    "share_right": each.share_right,
                }
                for each in reports
            ],
        }
    )


ROUTES = (
    ApiRoute(
        method="POST",
        path="/api/v1/attacks",
        handler=attack_absence,
        summary="Attack simulated people who were published in three ways.",
        roles=(STEWARD,),
        body=BodyType({"epsilon": AMOUNT}, ("epsilon",)),
        answers={200: answer("people", "ways", people=NUMBER_SCHEMA, ways=ANYTHING)},
    ),
)
