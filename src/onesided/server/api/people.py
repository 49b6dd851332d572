"""Tokens and rights, for stewards. A token is shown once; what is kept of it is a digest."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from onesided.errors import RequestError
from onesided.ledger.base import LONGEST_WHO
from onesided.ledger.desk import PersonRole, Rights, TokenRecord
from onesided.loss import privacy_loss
from onesided.server.api.datasets import rights_json
from onesided.server.fields import AMOUNT, FLAG, BodyType, ListType, TextType, WholeType, one_of
from onesided.server.problems import Problem
from onesided.server.questions import FIELDS
from onesided.server.routing import STEWARD, ApiCall, ApiRoute, Reply
from onesided.server.schemas import ANYTHING, OPTIONAL_TEXT, TEXT_SCHEMA, answer, listing

USUAL_DAYS, MOST_DAYS = 90, 3_660
_PATH = "/api/v1/datasets/{dataset}/rights/{person}"


def list_tokens(call: ApiCall) -> Reply:
    return Reply({"tokens": [token_json(each) for each in call.served.desk.tokens()]})


def token_json(record: TokenRecord) -> dict[str, Any]:
    """What may be known of a token."""

    def shown(time: Any) -> str | None:
        return None if time is None else str(time.isoformat(timespec="seconds"))

    return {
        "id": record.id,
        "name": record.name,
        "role": record.role.value,
        "purpose": record.purpose.value,
        "created": shown(record.created),
        "expires": shown(record.expires),
        "revoked": shown(record.revoked),
    }


def add_token(call: ApiCall) -> Reply:
    expires = call.served.desk.now() + timedelta(days=call.body.get("days", USUAL_DAYS))
    role = PersonRole(call.body["role"])
    token = call.served.desk.add_token(call.body["name"], role, expires=expires)
    said = {"token": token, "name": call.body["name"], "role": role.value}
    return Reply(said, log={"name": call.body["name"], "role": role.value})


def revoke_token(call: ApiCall) -> Reply:
    ended = call.served.desk.revoke(call.path["token"])
    if not ended:
        raise Problem(404, "There is no such token that is still valid.")
    return Reply({"tokens": [token_json(each) for each in ended]})


def show_rights(call: ApiCall) -> Reply:
    hosted = call.dataset
    found = call.served.desk.rights(hosted.account_name, call.path["person"])
    if found is None:
        raise Problem(404, "This person may not see the data set.")
    return Reply(rights_json(found))


def set_rights(call: ApiCall) -> Reply:
    hosted = call.dataset
    said = call.body
    kinds = said.get("kinds")
    rights = Rights(
        kinds=None if kinds is None else frozenset(kinds),
        most_per_release=_loss(said, "most_per_release"),
        most_in_all=_loss(said, "most_in_all"),
        least=_loss(said, "least"),
        needs_approval=said.get("needs_approval", False),
    )
    call.served.desk.set_rights(hosted.account_name, call.path["person"], rights)
    return Reply(rights_json(rights), log={"rights_of": call.path["person"][:LONGEST_WHO]})


def take_rights(call: ApiCall) -> Reply:
    hosted = call.dataset
    call.served.desk.set_rights(hosted.account_name, call.path["person"], None)
    return Reply({"rights": None})


def _loss(said: dict[str, Any], name: str) -> Any:
    try:
        return None if name not in said else privacy_loss(said[name])
    except RequestError:
        raise
    except Exception as error:
        raise RequestError(f"{name}: {error}") from None


_RIGHTS = BodyType(
    {
        "kinds": ListType(one_of(tuple(FIELDS))),
        "most_per_release": AMOUNT,
        "most_in_all": AMOUNT,
        "least": AMOUNT,
        "needs_approval": FLAG,
    }
)
_TOKEN = answer("id", "name", "role", id=TEXT_SCHEMA, name=TEXT_SCHEMA, expires=OPTIONAL_TEXT)
ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/tokens",
        handler=list_tokens,
        summary="All tokens, as far as they may be known.",
        roles=(STEWARD,),
        answers={200: listing("tokens", _TOKEN)},
    ),
    ApiRoute(
        method="POST",
        path="/api/v1/tokens",
        handler=add_token,
        summary="A new token, which is shown this once.",
        roles=(STEWARD,),
        body=BodyType(
            {
                "name": TextType(LONGEST_WHO, 1),
                "role": one_of(tuple(each.value for each in PersonRole)),
                "days": WholeType(1, MOST_DAYS),
            },
            ("name", "role"),
        ),
        answers={200: answer("token", token=TEXT_SCHEMA)},
        refusals=(409,),
    ),
    ApiRoute(
        method="DELETE",
        path="/api/v1/tokens/{token}",
        handler=revoke_token,
        summary="End one token by its id, or all of a person by their name.",
        roles=(STEWARD,),
        answers={200: listing("tokens", _TOKEN)},
    ),
    ApiRoute(
        method="GET",
        path=_PATH,
        handler=show_rights,
        summary="What an analyst may do with a data set.",
        roles=(STEWARD,),
        answers={200: ANYTHING},
    ),
    ApiRoute(
        method="PUT",
        path=_PATH,
        handler=set_rights,
        summary="Say what an analyst may do with a data set; what is left out has no limit.",
        roles=(STEWARD,),
        body=_RIGHTS,
        answers={200: ANYTHING},
        refusals=(409,),
    ),
    ApiRoute(
        method="DELETE",
        path=_PATH,
        handler=take_rights,
        summary="Take a data set away from an analyst.",
        roles=(STEWARD,),
        answers={200: ANYTHING},
    ),
)
