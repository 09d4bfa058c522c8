"""Macros, and what expressions must not do."""

from __future__ import annotations

import pytest
from tests import models

from airloom.models.description import ModelError
from airloom.models.expressions import ExpressionError, evaluate
from airloom.models.files import Library
from airloom.models.markup import parsed
from airloom.models.xacro import Xacro

XACRO = '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro">{}</robot>'


def made(tmp_path, text, **arguments):
    file = tmp_path / "r.xacro"
    file.write_text(XACRO.format(text))
    return Xacro(Library(file), arguments).process(parsed(file.read_bytes(), "r.xacro"), file)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * pi", 6.283185307179586), ("-arm**2", -4.0), ("[1, 2, 3][1]", 2), ("'a' if arm > 1 else 'b'", "a"),
        ("max(1, arm, 3)", 3), ("math.sqrt(4)", 2.0), ("size['x'] + size.y", 5), ("not (arm == 2 or True)", False),
        ("'x' in ['x']", True), ("radians(180) / pi", 1.0), ("1 < arm < 3", True),
    ],
)  # fmt: skip
def test_expressions(text, value):
    assert evaluate(text, {"arm": 2, "size": {"x": 2, "y": 3}}) == value


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch /tmp/x')", "open('/etc/passwd').read()",
        "().__class__.__bases__[0].__subclasses__()",
        "(lambda: 1)()", "[x for x in range(9)]", "9**9**9**9", "'a' * 10**9", "range(10**9)", "eval('1')", "exec('1')",
        "getattr(1, 'real')", "f'{1}'", "'%s' % 1", "(1).real", "print(1)", "1 << 10**9", "a := 1",
        "nothing_of_this_name",
        "''.join(['a'])", "pow(10, 10**8)", "sin.__globals__",
        "-" * 500 + "1", "1/0", "int('x')",
    ],
)  # fmt: skip
def test_expressions_run_no_code_and_do_not_run_away(text):
    with pytest.raises(ExpressionError):
        evaluate(text, {})


def test_macros_with_defaults_blocks_and_outer_values(tmp_path):
    root = made(
        tmp_path,
        """<xacro:property name="size" value="3"/><xacro:arg name="side" default="left"/>
        <xacro:macro name="part" params="name size:=^ length:=${2*size} colour:='dark red' *shape **more">
          <link name="${name}_$(arg side)" size="${size}" length="${length}" colour="${colour}" price="$${5}">
            <xacro:insert_block name="shape"/><xacro:insert_block name="more"/></link></xacro:macro>
        <xacro:part name="a"><box/><group><p/><q n="${size + 1}"/></group></xacro:part>
        <xacro:part name="b" size="7"><ball/><group/></xacro:part>""",
        side="right",
    )
    first, second = root
    assert dict(first.attrib) == {"name": "a_right", "size": "3", "length": "6", "colour": "dark red", "price": "${5}"}
    assert [child.tag for child in first] == ["box", "p", "q"]
    assert first[2].get("n") == "4"
    assert (second.get("size"), second.get("length")) == ("7", "14")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<xacro:macro name='m' params=''><xacro:m/></xacro:macro><xacro:m/>", "do they call themselves"),
        (
            "<xacro:macro name='m' params='n'>" + "<xacro:m n='${n-1}'/>" * 30 + "</xacro:macro><xacro:m n='9'/>",
            "r.xacro",
        ),
        ("<a b='${__import__(\"os\").getcwd()}'/>", "__import__"),
        ("<a b='$(env HOME)'/>", "$(env …) is not read"),
        ("<a b='$(arg nobody)'/>", "--arg nobody=…"),
        ("<xacro:unheard_of/>", "there is no macro 'unheard_of'"),
        ("<xacro:macro name='m' params='n'/><xacro:m/>", "needs 'n'"),
        ("<xacro:macro name='m' params=''/><xacro:m n='1'/>", "takes no 'n'"),
        ("<xacro:include filename='r.xacro'/>", "in a circle"),
        ("<xacro:include filename='/etc/hostname'/>", "outside of"),
        ("<xacro:include filename='$(find nowhere)/x'/>", "the package 'nowhere' is not found"),
        ("<xacro:if value='maybe'><a/></xacro:if>", "true or false"),
        ("<xacro:property name='a' value='${a + 1}'/>", "nothing is called 'a'"),
    ],
)
def test_what_is_wrong_is_told(tmp_path, text, told):
    with pytest.raises(ModelError, match=r"line \d+") as error:
        made(tmp_path, text)
    assert told in str(error.value)


def test_all_missing_arguments_are_named_at_once(tmp_path):
    file = models.description(tmp_path, models.XACRO.replace('<link name="hull">', '<link name="$(arg hull)">'))
    from airloom.models.importing import read_description

    with pytest.raises(ModelError, match=r"--arg hull=… --arg name=…"):
        read_description(file)
