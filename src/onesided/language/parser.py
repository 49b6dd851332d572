"""From text to tree, by allow-list: what is not named here is refused.

sqlglot reads the text as the only projection of a SELECT, in the DuckDB dialect. It accepts far
more than a predicate may say and rewrites some of it in passing, so its tree is never rendered.
Each node is converted by its exact type, and an argument that is not expected is refused too.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from typing import TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from onesided.errors import PolicyError
from onesided.language.casts import cast
from onesided.language.functions import (
    FUNCTIONS,
    function,
    whole_steps,
    without_capitals,
)
from onesided.language.intervals import has_interval, shifted
from onesided.language.literals import numeric_literal, read_number
from onesided.language.nodes import only, unwrapped
from onesided.language.refusals import explanation, shown
from onesided.language.tested import check_parser
from onesided.language.tree import (
    And,
    Arithmetic,
    Between,
    Case,
    Coalesce,
    Column,
    Compare,
    Comparison,
    Distinct,
    Expression,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Negate,
    Not,
    Operator,
    Or,
)
from onesided.language.types import Type

MAX_LENGTH = 10_000
MAX_NODES = 5_000
MAX_DEPTH = 24
DIALECT = "duckdb"
_PREFIX = "SELECT "

_COMPARISONS: dict[type[exp.Expression], Comparison] = {
    exp.EQ: Comparison.EQUAL,
    exp.NEQ: Comparison.UNEQUAL,
    exp.LT: Comparison.LESS,
    exp.LTE: Comparison.AT_MOST,
    exp.GT: Comparison.GREATER,
    exp.GTE: Comparison.AT_LEAST,
}
_COMPARING = {"=", "<>", "!=", "<", "<=", ">", ">=", "IS", "IN", "LIKE", "BETWEEN"}
_OPERATORS: dict[type[exp.Expression], Operator] = {
    exp.Add: Operator.PLUS,
    exp.Sub: Operator.MINUS,
    exp.Mul: Operator.TIMES,
    exp.Div: Operator.OVER,
}
# SQL dialects disagree on how these bind to each other, so an operand of one that is itself one
# of them needs parentheses: `a < b < c` and `a = NOT b` are refused.
_NEED_PARENTHESES = (
    *_COMPARISONS,
    exp.Not,
    exp.And,
    exp.Or,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
)


def parse(text: str) -> Expression:
    """The tree of one expression; PolicyError says which part of the text is not accepted."""
    check_parser(tree_of)
    return tree_of(text)


def tree_of(text: str) -> Expression:
    """As `parse`, by whichever version of sqlglot is installed."""
    _check_text(text)
    node = _projection(text)
    return Conversion().convert(node, depth=0)


def is_keyword(name: str) -> bool:
    """Whether a bare `name` would be read as something other than a column."""
    tokens = sqlglot.tokenize(name, read=DIALECT)
    return [token.token_type for token in tokens] != [TokenType.VAR]


def _check_text(text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise PolicyError('A predicate is a text such as "age <= 17"; this one is empty.')
    if len(text) > MAX_LENGTH:
        raise PolicyError(f"A predicate has at most {MAX_LENGTH} characters; shorten it.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise PolicyError("A predicate is Unicode text without NUL characters; remove them.")


def _projection(text: str) -> exp.Expression:
    """sqlglot's tree of the text, once it is sure to be one expression and nothing else."""
    statements = _trees(_PREFIX + text, "The predicate")
    if len(statements) != 1:
        raise PolicyError("A predicate is one expression; remove the semicolon and what follows.")
    select = statements[0]
    if type(select) is not exp.Select:
        raise PolicyError(explanation(select))
    clauses = {name for name, value in select.args.items() if value} - {"expressions"}
    if clauses:
        clause = min(clauses).strip("_").upper()
        raise PolicyError(f"A predicate is one expression; remove the clause {clause}.")
    if not select.expressions:
        raise PolicyError("The predicate is empty; write a condition such as age <= 17.")
    if len(select.expressions) != 1:
        raise PolicyError("A predicate is one expression; join several with AND or OR.")
    projection: exp.Expression = select.expressions[0]
    return projection


def read_statements(text: str, whole: str) -> list[exp.Expr | None]:
    """sqlglot's trees of a text; `whole` is what the text is called in a refusal."""
    check_parser(tree_of)
    return _trees(text, whole)


