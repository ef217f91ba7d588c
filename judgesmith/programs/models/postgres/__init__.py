"""A ledger in a PostgreSQL database, which several machines can share."""

from judgesmith.programs.models.postgres.ledger import PostgresLedger

__all__ = ["PostgresLedger"]
