"""Figures of a notebook: what cells draw with matplotlib, shown as pictures."""

import base64
import io
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from typing import Any


class FigureBackend:
    """Matplotlib's backend of a notebook: shows a figure as a PNG.

    Finds and loads the module that MPLBACKEND names, when a cell has imported matplotlib.
    """

    MODULE = "proctor_figures"

    def __init__(self, display: Any) -> None:
        self.display = display

    def find_spec(self, name: str, *_: Any) -> ModuleSpec | None:
        """Return the spec of the backend; None for any other module."""
        return ModuleSpec(name, self) if name == self.MODULE else None  # type: ignore[arg-type]

    def create_module(self, _spec: ModuleSpec) -> None:
        """Leave the module's creation to Python."""

    def exec_module(self, module: Any) -> None:
        """Put into the backend's module the names that matplotlib looks for."""
        agg = import_module("matplotlib.backends.backend_agg")
        module.FigureCanvas, module.show = agg.FigureCanvasAgg, self.show

    def show(self, *_: Any, **__: Any) -> None:
        """Show all open figures, and close them."""
        pyplot = sys.modules["matplotlib.pyplot"]
        for number in pyplot.get_fignums():
            figure = pyplot.figure(number)
            if figure.axes:
                drawn = io.BytesIO()
                figure.savefig(drawn, format="png", bbox_inches="tight")
                image = base64.b64encode(drawn.getvalue()).decode()
                self.display({"text/plain": repr(figure), "image/png": image}, raw=True)
        pyplot.close("all")

    def end_cell(self) -> None:
        """Show what a cell has drawn and not shown, if this is the backend."""
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None and pyplot.get_backend() == f"module://{self.MODULE}":
            self.show()