def _trees(text: str, whole: str) -> list[exp.Expr | None]:
    try:
        return sqlglot.parse(text, read=DIALECT)
    except RecursionError:
        raise PolicyError(f"{whole} is nested too deeply; write it more simply.") from None
    except Exception as error:  # the parser also fails with IndexError and the like
        raise PolicyError(f"{whole} is not valid SQL{_position(error)}{_quoting(text)}.") from None


def _position(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if not details or details[0].get("col") is None:
        return "; check quotation marks and parentheses"
    highlighted = str(details[0].get("highlight") or "").strip()
    return f" near {highlighted!r}" if highlighted and highlighted != _PREFIX.strip() else ""


def _quoting(text: str) -> str:
    """How a column is written whose name SQL itself uses, where one is compared."""
    try:
        tokens = sqlglot.tokenize(text, read=DIALECT)
    except Exception:  # what cannot even be cut into words
        return ""
    for word, after in pairwise(tokens):
        if word.text.isalpha() and after.text.upper() in _COMPARING and is_keyword(word.text):
            name = word.text
            return f'; if {name} is a column, put double quotes around it: "{name}"'
    return ""


class Conversion:
    """One pass over sqlglot's tree that counts what it has seen.

    A SELECT reads its parts through subclasses that know more names than a predicate does.
    """

    def __init__(self) -> None:
        self._nodes = 0
        self._converters: dict[type[exp.Expression], _Converter] = {
            exp.Column: self.column,
            exp.Literal: self._literal,
            exp.Boolean: self._boolean,
            exp.Null: self._null,
            exp.Cast: self._cast,
            exp.TryCast: self._cast,
            exp.Neg: self._negation,
            exp.And: self._junction,
            exp.Or: self._junction,
            exp.Not: self._not,
            exp.NullSafeEQ: self._same,
            exp.NullSafeNEQ: self._distinct,
            exp.Is: self._is,
            exp.In: self._in,
            exp.Between: self._between,
            exp.Like: self._like,
            exp.Case: self._case,
            exp.Coalesce: self._coalesce,
            exp.ILike: self._ilike,
            **dict.fromkeys(_COMPARISONS, self._comparison),
            **dict.fromkeys(_OPERATORS, self._arithmetic),
            **dict.fromkeys(FUNCTIONS, self._function),
        }

    def convert(self, node: object, depth: int) -> Expression:
        node = unwrapped(node)
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise PolicyError("The predicate is nested too deeply or too long; simplify it.")
        if not isinstance(node, exp.Expression) or type(node) not in self._converters:
            raise PolicyError(explanation(node))
        return self._converters[type(node)](node, depth + 1)

    def _operand(self, node: object, depth: int) -> Expression:
        if type(node) in _NEED_PARENTHESES:
            raise PolicyError(
                f"Put parentheses around {shown(node)}: it is an operand of another predicate."
            )
        return self.convert(node, depth)

    def column(self, node: exp.Expression, depth: int) -> Expression:
        if node.args.get("db") is not None:
            raise PolicyError(f"Write the column {shown(node)} with one table name at most.")
        only(node, "this", "table")
        parts = [part for part in (node.args.get("table"), node.this) if part is not None]
        for part in parts:
            if type(part) is not exp.Identifier or not part.name:
                raise PolicyError(explanation(part))
            only(part, "this", "quoted")
        # A column of a table beside the data is called `table.column`, here and in the schema.
        return Column(".".join(part.name for part in parts))

    def _literal(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "is_string")
        return Literal(Type.TEXT, node.name) if node.args["is_string"] else read_number(node.name)

    def _boolean(self, node: exp.Expression, depth: int) -> Expression:
        return Literal(Type.BOOLEAN, bool(node.this))

    def _null(self, node: exp.Expression, depth: int) -> Expression:
        return Literal(None, None)

    def _cast(self, node: exp.Expression, depth: int) -> Expression:
        """DATE '…' and TIMESTAMP '…' are casts of a text; of others only those that never fail."""
        only(node, "this", "to", "safe")
        return cast(node, lambda each: self.convert(each, depth))

    def _negation(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this")
        operand = self._operand(node.this, depth)
        match operand:
            case Literal(
                Type.INTEGER | Type.WIDE_INTEGER | Type.DECIMAL, int() | Decimal() as value
            ):
                return numeric_literal(-value)
            case _:
                return Negate(operand)

    def _junction(self, node: exp.Expression, depth: int) -> Expression:
        """AND and OR, flat: a long chain is wide, not deep."""
        kind = type(node)
        pending: list[object] = [node]
        operands: list[Expression] = []
        while pending:
            part = unwrapped(pending.pop())
            if isinstance(part, exp.Expression) and type(part) is kind:
                only(part, "this", "expression")
                pending += [part.args["expression"], part.this]
            else:
                operands.append(self.convert(part, depth))
        return And(tuple(operands)) if kind is exp.And else Or(tuple(operands))

    def _not(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this")
        return Not(self.convert(node.this, depth))

    def _comparison(self, node: exp.Expression, depth: int) -> Expression:
        return Compare(_COMPARISONS[type(node)], *self._sides(node, depth))

    def _distinct(self, node: exp.Expression, depth: int) -> Expression:
        return Distinct(*self._sides(node, depth))

    def _same(self, node: exp.Expression, depth: int) -> Expression:
        return Not(self._distinct(node, depth))

    def _arithmetic(self, node: exp.Expression, depth: int) -> Expression:
        def read(part: object) -> Expression:
            return self.convert(part, depth)

        bucket = whole_steps(node, read) if type(node) is exp.Mul else None
        if bucket is not None:
            return bucket
        if type(node) in (exp.Add, exp.Sub) and has_interval(node):
            return shifted(node, read)
        return Arithmetic(_OPERATORS[type(node)], *self._sides(node, depth))

    def _sides(self, node: exp.Expression, depth: int) -> tuple[Expression, Expression]:
        # Marks of the parser: whether a quotient is of integers, and what becomes of x / 0.
        only(node, "this", "expression", "typed", "safe")
        return self._operand(node.this, depth), self._operand(node.args["expression"], depth)

    def _is(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "expression")
        operand = self._operand(node.this, depth)
        target = node.args["expression"]
        if type(target) is exp.Null:
            return IsNull(operand)
        if type(target) is exp.Boolean:
            return IsTruth(operand, bool(target.this))
        raise PolicyError(f"IS is followed by NULL, TRUE or FALSE, not {shown(target)}.")

    def _in(self, node: exp.Expression, depth: int) -> Expression:
        if node.args.get("query") is not None:
            raise PolicyError(explanation(node.args["query"]))
        if node.args.get("field") is not None or not node.expressions:
            raise PolicyError("IN needs a list of literals in parentheses, such as IN (1, 2).")
        only(node, "this", "expressions")
        choices = tuple(self._operand(choice, depth) for choice in node.expressions)
        for choice, source in zip(choices, node.expressions, strict=True):
            if not isinstance(choice, Literal):
                raise PolicyError(f"The list of IN holds literals only, not {shown(source)}.")
        return In(self._operand(node.this, depth), choices)

    def _between(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        return Between(*(self._operand(part, depth) for part in (node.this, low, high)))

    def _ilike(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "expression", "negate")
        return self._like(without_capitals(node), depth)

    def _like(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "expression", "negate")
        pattern = node.args["expression"]
        if type(pattern) is not exp.Literal or not pattern.is_string:
            raise PolicyError(f"LIKE needs a literal pattern, not {shown(pattern)}.")
        if "\\" in pattern.name:
            raise PolicyError("A LIKE pattern has no backslash: engines disagree on its meaning.")
        like = Like(self._operand(node.this, depth), pattern.name)
        return Not(like) if node.args.get("negate") else like

    def _case(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "ifs", "default")
        subject, default = node.args.get("this"), node.args.get("default")
        for branch in node.args["ifs"]:
            only(branch, "this", "true")
        return Case(
            None if subject is None else self.convert(subject, depth),
            tuple(
                (self.convert(branch.this, depth), self.convert(branch.args["true"], depth))
                for branch in node.args["ifs"]
            ),
            None if default is None else self.convert(default, depth),
        )

    def _coalesce(self, node: exp.Expression, depth: int) -> Expression:
        only(node, "this", "expressions")
        return Coalesce(tuple(self.convert(part, depth) for part in (node.this, *node.expressions)))

    def _function(self, node: exp.Expression, depth: int) -> Expression:
        return function(node, lambda argument: self.convert(argument, depth))


_Converter: TypeAlias = Callable[[exp.Expression, int], Expression]
