"""What replies look like, for ``/openapi.json``: records that describe, and check nothing."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from judgesmith.signatures.judgement import CriterionScore, ErrorSpan
from judgesmith.signatures.rubric import Criterion
from judgesmith.signatures.scale import Scale


class Row(BaseModel):
    """What a judge says of one item, as ``judgesmith score`` writes it.

    Panels and calibrated judges add fields of their own.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "example": {
                "source_id": "bridge",
                "system_id": "a",
                "key": "8f1f7a1c4c1f4b0e9d0a5a54e3c1c0de",
                "score": 4.2,
                "explanation": "It says what happened, and when.",
                "criteria": {"accuracy": {"score": 90, "explanation": "Both facts are there."}},
                "errors": [],
                "problem": None,
                "judge": "3f9a0c51d2e7",
                "target": "overall",
            }
        },
    )

    source_id: str = Field(description="as it came, or a hash of the source")
    system_id: str = Field(description="as it came; may be empty")
    key: str = Field(description="the same for equal texts alone")
    score: float | None = Field(description="points of the judge's scale; null if there is none")
    explanation: str
    criteria: dict[str, CriterionScore] = Field(description="by the criterion's name, 0 to 100")
    errors: list[ErrorSpan] = Field(description="stretches of the response, with character places")
    problem: str | None = Field(description="why there is no score; null if and only if there is")
    judge: str = Field(description="the judge's fingerprint")
    target: str | None = Field(description="what people rated when the judge was made")


class Rows(BaseModel):
    """What a judge says of the items of a batch."""

    results: list[Row] = Field(description="one per item, in order")
    unscored: int = Field(description="how many of them have no score")


class Fault(BaseModel):
    """What is wrong, where, and what to do."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": "response: expected a text; got 7",
                "where": "response",
                "hint": "GET /openapi.json describes what is expected.",
            }
        }
    )

    error: str
    where: str | None
    hint: str | None


class Headline(BaseModel):
    """Agreement with people on rows that the judge was not made from."""

    model_config = ConfigDict(extra="allow")

    level: str
    statistic: str
    value: float | None
    low: float | None
    high: float | None


class JudgeCard(BaseModel):
    """A judge that is served."""

    name: str = Field(description="its name in addresses")
    fingerprint: str = Field(description="changes when anything in the judge does")
    target: str | None
    kind: str = Field(description="judge, panel or calibrated")
    families: list[str]
    models: list[str]
    scale: Scale
    task: str
    criteria: list[Criterion]
    compares: bool = Field(description="whether all responses to a source are needed at once")
    reads_references: bool
    calls_per_item: int | None = Field(description="model calls; null where it depends")
    agreement: Headline | None = Field(description="null where it was not measured")


class Bounds(BaseModel):
    """How much is taken at a time."""

    max_body: int = Field(description="bytes of a request, or of a line")
    max_items: int = Field(description="items of a batch")
    max_chars: int = Field(description="characters of a text")
    queue: int = Field(description="items that may wait")
    concurrency: int = Field(description="items judged at the same time")


class JudgeList(BaseModel):
    """All judges that are served."""

    judges: list[JudgeCard]
    limits: Bounds
    version: str = Field(description="of judgesmith")


class Health(BaseModel):
    """Whether the server takes requests."""

    status: str = Field(description="ready or stopping")
    waiting: int = Field(description="accepted items that are not begun")
    in_flight: int = Field(description="items that are being judged")
    places: int = Field(description="items that may be accepted at a time")
