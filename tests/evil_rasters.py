"""Rasters that would lead GDAL elsewhere: each function writes files into a folder and returns the one to be opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.surveys import raster

VRT = """<VRTDataset rasterXSize="60" rasterYSize="40"><SRS>EPSG:32632</SRS>
<GeoTransform>395000, 0.5, 0, 4990000, 0, -0.5</GeoTransform>
<VRTRasterBand dataType="Float32" band="1"><SimpleSource><SourceFilename relativeToVRT="0">{}</SourceFilename>
<SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>"""
WMS = """<GDAL_WMS><Service name="TMS"><ServerUrl>{}/${{z}}/${{x}}/${{y}}.png</ServerUrl></Service><DataWindow>
<UpperLeftX>395000</UpperLeftX><UpperLeftY>4990000</UpperLeftY><LowerRightX>395100</LowerRightX>
<LowerRightY>4989900</LowerRightY><SizeX>64</SizeX><SizeY>64</SizeY></DataWindow><Projection>EPSG:32632</Projection>
<BlockSizeX>64</BlockSizeX><BlockSizeY>64</BlockSizeY><BandsCount>1</BandsCount><Cache/></GDAL_WMS>"""
AUX = '<PAMDataset><Metadata domain="OVERVIEWS"><MDI key="OVERVIEW_FILE">{}</MDI></Metadata></PAMDataset>'


def _text(text: str) -> Callable[[Path, str], Path]:
    def write(folder: Path, url: str) -> Path:
        (folder / "field.tif").write_text(text.format(f"/vsicurl/{url}/other.tif" if text is VRT else url))
        return folder / "field.tif"

    return write


def of_another_file(folder: Path, url: str) -> Path:
    """A VRT of a raster that is nobody's business."""
    raster(folder / "secret.tif")
    (folder / "field.tif").write_text(VRT.format(folder / "secret.tif"))
    return folder / "field.tif"


def with_overviews_elsewhere(folder: Path, url: str) -> Path:
    """A sound GeoTIFF, in which is written where its overviews are."""
    import rasterio

    file = raster(folder / "field.tif", shape=(600, 700))
    with rasterio.open(file, "r+") as data:
        data.update_tags(ns="OVERVIEWS", OVERVIEW_FILE=f"/vsicurl/{url}/overview.tif")
    return file


def _beside(suffix: str, text: str) -> Callable[[Path, str], Path]:
    def write(folder: Path, url: str) -> Path:
        file = raster(folder / "field.tif", shape=(600, 700))
        (folder / f"field.tif{suffix}").write_text(text.format(f"/vsicurl/{url}/beside.tif"))
        return file

    return write


ALL = {
    "vrt": _text(VRT), "wms": _text(WMS), "another file": of_another_file, "overviews": with_overviews_elsewhere,
    "mask": _beside(".msk", VRT), "overview": _beside(".ovr", VRT), "aux": _beside(".aux.xml", AUX),
}  # fmt: skip
