"""What one statement asks for many: values that it joins as a table, so that each row it reads or writes is named in full.

The statement is the same however many rows there are, so that it is made once, and no database's limit on parameters is met: they
are a single one on SQLite (JSON), one for each column on PostgreSQL (arrays).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import attrs
from sqlalchemy import ARRAY, BigInteger, ColumnElement, FromClause, String, and_, bindparam, column, func, literal_column, select
from sqlalchemy.types import TypeEngine

from searchport_platform.storage.schema import storable

__all__ = ["Asked", "matches"]

_TYPES: Mapping[type, type[TypeEngine[str] | TypeEngine[int]]] = {str: String, int: BigInteger}


@attrs.frozen
class Asked:
    """A table of values. columns: name -> what it holds, text or a whole number of 64 bits. name: of its parameters.

    dialect: the database's, by its name, everywhere.
    """

    columns: Mapping[str, type[str | int]]
    name: str = "asked"

    def table(self, dialect: str) -> FromClause:
        """The table, for a statement that is executed with `values`."""
        return self._read_json() if dialect == "sqlite" else self._read_arrays()

    def values(self, dialect: str, rows: Iterable[tuple[str | int | None, ...]]) -> dict[str, object]:
        """The statement's parameters for these rows, each with a value for every column."""
        given = [[storable(value) if isinstance(value, str) else value for value in row] for row in rows]
        if dialect == "sqlite":
            return {self.name: json.dumps(given, ensure_ascii=False)}  # what is no text fails at the driver, as everywhere
        return {f"{self.name}_{name}": [row[place] for row in given] for place, name in enumerate(self.columns)}

    def _read_json(self) -> FromClause:
        """Source: https://www.sqlite.org/json1.html#jeach."""
        each = func.json_each(bindparam(self.name, type_=String)).table_valued("value", name="each")
        parts = [
            func.json_extract(each.c.value, literal_column(f"'$[{place}]'"), type_=_TYPES[kind]).label(name)
            for place, (name, kind) in enumerate(self.columns.items())
        ]
        return select(*parts).subquery("asked")

    def _read_arrays(self) -> FromClause:
        """Source: https://www.postgresql.org/docs/current/functions-array.html (`unnest` of several arrays)."""
        arrays = [bindparam(f"{self.name}_{name}", type_=ARRAY(_TYPES[kind])) for name, kind in self.columns.items()]
        named = [column(name, _TYPES[kind]) for name, kind in self.columns.items()]
        return func.unnest(*arrays).table_valued(*named).render_derived(name="asked")


def matches(table: FromClause, rows: FromClause, names: Iterable[str]) -> ColumnElement[bool]:
    """The condition that a row of `table` is the one that is asked for, by these columns of both."""
    return and_(*(table.c[name] == rows.c[name] for name in names))
