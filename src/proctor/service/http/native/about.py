"""What there is: languages, isolation, room. The same at every native door."""

from proctor.service.engine import Asker, Engine
from proctor.service.http.native.schema import Capabilities, Guarantee, Language
from proctor.version import __version__


def languages(engine: Engine) -> list[Language]:
    """Return the languages that there are. Starts their tools: not in a loop."""
    return [
        Language(each.language.id, each.language.name, each.language.aliases, each.version)
        for each in engine.languages()
    ]


async def capabilities(engine: Engine, asker: Asker) -> Capabilities:
    """Return which isolation is in force, and what it guarantees; how busy the engine is."""
    isolation = await engine.isolation(asker)
    return Capabilities(
        __version__,
        isolation.level,
        {
            name: Guarantee(each.strength.value, each.how, each.gap)
            for name, each in isolation.guarantees.items()
        },
        engine.admission.places,
        engine.admission.waiting,
        engine.admission.running,
        engine.package_sets.names,
    )
