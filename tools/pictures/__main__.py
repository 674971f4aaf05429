"""Makes the README's pictures from real runs, into docs/images.

    python tools/pictures                 all of them
    python tools/pictures bars demo       these

    badges   badge-*.svg: licence and Python, from pyproject.toml
    bars     bars.svg: cost of a run beside peers, from the newest benchmarks/results
    demo     demo.svg: a recording of `proctor demo`
    report   report.webp: `proctor report` of two models' recorded programs
    view     view.webp: `proctor view` of one of these runs

`report` and `view` take Chromium, and PROCTOR_TEST_DATA with LiveCodeBench rows. The runs they show
are kept in build/pictures, and judged only once.
"""

import sys
from pathlib import Path

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def main(names: list[str]) -> int:
    """Make the pictures that are named, or all; return the exit code."""
    import badges
    import bars
    import demo
    import pages

    makers = {
        "badges": badges.write, "bars": lambda images: [bars.write(images)],
        "demo": lambda images: [demo.write(images)],
        "report": lambda images: [pages.report(images)],
        "view": lambda images: [pages.view(images)],
    }  # fmt: skip
    if unknown := set(names) - makers.keys():
        print(f"no picture is called {', '.join(sorted(unknown))}; there are {', '.join(makers)}")
        return 2
    IMAGES.mkdir(exist_ok=True)
    for name, make in makers.items():
        if not names or name in names:
            for made in make(IMAGES):
                print(f"wrote {made} ({made.stat().st_size / 1000:.1f} kB)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
