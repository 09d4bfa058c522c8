"""STEP files for tests: a box as CAD writes it, with vertices, edges, faces, a solid, and units."""

from __future__ import annotations

from itertools import product

HEAD = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION((''),'2;1');
FILE_NAME('box','2026-01-01T00:00:00',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN'));
ENDSEC;
DATA;
"""


class StepBox:
    """From the origin on, in the unit that is named."""

    def __init__(self, size: tuple[float, float, float], unit: str = "SI_UNIT(.MILLI.,.METRE.)") -> None:
        self._lines: list[str] = []
        corners = list(product((0, 1), repeat=3))
        self._points = {corner: [i * s for i, s in zip(corner, size, strict=True)] for corner in corners}
        self._vertices = {corner: self._add("VERTEX_POINT('',{})", self._point(corner)) for corner in corners}
        self._edges: dict[tuple, str] = {}
        faces = [self._face(axis, side) for axis, side in product(range(3), (0, 1))]
        solid = self._add("MANIFOLD_SOLID_BREP('',{})", self._add("CLOSED_SHELL('',({}))", ",".join(faces)))
        self._describe(solid, unit)

    def __str__(self) -> str:
        data = "\n".join(f"#{number}={text};" for number, text in enumerate(self._lines, 1))
        return f"{HEAD}{data}\nENDSEC;\nEND-ISO-10303-21;\n"

    def _add(self, text: str, *named: str) -> str:
        self._lines.append(text.format(*named))
        return f"#{len(self._lines)}"

    def _triple(self, kind: str, values) -> str:
        return self._add(kind + "('',({}))", ",".join(f"{value:.9E}" for value in values))

    def _point(self, corner) -> str:
        return self._triple("CARTESIAN_POINT", self._points[corner])

    def _placement(self, corner, axis, across) -> str:
        ways = [self._triple("DIRECTION", way) for way in (axis, across)]
        return self._add("AXIS2_PLACEMENT_3D('',{},{},{})", self._point(corner), *ways)

    def _edge(self, a, b) -> str:
        if (b, a) in self._edges:
            return self._add("ORIENTED_EDGE('',*,*,{},.F.)", self._edges[b, a])
        way = self._triple("DIRECTION", [q - p for p, q in zip(a, b, strict=True)])
        line = self._add("LINE('',{},{})", self._point(a), self._add("VECTOR('',{},1.0)", way))
        self._edges[a, b] = self._add("EDGE_CURVE('',{},{},{},.T.)", self._vertices[a], self._vertices[b], line)
        return self._add("ORIENTED_EDGE('',*,*,{},.T.)", self._edges[a, b])

    def _face(self, axis: int, side: int) -> str:
        """Its corners go around as seen from outside."""
        u, v = (axis + 1) % 3, (axis + 2) % 3
        ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
        corners = []
        for a, b in ring if side else ring[::-1]:
            corner = [side] * 3
            corner[u], corner[v] = a, b
            corners.append(tuple(corner))
        edges = [self._edge(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
        bound = self._add("FACE_OUTER_BOUND('',{},.T.)", self._add("EDGE_LOOP('',({}))", ",".join(edges)))
        outwards, across = ([float(k == which) for k in range(3)] for which in (axis, u))
        outwards[axis] = 1.0 if side else -1.0
        plane = self._add("PLANE('',{})", self._placement(corners[0], outwards, across))
        return self._add("ADVANCED_FACE('',({}),{},.T.)", bound, plane)

    def _describe(self, solid: str, unit: str) -> None:
        """Units, and a product that has this shape."""
        add, origin = self._add, self._placement((0, 0, 0), (0, 0, 1), (1, 0, 0))
        length = add("(LENGTH_UNIT() NAMED_UNIT(*) {})", unit)
        angle = add("(NAMED_UNIT(*) PLANE_ANGLE_UNIT() SI_UNIT($,.RADIAN.))")
        solid_angle = add("(NAMED_UNIT(*) SI_UNIT($,.STERADIAN.) SOLID_ANGLE_UNIT())")
        units = f"GLOBAL_UNIT_ASSIGNED_CONTEXT(({length},{angle},{solid_angle}))"
        context = add("(GEOMETRIC_REPRESENTATION_CONTEXT(3) {} REPRESENTATION_CONTEXT('',''))", units)
        shape = add("ADVANCED_BREP_SHAPE_REPRESENTATION('',({},{}),{})", origin, solid, context)
        about = add("APPLICATION_CONTEXT('design')")
        product_ = add("PRODUCT('box','box','',({}))", add("PRODUCT_CONTEXT('',{},'mechanical')", about))
        formation = add("PRODUCT_DEFINITION_FORMATION('','',{})", product_)
        stage = add("PRODUCT_DEFINITION_CONTEXT('part definition',{},'design')", about)
        definition = add("PRODUCT_DEFINITION('design','',{},{})", formation, stage)
        add("SHAPE_DEFINITION_REPRESENTATION({},{})", add("PRODUCT_DEFINITION_SHAPE('','',{})", definition), shape)
