"""``/openapi.json``: what FastAPI knows of the routes, and the bodies that they read themselves."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic.json_schema import models_json_schema

from judgesmith.programs.serving.items import Batch, Item
from judgesmith.programs.serving.refusals import Refusal


def described(app: FastAPI, *, with_token: bool) -> None:
    """Add what clients send to the description of an application, and the token if one is asked."""
    plain = app.openapi

    def whole() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = plain()
            parts = found.setdefault("components", {})
            _, sent = models_json_schema(
                [(Item, "validation"), (Batch, "validation")],
                ref_template="#/components/schemas/{model}",
            )
            schemas = {**parts.get("schemas", {}), **sent["$defs"]}
            # FastAPI's own form of faults, which no route answers with.
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            parts["schemas"] = dict(sorted(schemas.items()))
            if with_token:
                parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                found["security"] = [{"token": []}]
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = whole  # type: ignore[method-assign]


def plain_fault(app: FastAPI) -> None:
    """Have addresses and methods that there are not refused in the form of all refusals."""

    async def unknown(request: Request, fault: Exception) -> Response:
        hint = "GET /openapi.json lists those there are."
        raise Refusal(404, "address", "there is no such address.", where="address", hint=hint)

    async def other_method(request: Request, fault: Exception) -> Response:
        error = f"there is no {request.method[:20]} of this address."
        allowed = dict(getattr(fault, "headers", None) or {})
        hint = f"it takes {allowed.get('Allow', 'others')}; GET /openapi.json has an example."
        raise Refusal(405, "address", error, where="address", hint=hint, headers=allowed)

    app.add_exception_handler(404, unknown)
    app.add_exception_handler(405, other_method)
