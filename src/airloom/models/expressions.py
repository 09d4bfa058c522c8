"""Python expressions of xacro files, worked out without Python's `eval`.

An expression is a tree of a few kinds of nodes: numbers, texts, names of properties, arithmetic, comparisons, choices,
items of lists and mappings, and calls of the functions listed here. There are no attributes of objects, so nothing
leads to anything that could act; powers and repetitions are limited, so nothing grows without end.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

LONGEST = 4000
DEEPEST = 60
LARGEST = 1e100


class ExpressionError(Exception):
    """What is wrong with an expression; the reader of the file says where it stands."""


def _power(base, exponent):
    if abs(exponent) > 1000 or abs(base) > 1e15:
        raise ExpressionError("the power is too large")
    return base**exponent


def _product(a, b):
    if isinstance(a, (str, list, tuple)) or isinstance(b, (str, list, tuple)):
        raise ExpressionError("texts and lists cannot be multiplied")
    return a * b


def _sum(a, b):
    if isinstance(a, (str, list)) and len(a) + len(b) > 100_000:
        raise ExpressionError("the text grows too long")
    return a + b


def _range(*limits):
    numbers = range(*limits)
    if len(numbers) > 10_000:
        raise ExpressionError("a range may have 10 000 numbers")
    return list(numbers)


BINARY: dict[type, Callable] = {
    ast.Add: _sum, ast.Sub: operator.sub, ast.Mult: _product, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: lambda a, b: operator.mod(a, b) if not isinstance(a, str) else _refuse("formatting with %"),
    ast.Pow: _power,
}  # fmt: skip
UNARY: dict[type, Callable] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
COMPARE: dict[type, Callable] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b, ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}  # fmt: skip
FUNCTIONS: dict[str, Callable] = {
    **{name: getattr(math, name) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "log10",
        "hypot", "floor", "ceil", "fabs", "fmod", "degrees", "radians", "copysign", "trunc",
    )},
    "abs": abs, "min": min, "max": max, "round": round, "int": int, "float": float, "str": str, "bool": bool,
    "len": len,    "sum": sum, "list": list, "dict": dict, "range": _range, "sorted": sorted, "pow": _power,
}  # fmt: skip
CONSTANTS = {
    "pi": math.pi,
    "e": math.e,
    "tau": math.tau,
    "inf": math.inf,
    "nan": math.nan,
    "true": True,
    "false": False,
}


def _refuse(what: str):
    raise ExpressionError(f"{what} is not allowed in an expression")


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """The value of an expression; `names` are properties."""
    if len(text) > LONGEST:
        raise ExpressionError(f"it is longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        value = _value(tree.body, names, 0)
    except ExpressionError:
        raise
    except SyntaxError:
        raise ExpressionError("it is no expression") from None
    except (ArithmeticError, TypeError, ValueError, KeyError, IndexError, RecursionError, MemoryError) as error:
        raise ExpressionError(str(error) or type(error).__name__) from None
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) > LARGEST and value != math.inf:
        raise ExpressionError("the number is too large")
    return value


def _value(node: ast.expr, names: Mapping[str, Any], depth: int) -> Any:
    if depth > DEEPEST:
        raise ExpressionError("it is nested too deeply")
    of = lambda inner: _value(inner, names, depth + 1)  # noqa: E731
    match node:
        case ast.Constant(value=int() | float() | str() | bool() | None):
            return node.value
        case ast.Name(id=name):
            return _named(name, names)
        case ast.BinOp():
            return BINARY.get(type(node.op), lambda *_: _refuse("this operator"))(of(node.left), of(node.right))
        case ast.UnaryOp():
            return UNARY.get(type(node.op), lambda *_: _refuse("this operator"))(of(node.operand))
        case ast.BoolOp():
            every = isinstance(node.op, ast.And)
            value: Any = every
            for part in node.values:
                value = of(part)
                if bool(value) != every:
                    break
            return value
        case ast.Compare():
            left = of(node.left)
            for sign, right_node in zip(node.ops, node.comparators, strict=True):
                right = of(right_node)
                if not COMPARE[type(sign)](left, right):
                    return False
                left = right
            return True
        case ast.IfExp():
            return of(node.body) if of(node.test) else of(node.orelse)
        case ast.List() | ast.Tuple():
            return [of(item) for item in node.elts]
        case ast.Dict():
            return {
                of(k) if k is not None else _refuse("**"): of(v) for k, v in zip(node.keys, node.values, strict=True)
            }
        case ast.Subscript(value=holder, slice=ast.Slice() as cut):
            ends = [of(end) if end is not None else None for end in (cut.lower, cut.upper, cut.step)]
            return of(holder)[slice(*ends)]
        case ast.Subscript(value=holder, slice=key):
            return of(holder)[of(key)]
        case ast.Attribute(value=ast.Name(id="math" | "python" | "xacro"), attr=name):
            return _named(name, {})
        case ast.Attribute(value=holder, attr=name):
            value = of(holder)
            return value[name] if isinstance(value, dict) else _refuse(f"an attribute such as .{name}")
        case ast.Call(func=function, args=arguments, keywords=keywords):
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if isinstance(function, ast.Attribute) and getattr(function.value, "id", "") not in (
                "math",
                "python",
                "xacro",
            ):
                _refuse(f"the call of .{name}()")
            if name not in FUNCTIONS or any(word.arg is None for word in keywords):
                _refuse(f"the function {name or '?'}()")
            return FUNCTIONS[name](*map(of, arguments), **{str(word.arg): of(word.value) for word in keywords})
    _refuse(type(node).__name__)


def _named(name: str, names: Mapping[str, Any]) -> Any:
    if name in names:
        return names[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise ExpressionError(f"nothing is called '{name}'")
